"""Users' own methods, models, measures and requirements are used by name, stored by import path and audited."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.settings import registry

# A module of the user's own, which a settings file names.
MODULE = '''
from dataclasses import dataclass
import numpy as np
import shoal

@shoal.register
@dataclass(frozen=True)
class Halves(shoal.Mondrian):
    turns: int = 3
    name = "halves"
    summary = "Mondrian, by another name"

@dataclass(frozen=True)
class InOrder(shoal.extend.Method):
    """Groups of k records in their order."""
    name = "in_order"
    summary = "records in their order"
    recoding = "local"

    def partition(self, problem, seed, progress):
        records = problem.table.records
        groups = np.minimum(np.arange(records) // problem.k, records // problem.k - 1)
        return shoal.extend.Partition(groups.astype(np.int32))

@shoal.register
@dataclass(frozen=True, repr=False)
class Initial(shoal.extend.Model):
    """Names become their first letters."""
    mark: str = "…"
    name = "initial"
    proper = True

    def may_become(self, value):
        return [f"{value[0]}{self.mark}"]

    def covers(self, released, value):
        return released.endswith(self.mark) and value.startswith(released.removesuffix(self.mark))

@shoal.register
@dataclass(frozen=True)
class Mixed(shoal.extend.Requirement):
    """At least `least` values, none of which has most of a group."""
    least: int
    name = "mixed"
    summary = "several values, none of which most records of a group have"

    @property
    def required(self):
        return float(self.least)

    def levels(self, counts, labels, shares, heads=None):
        size = counts.sum(axis=1) if heads is None else heads
        return np.where(2 * counts.max(axis=1) > size, 0.0, (counts > 0).sum(axis=1))

    def limits(self, labels):
        return {"distinct": self.least, "cap": 0.5}

    def describe(self, column):
        return f"a mix of {self.least} values of '{column}'"

    def remedy(self, column, table, reached):
        return f"it reaches {reached:.0f}; choose 'least' of at most that"

@shoal.register(measure="additive", meaning="cells that are not released as they are, twice")
def twice(form, counts):
    return shoal.extend.Feature(2.0 * (form.leaf_counts > 1))

@shoal.register(measure="whole", meaning="groups")
def groups(closed, k):
    return float(closed.sizes.size)
'''
NAMES = ["Ann", "Amy", "Bob", "Ben", "Abe", "Alf", "Bea", "Bud"]
TABLE = pa.table({"name": NAMES, "ill": list("uvuvuvuv")})


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module that can be imported, and has been."""
    (tmp_path / "own_things.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_things", raising=False)
    import own_things  # type: ignore[import-not-found]

    monkeypatch.setitem(sys.modules, "own_things", own_things)
    return own_things


def released(own: Any, **changed: Any) -> shoal.Release[Any]:
    options: dict[str, Any] = {
        "quasi_identifiers": {"name": own.Initial()},
        "sensitive": ["ill"],
        "k": 2,
        "requirements": [own.Mixed(2)],
        "objective": "twice",
        "method": "halves",
    }
    return shoal.anonymize(TABLE, **{**options, **changed})


def test_registered_things_are_listed_and_used_by_name(own: Any) -> None:
    assert shoal.list_methods()["halves"] == "Mondrian, by another name"  # type: ignore[index]
    assert "mixed" in shoal.list_requirements()
    assert {"twice", "groups"} <= set(shoal.list_measures())
    release = released(own)
    assert release.settings.method == own.Halves()
    assert set(release.data["name"].to_pylist()) == {"A…", "B…"}
    assert release.loss("twice") == release.loss() == 2.0
    assert release.loss("groups") == len(set(release.groups))
    assert release.audit.proofs[0].reached == 2


def test_settings_store_import_paths_and_load_them_in_another_program(
    own: Any, tmp_path: Path
) -> None:
    release = released(own, method=own.InOrder(), refine=False)
    path = tmp_path / "own.toml"
    release.settings.save(path)
    text = path.read_text(encoding="utf-8")
    for stored in ("InOrder", "Initial", "Mixed", "twice"):
        assert f'"own_things:{stored}"' in text
    release.save(tmp_path / "release.csv")
    code = (
        "import shoal; settings = shoal.Settings.load('own.toml'); "
        "assert settings.method.name == 'in_order' and settings.objective == 'twice'; "
        "assert settings == shoal.Settings.from_dict(settings.to_dict()); "
        "assert shoal.audit('release.csv', settings='own.toml').verdict.is_proved"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


@pytest.mark.usefixtures("own")
def test_the_command_line_takes_names_and_import_paths(
    shell: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("name,ill\nAnn,u\nAmy,v\nBob,u\nBen,v\n", encoding="utf-8")
    made = ("anonymize", "people.csv", "-s", "ill", "-k", 2, "--objective", "own_things:twice")
    options = ("-q", r"name:own_things\:Initial:mark=~", "--method", "own_things:InOrder")
    required = ("--require", r"own_things\:Mixed:least=2")
    code, _, said = shell(*made, *options, *required, "-o", "a.csv", "--save-settings", "a.toml")
    assert (code, said) == (0, said)
    assert set(Path("a.csv").read_text(encoding="utf-8").split()) <= {
        "name,ill",
        *(f"{name}~,{ill}" for name in "AB" for ill in "uv"),
    }
    assert shell("audit", "a.csv", "--settings", "a.toml")[0] == 0
    named = ("-q", "name:initial", "--method", "in_order", "--require", "mixed:least=2")
    assert shell(*made, *named, "-o", "b.csv")[0] == 0


def test_the_audit_reads_the_texts_of_a_users_model(own: Any) -> None:
    @dataclass(frozen=True, repr=False)
    class Wrong(own.Initial):  # type: ignore[misc]
        name = "wrong"

        def covers(self, released: str, value: str) -> bool:
            return False

    options = {"method": "non_homogeneous", "requirements": [], "objective": "lm"}
    assert "A…" in released(own, **options).data["name"].to_pylist()
    with pytest.raises(shoal.AuditFailed):
        released(own, quasi_identifiers={"name": Wrong()}, **options)


def test_limits_that_ask_for_too_little_never_pass_the_audit() -> None:
    @shoal.register
    @dataclass(frozen=True)
    class Careless(shoal.LDiversity):
        """Asks for three values, and lets methods keep what `LDiversity` says."""

        name = "careless"

        def levels(self, counts: Any, labels: Any, shares: Any, heads: Any = None) -> Any:
            return np.where((counts > 0).sum(axis=1) >= 3, 9.0, 0.0)

    table = pa.table({"age": [1, 2, 3, 7, 8, 9], "ill": list("uvuvuw")})
    with pytest.raises(shoal.AuditFailed):
        shoal.anonymize(
            table,
            quasi_identifiers=["age"],
            sensitive=["ill"],
            k=3,
            requirements=[Careless(2, kind="distinct")],
        )


@dataclass(frozen=True)
class Halves(shoal.Mondrian):
    """A method that nobody registers."""

    turns: int = 3

    name = "unregistered_halves"


@dataclass(frozen=True)
class Mixed(shoal.LDiversity):
    """A requirement that nobody registers: diversity, and never fewer than three values."""

    name = "unregistered_mixed"

    def levels(self, counts: Any, labels: Any, shares: Any, heads: Any = None) -> Any:
        return np.where(
            (counts > 0).sum(axis=1) >= 3, super().levels(counts, labels, shares, heads), 0
        )


def test_an_object_of_a_class_that_is_not_registered_is_taken_and_loaded_again(
    tmp_path: Path,
) -> None:
    ills = list("uvwuvw")
    table = pa.table({"age": [1, 2, 3, 7, 8, 9], "ill": ills})
    options: Any = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "k": 3}
    release = shoal.anonymize(table, method=Halves(turns=5), requirements=[Mixed(2)], **options)
    path = tmp_path / "own.toml"
    release.settings.save(path)
    loaded = shoal.Settings.load(path)
    assert loaded.method == Halves(turns=5)
    assert loaded.requirements == (Mixed(2),)
    assert shoal.audit(release.data, settings=path).smallest >= 3
    few = pa.table({"age": ["*"] * 6, "ill": list("uvuvuv")})
    with pytest.raises(shoal.AuditFailed):
        shoal.audit(few, settings=path)


def test_what_is_the_users_own_needs_a_name_of_its_own() -> None:
    @dataclass(frozen=True)
    class Cover(shoal.Cover):
        pass

    @dataclass(frozen=True)
    class Diverse(shoal.LDiversity):
        pass

    with pytest.raises(shoal.InputError) as found:
        shoal.anonymize(
            pa.table({"age": [1, 2], "s": ["u", "v"]}),
            quasi_identifiers=["age"],
            k=2,
            method=Cover(),
            requirements=[Diverse(2)],
            sensitive=["s"],
        )
    sentences = str(found.value)
    assert "Class 'Cover' has the name 'cover', which belongs to shoal's own Cover" in sentences
    assert "Class 'Diverse' has the name 'diversity'" in sentences


def test_a_class_with_a_name_in_use_is_refused(own: Any) -> None:
    @dataclass(frozen=True)
    class Other(shoal.Mondrian):
        name = "halves"

    with pytest.raises(shoal.InputError, match="'halves', which belongs to own_things:Halves"):
        shoal.register(Other)
    assert shoal.register(own.Halves) is own.Halves  # again does no harm


class Plain(shoal.extend.Method):
    name = "plain"
    summary = "no dataclass"
    recoding = "local"

    def partition(self, *given: Any) -> Any: ...


@dataclass(frozen=True)
class Unnamed(shoal.extend.Method):
    def partition(self, *given: Any) -> Any: ...


@dataclass(frozen=True, repr=False)
class Unread(shoal.extend.Model):
    name = "unread"


@dataclass(frozen=True)
class Unkept(shoal.extend.Requirement):
    name = "unkept"
    summary = "something that no method keeps"
    required = 1.0

    def levels(self, *given: Any) -> Any: ...
    def describe(self, column: str) -> str:
        return ""

    def remedy(self, *given: Any) -> str:
        return ""


@dataclass(frozen=True)
class Unfinished(shoal.extend.Requirement):
    name = "unfinished"
    summary = "nothing yet"

    def limits(self, labels: Sequence[str | None]) -> Mapping[str, Any]:
        return {}


@pytest.mark.parametrize(
    ("thing", "sentence"),
    [
        (Plain, "Class 'Plain' must be a dataclass. Decorate it with @dataclass(frozen=True)."),
        (Unnamed, "Class 'Unnamed' needs a 'name' of letters, digits, _ and -. Give it one."),
        (Unnamed, "Class 'Unnamed' has no 'summary'. Add one, as in shoal's own classes."),
        (Unread, "The audit cannot read what model 'Unread' releases. Add 'covers', which"),
        (Unkept, "Methods cannot meet requirement 'Unkept'. Add 'limits', or derive"),
        (Unfinished, "Class 'Unfinished' does not define describe, levels, remedy, required."),
        (int, "Only classes derived from shoal.extend.Method, Model or Requirement"),
        (len, "Only classes derived from shoal.extend.Method, Model or Requirement"),
    ],
)
def test_what_cannot_be_used_or_proved_is_refused_in_a_sentence(thing: Any, sentence: str) -> None:
    with pytest.raises(shoal.InputError) as found:
        shoal.register(thing)
    assert sentence in str(found.value)


def test_a_measure_needs_a_meaning_and_a_name_of_its_own() -> None:
    def lm(form: Any, counts: Any) -> Any: ...

    with pytest.raises(shoal.InputError) as found:
        shoal.register(measure="additive", meaning="")(lm)
    assert "Measure 'lm' needs a 'meaning'" in str(found.value)
    assert "There is already a measure 'lm'" in str(found.value)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "no_such_module_at_all:Thing",
            "cannot be imported. Install its package, or run shoal in a folder where",
        ),
        ("own_things:Nothing", "'own_things:Nothing' is not a method that shoal can use"),
        ("own_things:Mixed", "'own_things:Mixed' is not a method that shoal can use"),
        ("os:system", "'os:system' is not a method that shoal can use"),
        (
            "broken_things:Thing",
            "Module 'broken_things' fails when it is imported (ValueError). Import it in Python to see why.",
        ),
    ],
)
@pytest.mark.usefixtures("own")
def test_a_path_that_leads_to_nothing_usable_is_refused(
    name: str, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "broken_things.py").write_text("raise ValueError('secret')", encoding="utf-8")
    path = tmp_path / "own.toml"
    path.write_text(f'[method]\nname = "{name}"\n[requirement]\nk = 2\n', encoding="utf-8")
    with pytest.raises(shoal.InputError) as found:
        shoal.Settings.load(path)
    assert sentence in str(found.value)
    assert "secret" not in str(found.value)


def test_where_imports_are_refused_settings_run_no_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "touching.py").write_text("open('touched', 'w')", encoding="utf-8")
    path = tmp_path / "own.toml"
    entries = '[method]\nname = "touching:A"\n[objective]\nmeasure = "touching:B"\n'
    entries += '[quasi_identifiers.age]\nmodel = "touching:C"\n'
    entries += '[columns.coarsen.pay]\nmodel = "touching:E"\n'
    entries += '[requirement]\nk = 2\n[[requirement."touching:D"]]\nl = 2\n'
    path.write_text(entries, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(registry._imports, "allowed", False)
    with pytest.raises(shoal.InputError) as found:
        shoal.Settings.load(path)
    assert str(found.value).count("is code outside of shoal, which does not run here") == 4
    assert not Path("touched").exists()


def test_a_worker_of_the_app_refuses_imports(tmp_path: Path) -> None:
    code = (
        "import io, sys; sys.stdin = io.StringIO(); "
        "from shoal.app.worker import __main__ as worker; "
        "from shoal.settings import registry; worker._refuse_imports(); "
        "assert registry._imports == {'allowed': False}"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


def test_an_unknown_method_of_a_file_may_be_one_that_is_not_imported_yet(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text('[method]\nname = "elsewhere"\n[requirement]\nk = 2\n', encoding="utf-8")
    with pytest.raises(shoal.InputError, match="if it is your own method, import its module first"):
        shoal.Settings.load(path)
