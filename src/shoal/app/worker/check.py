"""Check a finished release without its original: the verdict, the groups that fail, and a report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from shoal.app.projects import Project, write_json
from shoal.app.worker.preview import LONGEST
from shoal.app.worker.tables import path_of
from shoal.assess.singling_out import count_identified
from shoal.encoding.encode import distinct_rows
from shoal.encoding.frames import Frame
from shoal.encoding.render import texts_by_record
from shoal.errors import AuditFailed
from shoal.pipeline.prove import examine_table, released_columns
from shoal.report.check import write_check_report
from shoal.settings.settings import Settings, make_settings

REPORT = "report.html"
MOST_LINES = 50


def check(answer: Any, project: str) -> dict[str, Any]:
    """Audit the project's table with its settings; write `check.json` and, if there is a verdict, the report."""
    folder = Path(project)
    for name in ("check.json", REPORT):
        (folder / name).unlink(missing_ok=True)
    asked = Project(folder).settings_text
    settings = make_settings(folder / "settings.toml")
    try:
        frame, examination = examine_table(path_of(project), settings)
    except AuditFailed as error:  # an identifier is still there: nothing else was counted
        found: dict[str, Any] = {"asked": asked, "refused": str(error).splitlines()}
        write_json(folder / "check.json", found)
        return found
    write_check_report(frame, settings, examination, folder / REPORT)
    audit, sizes = examination.audit, examination.sizes
    assert audit.verdict is not None
    small, groups = np.unique(sizes[sizes < settings.k], return_counts=True)
    verdict = audit.verdict
    found = {
        "asked": asked,
        "verdict": {**verdict.to_dict(), "title": verdict.title},
        "k": settings.k,
        "records": audit.records,
        "groups": audit.groups,
        "smallest": audit.k,
        "proofs": [proof.requirement for proof in audit.proofs],
        "failing": [
            {"size": int(size), "groups": int(number), "records": int(size * number)}
            for size, number in zip(small, groups, strict=True)
        ],
        "alone": [
            {"column": name, "records": count_identified(frame, [name])}
            for name in verdict.unprotected.columns
        ],
    }
    write_json(folder / "check.json", found)
    return found


def failing_rows(answer: Any, project: str) -> dict[str, Any]:
    """The first records in groups that are too small, by their place in the table."""
    settings = make_settings(Path(project) / "settings.toml")
    frame, _ = examine_table(path_of(project), settings)
    group, sizes = _groups(frame, settings)
    places = np.flatnonzero(sizes[group] < settings.k)
    places = places[np.lexsort((places, group[places], sizes[group[places]]))]
    few = frame[places[:MOST_LINES].tolist()]
    names = released_columns(frame, settings)
    cells = [few.get_column(name).to_list() for name in names]
    rows = [
        {
            "record": int(place) + 1,
            "size": int(sizes[group[place]]),
            "cells": ["" if cell is None else str(cell)[:LONGEST] for cell in row],
        }
        for place, *row in zip(places[:MOST_LINES], *cells, strict=True)
    ]
    return {"columns": names, "rows": rows, "records": int(places.size)}


def _groups(frame: Frame, settings: Settings) -> tuple[Any, Any]:
    """The group of each record, by the texts of its quasi-identifiers, and the size of each group."""
    codes = [texts_by_record(frame, name)[0] for name in released_columns(frame, settings)]
    found = distinct_rows(np.column_stack(codes))
    return found.place, found.counts
