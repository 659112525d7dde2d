"""One run from a table to its files: everything that can go wrong is checked before the work."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.api.release import Release, make_release
from shoal.cli import WRITTEN, check_stop, say
from shoal.cli.show import progress_bar, show_plan, show_summary
from shoal.data.databases.address import DatabaseTable
from shoal.data.databases.writing import target_problems
from shoal.data.files.formats import space_problems
from shoal.data.files.table_file import file_content_problems, formula_problems
from shoal.data.open import open_table
from shoal.encoding.frames import arrow_values
from shoal.encoding.source import Dialect, Source
from shoal.errors import InputError, ShoalError, raise_problems
from shoal.kernels.compile.cache import cache_note
from shoal.pipeline.plan import estimate_run
from shoal.pipeline.run import plan_run
from shoal.progress import Progress
from shoal.settings.settings import Settings

TEXT_PER_BYTE = 2  # about the most bytes of a text file for each byte of a table in memory


@dataclass(frozen=True)
class Outputs:
    """What a run writes, and how."""

    table: Path | DatabaseTable | None
    settings: Path | None = None
    report: Path | None = None
    recoding: Path | None = None
    history: Path | None = None
    mapping: Path | None = None
    overwrite: bool = False
    delimiter: str | None = None
    encoding: str | None = None
    certify: float | None = None
    previous: Sequence[Path] | None = None
    if_exists: str = "fail"

    @property
    def folder(self) -> Path | None:
        """The folder of the released table, if it is a file in an existing folder."""
        if not isinstance(self.table, Path) or not self.table.parent.is_dir():
            return None
        return self.table.parent

    def save(self, release: Release) -> None:
        """Write the released table."""
        assert self.table is not None
        if isinstance(self.table, DatabaseTable):
            how: Any = self.if_exists
            release.save(self.table.address, table=self.table.table, if_exists=how)
            return
        release.save(
            self.table, overwrite=self.overwrite, delimiter=self.delimiter, encoding=self.encoding
        )


@dataclass(frozen=True)
class RunOptions:
    """Where a run takes place, and what it prints."""

    engine: str = "memory"
    memory: str | None = None
    quiet: bool = False
    verbose: bool = False
    json: bool = False

    def place(self, wanted: Outputs) -> dict[str, Any]:
        """Options of `make_release` and `plan_run`."""
        engine = None if self.engine == "memory" else self.engine
        return {"engine": engine, "memory": self.memory, "beside": wanted.folder}


def run_and_save(table: Any, settings: Settings, wanted: Outputs, how: RunOptions) -> None:
    """Anonymize, write and print a summary."""
    start = time.perf_counter()
    with progress_bar(how.quiet or how.json) as progress:
        if how.engine == "memory":
            progress("reading", 0, 1)
            table = open_table(table, settings.reading)
            raise_problems(release_content_problems(table, settings, wanted))
        release = make_release(
            table, settings, progress, **how.place(wanted), previous=wanted.previous
        )
        with closing(release):
            check_stop()
            progress("writing", 0, 1)
            _save(release, wanted, may_be_rescued=how.engine == "memory")
            _report(release, wanted, how.quiet, progress)
            if how.quiet:
                return
            if note := cache_note():  # the cache could not be written
                say(f"shoal: {note}", error=True)
            show_summary(release, wanted, how, time.perf_counter() - start)


def show_dry_run(table: Any, settings: Settings, wanted: Outputs, how: RunOptions) -> None:
    """Check everything and print what would be done."""
    problems: list[str] = []
    with progress_bar(how.quiet or how.json or how.engine == "memory") as progress:
        if how.engine == "memory":
            table = open_table(table, settings.reading)
            problems = release_content_problems(table, settings, wanted)
        try:
            earlier = wanted.previous or []
            plan = plan_run(table, settings, progress, **how.place(wanted), previous=earlier)
        except InputError as error:
            raise_problems([*problems, *error.problems])
        raise_problems(problems)
    show_plan(plan, estimate_run(plan), how.json)


def release_content_problems(source: Source, settings: Settings, wanted: Outputs) -> list[str]:
    """Return what the output cannot or should not contain."""
    if wanted.table is None:
        return []
    frame = source.data
    written = [*settings.quasi_identifiers, *settings.coarsen]  # as texts of their models
    gone = {*written, *settings.removed, *settings.pseudonyms}
    named = [name for name in frame.columns if name in settings.unchanged]
    if settings.others == "keep":
        named = [name for name in frame.columns if name not in gone]
    unchanged = pa.table({name: arrow_values(frame, name) for name in named})
    dialect = source.dialect or Dialect()
    if wanted.encoding:
        dialect = Dialect(encoding=wanted.encoding)
    texts = dict.fromkeys(written, pa.repeat("*", frame.shape[0]))
    released = pa.table({**texts, **{name: unchanged[name] for name in named}})
    if isinstance(wanted.table, DatabaseTable):
        read = source.stored.read if source.stored else frozenset()
        return target_problems(wanted.table, wanted.if_exists, released, read)
    found = file_content_problems(released, wanted.table, dialect)
    found += space_problems(TEXT_PER_BYTE * unchanged.nbytes, wanted.table)
    originals = {name: arrow_values(frame, name) for name in written if name in frame.columns}
    own = pa.table({**originals, **{name: unchanged[name] for name in named}})
    # `save` reports this for the released values.
    return found + formula_problems(own, wanted.table, settings.allows)


def _save(release: Release, wanted: Outputs, may_be_rescued: bool) -> None:
    """Write the release and the other outputs; if the release cannot be written, save it elsewhere."""
    assert wanted.table is not None
    if wanted.history and release.history:  # first: a history must never lack a release
        release.history.save(wanted.history, overwrite=wanted.overwrite)
        WRITTEN.append(wanted.history)
    try:
        wanted.save(release)
    except InputError as error:
        rescued = _rescued(release) if may_be_rescued else []
        raise InputError([*error.problems, *rescued]) from None
    WRITTEN.append(wanted.table)
    if wanted.settings:
        release.settings.save(wanted.settings)
        WRITTEN.append(wanted.settings)
    for name in ("mapping", "recoding"):
        if path := getattr(wanted, name):
            getattr(release, name).save(path, overwrite=wanted.overwrite)
            WRITTEN.append(path)


def _rescued(release: Release) -> list[str]:
    """Save a finished release in a temporary folder, and report where."""
    folder = None
    try:
        folder = Path(tempfile.mkdtemp(prefix="shoal-"))
        place = folder / "release.parquet"
        release.save(place)
    except (ShoalError, OSError):
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        return [
            "Saving the release to a temporary folder failed, too. Nothing was written; choose another output and "
            "run again."
        ]
    return [f"The finished release is in '{place}'. Move it from there, or delete it."]


def _report(release: Release, wanted: Outputs, quiet: bool, progress: Progress) -> None:
    """Bound the loss and write the report, if they are asked for."""
    if wanted.certify is not None and (wanted.report or not quiet):
        progress("bounding the loss", 0, 1)
        if release.certificate and wanted.certify:
            release.certify(wanted.certify, progress=progress)
    if wanted.report:
        progress("reporting", 0, 1)
        try:
            release.save_report(wanted.report, overwrite=wanted.overwrite)
        except InputError as error:
            done = f"The release is in '{wanted.table}'. Only the report is missing."
            raise InputError([*error.problems, done]) from None
        WRITTEN.append(wanted.report)
