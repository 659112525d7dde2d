"""Tables of any size: what setting aside and rounds lose, and DuckDB from Parquet to Parquet and from CSV to CSV.

Without --records, 10⁷ generated records have to keep the bars; `--records 100000000` has bars of its own, and
`--records 1000000000` solves and certifies the counts that so many records would have.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import shoal
from benchmarks.billion import draw_counts
from benchmarks.tables import Table, Tables, Unavailable
from shoal.data.engines.base import records_at_once
from shoal.encoding.encode import encode
from shoal.encoding.frames import open_frame
from shoal.progress import silent
from shoal.solve.bounds.certificate import Certifier
from shoal.solve.counted.assignment import Assignment, merge_equal_rows, pick_rows
from shoal.solve.counted.exact_groups import set_aside
from shoal.solve.counted.parts import refine_in_parts
from shoal.solve.counted.solve import solve
from shoal.solve.local_search.budget import Refine
from shoal.solve.local_search.schedule import MANY, refine
from shoal.solve.measures import compute_loss
from shoal.solve.methods import Auto, Cover
from shoal.solve.problem import Problem

USUAL = 10_000_000
# seconds and gigabytes at most, by records
BARS = {10_000_000: (360, 6.0), 100_000_000: (2700, 12.0)}
BILLION, CERTIFY = 1_000_000_000, 120  # records as counts, and seconds for their certificate
MEMORY = {10_000_000: "5GB", 100_000_000: "10GB"}
LOSSES = (("adult_9", 10), ("adult_9", 50), ("fars", 10), ("census_kdd", 10), ("adult_million", 10))
DIVERSE = (
    shoal.LDiversity(2, kind="distinct"),
    shoal.LDiversity(1.5, kind="entropy"),
)
MOST_MORE = {"set aside": 1.01, "set aside, diverse": 1.03, "rounds": 1.03}
PARTS = 8
PASSES = 20  # of the certificate, at most


def run(tables: Tables) -> list[dict[str, object]]:
    """Losses on real tables beside the way in memory, then a generated table, each in a process of its own."""
    try:
        import duckdb  # noqa: F401
    except ImportError:
        raise Unavailable("DuckDB is missing; run: pip install 'shoal[duckdb]'.") from None
    context = multiprocessing.get_context("spawn")
    rows: list[dict[str, object]] = []
    records = tables.records or USUAL
    whole = Tables(tables.folder)
    if records == BILLION:
        with context.Pool(1) as pool:
            return [pool.apply(_billion, (whole,))]
    if tables.records is None:
        for name, k in LOSSES:
            with context.Pool(1) as pool:
                rows += pool.apply(_losses, (whole, name, k))
        for asked in range(len(DIVERSE)):
            with context.Pool(1) as pool:
                rows += pool.apply(_diverse, (whole, asked))
    for suffix in (".parquet", ".csv") if records <= USUAL else (".parquet",):
        with context.Pool(1) as pool:
            rows.append(pool.apply(_engine, (whole, records, suffix)))
    return rows


def _losses(tables: Tables, name: str, k: int) -> list[dict[str, object]]:
    table = getattr(tables, name)()
    return list(_compared(table, k, (), "set aside"))


def _diverse(tables: Tables, asked: int) -> list[dict[str, object]]:
    table = tables.adult_8_sensitive("salary-class")
    return list(_compared(table, 10, (DIVERSE[asked],), "set aside, diverse"))


def _compared(
    table: Table, k: int, requirements: tuple[Any, ...], kind: str
) -> Iterator[dict[str, object]]:
    """What is lost in memory, with as few records as possible solved at once, and in rounds of several parts."""
    small = merge_equal_rows(encode(open_frame(table.data), table.models, table.sensitive))
    problem = Problem.of(small, "lm", k, requirements=requirements)
    assert small.counts is not None
    rest = int((small.counts - set_aside(problem, 1)).sum())
    first = 0.0
    for way, most in (("in memory", small.records), (kind, rest), ("rounds", rest // PARTS)):
        start = time.perf_counter()
        found = (
            _in_memory(problem)
            if way == "in memory"
            else compute_loss(_solved(problem, most).close(problem)[1], "lm")
        )
        first = first or found
        yield {
            "table": table.name,
            "k": k,
            "way": way.removesuffix(", diverse"),
            "requirement": f"{requirements[0].kind} diversity" if requirements else "k alone",
            "records": small.records,
            "solved at once": min(most, small.records),
            "loss": round(found, 5),
            "more": f"{100 * (found / first - 1):+.1f} %",
            "wall_s": round(time.perf_counter() - start, 1),
            "met": found <= MOST_MORE.get(way, 1.0) * first,
        }


def _in_memory(problem: Problem) -> float:
    """What is lost if records are solved one by one, as a table in memory is."""
    counts = problem.table.counts
    part = pick_rows(problem, np.repeat(np.arange(problem.table.rows), counts))
    groups = Cover().partition(part, 0, silent).groups
    work = refine if groups.size <= MANY else refine_in_parts
    found = work(part, groups, 0, silent, Refine())
    return compute_loss(part.close(found.groups), "lm")


def _solved(problem: Problem, most: int) -> Assignment:
    return solve(problem, Cover(), Refine(), seed=0, progress=silent, most=most).assignment


def _engine(tables: Tables, records: int, suffix: str) -> dict[str, object]:
    """A generated table through DuckDB, from a file to a file."""
    source = tables.adult_9()
    with TemporaryDirectory() as folder:
        path, target = Path(folder, f"table{suffix}"), Path(folder, f"release{suffix}")
        draw(source, records, path)
        start, cpu = time.perf_counter(), time.process_time()
        release = shoal.anonymize(
            path,
            quasi_identifiers=source.models,
            k=10,
            engine=shoal.Engine("duckdb", memory=MEMORY.get(records, "5GB")),
        )
        saving = time.perf_counter()
        release.save(target)
        wall, cpu = time.perf_counter() - start, time.process_time() - cpu
        stages = {**release.seconds, "writing and auditing": time.perf_counter() - saving}
    peak_gb = _peak()
    seconds, gigabytes = BARS.get(records, (float("inf"), float("inf")))
    return {
        "table": f"generated{suffix}",
        "k": 10,
        "way": "duckdb",
        "records": records,
        "loss": round(release.loss(), 5),
        "wall_s": round(wall, 1),
        "cpu_s": round(cpu, 1),
        "peak_gb": round(peak_gb, 2),
        "stages": ", ".join(f"{stage} {spent:.0f} s" for stage, spent in stages.items()),
        "met": wall <= seconds and peak_gb <= gigabytes,
    }


def _billion(tables: Tables) -> dict[str, object]:
    """A billion records as counts: solved and certified, as they would be after an engine had counted them."""
    start, cpu = time.perf_counter(), time.process_time()
    table = draw_counts(tables.adult_9(), BILLION)
    problem = Problem.of(table, "lm", 10)
    most = records_at_once(10 * 10**9)
    solved = solve(problem, Auto(), Refine(), seed=0, progress=silent, most=most)
    closed = solved.assignment.close(problem)[1]
    found = compute_loss(closed, "lm")
    certifier = Certifier(closed, k=10, objective="lm", weights={}, w=0.5, loss=found)
    certificate = certifier.certify(CERTIFY, PASSES)
    return {
        "table": f"counts, {table.rows:,} combinations",
        "k": 10,
        "way": "counts",
        "records": table.records,
        "loss": round(found, 6),
        "more": f"at most {certificate.ratio:.2f} × optimum" if certificate else "no certificate",
        "wall_s": round(time.perf_counter() - start, 1),
        "cpu_s": round(time.process_time() - cpu, 1),
        "peak_gb": round(_peak(), 2),
        "met": closed.sizes.min() >= 10 and certificate is not None,
    }


def _peak() -> float:
    """Gigabytes of memory at most, so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**30 if sys.platform == "darwin" else 2**20)


def draw(source: Table, records: int, path: Path) -> None:
    """Draw records from a table with replacement, one cell in ten anew from its column, as `adult_million` does."""
    import duckdb

    number, columns = source.data.num_rows, []
    for j, name in enumerate(source.data.column_names):
        own, anew, other = (f"hash(i, {n})" for n in (0, 2 * j + 1, 2 * j + 2))
        place = f"CASE WHEN {anew} % 10 = 0 THEN {other} % {number} ELSE {own} % {number} END"
        listed = f'(SELECT list("{name}" ORDER BY place) FROM source)'
        columns.append(f'{listed}[1 + ({place})::BIGINT] AS "{name}"')
    with duckdb.connect(config={"preserve_insertion_order": False}) as connection:
        connection.execute("SET enable_progress_bar = false")  # this process was spawned
        connection.register("given", source.data.append_column("place", [np.arange(number)]))
        connection.execute("CREATE TABLE source AS SELECT * FROM given")
        how = (
            "FORMAT parquet, COMPRESSION zstd"
            if path.suffix == ".parquet"
            else "FORMAT csv, HEADER"
        )
        query = f"SELECT {', '.join(columns)} FROM range({records}) t(i)"
        connection.execute(f"COPY ({query}) TO '{path}' ({how})")
