"""From what was staged to the output: written beside it, audited, and renamed in one step."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from shoal.engines.base import Lazy
from shoal.engines.opening import Opened
from shoal.errors import InputError, raise_problems
from shoal.io.blocks import texts_to_parquet
from shoal.io.formats import suffix_of
from shoal.io.places import output_problems
from shoal.io.streams import copy_to, schema_of, split_to, stream_problems
from shoal.table.source import Dialect, Input
from shoal.whole import exists_already, reason, write_whole

Prove = Callable[[Lazy], None]
RELEASE = "release.parquet"


def publish_file(
    opened: Opened, target: Path, overwrite: bool, dialect: Dialect, prove: Prove
) -> None:
    """Write one file, whole or not at all."""
    raise_problems(output_problems(target, overwrite))
    staged = [opened.staged(RELEASE)]
    raise_problems(stream_problems(schema_of(staged), target))
    suffix = suffix_of(target)

    def check(written: Path) -> None:
        if suffix == ".parquet":
            prove(opened.scan([written]))
            return
        again = opened.staged(f"read-{secrets.token_hex(4)}.parquet")
        try:
            delimiter = "\t" if suffix.startswith(".tsv") else dialect.delimiter
            texts_to_parquet([written], Input(dialect.encoding, delimiter), again)
            prove(opened.scan([again]))
        finally:
            with suppress(OSError):
                again.unlink()

    write_whole(
        target,
        overwrite,
        lambda file: copy_to(staged, file, suffix, dialect, opened.numbers),
        check,
        suffix,
    )


def publish_folder(opened: Opened, target: Path, overwrite: bool, prove: Prove) -> None:
    """Write a folder of Parquet files, whole or not at all."""
    real = Path(os.path.realpath(target))
    if real.exists() and not (overwrite and real.is_dir()):
        raise InputError(exists_already(target))
    if not real.parent.is_dir():
        raise InputError(f"The folder '{real.parent}' does not exist; make it first.")
    restore(real)
    mark = secrets.token_hex(4)
    fresh, old = (real.with_name(f".{real.name}.{mark}.{kind}") for kind in ("tmp", "old"))
    try:
        fresh.mkdir(mode=0o700)
        prove(opened.scan(split_to([opened.staged(RELEASE)], fresh)))
        fresh.chmod(0o777 & ~_umask())
        if real.exists():
            real.rename(old)
        fresh.rename(real)
        return
    except OSError as error:
        why = reason(error)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        restore(real)
    raise InputError(f"'{target}' cannot be written: {why}; choose another place.")


def restore(target: Path) -> None:
    """Bring back the folder that a killed run had just moved out of the way, and remove what it left behind."""
    for old in target.parent.glob(f".{target.name}.*.old"):
        if target.exists():
            shutil.rmtree(old, ignore_errors=True)
        else:
            old.rename(target)
    for left in target.parent.glob(f".{target.name}.*.tmp"):
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
