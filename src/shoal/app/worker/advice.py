"""Advice and other settings to compare, tried on the table, each as a change of the project's settings file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal import __version__
from shoal.advice.advise import advise as search
from shoal.advice.explore import explore as explored
from shoal.advice.trials import Trials
from shoal.app.projects import Project, write_json
from shoal.app.worker.run import Telling
from shoal.app.worker.tables import path_of
from shoal.data.open import open_table
from shoal.encoding.models import Hierarchy
from shoal.encoding.source import Source
from shoal.settings.settings import Settings, make_settings
from shoal.settings.toml import content_of, json_ready


def advise(answer: Any, project: str) -> dict[str, Any]:
    """Write `advice.json`: what would keep more detail, and how to change the settings to get it."""
    asked, source, settings = _opened(answer, project)
    found = search(source, settings, Telling(answer))
    patch = Patches(project, source, settings)
    patches = {str(own.number): patch(own.settings) for own in found.suggestions}
    if found.together:
        patches["together"] = patch(found.apply(*found.together))
    for place, own in enumerate(found.affordable_settings):
        patches[f"affordable-{place}"] = patch(own)
    facts = {**asked, **found.to_dict(), "patches": patches}
    write_json(Path(project) / "advice.json", facts)
    return {}


def explore(answer: Any, project: str) -> dict[str, Any]:
    """Write `explore.json`: loss and risk of settings to compare, and how to change the settings to get them."""
    asked, source, settings = _opened(answer, project)
    rows = explored(source, settings, Telling(answer))
    patch = Patches(project, source, settings)
    patches = {str(place): patch(row.settings or settings) for place, row in enumerate(rows)}
    facts = {
        **asked,
        "records": source.data.shape[0],
        "sampled": Trials.of(source, settings).sampled,
        "rows": [row.to_dict() for row in rows],
        "k": settings.k,
        "quasi_identifiers": len(settings.quasi_identifiers),
        "patches": patches,
    }
    write_json(Path(project) / "explore.json", facts)
    return {}


def _opened(answer: Any, project: str) -> tuple[dict[str, Any], Source, Settings]:
    """What identifies a result: this version and the settings as they are now; with the table and its settings."""
    asked = {"version": __version__, "asked": Project(Path(project)).settings_text}
    settings = replace(make_settings(Path(project) / "settings.toml"), series=False)
    Telling(answer)("reading", 0, 1)
    return asked, open_table(path_of(project), settings.reading), settings


class Patches:
    """Changes of a project's settings file that lead from its settings to others."""

    def __init__(self, project: str, source: Source, settings: Settings) -> None:
        self.project = Project(Path(project))
        self.columns = list(source.data.columns)
        self.before = json_ready(content_of(settings))

    def __call__(self, settings: Settings) -> list[dict[str, Any]]:
        """What is different, with its place in the file; the value None removes it."""
        found = list(_differences(self.before, json_ready(content_of(settings))))
        for own in found:
            section, name, entry = own["at"][0], own["at"][-1], own["value"]
            if section == "quasi_identifiers" and isinstance(entry, dict) and "rows" in entry:
                own["value"] = self._with_file(name, entry, settings)
        return found

    def _with_file(self, name: str, entry: dict[str, Any], settings: Settings) -> dict[str, Any]:
        """The entry of a new hierarchy, which becomes a file of the project."""
        tree, target = (
            settings.quasi_identifiers[name],
            self.project.new_tree(self.columns.index(name)),
        )
        assert isinstance(tree, Hierarchy)
        tree.save(self.project.folder / target, overwrite=True)
        return {**{key: own for key, own in entry.items() if key != "rows"}, "hierarchy": target}


def _differences(
    before: Mapping[str, Any], after: Mapping[str, Any], at: tuple[str, ...] = ()
) -> Iterator[dict[str, Any]]:
    """The smallest parts that differ; a column that has another model gets the whole entry of it."""
    for key in dict.fromkeys((*before, *after)):
        old, new, place = before.get(key), after.get(key), (*at, key)
        if old == new:
            continue
        is_column = at == ("quasi_identifiers",)
        if (
            isinstance(old, dict)
            and isinstance(new, dict)
            and not (is_column and _model(old) != _model(new))
        ):
            yield from _differences(old, new, place)
        else:
            yield {"at": list(place), "value": new}


def _model(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key != "weight"}
