"""The package as users see it: one list of names, an ordinary module, names that editors can complete."""

from __future__ import annotations

import ast
import pkgutil
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.util import find_spec
from inspect import isfunction
from pathlib import Path
from types import ModuleType
from typing import get_args
from unittest import mock

import pytest

import shoal
from shoal.solve.measures import MEASURES, MeasureName, ObjectiveName
from shoal.solve.measures.catalogue import objectives
from shoal.solve.methods import METHODS, MethodName

FUNCTIONS = {
    "advise",
    "anonymize",
    "audit",
    "classify",
    "evaluate",
    "list_hierarchies",
    "list_measures",
    "list_methods",
    "list_requirements",
    "loss",
    "read_release",
    "register",
    "suggest",
}


def names_for_type_checkers() -> list[tuple[str, str]]:
    """Home and name of everything that the package imports for type checkers."""
    tree = ast.parse(Path(shoal.__file__).read_text(encoding="utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    found = []
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        [name] = node.names
        assert name.asname == name.name  # what makes a type checker take it for public
        found.append((str(node.module), name.name))
    return found


def test_type_checkers_see_the_names_that_there_are() -> None:
    known = [(home, name) for home, names in shoal._HOMES.items() for name in names]
    assert sorted(names_for_type_checkers()) == sorted(
        [*known, ("shoal", "samples"), ("shoal.api", "extend"), ("shoal.api", "testing")]
    )
    assert sorted(shoal.__all__) == sorted(
        ["__version__", "extend", "samples", "testing", *(n for _, n in known)]
    )


def test_every_public_name_is_there_and_is_what_it_is_called() -> None:
    for name in shoal.__all__:
        found = getattr(shoal, name)
        if name not in ("__version__", "extend", "samples", "testing"):
            assert found.__name__ == name
            assert found.__doc__
    assert {name for name in shoal.__all__ if isfunction(getattr(shoal, name))} == FUNCTIONS


def test_no_public_name_is_also_that_of_a_module() -> None:
    modules = {module.name for module in pkgutil.iter_modules(shoal.__path__)}
    assert modules & set(shoal.__all__) == {"samples"}


ENGINES = {"shoal.data.engines.duckdb": "duckdb", "shoal.data.engines.spark": "pyspark"}


def test_importing_any_module_hides_no_public_name() -> None:
    for module in pkgutil.walk_packages(shoal.__path__, "shoal."):
        library = ENGINES.get(module.name)  # which does not go with the oldest versions of others
        if library is not None and find_spec(library) is None:
            continue
        if not module.name.endswith(("__main__", ".make_adult")):
            loaded = import_module(module.name)
            assert sys.modules[module.name] is loaded
    assert {name for name in shoal.__all__ if isfunction(getattr(shoal, name))} == FUNCTIONS
    import shoal.solve.methods as methods

    assert isinstance(methods, ModuleType)
    assert methods.METHODS is METHODS


def test_dir_shows_public_names_and_what_every_module_has() -> None:
    shown = dir(shoal)
    assert {*shoal.__all__, "__version__", "__doc__", "__path__", "__file__"} <= set(shown)
    assert not {"import_module", "TYPE_CHECKING", "annotations", "_HOMES"} & set(shown)
    assert shown == sorted(shown)


def test_names_can_be_replaced_and_come_back() -> None:
    before = shoal.anonymize
    with mock.patch("shoal.anonymize", return_value="patched"):
        assert shoal.anonymize("people.csv", k=2) == "patched"
    assert shoal.anonymize is before


def test_a_name_that_was_never_used_can_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "from unittest import mock; import shoal\n"
    code += "with mock.patch('shoal.audit') as audit: assert shoal.audit is audit\n"
    code += "assert shoal.audit.__name__ == 'audit'"
    subprocess.run([sys.executable, "-c", code], check=True)
    monkeypatch.setattr(shoal, "evaluate", None)
    assert shoal.evaluate is None


def test_an_unknown_name_is_refused_as_by_any_module() -> None:
    with pytest.raises(AttributeError, match="module 'shoal' has no attribute 'anonymise'"):
        shoal.anonymise  # noqa: B018
    with pytest.raises(ImportError):
        from shoal import anonymise  # noqa: F401


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert shoal.__version__ == project["project"]["version"]


def test_editors_complete_the_names_that_there_are() -> None:
    assert get_args(MethodName) == tuple(METHODS) == tuple(shoal.list_methods())
    assert list(get_args(ObjectiveName)) == objectives()
    measures = [name for part in get_args(MeasureName) for name in get_args(part)]
    assert sorted(measures) == sorted(MEASURES)


def test_errors_are_caught_by_what_they_are() -> None:
    """A failed audit or a cancelled run is no wrong value, and must not be taken for one."""
    assert issubclass(shoal.InputError, ValueError)
    for error in (shoal.ShoalError, shoal.AuditFailed, shoal.Infeasible, shoal.Cancelled):
        assert not issubclass(error, ValueError)
    for error in (shoal.InputError, shoal.AuditFailed, shoal.Infeasible, shoal.Cancelled):
        assert issubclass(error, shoal.ShoalError)
