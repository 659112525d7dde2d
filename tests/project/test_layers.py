"""Imports inside the package point down only, so that a reader can stop at any room."""

from __future__ import annotations

import ast
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "shoal"
ORDER: tuple[str, ...] = runpy.run_path(str(ROOT / "tools" / "make_map.py"))["ORDER"]
FROM_ANYWHERE_BUT_KERNELS = ("errors", "progress")


def room_of(path: Path, package: Path) -> str:
    return path.relative_to(package).parts[0].removesuffix(".py")


def imported_modules(path: Path, package: Path) -> Iterator[tuple[int, str]]:
    """Yield line and absolute dotted name of everything a file imports, at any depth of its code."""
    folders = ["shoal", *path.parent.relative_to(package).parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names):
                for name in names:
                    yield node.lineno, name.name
            case ast.ImportFrom(module, names, level):
                above = folders[: len(folders) - level + 1] if level else []
                base = ".".join([*above, *([module] if module else [])])
                for name in names:
                    yield node.lineno, f"{base}.{name.name}"
            case ast.Call(
                func=ast.Name("import_module" | "__import__") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(str(name)), *_],
            ):
                yield node.lineno, name


def imported_rooms(path: Path, package: Path) -> Iterator[tuple[int, str]]:
    """Yield line and room of each import of the package by one of its files."""
    for line, module in imported_modules(path, package):
        top, _, rest = module.partition(".")
        if top == "shoal":
            name = rest.partition(".")[0]
            if name == "__version__" and room_of(path, package) != "kernels":
                continue
            is_room = (package / name).is_dir() or (package / f"{name}.py").is_file()
            known = is_room or name in ORDER
            yield line, name if name and known else "shoal"


def may_import(room: str, other: str) -> bool:
    if room == other:
        return True
    if other in FROM_ANYWHERE_BUT_KERNELS:
        return room != "kernels"
    return ORDER.index(room) < ORDER.index(other)


def faults(package: Path) -> list[str]:
    """List every unknown room and every import that points up."""
    found = []
    for path in sorted(package.rglob("*.py")):
        room, place = room_of(path, package), path.relative_to(package.parent)
        if room == "__init__":
            continue
        if room not in ORDER:
            found.append(f"{place}: add the room '{room}' to ORDER in tools/make_map.py")
            continue
        for line, other in imported_rooms(path, package):
            if other not in ORDER:
                found.append(f"{place}:{line}: '{other}' is not in ORDER; add it")
            elif not may_import(room, other):
                found.append(f"{place}:{line}: {room} imports {other}, which is above it")
    return found


def test_imports_point_down_only() -> None:
    assert list(PACKAGE.rglob("*.py")), f"{PACKAGE} holds no modules"
    problems = faults(PACKAGE)
    assert not problems, "\n" + "\n".join(problems)


# What the map says that a room must not know, where the order alone would let it.
HIDDEN = {
    "app": ("shoal.encoding.frames", "shoal.kernels", "narwhals", "pyarrow"),  # but for its workers
    "assess": ("shoal.data", "shoal.solve.methods"),
    "encoding": ("shoal.kernels", "numba"),
    "reuse": ("shoal.solve",),
    "settings": ("shoal.data", "pyarrow"),
    "solve": ("narwhals", "pyarrow"),
    "suggestions": ("shoal.pipeline", "shoal.solve"),
}


@pytest.mark.parametrize("room", HIDDEN)
def test_a_room_does_not_know_what_the_map_hides_from_it(room: str) -> None:
    paths = [path for path in (PACKAGE / room).rglob("*.py") if path.parent.name != "worker"]
    known = [name for path in paths for _, name in imported_modules(path, PACKAGE)]
    assert known
    hidden = tuple(f"{name}." for name in HIDDEN[room])
    assert [name for name in known if f"{name}.".startswith(hidden)] == []


MAKERS = ("solve", "encoding", "kernels")


def test_the_audit_imports_nothing_of_the_package_but_its_errors() -> None:
    assert rooms_imported_by("audits", PACKAGE) == {"audits", "errors"}
    assert rooms_imported_by("errors", PACKAGE) == set()


def test_what_makes_a_release_imports_nothing_of_the_audit_but_what_is_required() -> None:
    for path in (path for room in MAKERS for path in (PACKAGE / room).rglob("*.py")):
        found = [name for _, name in imported_modules(path, PACKAGE) if "shoal.audits" in name]
        assert all(name.startswith("shoal.audits.requirements") for name in found), path


def test_the_audit_loads_nothing_of_the_package_but_its_errors() -> None:
    """Asked of Python itself, for imports that no reading of the files finds."""
    found = sorted((PACKAGE / "audits").rglob("*.py"))
    names = [".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in found]
    names = [name.removesuffix(".__init__") for name in names]
    code = (
        "import importlib, sys\n"
        f"for name in {names}: importlib.import_module(name)\n"
        "print(*sorted(name for name in sys.modules if name.partition('.')[0] in ('shoal', 'numba')))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert loaded == sorted(["shoal", "shoal.errors", *names])


def rooms_imported_by(room: str, package: Path) -> set[str]:
    paths = sorted((package / room).rglob("*.py")) or [package / f"{room}.py"]
    return {other for path in paths for _, other in imported_rooms(path, package)}


@pytest.mark.parametrize(
    "code", ["from shoal.encoding.encode import encode", "import shoal.kernels.shared.rules"]
)
def test_an_import_of_the_audit_is_found(tmp_path: Path, code: str) -> None:
    package = made_package(tmp_path, "audits/deep/texts.py", f"def late():\n    {code}")
    (package / "encoding").mkdir()
    (package / "kernels").mkdir()
    assert rooms_imported_by("audits", package) & {"encoding", "kernels"}


@pytest.mark.parametrize(
    ("place", "code"),
    [
        ("kernels/shared/forms.py", "from shoal.errors import ShoalError"),
        ("kernels/shared/forms.py", "from shoal import __version__"),
        ("kernels/shared/forms.py", "import shoal"),
        ("encoding/other_columns.py", "from shoal.solve.methods.cover import cover"),
        ("encoding/other_columns.py", "from ..solve import cover"),
        ("encoding/__init__.py", "from ..solve import cover"),
        ("encoding/other_columns.py", "from .. import solve"),
        ("encoding/other_columns.py", "from shoal import Interval"),
        ("encoding/other_columns.py", "import shoal.solve.methods.cover as cover"),
        ("encoding/other_columns.py", "def late():\n    from shoal import solve"),
        (
            "encoding/other_columns.py",
            "import importlib\nimportlib.import_module('shoal.solve.methods')",
        ),
        ("progress.py", "from .api import anonymize"),
        ("attic.py", ""),
        ("attic/old.py", ""),
    ],
)
def test_a_wrong_import_or_an_unknown_room_is_found(tmp_path: Path, place: str, code: str) -> None:
    assert len(faults(made_package(tmp_path, place, code))) == 1


@pytest.mark.parametrize(
    ("place", "code"),
    [
        ("__init__.py", "from shoal.cli import main"),
        ("__main__.py", "from shoal.cli import main"),
        ("cli/main.py", "import shoal\nfrom shoal import Interval, anonymize"),
        ("errors.py", "from shoal.progress import Progress"),
        (
            "kernels/shared/forms.py",
            "import numba\nfrom . import groups\nfrom .groups import members",
        ),
        ("encoding/other_columns.py", "from shoal import errors, __version__\nfrom . import nulls"),
        ("encoding/other_columns.py", "from ..kernels.forms import TREE\nfrom .nulls import NULL"),
        ("encoding/__init__.py", "from .roles import Role"),
        ("sklearn.py", "from .encoding import roles\nimport shoaling.cli"),
    ],
)
def test_an_import_that_points_down_is_not_a_fault(tmp_path: Path, place: str, code: str) -> None:
    assert faults(made_package(tmp_path, place, code)) == []


def made_package(folder: Path, place: str, code: str) -> Path:
    package = folder / "shoal"
    path = package / place
    path.parent.mkdir(parents=True)
    path.write_text(code, encoding="utf-8")
    return package
