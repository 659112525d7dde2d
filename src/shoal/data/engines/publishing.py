"""From staged tables to the output: written next to it, audited, and renamed in one step."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa

from shoal.atomic import output_exists_problem, system_reason, write_atomically
from shoal.data.databases.address import DatabaseTable
from shoal.data.databases.connection import IfExists
from shoal.data.databases.writing import write_stored_batches
from shoal.data.engines.base import Lazy
from shoal.data.files.formats import output_problems, suffix_of
from shoal.data.files.large_text import ReadTexts, texts_to_parquet
from shoal.data.files.streams import (
    Spelled,
    batches_of,
    copy_to,
    schema_of,
    split_to,
    stream_problems,
    write_part,
)
from shoal.data.open import RELEASE, LargeTable
from shoal.data.staging import folder_beside
from shoal.encoding.source import Dialect, Input
from shoal.errors import InputError, raise_problems

Prove = Callable[[Lazy], None]


def publish_file(
    opened: LargeTable,
    target: Path,
    overwrite: bool,
    dialect: Dialect,
    prove: Prove,
    unchanged: Sequence[str],
    spelled: Spelled,
) -> None:
    """Write one file, whole or not at all; unchanged columns get the types that their texts allow."""
    raise_problems(output_problems(target, overwrite))
    staged, kinds = opened.staged(RELEASE), opened.kinds(unchanged)
    raise_problems(stream_problems(schema_of(staged, kinds), target))
    suffix = suffix_of(target)
    texts = opened.texts or ReadTexts()
    types = {name: kind for name, kind in texts.types.items() if name in unchanged}
    numbers = [name for name in texts.numbers if name in unchanged]

    def check(written: Path) -> None:
        if suffix == ".parquet":
            prove(opened.engine.scan([written]))
            return
        delimiter = "\t" if suffix.startswith(".tsv") else dialect.delimiter
        with _read_back(opened) as again:
            texts_to_parquet([written], Input(dialect.encoding, delimiter), again)
            prove(opened.engine.scan([again]))

    with folder_beside(target) as folder:
        write_atomically(
            target,
            overwrite,
            lambda file: copy_to(staged, file, suffix, dialect, types, numbers, spelled, kinds),
            check,
            suffix,
            folder,
        )


@contextmanager
def _read_back(opened: LargeTable) -> Iterator[Path]:
    """The path of a file for what is read back, which is then removed."""
    again = opened.staged(f"read-{secrets.token_hex(4)}.parquet")
    try:
        yield again
    finally:
        with suppress(OSError):
            again.unlink()


def publish_folder(
    opened: LargeTable, target: Path, overwrite: bool, prove: Prove, unchanged: Sequence[str]
) -> None:
    """Write a folder of Parquet files, whole or not at all."""
    publish_written(
        target,
        overwrite,
        lambda folder: split_to(opened.staged(RELEASE), folder, opened.kinds(unchanged)),
        lambda folder: prove(opened.engine.scan(sorted(folder.iterdir()))),
    )


def publish_stored(
    opened: LargeTable,
    target: DatabaseTable,
    if_exists: IfExists,
    prove: Prove,
    unchanged: Sequence[str],
) -> None:
    """Write a table of a database, whole or not at all, a batch at a time; it is read back so, too."""
    staged, kinds = opened.staged(RELEASE), opened.kinds(unchanged)

    def check(written: pa.RecordBatchReader) -> None:
        with _read_back(opened) as again:
            write_part(again, written, written.schema)
            prove(opened.engine.scan([again]))

    write_stored_batches(
        schema_of(staged, kinds),
        batches_of(staged, kinds),
        target,
        check,
        if_exists,
        opened.stored,
        unchanged,
    )


def publish_written(
    target: Path, overwrite: bool, write: Callable[[Path], object], check: Callable[[Path], None]
) -> None:
    """Let a folder appear under its name once it is written and checked; until then, the old one stays."""
    real = Path(os.path.realpath(target))
    if real.exists() and not (overwrite and real.is_dir()):
        raise InputError(output_exists_problem(target))
    if not real.parent.is_dir():
        raise InputError(f"The folder '{real.parent}' does not exist. Create it first.")
    restore_folder(real)
    with folder_beside(real) as folder:
        fresh, old = folder / "fresh", real.with_name(f".{real.name}.{secrets.token_hex(4)}.old")
        try:
            write(fresh)
            check(fresh)
            if real.exists():
                real.rename(old)
            fresh.rename(real)
            return
        except OSError as error:
            why = system_reason(error)
        finally:
            restore_folder(real)
    raise InputError(f"'{target}' cannot be written: {why}. Choose another place.")


def restore_folder(target: Path) -> None:
    """Restore the folder that a killed run had just moved, or remove it if it was replaced."""
    for old in target.parent.glob(f".{target.name}.*.old"):
        if target.exists():
            shutil.rmtree(old, ignore_errors=True)
        else:
            old.rename(target)
