"""Open what the user gave, and audit it by what it reads: a finished frame or file."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.auditing.compatibility import Originals, examine_compatibility, read_originals
from shoal.auditing.groups import examine_frame, examine_texts
from shoal.auditing.texts import Reader
from shoal.auditing.verdict import Verdict
from shoal.io import check_header, open_file, read_texts
from shoal.settings import Settings
from shoal.table import open_frame
from shoal.table.frames import Frame
from shoal.table.render import bound_names
from shoal.table.source import Input, Source


def open_table(table: Any, input: Input | None = None) -> Source:
    """Whatever the user gave, a frame or a path, as a frame with what is known of its file."""
    if isinstance(table, Source):
        return table
    is_path = isinstance(table, str | os.PathLike)
    source = open_file(table, input or Input()) if is_path else Source(table)
    return replace(source, data=open_frame(source.data))


def originals_of(table: Frame, settings: Settings) -> Originals | None:
    """What the audit must know of the table that is released, None where the release says all."""
    if settings.method.homogeneous:
        return None
    return read_originals(table, settings.quasi_identifiers, _reader(settings))


def examine(released: Frame, originals: Originals | None, settings: Settings) -> Verdict:
    """Audit a finished release, as a frame of the user's or of texts, by what its method promises."""
    if originals is not None:
        return examine_compatibility(originals, released, settings.k, settings.identifiers)
    return examine_frame(released, *promises(settings))


def examine_table(table: Any, settings: Settings, keeps_sheet: bool = True) -> Verdict:
    """Audit any table, a frame or a file, by what its columns read.

    Unless `keeps_sheet`, the settings' sheet is that of the original, and the table's first one is meant.
    """
    if isinstance(table, str | os.PathLike):
        sheet = settings.input.sheet if keeps_sheet else None
        texts = read_texts(table, replace(settings.input, sheet=sheet))
        check_header(Path(table), texts.column_names, texts.columns)
        verdict = examine_texts(texts, *promises(settings))
        columns = texts.column_names
    else:
        frame = open_frame(table)
        verdict = examine_frame(frame, *promises(settings))
        columns = frame.columns
    named = {*settings.quasi_identifiers, *settings.sensitive, *settings.keep}
    bounds = {bound for name in settings.quasi_identifiers for bound in bound_names(name)}
    unnamed = tuple(name for name in columns if name not in named | bounds)
    return replace(verdict, audit=replace(verdict.audit, unnamed=unnamed))


def promises(settings: Settings) -> tuple[Any, ...]:
    """What the audit proves, and how it reads values."""
    return (
        list(settings.quasi_identifiers),
        settings.k,
        settings.identifiers,
        settings.requirements,
        settings.sensitive,
        _reader(settings),
    )


def _reader(settings: Settings) -> Reader:
    return Reader(settings.input.missing, settings.input.decimal, settings.input.date_format)
