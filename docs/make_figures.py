"""Write the tables and numbers of pages from `benchmarks/results`; with `--measure`, first measure what is not there.

`python docs/make_figures.py --measure NAME …` measures some results only.

A page holds a template, and below it what was made of it:

    <!-- figures: lowest_loss; where table = adult_9
    | table | k | loss |
    | --- | ---: | ---: |
    | {table} | {k} | {ours:.4f} |
    -->
    (the table, and a line that says where it comes from)
    <!-- end of figures -->

The first line names the results and chooses rows: `where KEY = VALUE or VALUE` keeps some, `with KEY` those that have a
value, and `across KEY` puts rows that differ in KEY side by side, so that `{loss@10}` is the loss of the row whose KEY
is 10. Lines with braces are written for every row, with Python's formats. `scale-1000` names what `scale --records
1000` found, and `papers-gt10-quick` what `papers gt10 --quick` did. A number in a sentence is
`<!-- figure: NAME; where …; {loss:.4f} -->`, the number, `<!-- end -->`, all on one line that begins with other words.

Results of papers are flat here: rows of the kind `point` (name, panel, axis, line, x, y), `claim` and `note`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from benchmarks.record import RESULTS, code_commit, is_changed  # noqa: E402

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(
    r"<!-- figures: (?P<name>[\w-]+)(?P<choice>.*)\n(?P<template>(?:(?!-->).*\n)+)-->\n"
    r"(?P<shown>(?:.*\n)*?)<!-- end of figures -->"
)
INLINE = re.compile(
    r"<!-- figure: (?P<name>[\w-]+)(?P<choice>[^{}\n]*); (?P<template>[^>\n]*) -->"
    r"(?P<shown>.*?)<!-- end -->"
)
FIELD = re.compile(r"\{([^{}:]+):?([^{}]*)\}")
NOT_YET = "*Not measured yet.*"
WORDS = {  # names in results that readers do not know
    "adult_sample": "the sample, 8 columns",
    "adult_14": "Adult, 14 columns, suppression",
    "adult_9": "Adult, 9 columns, hierarchies",
    "adult_8": "Adult, 8 columns, intervals and suppression",
    "adult_8_trees": "Adult, 8 columns, intervals and hierarchies",
    "adult_million": "records drawn from Adult, 9 columns",
    "adult_9 less salary-class": "Adult, 8 columns, salary sensitive",
    "fars": "FARS, 8 columns",
    "fars_deep": "FARS, 8 columns, numbers in six levels of bins",
    "census_kdd": "KDD census, 8 columns",
    "census_deep": "KDD census, 10 columns, numbers in six levels of bins",
    "million_deep": "records drawn from Adult, 9 columns, age in six levels of bins",
    "hospital": "drawn hospital stays, 46 columns",
    "persons": "people",
}
PLAINER = {"the mask tells more": "the mask reveals more"}  # in texts of results

Row = dict[str, Any]


def with_figures(page: str) -> str:
    """The text of a page with its tables and numbers as the results have them."""
    page = BLOCK.sub(lambda own: own[0][: own.start("shown") - own.start()] + _block(own), page)
    return INLINE.sub(lambda own: own[0][: own.start("shown") - own.start()] + _inline(own), page)


def named(page: str) -> list[str]:
    """The results that a page shows, in order."""
    return list(
        dict.fromkeys(own["name"] for kind in (BLOCK, INLINE) for own in kind.finditer(page))
    )


def results(name: str) -> Row | None:
    """What a benchmark found, or None where it was not run."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def _block(own: re.Match[str]) -> str:
    found = results(own["name"])
    if found is None:
        return f"{NOT_YET}\n<!-- end of figures -->"
    lines = own["template"].splitlines()
    head = [line for line in lines if not FIELD.search(line)]
    made = [_filled(line, row) for row in _rows(own, found) for line in lines if FIELD.search(line)]
    return "\n".join([*head, *made, "", caption(found), "<!-- end of figures -->"])


def _inline(own: re.Match[str]) -> str:
    found = results(own["name"])
    rows = _rows(own, found) if found else []
    assert not found or len(rows) == 1, f"{own[0]} means {len(rows)} rows; choose one by `where`"
    return (_filled(own["template"], rows[0]) if rows else "not measured yet") + "<!-- end -->"


def caption(found: Row) -> str:
    """The line below a table: command, date, commit and machine."""
    machine, commit = found["machine"], (found["commit"] or "unknown")[:8]
    changed = " with changes" if found["changed"] else ""
    return (
        f"*`{found['command']}`, {found['date']}, commit `{commit}`{changed}; "
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB.*"
    )


def _rows(own: re.Match[str], found: Row) -> list[Row]:
    """The rows chosen, merged where they stand side by side; each has every key that any row has."""
    rows = _even(_flat(found["rows"]))
    used = {key for key, _ in FIELD.findall(own["template"])}
    for clause in filter(None, map(str.strip, own["choice"].split(";"))):
        word, _, rest = clause.partition(" ")
        if word == "where":
            key, _, wanted = rest.partition(" = ")
            rows = [row for row in rows if str(row[key]) in wanted.split(" or ")]
        elif word == "with":
            rows = [row for row in rows if row[rest] is not None]
        elif word == "across":
            rows = _side_by_side(rows, rest.split(", "), used)
        else:
            raise AssertionError(f"{clause!r} is neither `where`, `with` nor `across`")
    assert rows, f"{own['name']}{own['choice']} chooses no row"
    return rows


def _side_by_side(rows: list[Row], across: list[str], used: set[str]) -> list[Row]:
    merged: dict[tuple[str, ...], Row] = {}
    for row in rows:
        shared = {key: row[key] for key in used if "@" not in key}
        place = "@".join(str(row[key]) for key in across)
        target = merged.setdefault(tuple(map(str, shared.values())), dict(shared))
        target |= {f"{key}@{place}": value for key, value in row.items()}
    beside = [key for key in used if "@" in key]
    return [row for row in _even(merged.values()) if any(row[key] is not None for key in beside)]


def _even(rows: Iterable[Row]) -> list[Row]:
    """Rows of which each has every key that any has."""
    rows = list(rows)
    keys = {key: None for row in rows for key in row}
    return [keys | row for row in rows]


def _flat(rows: list[Row]) -> Iterator[Row]:
    for row in rows:
        if "panels" not in row:
            yield row
            continue
        name = {"name": row["name"]}
        for panel in row["panels"]:
            for line in panel["lines"]:
                for x, y in line["points"]:
                    point = {"panel": panel["title"], "axis": panel["y"], "line": line["name"]}
                    yield name | point | {"kind": "point", "x": x, "y": y}
        yield from (name | {"kind": "claim"} | claim for claim in row["claims"])
        yield from (name | {"kind": "note", "note": note} for note in row["notes"])


def _filled(template: str, row: Row) -> str:
    """A line of a template with the values of a row; a cell of which one is missing stays empty."""

    def cell(text: str) -> str:
        values = [row[key] for key, _ in FIELD.findall(text)]
        missing = any(value is None or value == "" for value in values)
        return " " if missing else FIELD.sub(lambda field: _shown(row[field[1]], field[2]), text)

    return "|".join(map(cell, template.split("|")))


def _shown(value: Any, form: str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        for phrase, better in PLAINER.items():
            value = value.replace(phrase, better)
        return WORDS.get(value, value).replace("|", "\\|")
    return format(value, form or ",").replace("%", " %")


def measure(names: list[str]) -> int:
    """Run benchmarks one after another, but for those that are measured on this code; return how many failed."""
    failed = 0
    for name in names:
        found = results(name)
        if found and found["commit"] == code_commit() and not (found["changed"] or is_changed()):
            print(f"{name}: measured already, in {found['seconds'] / 60:.1f} minutes", flush=True)
            continue
        benchmark, *more = name.split("-")
        command = [sys.executable, "-m", "benchmarks", benchmark, "--save"]
        for word in more:
            command += {"quick": ["--quick"]}.get(word, ["--records"] * word.isdigit() + [word])
        command += ["--plots", str(ROOT / "docs" / "papers")] if benchmark == "papers" else []
        start = time.perf_counter()
        code = subprocess.run(command, cwd=ROOT).returncode
        said = {0: "done", 1: "a bar was missed"}.get(code, "skipped, see above")
        print(f"{name}: {said}, {(time.perf_counter() - start) / 60:.1f} minutes", flush=True)
        failed += code > 1
    return failed


def main() -> int:
    shown = [name for page in PAGES for name in named(page.read_text(encoding="utf-8"))]
    names = sys.argv[2:] or list(dict.fromkeys(shown))
    failed = measure(names) if "--measure" in sys.argv[:2] else 0
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if with_figures(text) != text:
            page.write_text(with_figures(text), encoding="utf-8")
            print(f"{page.relative_to(ROOT)} changed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
