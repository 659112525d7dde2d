"""The real run: the same functions as the command line, one after the other, into the folder of a run."""

from __future__ import annotations

import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from shoal.app.files import read_json, write_json, write_toml_file
from shoal.app.worker.estimating import cost_of
from shoal.app.worker.tables import path_of
from shoal.errors import ShoalError
from shoal.estimate import estimate
from shoal.opening import open_table
from shoal.plan import Plan
from shoal.release import Release
from shoal.settings import make_settings
from shoal.way import make_release

EXCEL_RECORDS = 200_000  # above, an Excel file takes minutes to write and to audit
EVERY = 0.1  # seconds between two lines about progress


class _Telling:
    """Passes progress on, seldom enough."""

    def __init__(self, answer: Any) -> None:
        self.answer, self.stage, self.last = answer, "", 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if stage != self.stage or now - self.last >= EVERY:
            self.stage, self.last = stage, now
            self.answer("progress", {"stage": stage, "done": int(done), "total": int(total)})


def run(answer: Any, project: str, run: str) -> dict[str, Any]:
    """Make the release of a run: its files first, then the report, at last the Excel file."""
    folder, start, tell = Path(run), time.perf_counter(), _Telling(answer)
    settings = make_settings(folder / "settings.toml")
    tell("reading", 0, 1)
    source = open_table(path_of(project), settings.input)
    records = source.data.shape[0]

    def planned(plan: Plan) -> None:
        guess = estimate(plan)
        seconds = [guess.least, guess.most]
        answer("progress", {"stage": "encoding", "records": records, "seconds": seconds})

    release = make_release(source, settings, tell, planned=planned)
    tell("writing", 0, 1)
    problems = _save(release, folder)
    tell("reporting", 0, 1)
    release.save_report(folder / "report.html", overwrite=True)
    figures = {
        **cost_of(release),
        "verdict": {**release.verdict.to_dict(), "title": release.verdict.title},
        "objective": settings.objective,
        "objective_loss": release.loss(),
        "records": records,
        "released": release.audit.records,
        "method": release.settings.method.name,
        "notes": [*release.reading_notes, *release.notes],
        "proofs": [proof.requirement for proof in release.audit.proofs],
        "seconds": round(time.perf_counter() - start, 2),
        "problems": problems,
    }
    excel = _excel(records)
    facts = {**(read_json(folder / "run.json") or {}), "status": "done", "figures": figures}
    write_json(folder / "run.json", {**facts, "excel": excel or "writing"})
    answer("ready", {})
    if not excel:
        tell("writing the Excel file", 0, 1)
        try:
            release.save(folder / "release.xlsx", overwrite=True)
            excel = "ready"
        except ShoalError as error:
            excel = str(error)
        write_json(folder / "run.json", {**facts, "excel": excel})
    return {}


def _save(release: Release[Any], folder: Path) -> list[str]:
    """Write the settings and both formats; what one of them cannot hold is said."""
    content = release.settings.to_dict()  # trees spelled out
    content["columns"].pop("key_file", None)  # it goes to others, as the report does
    write_toml_file(folder / "release.toml", content)
    problems, written = [], 0
    for name in ("release.csv", "release.parquet"):
        try:
            release.save(folder / name, overwrite=True)
            written += 1
        except ShoalError as error:
            problems.append(str(error))
            last = error
    if not written:
        raise last
    return problems


def _excel(records: int) -> str:
    """Why there is no Excel file, or nothing."""
    if find_spec("openpyxl") is None:
        return "Excel files need the extra 'excel': install shoal[excel]."
    if records > EXCEL_RECORDS:
        return f"Excel files are made of at most {EXCEL_RECORDS:,} records; take CSV or Parquet."
    return ""
