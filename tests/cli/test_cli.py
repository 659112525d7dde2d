"""Every command does what it says; nothing is written before the audit, and nothing half."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from compiled import needs_jit

import shoal
from shoal import AuditFailed, cli, samples
from shoal.data.files import table_file
from shoal.data.files.table_file import read_file
from shoal.data.open import open_table
from shoal.pipeline.carriers.memory import Memory
from shoal.pipeline.plan import estimate_run, prepare
from shoal.settings.settings import make_settings
from shoal.solve.methods import METHODS, Cover, Partition

COMMANDS = [
    "anonymize",
    "advise",
    "apply",
    "audit",
    "evaluate",
    "init",
    "hierarchy",
    "demo",
    "app",
    "compile",
    "doctor",
    "key",
    "methods",
    "requirements",
    "measures",
    "hierarchies",
]
ROLES = ("-q", "age", "-q", "zip:hierarchy:zip.csv", "-q", "sex", "-s", "ill", "-i", "name")
TREE = "02139,East,*\n02140,East,*\n10001,West,*\n"
Shell = Callable[..., tuple[int, str, str]]


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pa.Table:
    """A table and a hierarchy in the working directory."""
    monkeypatch.chdir(tmp_path)
    table = pa.table(
        {
            "name": [f"p{i}" for i in range(60)],
            "age": [20 + 7 * i % 31 for i in range(60)],
            "zip": [["02139", "02140", "10001"][i % 3] for i in range(60)],
            "sex": ["f" if i % 4 < 2 else "m" for i in range(60)],
            "ill": ["abc"[i % 7 % 3] for i in range(60)],
        }
    )
    table_file.write_file(table, "people.csv")
    Path("zip.csv").write_text(TREE)
    return table


def smallest_group(path: str | Path, *columns: str) -> int:
    """Records in the smallest group of a file, counted the plain way."""
    table = read_file(path).select(columns).to_pylist()
    return min(Counter(tuple(record.values()) for record in table).values())


def same_records(*paths: str) -> bool:
    """Whether two files hold the same records, in any order."""
    first, second = (sorted(map(str, read_file(path).to_pylist())) for path in paths)
    return first == second


def test_anonymize_writes_a_release(shell: Shell, people: pa.Table) -> None:
    code, out, err = shell("anonymize", "people.csv", *ROLES, "-k", 5, "-o", "release.csv")
    assert (code, err) == (0, "")
    assert "looks the same as at least 4 others" in out
    release = read_file("release.csv")
    assert release.column_names == ["age", "zip", "sex", "ill"]
    assert smallest_group("release.csv", "age", "zip", "sex") >= 5
    assert Counter(release["ill"].to_pylist()) == Counter(people["ill"].to_pylist())
    assert set(release["zip"].to_pylist()) <= {"02139", "02140", "10001", "East", "West", "*"}


def test_settings_and_flags_make_the_same_release(shell: Shell, people: pa.Table) -> None:
    Path("job.toml").write_text(
        '[columns]\nidentifiers = ["name"]\nsensitive = ["ill"]\n[quasi_identifiers.age]\n'
        '[quasi_identifiers.zip]\nmodel = "hierarchy"\nhierarchy = "zip.csv"\n'
        "[quasi_identifiers.sex]\n[requirement]\nk = 5\n"
    )
    assert shell("anonymize", "people.csv", *ROLES, "-k", 5, "-o", "by-flags.csv")[0] == 0
    assert shell("anonymize", "people.csv", "--settings", "job.toml", "-o", "by-file.csv")[0] == 0
    by_flags, by_file = Path("by-flags.csv").read_text(), Path("by-file.csv").read_text()
    assert sorted(by_flags.splitlines()) == sorted(by_file.splitlines())


def test_flags_replace_what_the_settings_say(shell: Shell, people: pa.Table) -> None:
    run = ("anonymize", "people.csv")
    assert (
        shell(*run, *ROLES, "-k", 5, "--keep-order", "-o", "a.csv", "--save-settings", "a.toml")[0]
        == 0
    )
    flags = (
        "-k",
        20,
        "-q",
        "age",
        "--weight",
        "age=2",
        "--method",
        "mondrian",
        "--shuffle",
        "-x",
        "zip",
        "-x",
        "sex",
    )
    code, out, _ = shell(*run, "--settings", "a.toml", *flags, "-o", "b.csv", "--json")
    assert code == 0
    facts = json.loads(out)
    assert facts["method"] == "mondrian"
    assert list(facts["column_losses"]) == ["age"]
    assert smallest_group("b.csv", "age") >= 20
    before = people.select(["zip", "sex", "ill"]).to_pylist()
    after = read_file("b.csv").select(["zip", "sex", "ill"]).to_pylist()
    assert after != before
    assert sorted(map(str, after)) == sorted(map(str, before))


def test_quiet_says_nothing(shell: Shell, people: pa.Table) -> None:
    run = ("anonymize", "people.csv", *ROLES, "-k", 5, "-o", "release.csv", "--quiet")
    assert shell(*run) == (0, "", "")
    assert Path("release.csv").exists()
    assert shell("audit", "release.csv", "-q", "age", "-k", 5, "--quiet") == (0, "", "")


def test_certify_says_how_near_the_optimum_the_loss_is(shell: Shell, people: pa.Table) -> None:
    run = ("anonymize", "people.csv", *ROLES, "-k", 5, "-o", "release.csv", "--overwrite")
    assert "certificate" not in shell(*run)[1]
    for seconds in (0, 0.2):
        code, out, err = shell(*run, "--certify", seconds)
        assert (code, err) == (0, "")
        assert re.search(r"^certificate +(at most \d\.\d+ times )?the optimum$", out, re.MULTILINE)
    facts = json.loads(shell(*run, "--certify", 0, "--json")[1])
    assert facts["certificate"]["ratio"] == pytest.approx(
        facts["loss"] / facts["certificate"]["bound"]
    )
    facts = json.loads(shell(*run, "--objective", "entropy", "--certify", 0, "--json")[1])
    assert facts["certificate"] is None
    assert "suppression or a hierarchy" in facts["certificate_reason"]
    out = shell(*run, "--objective", "entropy", "--certify", 0)[1]
    assert re.search(r"^certificate +none: costs may fall", out, re.MULTILINE)


def test_a_report_is_written_with_the_certificate_that_was_asked_for(
    shell: Shell, people: pa.Table
) -> None:
    run = ("anonymize", "people.csv", *ROLES, "-k", 4, "-o", "a.csv", "--report", "a.html")
    code, out, err = shell(*run)
    assert (code, err) == (0, "")
    assert re.search(r"^report +a.html", out, re.MULTILINE)
    assert "No certificate: it was not computed" in Path("a.html").read_text(encoding="utf-8")
    assert shell(*run, "--certify", 0, "--quiet", "--overwrite") == (0, "", "")
    assert re.search(r"he optimum\.<", Path("a.html").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("nowhere/a.html", "The folder 'nowhere' does not exist. Create it or choose another."),
        (".", "The output '.' is a folder. Name a file in it."),
        ("a.csv", "'a.csv' is named for two outputs. Name two different files."),
        (
            "people.csv",
            "'people.csv' is read by this command and would be lost. Name another output file.",
        ),
    ],
)
def test_a_report_that_cannot_be_written_is_refused_before_any_work(
    place: str, says: str, shell: Shell, people: pa.Table
) -> None:
    run = ("anonymize", "people.csv", *ROLES, "-k", 4, "-o", "a.csv", "--report", place)
    assert shell(*run) == (2, "", f"shoal: {says}\n")
    assert not Path("a.csv").exists()


def test_certify_wants_a_number_of_seconds(shell: Shell, people: pa.Table) -> None:
    run = ("anonymize", "people.csv", *ROLES, "-k", 5, "-o", "release.csv", "--certify", -1)
    code, out, err = shell(*run)
    assert (code, out) == (2, "")
    assert "--certify" in err
    assert not Path("release.csv").exists()


def test_loosen_is_said_with_its_cost(shell: Shell, people: pa.Table) -> None:
    run = ("anonymize", "people.csv", *ROLES, "-k", 5, "--overwrite", "-o", "release.csv")
    code, out, err = shell(*run, "--loosen", 0.3, "--save-settings", "job.toml")
    assert (code, err) == (0, "")
    assert "loosened     about 30 % of the generalized values, which costs about" in out
    assert smallest_group("release.csv", "age", "zip", "sex") >= 5
    facts = json.loads(shell(*run, "--settings", "job.toml", "--json")[1])
    assert facts["loosen"] == 0.3
    assert 0 <= facts["loosening_cost"] < facts["loss"]
    assert "loosen" not in shell(*run)[1]


def test_json_gives_the_facts(shell: Shell, people: pa.Table) -> None:
    run = ("anonymize", "people.csv", *ROLES, "-k", 5, "-o", "release.csv", "--json")
    code, out, err = shell(*run, "--objective", "entropy")
    assert (code, err) == (0, "")
    facts = json.loads(out)
    settings = {"quasi_identifiers": ["age", "sex", "zip"], "k": 5}
    audit = shoal.audit("release.csv", **settings)
    assert (facts["records"], facts["groups"], facts["k"]) == (60, audit.groups, audit.k)
    assert (facts["output"], facts["measure"], facts["method"]) == (
        "release.csv",
        "entropy",
        "auto",
    )
    assert set(facts["column_losses"]) == {"age", "zip", "sex"}
    assert facts["loss"] == pytest.approx(np.mean(list(facts["column_losses"].values())))
    assert facts["notes"] == ["chose cover"]
    assert facts["seconds"] > 0


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl", ".xlsx", ".tsv.gz"])
def test_saved_settings_make_the_same_records_again(
    shell: Shell, people: pa.Table, suffix: str
) -> None:
    flags = ("--seed", 3, "--option", "max_points=500", "--render", "bounds", "--weight", "sex=3")
    run = ("anonymize", "people.csv", *ROLES, "-k", 4, *flags, "-o", f"a{suffix}")
    assert shell(*run, "--save-settings", "saved.toml")[0] == 0
    again = ("anonymize", "people.csv", "--settings", "saved.toml", "-o", f"b{suffix}")
    assert shell(*again)[0] == 0
    assert same_records(f"a{suffix}", f"b{suffix}")


def test_an_option_changes_the_method_of_the_settings_file(shell: Shell, people: pa.Table) -> None:
    made = ("anonymize", "people.csv", *ROLES, "-k", 4, "--refine", "off", "-o", "a.csv")
    first = ("--method", "mondrian", "--option", "strict=true", "--save-settings", "saved.toml")
    assert shell(*made, *first)[0] == 0
    again = ("anonymize", "people.csv", "--settings", "saved.toml", "--overwrite", "-o", "b.csv")
    assert shell(*again, "--option", "strict=false", "--save-settings", "changed.toml")[0] == 0
    assert shoal.Settings.load("changed.toml").method == shoal.Mondrian(strict=False)
    code, _, said = shell(*again, "--option", "max_points=3")
    assert (code, "Unknown key 'max_points' in method mondrian" in said) == (2, True)
    cover = ("--method", "cover", "--option", "max_points=500", "--save-settings", "cover.toml")
    assert shell(*again, *cover)[0] == 0
    assert shoal.Settings.load("cover.toml").method == shoal.Cover(max_points=500)


def test_the_time_of_every_method_is_known_or_follows_from_its_records() -> None:
    assert all("seconds" in vars(method) for method in METHODS.values())

    def most(records: int, method: str) -> float:
        table = pa.table({"age": list(range(records))})
        settings = make_settings(None, quasi_identifiers=["age"], k=2, method=method, refine=False)
        return estimate_run(prepare(Memory(open_table(table, settings.reading)), settings)).most

    assert most(18, "exact") > most(17, "exact") > most(12, "exact")


def test_overwrite_replaces_the_output(shell: Shell, people: pa.Table) -> None:
    Path("release.csv").write_text("older")
    run = ("anonymize", "people.csv", *ROLES, "-k", 5, "-o", "release.csv", "--overwrite")
    assert shell(*run)[0] == 0
    assert smallest_group("release.csv", "age", "zip", "sex") >= 5


def test_audit_proves_and_disproves(shell: Shell, people: pa.Table) -> None:
    shell(
        "anonymize", "people.csv", *ROLES, "-k", 5, "-o", "release.csv", "--save-settings", "a.toml"
    )
    k = smallest_group("release.csv", "age", "zip", "sex")
    code, out, err = shell("audit", "release.csv", "--settings", "a.toml")
    assert (code, err) == (0, "")
    assert "Proved: 60 records in " in out
    assert out.endswith(f" groups of at least {k}.\n")
    code, out, err = shell("audit", "release.csv", "--settings", "a.toml", "-k", k, "--json")
    assert json.loads(out)["k"] == k
    code, out, err = shell("audit", "release.csv", "--settings", "a.toml", "-k", k + 1)
    assert (code, out) == (3, "")
    assert f"have fewer than k = {k + 1} records (the smallest has {k})" in err
    code, out, err = shell("audit", "people.csv", "--settings", "a.toml")
    assert (code, out) == (3, "")
    assert err == "shoal: Identifier name is still in the release. Remove this column.\n"


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("-q", "agee", "-k", 2), "Quasi-identifier 'agee' is not in the table; did you mean 'age'?"),
        (("-k", 2), 'There are no quasi-identifiers. Name the columns to generalize.'),
        (("-q", "age"), "k is missing or 0. Choose the smallest number of records that must look the same, "
                        "for example k = 10."),
    ],
)  # fmt: skip
def test_audit_refuses_bad_input(
    shell: Shell, people: pa.Table, flags: tuple[str, ...], says: str
) -> None:
    assert shell("audit", "people.csv", *flags) == (2, "", f"shoal: {says}\n")


REQUIRED = ("--require", "diversity:l=1.5", "--require", "closeness:t=0.4:columns=ill")


def test_requirements_are_kept_shown_and_saved(shell: Shell, people: pa.Table) -> None:
    run = ("anonymize", "people.csv", *ROLES, "-k", 5, "--method", "agglomerative", *REQUIRED)
    code, out, err = shell(*run, "-o", "a.csv", "--save-settings", "a.toml")
    assert (code, err) == (0, "")
    diversity, closeness = "frequency 1.5-diversity of 'ill'", "0.4-closeness (equal) of 'ill'"
    assert re.search(rf"^proved +{re.escape(diversity)}: [\d.]+ reached, 1.5 required$", out, re.M)
    assert re.search(rf"^proved +{re.escape(closeness)}: [\d.]+ reached, 0.4 required$", out, re.M)
    groups = Counter(tuple(record.values()) for record in read_file("a.csv").to_pylist())
    sizes: Counter[Any] = Counter()
    for (*public, _), count in groups.items():
        sizes[tuple(public)] += count
    reached = min(sizes[tuple(public)] / count for (*public, _), count in groups.items())
    again = ("anonymize", "people.csv", "--settings", "a.toml", "-o", "b.csv", "--json")
    proofs = json.loads(shell(*again)[1])["proofs"]
    assert [proof["requirement"] for proof in proofs] == [diversity, closeness]
    assert proofs[0] == {"requirement": diversity, "required": 1.5, "reached": reached}
    assert same_records("a.csv", "b.csv")
    code, out, err = shell("audit", "b.csv", "--settings", "a.toml", "--json")
    assert (code, json.loads(out)["proofs"]) == (0, proofs)


def test_audit_proves_and_disproves_requirements(shell: Shell, people: pa.Table) -> None:
    flags = ("-q", "sex", "-s", "ill", "-k", 5)
    code, out, err = shell("audit", "people.csv", *flags, "--require", "sensitivity:p=3")
    assert (code, err) == (0, "")
    assert "Proved: 3-sensitivity of 'ill': 3 reached, 3 required." in out
    code, out, err = shell("audit", "people.csv", *flags, "--require", "diversity:l=3:kind=entropy")
    assert (code, out) == (3, "")
    assert err.startswith("shoal: 2 of 2 groups miss entropy 3-diversity of 'ill' (the worst")


def test_audit_needs_the_sensitive_column(shell: Shell, people: pa.Table) -> None:
    flags = ("-q", "sex", "-k", 5, "--require", "sensitivity:p=3")
    says = "shoal: Requirements are about sensitive columns. Name at least one (sensitive, -s).\n"
    assert shell("audit", "people.csv", *flags) == (2, "", says)
    says = "shoal: Sensitive column 'il' is not in the table; did you mean 'ill'?\n"
    assert shell("audit", "people.csv", *flags, "-s", "il") == (2, "", says)


def test_the_requirement_that_init_shows_can_be_used(shell: Shell, people: pa.Table) -> None:
    assert shell("init", "people.csv")[0] == 0
    text = Path("people.toml").read_text()
    shown = text.partition("# [[requirement")[2].partition("\n\n")[0]
    used = ("[[requirement" + shown).replace("\n# ", "\n").replace("COLUMN", "ill")
    Path("used.toml").write_text(text + "\n" + used)
    [requirement] = shoal.Settings.load("used.toml").requirements
    assert requirement == shoal.LDiversity(2, columns=["ill"])
    assert shoal.Settings.load("people.toml").requirements == ()


def test_an_empty_table_proves_nothing(shell: Shell, people: pa.Table) -> None:
    Path("empty.csv").write_text("age,zip\n")
    code, out, err = shell("audit", "empty.csv", "-q", "age", "-k", 2)
    assert (code, out) == (2, "")
    assert (
        err
        == "shoal: The table has no records, so there is nothing to prove. Give a table with records.\n"
    )


def test_init_guesses_roles_for_a_settings_file_that_works(shell: Shell, people: pa.Table) -> None:
    code, out, err = shell("init", "people.csv")
    assert (code, err) == (0, "")
    assert "shoal anonymize people.csv --settings people.toml --output release.csv" in out
    settings = shoal.Settings.load("people.toml")
    assert settings.identifiers == ("name",)
    assert settings.sensitive == ("ill",)
    assert settings.quasi_identifiers == {
        "age": shoal.Interval(step=5),
        "zip": shoal.Prefix(),
        "sex": shoal.Suppression(),
    }
    assert (
        shell("anonymize", "people.csv", "--settings", "people.toml", "-o", "release.csv")[0] == 0
    )
    assert smallest_group("release.csv", "age", "zip", "sex") >= 10


def test_init_overwrites_only_when_told(shell: Shell, people: pa.Table) -> None:
    Path("people.toml").write_text("older")
    code, out, err = shell("init", "people.csv")
    assert (code, out) == (2, "")
    assert err.startswith("shoal: The output 'people.toml' exists. Choose another name or pass --")
    assert Path("people.toml").read_text() == "older"
    assert shell("init", "people.csv", "--overwrite")[0] == 0
    says = "shoal: The folder 'no' does not exist. Create it or choose another.\n"
    assert shell("init", "people.csv", "-o", "no/where.toml") == (2, "", says)


AWKWARD = [
    *("my age", "a:b", 'say "hi"', "Größe 💥", "x.y.z", "a[b] [/red]", "1=2", ":smile:", "\x7f\n"),
    "-k",
]


def test_awkward_column_names_go_all_the_way(shell: Shell, people: pa.Table) -> None:
    table = pa.table({name: [i, i + 1] * 5 for i, name in enumerate(AWKWARD)})
    table_file.write_file(table, "odd table.csv")
    code, out, _ = shell("init", "odd table.csv", "-o", "odd settings.toml")
    assert code == 0
    assert "'odd table.csv' --settings 'odd settings.toml'" in out
    models = {"my age": "interval"}
    named = {
        name: f"{name.replace(':', chr(92) + ':')}:{models.get(name, 'suppression')}"
        for name in AWKWARD
    }
    flags = [flag for name in AWKWARD for flag in ("-q", named[name])]
    by_flags = ("anonymize", "odd table.csv", *flags, "-k", 5, "-o", "a.parquet")
    by_file = (
        "anonymize",
        "odd table.csv",
        "--settings",
        "odd settings.toml",
        "-k",
        5,
        "-o",
        "b.parquet",
    )
    code, out, _ = shell(*by_flags)
    assert code == 0
    assert "a[b] [/red]" in out
    settings = shoal.Settings.load("odd settings.toml")
    plain = {name: shoal.Suppression() for name in AWKWARD}
    replace(settings, quasi_identifiers={**plain, **settings.quasi_identifiers}).save(
        "odd settings.toml"
    )
    assert shell(*by_file)[0] == 0
    assert same_records("a.parquet", "b.parquet")
    assert read_file("a.parquet").column_names == AWKWARD


def test_init_lets_what_cannot_be_generalized_be_removed(shell: Shell, people: pa.Table) -> None:
    table = people.append_column("tags", [[["x"]] * 60]).append_column("void", pa.nulls(60))
    table_file.write_file(table, "people.parquet")
    assert shell("init", "people.parquet")[0] == 0
    settings = shoal.Settings.load("people.toml")
    assert settings.identifiers == ("name",)
    assert settings.others == "drop"
    assert '"tags",' in Path("people.toml").read_text()
    assert shell("anonymize", "people.parquet", "--settings", "people.toml", "-o", "r.csv")[0] == 0
    assert read_file("r.csv").column_names == ["age", "zip", "sex", "ill"]


@pytest.mark.parametrize("text", ["age;sex\n31;f\n31;f\n", "\ufeffage,sex\n31,f\n31,f\n"])
def test_semicolons_and_a_byte_order_mark_are_read(
    shell: Shell, people: pa.Table, text: str
) -> None:
    Path("a.csv").write_text(text, encoding="utf-8")
    assert shell("anonymize", "a.csv", "-q", "age", "-q", "sex", "-k", 2, "-o", "b.csv")[0] == 0
    assert read_file("b.csv").to_pylist() == [{"age": 31, "sex": "f"}] * 2


@pytest.mark.parametrize(
    ("ages", "k", "expected"),
    [([7], 1, [7]), ([7] * 5, 2, [7] * 5), ([7, 9], 2, ["7–9"] * 2)],
    ids=["one record", "all equal", "k = n"],
)
def test_small_tables_are_released(
    shell: Shell, people: pa.Table, ages: list[int], k: int, expected: list[Any]
) -> None:
    table_file.write_file(pa.table({"age": ages}), "a.csv")
    assert shell("anonymize", "a.csv", "-q", "age", "-k", k, "-o", "b.csv")[0] == 0
    assert read_file("b.csv")["age"].to_pylist() == expected


@needs_jit
def test_demo_releases_the_sample(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = samples.adult()[:2000]  # the browser releases the whole
    monkeypatch.setattr("shoal.samples.adult", lambda: few)
    code, out, err = shell("demo", tmp_path / "new" / "folder", "--json")
    assert (code, err) == (0, "")
    facts = json.loads(out)
    assert facts["records"] == 2000
    assert facts["k"] >= 10
    folder = tmp_path / "new" / "folder"
    written = {path.name for path in folder.iterdir()}
    assert written == {"adult-release.csv", "adult-release.toml", "adult-report.html"}
    assert facts["report"] == str(folder / "adult-report.html")
    assert "2,000 records" in (folder / "adult-report.html").read_text(encoding="utf-8")
    audit = shoal.audit(folder / "adult-release.csv", settings=folder / "adult-release.toml")
    assert (audit.records, audit.groups, audit.k) == (2000, facts["groups"], facts["k"])


def test_demo_refuses_a_file_in_place_of_its_folder(shell: Shell, people: pa.Table) -> None:
    code, out, err = shell("demo", "people.csv")
    assert (code, out) == (2, "")
    assert (
        err == "shoal: Folder 'people.csv' cannot be created: File exists. Choose another folder.\n"
    )


@pytest.mark.parametrize("what", ["methods", "requirements", "measures", "hierarchies"])
def test_listings_name_everything(shell: Shell, what: str) -> None:
    code, out, err = shell(what)
    assert (code, err) == (0, "")
    words = set(out.split())
    assert set(getattr(shoal, f"list_{what}")()) <= words


def test_the_version_is_the_package_s(shell: Shell) -> None:
    assert shell("--version") == (0, f"shoal {shoal.__version__}\n", "")


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_names_every_command(shell: Shell, flag: str) -> None:
    code, out, _ = shell(flag)
    assert code == 0
    assert [line.split()[0] for line in out.split("Commands:\n")[1].splitlines()] == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(shell: Shell, command: str) -> None:
    code, out, err = shell(command, "--help")
    assert (code, err) == (0, "")
    assert f"Usage: shoal {command}" in out


def test_no_arguments_show_the_help(shell: Shell) -> None:
    code, out, err = shell()
    assert code == 2
    assert "Usage: shoal" in out + err
    assert "anonymize" in out + err


def test_a_stop_that_a_library_makes_an_error_of_is_a_stop(
    shell: Shell, people: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*given: object) -> Partition:
        with pytest.raises(KeyboardInterrupt):
            cli._stop(signal.SIGINT, None)
        raise RuntimeError("Query interrupted")

    monkeypatch.setattr(Cover, "partition", interrupted)
    run = ("anonymize", "people.csv", "-q", "age", "--others", "drop", "-k", 2, "-o", "a.csv")
    assert shell(*run) == (130, "", "shoal: Stopped; nothing was written.\n")


def test_a_fault_of_ours_is_named_without_its_message(
    shell: Shell, people: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: object) -> Partition:
        raise RuntimeError("p7 lives in 02139")

    monkeypatch.setattr(Cover, "partition", fail)
    run = ("anonymize", "people.csv", "-q", "age", "--others", "drop", "-k", 2, "-o", "a.csv")
    code, out, err = shell(*run)
    assert (code, out) == (1, "")
    assert err == "shoal: shoal failed with an internal error (RuntimeError). Please report it.\n"


def lonely(self: Cover, problem: Any, seed: int, progress: Any) -> Partition:
    """A broken method: the first record is alone."""
    return Partition((np.arange(problem.table.records) > 0).astype(np.int32))


def test_a_broken_method_is_caught_before_anything_is_written(
    shell: Shell, people: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Cover, "partition", lonely)
    lone = people.set_column(1, "age", [[99, *people["age"].to_pylist()[1:]]])
    table_file.write_file(lone, "people.csv", overwrite=True)
    before = {path.name for path in Path().iterdir()}
    run = ("anonymize", "people.csv", *ROLES, "-k", 2, "-o", "a.csv", "--save-settings", "a.toml")
    code, out, err = shell(*run)
    says = "1 of 2 groups has fewer than k = 2 records (the smallest has 1). Do not release this table."
    assert (code, out, err) == (3, "", f"shoal: {says}\n")
    assert {path.name for path in Path().iterdir()} == before
    with pytest.raises(AuditFailed, match="fewer than k = 2"):
        shoal.anonymize(lone, quasi_identifiers=["age"], others="drop", k=2)


def test_a_leaked_identifier_is_caught_before_anything_is_written(
    shell: Shell, people: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.pipeline.carriers.memory.render_frame", lambda frame, *rest: frame)
    run = ("anonymize", "people.csv", "-q", "sex", "-i", "name", "--others", "drop", "-k", 2)
    run += ("-o", "a.csv")
    code, _, err = shell(*run)
    assert code == 3
    assert err == "shoal: Identifier name is still in the release. Remove this column.\n"
    assert not Path("a.csv").exists()


# Runs the command line once for each moment, in a copy of this process that sends itself a signal then: when a stage
# begins, when the temporary file is complete but has no name yet, or when the release has its name.
KILLED = textwrap.dedent("""
    import contextlib, json, os, signal, sys
    from pathlib import Path
    import shoal.cli, shoal.cli.run as show
    import shoal.cli.app, shoal.data.files, shoal.solve.methods, shoal.api.anonymize  # once for all

    number, folder, moments = getattr(signal, sys.argv[1]), Path(sys.argv[2]), sys.argv[3].split()
    arguments = sys.argv[4:]

    def die(*given):
        os.kill(os.getpid(), number)

    def run(moment):
        @contextlib.contextmanager
        def bar(quiet):
            yield lambda stage, done, total: die() if stage == moment else None

        show.progress_bar = bar
        if moment == "unnamed":
            os.fsync = die
        if moment == "named":
            show.show_summary = die
        os.dup2(os.open(folder / f"{moment}.log", os.O_WRONLY | os.O_CREAT), 2)
        sys.argv = ["shoal", *arguments, "-o", str(folder / moment / "release.csv")]
        shoal.cli.main()

    children = {}
    for moment in moments:
        children[moment] = os.fork()
        if not children[moment]:
            run(moment)
    waited = {moment: os.waitpid(child, 0)[1] for moment, child in children.items()}
    print(json.dumps({m: os.waitstatus_to_exitcode(status) for m, status in waited.items()}))
""")
MOMENTS = ["reading", "grouping", "auditing", "writing", "unnamed", "named"]


@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
def test_a_killed_run_leaves_a_whole_release_or_none(name: str, tmp_path: Path) -> None:
    settings = tmp_path / "adult.toml"
    table_file.write_file(samples.adult()[:3000], tmp_path / "adult.parquet")
    shoal.Settings.load(samples.adult_settings()).save(settings)
    for moment in MOMENTS:
        (tmp_path / moment).mkdir()
    arguments = ["anonymize", tmp_path / "adult.parquet", "--settings", settings]
    command = [sys.executable, "-c", KILLED, name, tmp_path, " ".join(MOMENTS), *arguments]
    ended = subprocess.run(
        [*command, "--method", "mondrian"], capture_output=True, text=True, timeout=300
    )
    assert ended.returncode == 0, ended.stderr
    stopped = 130 if name == "SIGTERM" else -signal.SIGKILL
    assert json.loads(ended.stdout.splitlines()[-1]) == dict.fromkeys(MOMENTS, stopped)
    assert not [log for log in tmp_path.glob("*.log") if "Traceback" in log.read_text("utf-8")]
    left = {moment: [path.name for path in (tmp_path / moment).iterdir()] for moment in MOMENTS}
    assert left.pop("named") == ["release.csv"]
    unnamed = left.pop("unnamed")
    assert "release.csv" not in unnamed
    assert len(unnamed) == (0 if name == "SIGTERM" else 1)  # nothing can tidy up after SIGKILL
    assert not any(left.values())
    assert shoal.audit(tmp_path / "named" / "release.csv", settings=settings).records == 3000
