"""What is typed wrong for any command gets its sentence, an exit code, no traceback, no cell, and no file."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import shoal

CANARY = "CANARY-7731"
ROWS = [
    ("Ann", 34, CANARY, f"flu {CANARY}"),
    ("Bob", 35, CANARY, f"flu {CANARY}"),
    ("Cyd", 51, "02139", f"cold {CANARY}"),
    ("Dan", 58, "02139", f"cold {CANARY}"),
]
RANGES = ("[34, 35]", "[34, 35]", "[51, 58]", "[51, 58]")
PEOPLE = "name,age,zip,ill\n" + "".join(f"{CANARY}{a},{b},{c},{d}\n" for a, b, c, d in ROWS)
RELEASE = "age,zip,ill\n" + "".join(
    f'"{age}",{zip_},{ill}\n' for age, (_, _, zip_, ill) in zip(RANGES, ROWS, strict=True)
)
SETTINGS = """\
[columns]
identifiers = ["name"]
sensitive = ["ill"]
[quasi_identifiers.age]
[quasi_identifiers.zip]
[requirement]
k = 2
"""
FILES: dict[str, str | bytes] = {
    "people.csv": PEOPLE,
    "release.csv": RELEASE,
    "s.toml": SETTINGS,
    "empty.csv": "",
    "header.csv": "age,zip,ill\n",
    "twice.csv": "age,age,ill\n1,2,x\n",
    "latin.csv": b"age,zip,ill\n1,\xff\xfe,x\n",
    "ragged.csv": "age,zip,ill\n1,2\n",
    "torn.parquet": b"PAR1 and no more",
    "note.pdf": CANARY,
    "broken.toml": "[columns\nidentifiers = 3",
    "odd.toml": f"{SETTINGS}[requirment]\nk = 3\n",
    "wrong-role.toml": '[columns]\nhidden = ["ill"]\n[quasi_identifiers.age]\n[requirement]\nk = 2\n',
    "other.csv": RELEASE.replace("age", "alter", 1),
    "changed.csv": RELEASE.replace("flu", "gout"),
    "words.csv": RELEASE.replace('"[34, 35]"', CANARY),
    "more.csv": RELEASE + RELEASE.splitlines()[-1] + "\n",
    "leak.csv": PEOPLE,
    "elsewhere.csv": RELEASE.replace('"[34, 35]"', '"[51, 58]"'),
    "swapped.csv": RELEASE.replace("cold", "flu"),
}

ON_RELEASE = "audit release.csv -q age -q zip -k 2"
COMPARE = "evaluate people.csv release.csv --settings s.toml"
LOST = "'{}' is read by this command and would be lost. Name another output file."
FORMAT = (
    "The format of 'note.pdf' is unknown, because its suffix '.pdf' is not supported. Use .csv, .tsv, .txt, "
    ".jsonl, .ndjson (each also with .gz), .parquet, .xlsx, .sav, .dta or .sas7bdat."
)
NOT_UTF8 = (
    "'latin.csv' is not UTF-8 text (line 2). Save it as UTF-8, in Excel as 'CSV UTF-8', or give its "
    'encoding, for example --encoding cp1252 (encoding="cp1252").'
)
TWICE = "'twice.csv' has 2 columns named 'age' (columns 1, 2). Rename all but one."
NO_K = "k is missing or 0. Choose the smallest number of records that must look the same, for example k = 10."

CASES: dict[str, str | tuple[str, ...]] = {
    "anonymize none.csv -o out.csv": (
        "'none.csv' does not exist. Check the path.",
        'There are no quasi-identifiers. Name the columns to generalize.',
        NO_K,
    ),
    # What is no command
    "audit": "Missing argument 'TABLE'. See 'shoal audit -h'.",
    "evaluate people.csv": "Missing argument 'RELEASE'. See 'shoal evaluate -h'.",
    "anonymize people.csv -q age -k 2": 'No output is named. Name a file with --output (-o).',
    "anonimize people.csv": "No such command 'anonimize'. Did you mean 'anonymize'? See 'shoal -h'.",
    "measures --colour": "No such option: --colour. See 'shoal measures -h'.",
    f"{COMPARE} a.json": "Got unexpected extra argument(s) (a.json). See 'shoal evaluate -h'.",
    # audit
    "audit nothing.csv -q age -k 2": "'nothing.csv' does not exist. Check the path.",
    "audit drawer -q age -k 2": "'drawer' is a folder. Name a file in it.",
    "audit empty.csv -q age -k 2": "'empty.csv' is empty. A table needs at least column names.",
    "audit header.csv -q age -k 2": 'The table has no records, so there is nothing to prove. Give a table with '
    'records.',
    "audit twice.csv -q age -k 2": TWICE,
    "audit latin.csv -q age -k 2": NOT_UTF8,
    "audit ragged.csv -q age -k 2": "Row 2 of 'ragged.csv' (not counting blank lines) has 2 columns, but the "
    "heading has 3. Correct or "
        "remove such rows.",
    "audit torn.parquet -q age -k 2": "'torn.parquet' is not a complete Parquet file. It may be incomplete or "
    "damaged: copy it again.",
    "audit note.pdf -q age -k 2": FORMAT,
    "audit release.csv": (
        'There are no quasi-identifiers. Name the columns to generalize.',
        NO_K,
    ),
    "audit release.csv -q agee -k 2": "Quasi-identifier 'agee' is not in the table; did you mean 'age'?",
    f"{ON_RELEASE} -s ill --require diversty:l=2": "Unknown requirement 'diversty'; did you mean 'diversity'? "
    "Requirements: diversity, sensitivity, "
        "alpha, closeness.",
    f"{ON_RELEASE} --settings nothing.toml": "Settings file 'nothing.toml' cannot be read: No such file or "
    "directory. Check the path.",
    "audit release.csv --settings broken.toml": "Settings file 'broken.toml' is not valid TOML at line 1. "
    "Correct it there.",
    "audit release.csv --settings odd.toml": "Unknown key 'requirment' in the settings; did you mean 'requirement'?",
    "audit release.csv --settings wrong-role.toml": "Unknown key 'hidden' in [columns]; "
    "known: identifiers, pseudonyms, key_file, person, sensitive, keep, others, allow, identified_limit, coarsen.",
    # evaluate
    "evaluate no.csv none.csv --settings s.toml": (
        "'no.csv' does not exist. Check the path.",
        "'none.csv' does not exist. Check the path.",
    ),
    "evaluate people.csv header.csv --settings s.toml": 'The release has no records. Give at least one.',
    "evaluate people.csv latin.csv --settings s.toml": NOT_UTF8,
    "evaluate people.csv other.csv --settings s.toml --report r.html": "Column 'age' is not in the release. "
    "Columns: alter, zip, ill.",
    "evaluate people.csv changed.csv --settings s.toml --report r.html": "In column 'ill', 1 released value is "
    "not in the table. Use the table from which the release was made; this column must be unchanged.",
    "evaluate people.csv words.csv --settings s.toml --report r.html": "The interval model cannot read 1 released "
    "value of column 'age', out of 2. Release it with the same model.",
    "evaluate people.csv more.csv --settings s.toml --report r.html": "The release has more records (5) than the "
    "table (4). Use the table from which the release was made.",
    "evaluate people.csv elsewhere.csv --settings s.toml --report r.html": "In column 'age', 1 released value occurs "
    "more often than the table allows. Use the table from which the release was made.",
    "evaluate people.csv swapped.csv --settings s.toml --report r.html": "Some sensitive values occur more often "
    "in the release than in the table. Use the table from which the release was made; sensitive columns must be "
    "unchanged.",
    "evaluate people.csv release.csv -q age -q zip": NO_K,
    f"{COMPARE} --report no/r.html": "The folder 'no' does not exist. Create it or choose another.",
    f"{COMPARE} --report drawer": "The output 'drawer' is a folder. Name a file in it.",
    f"{COMPARE} --report s.toml --overwrite": LOST.format("s.toml"),
    f"{COMPARE} --report people.csv --overwrite": LOST.format("people.csv"),
    f"{COMPARE} --report ./release.csv --overwrite": LOST.format("release.csv"),
    f"{COMPARE} --report empty.csv": "The output 'empty.csv' exists. Choose another name or pass --overwrite "
    "(overwrite=True).",
    f"{COMPARE} --seed -1 --queries -1": (
        "The 'seed' parameter must be a whole number from 0 to 2^32 - 1. Got -1 instead.",
        "The 'queries' parameter must be a whole number from 0 to 1000000. Got -1 instead.",
    ),
    f"{COMPARE} --queries {10**20}": "The 'queries' parameter must be a whole number from 0 to 1000000. "
    f"Got {10**20} instead.",
    f"{COMPARE} --sum-column ill": "Column 'ill' cannot be summed. Choose a column of numbers that is sensitive or "
    "released as intervals: age.",
    f"{COMPARE} --holdout people.csv": "--holdout is for testing classifiers. Name the column to "
    "predict with --target.",
    f"{COMPARE} --target ill --holdout no.csv": "'no.csv' does not exist. Check the path.",
    f"{COMPARE} --target age": "Target 'age' is a quasi-identifier, which is not released exactly. Choose a column "
    "that is released unchanged.",
    # init, demo
    "init nothing.csv": "'nothing.csv' does not exist. Check the path.",
    "init header.csv": 'The table has no records to learn from. Give at least one.',
    "init note.pdf": FORMAT,
    "init people.csv -o no/s.toml": "The folder 'no' does not exist. Create it or choose another.",
    "init people.csv -o people.csv --overwrite": LOST.format("people.csv"),
    # hierarchy
    "hierarchy people.csv zip": (
        'Choose a kind of hierarchy with --kind, or check a file with --check. Kinds: calendar, prefix, '
            'numbers, order, data.',
        'No output is named. Name the file to write with --output.',
    ),
    "hierarchy people.csv zip --kind prefx -o t.csv": "Unknown kind 'prefx'; did you mean 'prefix'? Kinds: "
    "calendar, prefix, numbers, order, data.",
    "hierarchy people.csv zip --kind prefix --widths 5,7 --lengths 0,2 -o no/t.csv": (
        "Kind 'prefix' has no --widths. Leave it out.",
        "The folder 'no' does not exist. Create it or choose another.",
        'Widths of bins must each be a multiple of the one before, like (5, 10, 20).',
        "Prefix: 'lengths' must be a list of whole numbers of at least 1.",
    ),
    "hierarchy people.csv zip --kind prefix --lengths two -o t.csv": "Prefix: 'lengths' must be a list of whole "
    "numbers of at least 1.",
    "hierarchy people.csv ill --kind data --levels many --by age -o t.csv": "The 'levels' parameter must be a whole "
    "number from 1 to 20.",
    "hierarchy people.csv ill --kind order --order no.txt -o t.csv": "Order file 'no.txt' cannot be read: No "
    "such file or directory. Check the path.",
    "hierarchy people.csv ill --kind order -o t.csv": "Column 'ill' has no order of its own. Name a file that "
    "lists its values from lowest to highest with "
        "--order, or sort them alphabetically with --order names.",
    "hierarchy people.csv zip --kind prefix -o people.csv --overwrite": LOST.format("people.csv"),
    "hierarchy people.csv zip --kind prefix -o other.csv": "The output 'other.csv' exists. Choose another name "
    "or pass --overwrite (overwrite=True).",
    "hierarchy people.csv ill --kind order --order s.toml -o s.toml --overwrite": LOST.format("s.toml"),
    "hierarchy people.csv zipp --kind data --by agee -o t.csv": (
        "Column 'zipp' is not in the table; did you mean 'zip'? Columns: name, age, zip, ill.",
        "Column 'agee' is not in the table; did you mean 'age'? Columns: name, age, zip, ill.",
    ),
    "hierarchy people.csv zip --kind numbers -o t.csv": 'The values are not numbers. Convert them, or choose '
    'another kind of hierarchy.',
    "hierarchy people.csv zip --kind calendar -o t.csv": '2 of the 2 distinct values are not dates like '
    '2020-03-14. Convert all to dates, or give their '
        'format (--date-format) and the texts that mean "missing" (--missing).',
    "hierarchy people.csv zip --kind calendar --levels day,moth -o t.csv": "Calendar: 'levels' must be a list of "
    "some of day, week, month, quarter, year, decade; did you mean 'month'?",
    "hierarchy people.csv zip --check no.csv": "Hierarchy file 'no.csv' cannot be read: No such file or "
    "directory. Check the path.",
    "hierarchy people.csv zip --check header.csv -o t.csv --kind prefix": "--check does not work with --kind, "
    "--output. Leave them out.",
    "demo people.csv": "Folder 'people.csv' cannot be created: File exists. Choose another folder.",
    # anonymize, where it would replace what it reads
    "anonymize people.csv --settings s.toml -o people.csv --overwrite": LOST.format("people.csv"),
    "anonymize people.csv --settings s.toml -o a.csv --report s.toml --overwrite": LOST.format("s.toml"),
    "anonymize people.csv -q age -q zip:hierarchy:header.csv -k 2 -o header.csv --overwrite": LOST.format("header.csv"),
    "anonymize people.csv --settings s.toml -o a.csv --report a.csv": "'a.csv' is named for two outputs. "
    "Name two different files.",
}  # fmt: skip


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with good and bad files."""
    for name, content in FILES.items():
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(data)
    (tmp_path / "drawer").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def snapshot(folder: Path) -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.mark.parametrize("command", CASES)
def test_a_wrong_command_is_refused(
    command: str, room: Path, shell: Callable[..., tuple[int, str, str]]
) -> None:
    before, says = snapshot(room), CASES[command]
    code, out, err = shell(*shlex.split(command))
    assert err.splitlines() == [
        f"shoal: {line}" for line in ((says,) if isinstance(says, str) else says)
    ]
    assert (code, out) == (2, "")
    assert CANARY not in err
    assert snapshot(room) == before


@pytest.mark.parametrize("release", ["leak.csv", "people.csv"])
def test_an_identifier_in_a_release_fails_its_audit(
    release: str, room: Path, shell: Callable[..., tuple[int, str, str]]
) -> None:
    before = snapshot(room)
    said = shell("evaluate", "people.csv", release, "--settings", "s.toml", "--report", "r.html")
    assert said == (3, "", "shoal: Identifier name is still in the release. Remove this column.\n")
    assert snapshot(room) == before


@pytest.mark.parametrize("command", ["audit release.csv --settings s.toml", COMPARE])
def test_commands_without_a_fault_are_accepted(
    command: str, room: Path, shell: Callable[..., tuple[int, str, str]]
) -> None:
    assert shell(*shlex.split(command))[0] == 0


def test_named_values_that_do_not_occur_are_told(
    room: Path, shell: Callable[..., tuple[int, str, str]]
) -> None:
    command = f"{ON_RELEASE} -s ill --require alpha:alpha=0.9:values=gout"
    code, out, _ = shell(*shlex.split(command))
    assert code == 0
    assert "for each listed value of 'ill', of which 1 does not occur" in out


@pytest.mark.parametrize("given", [{"seed": -1}, {"seed": 2**32}, {"queries": 0.5}], ids=str)
def test_python_refuses_numbers_that_cannot_be(given: dict[str, Any], room: Path) -> None:
    with pytest.raises(shoal.InputError, match="must be a whole number from 0 to"):
        shoal.evaluate("people.csv", "release.csv", settings="s.toml", **given)
