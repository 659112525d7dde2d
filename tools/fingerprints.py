"""Hash what about ninety jobs release, to see that a change of the code changes no release.

`make fingerprints` compares with the hashes in `fingerprints.json`; `--write` replaces them where a release was meant
to change. Each job has three hashes: of the released table, of `to_dict()` without its seconds, and of the file
written. A job that is refused has one, of its message.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv

import shoal

HASHES = Path(__file__).with_suffix(".json")
RECORDS = 600
ORDER = 7  # the seed of the order of released records
QUASI_IDENTIFIERS = ("age", "sex", "education", "workclass", "hours-per-week")
SLOW = {"exact": 14}  # records of methods that can do no more

Options = dict[str, Any]


def sample(records: int = RECORDS) -> pa.Table:
    """A few columns of the sample, with a person, a day, a code and a column of amounts."""
    adult = shoal.samples.adult()
    table = adult.take(list(range(0, adult.num_rows, adult.num_rows // records))[:records])
    table = table.select([*QUASI_IDENTIFIERS, "native-country", "income", "occupation"])
    numbers = range(records)
    days = [f"{1990 + n % 17}-{1 + n % 12:02}-{1 + n % 28:02}" for n in numbers]
    return (
        table.append_column("person", pa.array([f"p{n * 2 // 3}" for n in numbers]))
        .append_column("name", pa.array([f"n{n}" for n in numbers]))
        .append_column("day", pa.array(days))
        .append_column("code", pa.array([f"{(n * n * 7919) % 100000:05}" for n in numbers]))
        .append_column("amount", pa.array([(n * n * 31) % 4000 + n / 8 for n in numbers]))
    )


def forms() -> dict[str, dict[str, Any]]:
    """Quasi-identifiers of each form of generalization, and of all together."""
    files = shoal.samples.adult_hierarchies()
    trees = {name: shoal.Hierarchy.from_csv(files[name]) for name in ("education", "workclass")}
    ranges = {"age": shoal.Interval(), "hours-per-week": shoal.Interval(step=5)}
    sets = {"workclass": shoal.Subset(), "sex": shoal.Subset()}
    return {
        "trees": {**trees, "sex": shoal.Suppression()},
        "ranges": {**ranges, "day": shoal.Calendar()},
        "sets": {**sets, "age": shoal.Interval()},
        "mixed": {**ranges, **sets, "education": trees["education"], "code": shoal.Prefix()},
    }


def requirements() -> dict[str, list[Any]]:
    """One requirement of each kind."""
    of = ["income"]
    return {
        "distinct": [shoal.LDiversity(2, kind="distinct", columns=["occupation"])],
        "frequency": [shoal.LDiversity(1.2, kind="frequency", columns=of)],
        "entropy": [shoal.LDiversity(1.3, kind="entropy", columns=of)],
        "recursive": [shoal.LDiversity(2, kind="recursive", c=4.0, columns=of)],
        "p_sensitive": [shoal.PSensitive(2, columns=["occupation"])],
        "alpha": [shoal.AlphaK(0.9, columns=of)],
        "closeness": [shoal.TCloseness(0.5, columns=of)],
    }


def jobs() -> Iterator[tuple[str, Options]]:
    """All jobs: a name, and what `anonymize` takes besides its table."""
    of, asked = forms(), requirements()
    plain: Options = {"sensitive": ["income", "occupation"], "k": 5, "others": "drop"}
    mixed = {**plain, "quasi_identifiers": of["mixed"]}
    simple = {**plain, "quasi_identifiers": list(QUASI_IDENTIFIERS)}
    for method in shoal.list_methods():
        if method == "non_homogeneous":  # which draws with randomness that is recorded nowhere
            continue
        yield f"{method}, k", {**mixed, "method": method}
        yield f"{method}, diversity", {**mixed, "method": method, "requirements": asked["distinct"]}
    for form, models in of.items():
        yield f"form {form}", {**plain, "quasi_identifiers": models}
        yield f"form {form}, mondrian", {**plain, "quasi_identifiers": models, "method": "mondrian"}
    for kind, items in asked.items():
        yield f"requirement {kind}", {**mixed, "requirements": items}
    for measure in ("ncp", "mi", "monotone_entropy", "tree"):
        yield f"objective {measure}", {**simple, "objective": measure}
    persons = {**simple, "person": "person", "identifiers": ["person", "name"]}
    others: dict[str, Options] = {
        "refined for long": {**mixed, "refine": shoal.Refine(steps=3)},
        "not refined": {**mixed, "refine": False},
        "weights": {**mixed, "weights": {"age": 3.0}, "seed": 5},
        "suppression": {**mixed, "suppression_limit": 0.03},
        "loosen": {**mixed, "loosen": 0.2},
        "bounds": {**mixed, "render": "bounds"},
        "mean": {**mixed, "render": "mean"},
        "keep order": {**mixed, "keep_order": True},
        "persons": persons,
        "persons, diversity": {**persons, "requirements": asked["distinct"]},
        "persons, suppression": {**persons, "suppression_limit": 0.03},
        "keep": {**simple, "keep": ["native-country"], "allow": ["native-country"]},
        "coarsen": {
            **simple,
            "sensitive": ["income", "amount"],
            "coarsen": {"amount": shoal.Interval(step=500)},
        },
        "coarsen, suppression": {
            **simple,
            "sensitive": ["income", "amount"],
            "coarsen": {"amount": shoal.Interval(step=500)},
            "suppression_limit": 0.03,
        },
        "pseudonyms": {**simple, "pseudonyms": ["name"], "key_file": "key"},
        "dates as text": {**simple, "quasi_identifiers": ["day", "age"]},
        "a unique column is refused": {**simple, "keep": ["name"]},
        "nothing decided is refused": {**simple, "others": "refuse"},
        "k cannot be reached": {**simple, "k": 601},
    }
    yield from others.items()
    for engine in ("duckdb", "polars"):
        for name in (
            "suppression",
            "loosen",
            "bounds",
            "keep",
            "coarsen",
            "coarsen, suppression",
            "dates as text",
            "persons",
            "a unique column is refused",
        ):
            yield f"{engine}, {name}", {**others[name], "engine": engine}
        yield f"{engine}, mixed", {**mixed, "engine": engine}
        yield f"{engine}, diversity", {**mixed, "requirements": asked["distinct"], "engine": engine}


def series(folder: Path) -> dict[str, dict[str, str]]:
    """Two releases of a series."""
    table = sample().select(["name", "age", "sex", "occupation"])
    options: Options = {
        "quasi_identifiers": ["age", "sex"],
        "sensitive": ["occupation"],
        "identifiers": ["name"],
        "person": "name",
        "k": 4,
        "suppression_limit": 0.05,
        "requirements": [shoal.LDiversity(3, kind="distinct", columns=["occupation"])],
    }
    first = made(table.slice(0, 500), {**options, "previous": []}, folder / "first.csv")
    again = {**options, "previous": [folder / "history"]}
    with shoal.testing.fixed_order(ORDER):
        release = shoal.anonymize(table.slice(0, 500), **options, previous=[])
    release.history.save(folder / "history")
    return {
        "series, first": first,
        "series, second": made(table.slice(50), again, folder / "second.csv"),
    }


def made(table: Any, options: Options, place: Path) -> dict[str, str]:
    """The hashes of one job."""
    try:
        with shoal.testing.fixed_order(ORDER):
            release = shoal.anonymize(table, **options)
    except shoal.ShoalError as error:
        return {"refused": hashed(str(error).encode())}
    facts = rounded({**release.to_dict(), "seconds": None})
    release.save(place)
    found = {
        "table": hashed(text_of(release.data)),
        "facts": hashed(json.dumps(facts, sort_keys=True).encode()),
        "file": hashed(place.read_bytes()),
    }
    if "engine" in options:
        release.close()
    return found


def rounded(value: Any) -> Any:
    """The same with ten digits: processors add up numbers in different orders, and the last digits differ."""
    if isinstance(value, float):
        return float(f"{value:.10g}")
    if isinstance(value, dict):
        return {key: rounded(own) for key, own in value.items()}
    return [rounded(own) for own in value] if isinstance(value, list | tuple) else value


def text_of(data: Any) -> bytes:
    """A released table of any kind as text."""
    frame = nw.from_native(data)
    table = (frame.collect() if isinstance(frame, nw.LazyFrame) else frame).to_arrow()
    sink = pa.BufferOutputStream()
    pacsv.write_csv(table, sink)
    return bytes(sink.getvalue())


def hashed(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def table_for(name: str, options: Options, folder: Path) -> Any:
    """The table of a job: a LazyFrame for Polars, a file for DuckDB, otherwise Arrow."""
    table = sample(SLOW.get(name.partition(",")[0], RECORDS))
    if options.get("engine") == "polars":
        return pl.from_arrow(table).lazy()  # type: ignore[union-attr]
    if options.get("engine") == "duckdb":
        path = folder / "table.csv"
        pacsv.write_csv(table, path)
        return path
    return table


def fingerprints(only: str) -> dict[str, dict[str, str]]:
    """The hashes of all jobs whose name holds a text."""
    found: dict[str, dict[str, str]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "key").write_bytes(bytes(range(32)))
        (folder / "key").chmod(0o600)
        for number, (job, given) in enumerate(jobs()):
            if only in job:
                options = dict(given)
                if "key_file" in options:
                    options["key_file"] = folder / "key"
                table = table_for(job, options, folder)
                found[job] = made(table, options, folder / f"{number}.csv")
        if only in "series":
            found |= series(folder)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="replace the hashes that are kept")
    parser.add_argument("--only", default="", help="only jobs whose name holds this text")
    chosen = parser.parse_args()
    found = fingerprints(chosen.only)
    if chosen.write:
        HASHES.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(f"Wrote the hashes of {len(found)} jobs.")
        return 0
    kept = json.loads(HASHES.read_text(encoding="utf-8"))
    missing = [] if chosen.only else [name for name in kept if name not in found]
    differing = [
        f"{name}: {', '.join(parts)}"
        for name, hashes in found.items()
        if (parts := [own for own, value in hashes.items() if value != kept.get(name, {}).get(own)])
    ]
    for line in [*differing, *(f"{name}: no longer a job" for name in missing)]:
        print(line)
    print(f"{len(found) - len(differing)} of {len(found)} jobs release what they did before.")
    return 1 if differing or missing else 0


if __name__ == "__main__":
    sys.exit(main())
