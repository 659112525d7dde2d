"""The numbers of the documentation come from `benchmarks/results`, which say how they were measured."""

from __future__ import annotations

import json
import re
import runpy
import warnings
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MADE = runpy.run_path(str(ROOT / "docs" / "make_figures.py"), run_name="figures")
RECORD = import_module("benchmarks.record")  # docs/make_figures.py says where that is
PAGES = MADE["PAGES"]
FOUND = {
    path.stem: json.loads(path.read_text("utf-8")) for path in sorted(RECORD.RESULTS.glob("*.json"))
}
# What results depend on, besides the file of their benchmark.
CODE = ("src/shoal/solve", "src/shoal/kernels")
TABLE = re.compile(r"^\|.*\n\|[ :|-]+\|\n((?:\|.*\n)+)", re.MULTILINE)
NUMBER = re.compile(r"[^A-Za-z`]*\d[^A-Za-z`]*( s| GB)?")
FEW = 0.3  # of a table's cells may be numbers that nobody measured
PRECISE = re.compile(r"(?<![\d.])\d\.\d{3,}(?![\d.])")
PUBLISHED = ("0.645", "0.735", "0.419")  # what the papers print
NOT_MEASURED = {  # by page, what a table of numbers begins with, and why nothing has to measure it
    "choose-k.md": ("| k | chance at most", "follows from k"),
    "install.md": ("| | oldest", "lists versions"),
    "test-a-pipeline.md": ("| exit code", "lists exit codes"),
    "command-line.md": ("| exit code", "lists exit codes"),
}


def shown(page: Path) -> str:
    return str(page.relative_to(ROOT))


def bare(page: Path) -> str:
    """A page without code and without what is written from results."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return MADE["INLINE"].sub("", MADE["BLOCK"].sub("", text))


def typed_tables(text: str) -> list[str]:
    """The headings of tables of numbers."""
    found = []
    for table in TABLE.finditer(text):
        cells = [cell.strip() for row in table[1].splitlines() for cell in row.split("|")[2:-1]]
        numbers = sum(NUMBER.fullmatch(cell) is not None for cell in cells)
        if cells and numbers > FEW * len(cells):
            found.append(table[0].splitlines()[0])
    return found


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_a_page_shows_what_the_results_say(page: Path) -> None:
    """If a benchmark found something else: `python docs/make_figures.py` writes it into the pages."""
    text = page.read_text(encoding="utf-8")
    assert MADE["with_figures"](text) == text
    left = re.findall(
        r"<!-- (?:figures?:|end(?: of figures)? -->).*",
        MADE["INLINE"].sub("", MADE["BLOCK"].sub("", text)),
    )
    assert not left, "a marker is not closed, or not written as docs/make_figures.py says"
    first = re.findall(r"^ *<!-- figure:.*", text, re.MULTILINE)
    assert not first, "Markdown ends a paragraph at a line that begins like this"


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_no_page_has_a_precise_number_that_somebody_typed(page: Path) -> None:
    """Losses, bounds and accuracies have three decimals or more."""
    published = PUBLISHED if page.name == "papers.md" else ()
    assert [one for one in PRECISE.findall(bare(page)) if one not in published] == []


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_no_page_has_a_table_of_numbers_that_somebody_typed(page: Path) -> None:
    """Write a benchmark for it, and a marker as docs/make_figures.py says, or leave the table out."""
    beginning = NOT_MEASURED.get(page.name, ("nothing",))[0]
    assert [head for head in typed_tables(bare(page)) if not head.startswith(beginning)] == []


def test_a_typed_table_is_found_and_a_rendered_one_is_not(tmp_path: Path) -> None:
    table = "| table | loss |\n| --- | ---: |\n| Adult | 0.0719 |\n| FARS | 0.0464 |\n"
    assert typed_tables(table) == ["| table | loss |"]
    page = tmp_path / "page.md"
    page.write_text(f"<!-- figures: none\n| {{table}} |\n-->\n{table}<!-- end of figures -->\n")
    assert typed_tables(bare(page)) == []
    assert "0.0719" not in MADE["with_figures"](page.read_text())


def test_rows_are_chosen_put_side_by_side_and_formatted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        {"method": method, "k": k, "loss": k / 1000, "share": 0.5, "met": True}
        for method in ("cover", "forest")
        for k in (5, 10)
    ]
    del rows[-1]
    kinds = {"cores": 2, "processor": "p", "memory_gb": 4}
    about = {"command": "c", "date": "d", "commit": "0123456789", "changed": False}
    found = {**about, "machine": kinds, "rows": rows}
    (tmp_path / "some.json").write_text(json.dumps(found))
    monkeypatch.setitem(MADE["results"].__globals__, "RESULTS", tmp_path)
    page = (
        "<!-- figures: some; across k\n| m | 5 | 10 |\n| - | - | - |\n"
        "| `{method}` | {loss@5:.4f} | {loss@10:.4f} s |\n-->\nold\n<!-- end of figures -->\n"
        "At <!-- figure: some; where method = cover; where k = 10; {share:.0%} {met} -->old<!-- end -->."
    )
    made = MADE["with_figures"](page)
    assert "| `cover` | 0.0050 | 0.0100 s |\n| `forest` | 0.0050 | |\n" in made
    assert "*`c`, d, commit `01234567`; p, 2 cores, 4 GB.*\n<!-- end of figures -->" in made
    assert made.endswith(">50 % yes<!-- end -->.")
    assert MADE["with_figures"](made) == made


def test_results_name_command_date_commit_and_machine() -> None:
    for name, found in FOUND.items():
        assert found["command"].startswith("python -m benchmarks"), name
        assert {"date", "commit", "changed", "machine", "seconds", "rows"} <= set(found), name


# Not measured yet, as the pages that show them say.
LONG = {"comparison", "large", "on_spark", "scale", "scale-1000000000", "two_minutes"}


def test_every_benchmark_that_a_page_shows_was_run() -> None:
    """`make figures` runs those that are missing."""
    named = {name for page in PAGES for name in MADE["named"](page.read_text("utf-8"))}
    assert named - set(FOUND) <= LONG


@pytest.mark.filterwarnings("default::UserWarning")
def test_results_are_of_the_code_as_it_is() -> None:
    """Warns, since losses are often as before: `make figures` measures again what is not of this commit."""
    for name, found in FOUND.items():
        own = f"benchmarks/suite/{found['benchmark']}.py"
        paths = RECORD.git("diff", "--name-only", found["commit"] or "", "--", *CODE, own)
        if paths or found["changed"]:
            what = f"{len(paths.splitlines())} files since" if paths else "not committed"
            warnings.warn(f"{name}: measured on other code ({what})", stacklevel=1)
