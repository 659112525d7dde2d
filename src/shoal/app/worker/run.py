"""Make the release of a run, and estimate what settings would cost by a dry run of a fast method."""

from __future__ import annotations

import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from shoal.api.release import Release, make_release
from shoal.app.projects import Project, read_json, write_json, write_toml_file
from shoal.app.worker.tables import codes_of, open_project, path_of
from shoal.assess.risk import THRESHOLD
from shoal.data.open import open_table
from shoal.encoding.frames import arrow_values, open_frame
from shoal.encoding.source import Source
from shoal.errors import REASONS, Infeasible, InputError, ShoalError
from shoal.pipeline.carriers.memory import Memory
from shoal.pipeline.plan import Estimate, Plan, estimate_run, prepare
from shoal.settings.settings import Settings, make_settings
from shoal.solve.local_search.budget import Refine
from shoal.solve.methods import Mondrian, TopDown
from shoal.suggestions.singling_out import group_by

# Records of a dry run, about 1.1 s of processor time with eight quasi-identifiers. Fewer records overstate the loss: on
# the census of 299,285 people, a sample of 50,000 loses twice as much as all of them.
SAMPLE = 300_000
# Up to so many records and groups, the dry run uses the method whose loss is closer to that of the real run: on the
# sample 6.2 %, where the real run loses 5.1 % and Mondrian 8.9 %. Its time grows with the square of the groups.
NEARER_RECORDS, NEARER_GROUPS = 60_000, 10_000
# Tables of up to so many records are really released for an estimate, which takes a few seconds: on small tables, the
# dry run is furthest off, because refinement gains most there (44.7 % where the run of a second loses 25.5 %).
REAL_RECORDS, REAL_SECONDS = 3_000, 20.0
EXAMPLES = 4  # released texts of a column that are shown


def estimate(answer: Any, project: str, k: int | None = None) -> dict[str, Any]:
    """Losses and risks of a dry run, and roughly how long the real run takes."""
    settings = make_settings(Path(project) / "settings.toml", k=k)
    source = open_project(project, settings.reading)
    plan = prepare(
        Memory(source), settings
    )  # of the whole table, to report at once what is impossible
    time = estimate_run(plan)
    records = source.data.shape[0]
    sampled = _sample(source)
    size = sampled.data.shape[0]
    is_nearer = size <= NEARER_RECORDS and size <= NEARER_GROUPS * settings.k
    method = TopDown() if is_nearer and settings.person is None else Mondrian()
    is_real = _is_quick(settings, records, time) and size == records
    quick = settings
    if not is_real:
        quick = replace(settings, method=method, refine=False, loosen=0.0, suppression_limit=0.0)
    named = [*settings.keep, *settings.sensitive, *settings.identifiers, *settings.pseudonyms]
    quick = replace(quick, allow=dict.fromkeys(named, tuple(REASONS)))  # nothing of it is released
    try:
        release = make_release(sampled, quick)
    except (InputError, Infeasible):  # true of the sample, but perhaps not of the whole table
        sampled = source
        release = make_release(source, quick)
    return {
        **cost_of(release),
        "warning": "" if release.verdict.is_protected else release.verdict.sentence,
        **(_before(source, settings) if sampled is not source else {}),
        "records": records,
        "is_real": is_real,
        "sampled": sampled.data.shape[0],
        "examples": _examples(release),
        "seconds": [round(time.least, 1), round(time.most, 1)],
        "compiles": time.compiles,
        "objective": settings.objective,
    }


def _is_quick(settings: Settings, records: int, time: Estimate) -> bool:
    """Whether an estimate may be a real run: a small table, a method that is quick, and no kernels to compile."""
    budget = settings.refine
    is_short = not isinstance(budget, Refine) or (budget.steps is None and budget.seconds is None)
    return records <= REAL_RECORDS and time.most <= REAL_SECONDS and is_short and not time.compiles


def _sample(source: Source) -> Source:
    records = source.data.shape[0]
    if records <= SAMPLE:
        return source
    places = np.sort(np.random.default_rng(0).choice(records, SAMPLE, replace=False))
    return replace(source, data=source.data[places.tolist()])


def _before(source: Source, settings: Settings) -> dict[str, Any]:
    """The risks of the original table, with all its records."""
    columns = list(settings.quasi_identifiers)
    codes = codes_of(source, columns, settings.reading)
    sizes = group_by(codes, columns, source.data.shape[0]).sizes()
    return {
        "unique_before": int(np.count_nonzero(sizes == 1)),
        "highest_before": 1 / int(sizes.min()),
        "average_before": sizes.size / int(sizes.sum()),
        "at_risk_before": int(sizes[sizes * THRESHOLD < 1].sum()) / int(sizes.sum()),
    }


def cost_of(release: Release[Any]) -> dict[str, Any]:
    """What a release loses and what risk is left, as plain numbers."""
    risk, told = release.risk, ("column", "disclosed", "largest_share", "base_rate")
    before, after = risk.before.reidentification, risk.after.reidentification
    return {
        "loss": release.loss("lm"),
        "columns": release.column_losses("lm"),
        "groups": release.audit.groups,
        "smallest": release.k,
        "unique_before": risk.before.sizes.unique,
        "unique_after": risk.after.sizes.unique,
        "highest_before": before.prosecutor_highest,
        "highest": after.prosecutor_highest,
        "average_before": before.prosecutor_average,
        "average": after.prosecutor_average,
        "at_risk_before": before.at_risk,
        "at_risk": after.at_risk,
        "left_out": release.suppressed,
        "sensitive": [
            {name: getattr(item, name) for name in told} for item in risk.after.attributes
        ],
    }


def _examples(release: Release[Any]) -> dict[str, list[dict[str, Any]]]:
    """The most frequent released texts of each quasi-identifier; each belongs to a whole group."""
    frame = open_frame(release.data)
    found: dict[str, list[dict[str, Any]]] = {}
    for name in release.settings.quasi_identifiers:
        if name not in frame.columns:  # bounds: two columns
            continue
        texts = pc.value_counts(arrow_values(frame, name)).to_pylist()
        texts.sort(key=lambda item: -item["counts"])
        found[name] = [
            {
                "text": "missing" if item["values"] is None else str(item["values"])[:40],
                "share": item["counts"] / len(frame),
            }
            for item in texts[:EXAMPLES]
        ]
    return found


EXCEL_RECORDS = 200_000  # with more, an Excel file takes minutes to write and audit
EVERY = 0.1  # seconds between two progress messages


class Telling:
    """Passes progress on at limited frequency."""

    def __init__(self, answer: Any) -> None:
        self.answer, self.stage, self.last = answer, "", 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if stage != self.stage or now - self.last >= EVERY:
            self.stage, self.last = stage, now
            self.answer("progress", {"stage": stage, "done": int(done), "total": int(total)})


def run_release(answer: Any, project: str, run: str) -> dict[str, Any]:
    """Make the release of a run: first its files, then the report, and the Excel file last."""
    folder, start, tell = Path(run), time.perf_counter(), Telling(answer)
    settings = make_settings(folder / "settings.toml")
    settings = replace(settings, title=settings.title or Project(Path(project)).name)
    tell("reading", 0, 1)
    source = open_table(path_of(project), settings.reading)
    records = source.data.shape[0]

    def planned(plan: Plan[Any]) -> None:
        guess = estimate_run(plan)
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
    """Write the settings and both formats; returns what one of them cannot store, if anything."""
    content = release.settings.to_dict()  # with trees written out
    content["columns"].pop("key_file", None)  # others will see it, like the report
    write_toml_file(folder / "release.toml", content)
    failures: list[ShoalError] = []
    for name in (names := ("release.csv", "release.parquet")):
        try:
            release.save(folder / name, overwrite=True)
        except ShoalError as error:
            failures.append(error)
    if len(failures) == len(names):
        raise failures[-1]
    return [str(failure) for failure in failures]


def _excel(records: int) -> str:
    """Why there is no Excel file, or an empty text."""
    if find_spec("openpyxl") is None:
        return "To get Excel files too, run: pip install 'shoal[excel]'."
    if records > EXCEL_RECORDS:
        return f"Excel files are written for at most {EXCEL_RECORDS:,} records. Use CSV or Parquet instead."
    return ""
