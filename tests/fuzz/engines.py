"""Random cases on engines: the same tables, promises and checker, with few records solved at once."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pyarrow as pa

import shoal

from .cases import METHODS, Case, draw_case
from .checker import Released, faults
from .containers import build_frame, lists_of
from .trials import Outcome, Trial, _multiset

FEW = (12, 20, 40, 10_000)  # records that are solved at once


def try_on(
    engine: str, seed: int, methods: Sequence[str] = METHODS, session: Any = None
) -> Outcome:
    """Run one case on an engine and check what comes of it."""
    case = draw_case(seed, methods)
    if case.options["method"] == "non_homogeneous":
        return Outcome(seed, "not for engines")
    container = case.container
    if not container.startswith("."):
        category = engine == "polars" and "category" in container
        container = f"polars{' category' if category else ''}" if engine == "polars" else "arrow"
    if container == ".xlsx" or (engine == "spark" and container.startswith(".")):
        return Outcome(seed, "not for engines")
    render = "bounds" if case.options["render"] == "bounds" else "text"  # numbers may be anybody's
    options = {**case.options, "keep_order": False, "render": render}
    case = replace(case, container=container, options=options)
    case = replace(case, saved_as=case.saved_as if case.saved_as != ".xlsx" else ".csv")
    with TemporaryDirectory() as folder:
        return EngineTrial(case, Path(folder), engine, session).run()


def frame_on(engine: str, frame: Any, session: Any = None) -> Any:
    """An eager frame as a lazy one of an engine."""
    match engine:
        case "duckdb":
            import duckdb

            return duckdb.connect().from_arrow(frame)
        case "polars":
            return frame.lazy()
    return session.createDataFrame(frame)


def collected(frame: Any) -> Any:
    """What a lazy frame holds."""
    for name in ("to_arrow_table", "toArrow", "collect"):
        if hasattr(frame, name) and not isinstance(frame, pa.Table):
            return getattr(frame, name)()
    return frame


class EngineTrial(Trial):
    """One case on an engine."""

    def __init__(self, case: Case, folder: Path, engine: str, session: Any = None) -> None:
        super().__init__(case, folder)
        self.engine = engine
        self.most = random.Random(case.seed).choice(FEW)
        if self.is_file:
            self.given: dict[str, Any] = {"engine": engine}
        else:
            self.table, self.given = frame_on(engine, build_frame(case), session), {}
            self.original = self.coarse(lists_of(collected(self.table)))

    def anonymize(self) -> shoal.Release:
        with patch("shoal.pipeline.carriers.on_engine.records_at_once", lambda memory: self.most):
            return super().anonymize(**self.given)

    def faults(self, release: shoal.Release) -> list[str]:
        case = self.case
        columns = lists_of(collected(release.data))
        if list(columns) != self.columns():
            return [f"columns {list(columns)} instead of {self.columns()}"]
        values = self.typed(columns)
        released = Released(
            self.cells(columns),
            self.rows(values),
            {name: values[name] for name in case.sensitive},
            None,
            release.suppressed,
            release.audit.k,
            None if release.suppressed or self.hides_missing() else release.loss("lm"),
        )
        found = faults(self.promise(), released)
        if "loosen" not in case.options:
            second = self.anonymize()
            again = lists_of(collected(second.data))
            second.close()  # type: ignore[attr-defined]
            if _multiset(again) != _multiset(columns):
                found.append("a second run releases other records")
        if case.saved_as:
            found += self.saved_faults(release, columns) if self.engine != "spark" else []
        release.close()  # type: ignore[attr-defined]
        return found
