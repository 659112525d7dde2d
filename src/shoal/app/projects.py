"""Projects: one folder each, with the table or its path, the settings as TOML, earlier settings and all runs."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import time
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from shoal import __version__
from shoal.atomic import create_private, make_private_folder


def read_toml_file(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def toml_text(content: Mapping[str, Any]) -> str:
    import tomli_w

    return tomli_w.dumps(content)


def write_toml_file(path: Path, content: Mapping[str, Any]) -> None:
    write_text_file(path, toml_text(content))


def read_json(path: Path) -> Any:
    """The content of a JSON file, None if it is missing or broken."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def write_json(path: Path, content: Any) -> None:
    write_text_file(path, json.dumps(content, ensure_ascii=False))


def write_text_file(path: Path, text: str) -> None:
    """Write a text under another name first, so that a crash leaves the old file intact."""
    name = path.with_name(f".{secrets.token_hex(8)}")
    try:
        with os.fdopen(create_private(name), "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        name.replace(path)
    except BaseException:
        name.unlink(missing_ok=True)
        raise


OWN_KEY = "pseudonyms.key"  # the file of a project's own key, which is never downloaded
MOST_UNDO = 50  # changes that can be undone
_ID = re.compile(r"[0-9a-f]{12}")
_RUN = re.compile(r"[1-9][0-9]{0,4}")
_UNSAFE = re.compile(r"[^\w.\- ]")
FORMATS = {
    "csv": ("release.csv", "text/csv; charset=utf-8"),
    "parquet": ("release.parquet", "application/vnd.apache.parquet"),
    "xlsx": ("release.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    "toml": ("release.toml", "application/toml; charset=utf-8"),
    "report": ("report.html", "text/html; charset=utf-8"),
}


class Project:
    """A table that is being anonymized."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.id = folder.name

    @property
    def facts(self) -> dict[str, Any]:
        return read_toml_file(self.folder / "project.toml")

    @property
    def table(self) -> Path:
        return Path(self.facts["table"])

    @property
    def name(self) -> str:
        return str(self.facts["name"])

    @property
    def note(self) -> str:
        return str(self.facts.get("note", ""))

    @property
    def is_check(self) -> bool:
        """Whether its table is a finished release to be checked."""
        return bool(self.facts.get("is_check"))

    def has(self, text: str) -> bool:
        """Whether the name, the note or the name of the file contains a text, in any case."""
        told = "\n".join((self.name, self.note, self.table.name))
        return text.casefold() in told.casefold()

    @property
    def created(self) -> float:
        return float(self.facts["created"])

    @property
    def changed(self) -> float:
        """When the settings or runs of the project were last changed, in seconds since 1970."""
        names = ("project.toml", "settings.toml", "runs", "check.json")
        paths = [self.folder / name for name in names]
        return max(path.stat().st_mtime for path in paths if path.exists())

    def note_facts(self, **facts: Any) -> None:
        """Change facts of the project, such as its name."""
        write_toml_file(self.folder / "project.toml", {**self.facts, **facts})

    @property
    def waiting(self) -> dict[str, Any]:
        """The file of a new month that is not used yet, and what is new in it; empty if there is none."""
        return read_json(self.folder / "month.json") or {}

    def offer(self, table: Path, upload: bool = False) -> None:
        """Let a file wait as that of a new month; the folder of an uploaded one is moved into the project."""
        self.discard()
        where = ""
        if upload:
            make_private_folder(self.folder / "months")
            where = f"months/{secrets.token_hex(4)}"
            table.parent.replace(self.folder / where)
            table = self.folder / where / table.name
        write_json(self.folder / "month.json", {"table": str(table), "folder": where})

    def discard(self) -> None:
        """Forget the file that waits, and delete it if it was uploaded."""
        if where := self.waiting.get("folder"):
            shutil.rmtree(self.folder / where, ignore_errors=True)
        (self.folder / "month.json").unlink(missing_ok=True)

    def use_waiting(self) -> None:
        """Make the waiting file the table of the project. The earlier file and its runs stay."""
        self.note_facts(table=self.waiting["table"])
        for name in ("month.json", "look.json", "advice.json", "explore.json"):
            (self.folder / name).unlink(missing_ok=True)

    @property
    def look(self) -> dict[str, Any] | None:
        """What is known of the table; None until this version of shoal has read it."""
        found: dict[str, Any] | None = read_json(self.folder / "look.json")
        return found if found and found["version"] == __version__ else None

    @property
    def sheets(self) -> list[str]:
        """The sheets of a workbook, known as soon as reading begins; empty for other files."""
        return read_json(self.folder / "sheets.json") or []

    @property
    def settings(self) -> dict[str, Any]:
        path = self.folder / "settings.toml"
        return read_toml_file(path) if path.exists() else {}

    @property
    def settings_text(self) -> str:
        return toml_text(self.settings)

    def change(self, settings: dict[str, Any], is_same_step: bool = False) -> bool:
        """Save new settings, and the old ones for `undo`; False if nothing changed.

        A change in the same step as the last one is undone together with it.
        """
        before = self.settings
        if settings == before:
            return False
        if not is_same_step:
            self._remember(before)
        shutil.rmtree(self.folder / "redo", ignore_errors=True)
        write_toml_file(self.folder / "settings.toml", settings)
        return True

    def _remember(self, before: dict[str, Any]) -> None:
        """Save settings for `undo`, and forget the oldest."""
        steps = self._steps()
        number = int(steps[-1].stem) + 1 if steps else 1
        make_private_folder(self.folder / "undo")
        write_toml_file(self.folder / "undo" / f"{number:06}.toml", before)
        for old in steps[: max(0, len(steps) + 1 - MOST_UNDO)]:
            old.unlink()

    def undo(self) -> bool:
        """Undo the last change; returns whether there was one."""
        return self._step("undo", "redo")

    def redo(self) -> bool:
        """Make the last change again that was undone; returns whether there was one."""
        return self._step("redo", "undo")

    def _step(self, source: str, target: str) -> bool:
        """Use the newest settings of one folder, and put the present ones into the other."""
        steps, others = self._steps(source), self._steps(target)
        if not steps:
            return False
        number = int(others[-1].stem) + 1 if others else 1
        make_private_folder(self.folder / target)
        write_toml_file(self.folder / target / f"{number:06}.toml", self.settings)
        steps[-1].replace(self.folder / "settings.toml")
        return True

    @property
    def undo_name(self) -> str:
        """What `undo` would undo, in words; empty if there is nothing."""
        return self._name("undo")

    @property
    def redo_name(self) -> str:
        """What `redo` would change, in words; empty if there is nothing."""
        return self._name("redo")

    def _name(self, source: str) -> str:
        from shoal.app.history import change_in_words  # needs the forms, which need projects

        steps = self._steps(source)
        if not steps:
            return ""
        return change_in_words(read_toml_file(steps[-1]), self.settings) or "the last change"

    @property
    def changes(self) -> int:
        """How many changes can be undone."""
        return len(self._steps())

    def _steps(self, source: str = "undo") -> list[Path]:
        return sorted((self.folder / source).glob("*.toml"))

    @property
    def own_key(self) -> Path:
        """The path of the project's own key, which is deleted with the project."""
        return self.folder / OWN_KEY

    def new_tree(self, column: int) -> str:
        """The name of a new file for a column's hierarchy, relative to the project; old ones stay for `undo`."""
        make_private_folder(self.folder / "trees")
        return f"trees/{column}-{secrets.token_hex(4)}.csv"

    def needs_later(self, tree: str) -> bool:
        """Whether the file of a hierarchy is needed by `undo`, `redo` or a run."""
        paths = [
            *self._steps("undo"),
            *self._steps("redo"),
            *self.folder.glob("runs/*/settings.toml"),
        ]
        return any(tree in path.read_text(encoding="utf-8") for path in paths)

    def run_folder(self, run: str) -> Path:
        if not _RUN.fullmatch(run):
            raise KeyError(run)
        return self.folder / "runs" / run

    def new_run(self) -> str:
        """Make the folder of a run with the current settings; returns its number."""
        numbers = [int(path.name) for path in (self.folder / "runs").glob("[0-9]*")]
        run = str(max(numbers, default=0) + 1)
        for folder in (self.folder / "runs", self.run_folder(run)):
            make_private_folder(folder)
        settings = _with_paths(self.settings, lambda path: f"../../{path}")
        write_toml_file(self.run_folder(run) / "settings.toml", settings)
        write_json(
            self.run_folder(run) / "run.json",
            {"status": "running", "at": time.time(), "table": str(self.table)},
        )
        return run

    def copy_run(self, run: str) -> None:
        """Use the settings of a run for the project."""
        settings = read_toml_file(self.run_folder(run) / "settings.toml")
        self.change(_with_paths(settings, lambda path: path.removeprefix("../../")))

    def note_run(self, run: str, **facts: Any) -> None:
        """Add facts to a run, unless it has been deleted."""
        path = self.run_folder(run) / "run.json"
        if path.exists():
            write_json(path, {**(read_json(path) or {}), **facts})

    def delete_run(self, run: str) -> None:
        shutil.rmtree(self.run_folder(run), ignore_errors=True)

    def runs(self) -> list[dict[str, Any]]:
        """All runs, newest first: what is known of each, and its settings."""
        found = []
        for folder in (self.folder / "runs").glob("[0-9]*"):
            facts = read_json(folder / "run.json")
            if facts is not None:
                settings = read_toml_file(folder / "settings.toml")
                found.append({**facts, "number": folder.name, "settings": settings})
        return sorted(found, key=lambda run: -int(run["number"]))

    def run(self, number: str) -> dict[str, Any]:
        """One run as `runs` lists it, empty if it does not exist."""
        return next((run for run in self.runs() if run["number"] == number), {})

    def file_of(self, run: str, format: str) -> tuple[Path, str] | None:
        """A file of a run and its media type, None if it does not exist."""
        if format not in FORMATS:
            return None
        name, kind = FORMATS[format]
        path = self.run_folder(run) / name
        return (path, kind) if path.is_file() else None

    def delete(self) -> None:
        """Delete the folder and everything in it; a table outside the folder stays."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _with_paths(settings: dict[str, Any], seen: Callable[[str], str]) -> dict[str, Any]:
    """Settings in which the paths of the project's files are relative to another folder."""
    for entry in settings.get("quasi_identifiers", {}).values():
        if "hierarchy" in entry:
            entry["hierarchy"] = seen(entry["hierarchy"])
    columns = settings.get("columns", {})
    if "key_file" in columns and not Path(columns["key_file"]).is_absolute():
        columns["key_file"] = seen(columns["key_file"])
    return settings


class Projects:
    """The folder of all projects."""

    def __init__(self, root: Path) -> None:
        self.root = root
        make_private_folder(root)
        for folder in root.glob("incoming-*"):  # uploads interrupted by a crash
            shutil.rmtree(folder, ignore_errors=True)

    def all(self) -> list[Project]:
        """All projects, the one changed last first."""
        found = [path for path in self.root.iterdir() if _ID.fullmatch(path.name)]
        found = [path for path in found if (path / "project.toml").exists()]
        return sorted(map(Project, found), key=lambda project: -project.changed)

    def get(self, name: str) -> Project:
        """A project by its id; `KeyError` if it does not exist."""
        folder = self.root / name
        if not _ID.fullmatch(name) or not (folder / "project.toml").exists():
            raise KeyError(name)
        return Project(folder)

    def new(self, table: Path, name: str, **facts: Any) -> Project:
        """A project for a table, which stays where it is."""
        folder = self.root / secrets.token_hex(6)
        make_private_folder(folder)
        content = {"name": name, "table": str(table), "created": time.time(), **facts}
        write_toml_file(folder / "project.toml", content)
        return Project(folder)

    def incoming(self) -> Path:
        """A new folder for a file that is being uploaded."""
        folder = self.root / f"incoming-{secrets.token_hex(6)}"
        make_private_folder(folder)
        return folder

    def adopt(self, upload: Path) -> Project:
        """A project for an uploaded file, which is moved into its folder."""
        project = self.new(upload, upload.name, is_upload=True)
        folder = project.folder / "upload"
        upload.parent.replace(folder)
        project.note_facts(table=str(folder / upload.name))
        return project


def safe_name(name: str) -> str:
    """The name of an uploaded file without folders or unsafe characters."""
    last = re.split(r"[\\/]", name)[-1]
    plain = _UNSAFE.sub("_", last).lstrip(".").strip()
    return plain[-100:] or "table"
