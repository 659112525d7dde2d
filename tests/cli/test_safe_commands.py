"""Commands refuse what nobody decided, check before they work, and lose nothing of what is done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.api.release import Release
from shoal.cli.show import progress_bar
from shoal.data.files import table_file

Shell = Callable[..., tuple[int, str, str]]
PEOPLE = "name,age,ward,ill\n" + "".join(
    f"p{i},{20 + 7 * i % 31},{'xyz'[i % 3]},{'abc'[i % 7 % 3]}\n" for i in range(60)
)
ROLES = ("-q", "age", "-s", "ill", "-i", "name", "-k", "5")
WARD = ("-x", "ward", "--allow", "ward:unique")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(PEOPLE)
    return tmp_path


def test_a_column_without_a_role_stops_the_command(shell: Shell) -> None:
    code, out, err = shell("anonymize", "people.csv", *ROLES, "-o", "r.csv")
    assert (code, out) == (2, "")
    assert "'ward' has no role" in err
    assert not Path("r.csv").exists()


@pytest.mark.parametrize(
    ("how", "columns"),
    [
        (WARD, "age,ward,ill"),
        (("--others", "keep", "--allow", "ward:unique"), "age,ward,ill"),
        (("--others", "drop"), "age,ill"),
    ],
)
def test_others_are_kept_or_dropped_as_said(
    how: tuple[str, ...], columns: str, shell: Shell
) -> None:
    code, out, _ = shell("anonymize", "people.csv", *ROLES, *how, "-o", "r.csv")
    assert code == 0
    assert Path("r.csv").read_text().splitlines()[0] == columns
    assert ("kept unchanged  ward (alone, it identifies nobody)" in out) == ("ward" in columns)


def test_the_summary_speaks_to_a_steward(shell: Shell) -> None:
    _, out, _ = shell("anonymize", "people.csv", *ROLES, *WARD, "-o", "r.csv")
    assert "can identify" in out
    for word in ("lm", "cover", "lattice", "chose"):
        assert word not in out
    _, out, _ = shell("anonymize", "people.csv", *ROLES, *WARD, "-o", "s.csv", "--verbose")
    assert "lm = " in out
    assert "chose cover" in out


def test_a_dry_run_tells_roles_models_and_time_and_writes_nothing(shell: Shell) -> None:
    code, out, _ = shell("anonymize", "people.csv", *ROLES, *WARD, "--dry-run")
    assert code == 0
    for word in ("age: interval", "ward", "name", "k = 5", "combinations", "about", "dry run"):
        assert word in out
    assert [path.name for path in Path().iterdir()] == ["people.csv"]
    facts = json.loads(shell("anonymize", "people.csv", *ROLES, *WARD, "--dry-run", "--json")[1])
    assert facts["kept"] == ["ward"]
    assert facts["seconds"][0] < facts["seconds"][1]


def test_a_dry_run_says_all_that_is_wrong(shell: Shell) -> None:
    code, _, err = shell(
        "anonymize", "people.csv", "-q", "age", "-k", "99", "--dry-run", "-o", "no/r.csv"
    )
    assert code == 2
    assert "folder" in err
    code, _, err = shell(
        "anonymize", "people.csv", *ROLES[:-1], "99", "--others", "drop", "--dry-run"
    )
    assert code == 3
    assert "Choose k of at most 60" in err


@pytest.mark.parametrize(
    "command",
    [
        ("anonymize", "people.csv", "-q", "age", "-k", "5", "-o", "r.csv"),
        ("anonymize", "people.csv", *ROLES[:-1], "99", "--others", "drop", "-o", "r.csv"),
        ("audit", "people.csv", "-q", "aeg", "-k", "5"),
        ("anonymize", "people.csv", "--no-such-option"),
    ],
)
def test_failures_come_as_json_too(command: tuple[str, ...], shell: Shell) -> None:
    code, out, err = shell(*command, "--json")
    error = json.loads(out)["error"]
    assert error["exit_code"] == code > 1
    assert err.count("shoal: ") == len(error["problems"]) > 0


def test_a_failed_audit_comes_as_json(shell: Shell) -> None:
    code, out, err = shell("audit", "people.csv", "-q", "age", "-k", "50", "--json")
    facts = json.loads(out)
    assert (code, facts["proved"]) == (3, False)
    assert facts["failures"][0] in err


def test_names_cannot_steer_the_terminal(shell: Shell) -> None:
    Path("e.csv").write_text("a\033]0;PWNED\007\033[31m,b\n" + "x,1\n" * 4)
    _, out, err = shell("anonymize", "e.csv", "-q", "b", "-k", "2", "-o", "r.csv")
    assert "\033" not in out + err
    assert "\\x1b" in err


def test_formulas_are_refused_in_csv_and_held_as_text_in_excel(shell: Shell) -> None:
    Path("f.csv").write_text("a,b\n" + '"=HYPERLINK(""http://evil"",""x"")",@SUM(1)\n' * 4)
    code, _, err = shell("anonymize", "f.csv", "-q", "a", "-s", "b", "-k", "2", "-o", "r.csv")
    assert code == 2
    assert "'a' contains texts that a spreadsheet would run" in err
    assert "'b' contains texts that a spreadsheet would run" in err
    assert "HYPERLINK" not in err
    for name in ("r.tsv", "r.txt", "r.txt.gz"):
        assert shell("anonymize", "f.csv", "-q", "a", "-s", "b", "-k", "2", "-o", name)[0] == 2
    assert shell("anonymize", "f.csv", "-q", "a", "-s", "b", "-k", "2", "-o", "r.xlsx")[0] == 0
    allowed = ("--allow", "a:formula", "--allow", "b:formula")
    assert (
        shell("anonymize", "f.csv", "-q", "a", "-s", "b", "-k", "2", *allowed, "-o", "r.csv")[0]
        == 0
    )


@pytest.mark.parametrize("name", ["r.csv", "r.CSV", "r.tsv", "r.txt", "r.csv.gz"])
def test_formulas_from_python_are_refused_where_a_spreadsheet_would_run_them(name: str) -> None:
    rows = {
        "age": [20, 21, 22, 23],
        "ill": ['=HYPERLINK("http://x.example","a")', "b", "=1+1", "b"],
    }
    how: dict[str, Any] = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "k": 2}
    release = shoal.anonymize(pa.table(rows), **how)
    with pytest.raises(shoal.InputError, match="'ill' contains texts that a spreadsheet would run"):
        release.save(name)
    assert not Path(name).exists()
    release.save("r.xlsx")
    release.save("r.jsonl")
    shoal.anonymize(pa.table(rows), **how, allow={"ill": "formula"}).save(name)
    assert Path(name).exists()


def test_a_name_of_a_column_may_be_a_formula_too() -> None:
    rows = {"age": [20, 21, 22, 23], "=1+1": list("abab")}
    release = shoal.anonymize(pa.table(rows), quasi_identifiers=["age"], sensitive=["=1+1"], k=2)
    with pytest.raises(shoal.InputError, match="a spreadsheet would run"):
        release.save("r.csv")


def test_formulas_of_a_large_table_are_refused_by_save(engine: Any) -> None:
    Path("f.csv").write_text("age,ill\n" + "20,=1+1\n30,b\n" * 4)
    how: dict[str, Any] = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "k": 2}
    release = shoal.anonymize("f.csv", **how, engine=engine)
    try:
        with pytest.raises(shoal.InputError, match=r"Write \.parquet, or"):
            release.save("r.txt")
        release.save("r.parquet")
    finally:
        release.close()  # type: ignore[attr-defined]


def test_formulas_of_a_batch_are_refused_before_anything_is_written(shell: Shell) -> None:
    Path("old.csv").write_text("age,ill\n" + "20,a\n30,b\n" * 4)
    Path("new.csv").write_text("age,ill\n" + "20,=1+1\n30,b\n" * 4 + "90,c\n")
    roles = ("-q", "age", "-s", "ill", "-k", "2", "--refine", "off", "--quiet")
    assert (
        shell("anonymize", "old.csv", *roles, "-o", "r.csv", "--save-recoding", "r.shoal")[0] == 0
    )
    given = ("apply", "new.csv", "--recoding", "r.shoal", "--save-held", "held.csv", "-o")
    code, _, err = shell(*given, "batch.csv")
    assert (code, "a spreadsheet would run" in err) == (2, True)
    assert not Path("batch.csv").exists()
    assert not Path("held.csv").exists()
    assert shell(*given, "batch.parquet", "--quiet")[0] == 0


def test_what_the_output_cannot_hold_is_said_before_the_work(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [1, 2] * 4, "tags": [["x"]] * 8}), "t.parquet")
    monkeypatch.setattr("shoal.cli.run.make_release", lambda *given, **named: pytest.fail("worked"))
    code, _, err = shell(
        "anonymize", "t.parquet", "-q", "a", "-x", "tags", "-k", "2", "-o", "r.csv"
    )
    assert code == 2
    assert "'tags' has type list" in err


def test_a_finished_release_is_not_lost_when_it_cannot_be_written(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    save = Release.save

    def fail_once(release: Release, path: Path, **options: object) -> None:
        if Path(path).name == "r.csv":
            raise shoal.InputError(
                "'r.csv' cannot be written: No space left on device. Choose another place."
            )
        save(release, path, **options)

    monkeypatch.setattr(Release, "save", fail_once)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code, _, err = shell("anonymize", "people.csv", *ROLES, *WARD, "-o", "r.csv")
    assert code == 2
    (saved,) = tmp_path.glob("shoal-*/release.parquet")
    assert str(saved) in err
    assert table_file.read_file(saved).num_rows == 60


def test_a_report_that_fails_leaves_the_release(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: object, **named: object) -> None:
        raise shoal.InputError("No.")

    monkeypatch.setattr(Release, "save_report", fail)
    code, _, err = shell(
        "anonymize", "people.csv", *ROLES, *WARD, "-o", "r.csv", "--report", "r.html"
    )
    assert code == 2
    assert "The release is in 'r.csv'" in err
    assert Path("r.csv").exists()


def test_an_interrupt_says_that_nothing_was_written(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*given: object, **named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("shoal.cli.run.make_release", interrupt)
    code, _, err = shell("anonymize", "people.csv", *ROLES, *WARD, "-o", "r.csv")
    assert code == 130
    assert err.endswith("shoal: Stopped; nothing was written.\n")


def test_a_closed_output_does_not_undo_a_release() -> None:
    command = [
        sys.executable,
        "-m",
        "shoal",
        "anonymize",
        "people.csv",
        *ROLES,
        *WARD,
        "-o",
        "r.csv",
    ]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *command], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert Path("r.csv").exists()


DIALECT = "age;at;share;ward\r\n" + "".join(
    f"{20 + i % 7};0{1 + i % 2}.01.2024;{i % 4},{i % 3}0;m\xfcde\r\n" for i in range(12)
)


def test_a_release_is_written_as_its_input_was(shell: Shell) -> None:
    Path("d.csv").write_bytes(DIALECT.encode("cp1252"))
    code, _, err = shell(
        "anonymize", "d.csv", "-q", "age", "-q", "at:interval", "-q", "share:interval", *WARD, "-k", "3",
        "--encoding", "cp1252", "--decimal", ",", "--date-format", "%d.%m.%Y", "-o", "r.csv",
        "--save-settings", "s.toml",
    )  # fmt: skip
    assert code == 0, err
    lines = Path("r.csv").read_bytes().decode("cp1252").split("\r\n")
    assert lines[0] == "age;at;share;ward"
    assert {line.rpartition(";")[2] for line in lines[1:-1]} == {"m\xfcde"}
    assert shell("audit", "r.csv", "--settings", "s.toml")[0] == 0
    assert 'encoding = "cp1252"' in Path("s.toml").read_text()


@pytest.mark.parametrize(
    "form", ["250.10", "2.0", "1e+16", "02139", "2024-01-01T10:00:00+01:00", "TRUE", " x ", "-0"]
)
def test_unchanged_columns_are_unchanged_byte_for_byte(form: str, shell: Shell) -> None:
    Path("u.csv").write_text("age,s,x\n" + f"31,{form},{form}\n" * 4 + "33,7,7\n" * 4)
    code, _, err = shell(
        "anonymize",
        "u.csv",
        "-q",
        "age",
        "-s",
        "s",
        "-x",
        "x",
        "--allow",
        "s:reveals",
        "--allow",
        "x:reveals",
        "-k",
        "2",
        "-o",
        "r.csv",
    )
    assert code == 0, err
    rows = sorted(Path("r.csv").read_text().splitlines()[1:])
    assert rows == sorted([f"31,{form},{form}"] * 4 + ["33,7,7"] * 4)


def test_two_codes_are_not_read_as_one_number(shell: Shell) -> None:
    Path("u.csv").write_text("code\n250.10\n250.1\n250.10\n250.1\n")
    assert shell("anonymize", "u.csv", "-q", "code", "-k", "2", "-o", "r.csv")[0] == 0
    assert sorted(Path("r.csv").read_text().splitlines()[1:]) == ["250.1"] * 2 + ["250.10"] * 2


def test_bounds_of_an_interval_are_written_as_in_the_table(shell: Shell) -> None:
    Path("u.csv").write_text("x\n2.00\n3.50\n2.00\n3.50\n")
    assert shell("anonymize", "u.csv", "-q", "x", "-k", "4", "-o", "r.csv")[0] == 0
    assert Path("r.csv").read_text() == "x\n" + "2.00–3.50\n" * 4


def test_missing_values_are_known_by_their_texts(shell: Shell) -> None:
    Path("m.csv").write_text("age,ill\n31,?\n?,a\n99,a\n33,b\n")
    code, _, err = shell(
        "anonymize",
        "m.csv",
        "-q",
        "age:interval",
        "-s",
        "ill",
        "-k",
        "2",
        "--missing",
        "?,99",
        "-o",
        "r.csv",
    )
    assert code == 0, err
    rows = sorted(Path("r.csv").read_text().splitlines()[1:])
    assert rows == sorted(["31–33,?", "31–33,b", ",a", ",a"])


@pytest.mark.parametrize("source", ["people.csv", "s.toml", "tree.csv"])
def test_no_output_replaces_what_the_command_reads(source: str, shell: Shell) -> None:
    Path("tree.csv").write_text("a,u,*\nb,u,*\nc,v,*\n")
    Path("s.toml").write_text("[columns]\nothers = 'drop'\n")
    before = Path(source).read_bytes()
    code, _, err = shell(
        "anonymize", "people.csv", *ROLES, "--settings", "s.toml",
        "--require", "sensitivity:p=2:hierarchy=tree.csv:protected=u:columns=ill", "-o", source, "--overwrite",
    )  # fmt: skip
    assert code == 2
    assert "would be lost" in err or "unknown" in err
    assert Path(source).read_bytes() == before


def test_settings_may_have_a_byte_order_mark(shell: Shell) -> None:
    text = "[columns]\nothers = 'drop'\n[quasi_identifiers.age]\n[requirement]\nk = 2\n"
    Path("s.toml").write_text(text, encoding="utf-8-sig")
    assert shell("anonymize", "people.csv", "--settings", "s.toml", "-o", "r.csv")[0] == 0


def test_pipes_as_settings_do_not_hang(shell: Shell) -> None:
    os.mkfifo("pipe")
    code, _, err = shell("anonymize", "people.csv", "--settings", "pipe", "-o", "r.csv")
    assert code == 2
    assert "not a regular file" in err


def test_repeated_identifiers_are_told(shell: Shell) -> None:
    Path("v.csv").write_text("patient,age\n7,31\n7,31\n7,31\n8,60\n9,61\n10,62\n")
    code, out, err = shell(
        "anonymize", "v.csv", "-q", "age", "-i", "patient", "-k", "3", "-o", "r.csv"
    )
    assert (code, out) == (2, "")
    assert "'patient' occurs in several records" in err
    assert "--allow patient:person" in err
    assert not Path("r.csv").exists()


def test_guesses_of_init(shell: Shell) -> None:
    rows = [
        f"{9000 + i},Ann{i % 7},Lee{i % 9},{i % 3},{i % 2},{10000 + i % 5},"
        f"seen by Dr Brown on day {i % 58},{i % 28 + 1:02d}.01.1980"
        for i in range(60)
    ]
    header = "mrn,first,last,admission_type_id,is_dead,postcode,note,dob_text"
    Path("t.csv").write_text("\n".join([header, *rows]))
    assert shell("init", "t.csv")[0] == 0
    settings = shoal.Settings.load("t.toml")
    assert settings.identifiers == ("mrn", "first", "last")
    assert settings.keep == ()
    assert settings.others == "drop"  # the note
    models = {name: model.name for name, model in settings.quasi_identifiers.items()}
    assert models == {"is_dead": "suppression", "postcode": "prefix", "dob_text": "calendar"}
    assert settings.reading.date_format == "%d.%m.%Y"
    assert (
        "UNSURE: the name suggests health, but it reveals 'dob_text'" in Path("t.toml").read_text()
    )
    assert shell("anonymize", "t.csv", "--settings", "t.toml", "-o", "r.csv")[0] == 0


def test_a_log_has_a_line_for_every_stage_of_a_longer_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shoal.cli.show.SOON", 0.0)
    monkeypatch.setattr("shoal.cli.show.EVERY", 0.0)
    with progress_bar(quiet=False) as progress:
        progress("reading", 0, 1)
        progress("grouping", 0, 1)
        progress("covering records", 30, 60)
        progress("writing", 0, 1)
    assert capsys.readouterr().err.splitlines() == [
        "shoal: 0 s: reading the table",
        "shoal: 0 s: grouping similar records",
        "shoal: 0 s: grouping similar records, 50%",
        "shoal: 0 s: writing and checking the file",
    ]
