"""What is new in the next file of a project: columns, types, values, and how many people were in the file before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.app.projects import Project, read_json, write_json
from shoal.app.worker.charts import LEAST
from shoal.app.worker.look import type_of
from shoal.app.worker.tables import column_of, open_project
from shoal.data.open import open_table
from shoal.encoding.models import Hierarchy
from shoal.encoding.source import Input, Source
from shoal.errors import Infeasible, InputError, Refused
from shoal.pipeline.carriers.memory import Memory
from shoal.pipeline.plan import prepare
from shoal.settings.settings import Settings, make_settings

TEXTS = ("text", "true or false")  # types whose values are compared one by one


def compare(answer: Any, project: str) -> dict[str, Any]:
    """Compare the waiting file with the project's table, and keep the result with it.

    Of people, only numbers are returned. Other values are named if at least ten records of the new file share them.
    """
    folder = Path(project)
    waiting = Project(folder).waiting
    settings = make_settings(folder / "settings.toml")
    how = settings.reading
    old, new = open_project(project, how), open_table(waiting["table"], replace(how, types={}))
    before, after = list(old.data.columns), list(new.data.columns)
    shared = [name for name in before if name in after]
    types = [
        {"column": name, "before": was, "after": now}
        for name in shared
        if (was := _type(old, name, how)) != (now := _type(new, name, how))
    ]
    found = {
        "table": waiting["table"],
        "records": [old.data.shape[0], new.data.shape[0]],
        "before": before,
        "added": [name for name in after if name not in before],
        "missing": [{"column": n, "role": _role(settings, n)} for n in before if n not in after],
        "types": types,
        "values": _unknown_values(new, settings),
        "fresh": _fresh_values(old, new, settings, shared),
        "people": _people(old, new, settings, shared),
        "problems": _problems(new, settings, before),
    }
    if read_json(folder / "month.json") == waiting:  # no other file has taken its place
        write_json(folder / "month.json", {**waiting, "found": found})
    return found


def _type(source: Source, name: str, how: Input) -> str:
    try:
        return type_of(source, name, how)
    except InputError:
        return "cannot be read"


def _role(settings: Settings, name: str) -> str:
    """What a column is in the settings, in words."""
    named = {
        "quasi-identifier": settings.quasi_identifiers,
        "sensitive": settings.sensitive,
        "identifier, replaced by a pseudonym": settings.pseudonyms,
        "identifier, removed": settings.identifiers,
        "kept": settings.keep,
    }
    return next((role for role, columns in named.items() if name in columns), "not released")


def _unknown_values(new: Source, settings: Settings) -> list[dict[str, Any]]:
    """Values that the hierarchies of quasi-identifiers lack."""
    found = []
    for name, model in settings.quasi_identifiers.items():
        if isinstance(model, Hierarchy) and name in new.data.columns:
            check = model.check(column_of(new, name, settings.reading))
            if not check.fits:
                lacking = {"values": check.missing_values, "records": check.missing_records}
                found.append({"column": name, **lacking})
    return found


def _fresh_values(
    old: Source, new: Source, settings: Settings, shared: Sequence[str]
) -> list[dict[str, Any]]:
    """Values of released text columns without a model that were not in the table before."""
    found = []
    for name in shared:
        if name not in settings.keep and name not in settings.sensitive:
            continue
        if not {_type(table, name, settings.reading) for table in (old, new)} <= {*TEXTS}:
            continue
        known = _texts(old, name, settings.reading).unique()
        now = _texts(new, name, settings.reading)
        fresh = now.filter(pc.invert(pc.is_in(now, known)))
        if not len(fresh):
            continue
        counts = fresh.value_counts().to_pylist()
        often = sorted(str(own["values"])[:40] for own in counts if own["counts"] >= LEAST)
        told = {"values": len(counts), "records": len(fresh), "often": often}
        found.append({"column": name, "role": _role(settings, name), **told})
    return found


def _people(
    old: Source, new: Source, settings: Settings, shared: Sequence[str]
) -> list[dict[str, Any]]:
    """How many people of the new file were in the file before, by the columns that identify them."""
    named = [settings.person] if settings.person else [*settings.identifiers, *settings.pseudonyms]
    found = []
    for name in named:
        if name not in shared:
            continue
        known = _texts(old, name, settings.reading).unique()
        now = _texts(new, name, settings.reading).unique()
        again = int(pc.sum(pc.is_in(now, known)).as_py() or 0)
        found.append({"column": name, "people": len(now), "again": again})
    return found


def _texts(source: Source, name: str, how: Input) -> pa.ChunkedArray:
    """The values of a column as texts, without missing ones."""
    return column_of(source, name, how).cast(pa.large_string()).drop_null().combine_chunks()


def _problems(new: Source, settings: Settings, before: Sequence[str]) -> list[str]:
    """Why no run of the new file can succeed with these settings, if it is known without one."""
    wanted = settings
    if settings.others == "keep":
        kept = [name for name in before if _role(settings, name) == "not released"]
        wanted = replace(settings, keep=(*settings.keep, *kept))
    try:
        prepare(Memory(new), replace(wanted, others="drop"))
    except Refused:  # the run says so, too, and asks whether to release the columns anyway
        return []
    except InputError as error:
        return list(error.problems)
    except Infeasible as error:
        return str(error).splitlines()
    return []
