"""The app while a job runs: seconds until each page is there, and the memory of the server beside its jobs."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlencode

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import drawn
from benchmarks.tables import Tables

PAGES = (
    "table",
    "columns",
    "generalization",
    "requirement",
    "run",
    "release",
    "advice",
    "explore",
    "month",
    "settings",
    "part/state",
    "part/history?step=columns",
    "part/column/7",
)
ROUNDS = 10  # visits of every page while the job runs
LIMIT = 1.0  # seconds that a page may take
LONG = "600"  # steps of the run that is under way
PATIENCE = 60.0  # seconds that exploring may take before it is cancelled


class Visitor:
    """A browser reduced to what is measured."""

    def __init__(self, first: str) -> None:
        self.host = first.split("/")[2]
        self.path = ""
        text, cookie, _ = self._ask("GET", first.partition(self.host)[2], "", {})
        self.cookie = (cookie or "").partition(";")[0]
        self.path = text.partition("url=")[2].partition('"')[0].rstrip("/")

    def get(self, path: str) -> str:
        return self._ask("GET", path, "", {"Cookie": self.cookie})[0]

    def post(self, address: str, /, **fields: str) -> str:
        """Send a form; the address that the answer leads to."""
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        own = {"Cookie": self.cookie, "Origin": f"http://{self.host}", **kind}
        return (self._ask("POST", address, urlencode(fields), own)[2] or "").removeprefix(self.path)

    def _ask(
        self, method: str, path: str, body: str, headers: dict[str, str]
    ) -> tuple[str, str | None, str | None]:
        asked = http.client.HTTPConnection(self.host, timeout=600)
        asked.request(method, self.path + path, body, headers)
        answer = asked.getresponse()
        text = answer.read().decode("utf-8", "replace")
        asked.close()
        return text, answer.getheader("set-cookie"), answer.getheader("location")


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per page and table: the slowest and the usual answer while a run is under way."""
    census, wide_table = tables.census_kdd(), drawn.wide(200, 5_000)
    cases = {
        "299,285 people": (census.data, list(census.models)),
        "200 columns, 40 quasi-identifiers": (wide_table.data, list(wide_table.models)[:40]),
        "200 columns, all quasi-identifiers": (wide_table.data, list(wide_table.models)),
    }
    return [
        {"table": name, **row}
        for name, (data, chosen) in cases.items()
        for row in _with_app(data, chosen)
    ]


def _with_app(data: pa.Table, chosen: list[str]) -> list[dict[str, object]]:
    """The rows of one table, in an app of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        pq.write_table(data, path)
        command = [sys.executable, "-m", "shoal", "app", "--no-browser", "--folder", f"{folder}/p"]
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        )
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            assert found is not None
            return _visit(Visitor(found[0]), path, chosen, process.pid)
        finally:
            process.terminate()
            process.wait()


def _visit(visitor: Visitor, path: Path, chosen: list[str], server: int) -> list[dict[str, object]]:
    base = visitor.post("/projects/open", path=str(path)).rpartition("/")[0]
    reading = _until(visitor, f"{base}/part/looking")
    names = pq.read_schema(path).names
    roles = {
        f"role-{n}": "quasi-identifier" if name in chosen else "drop"
        for n, name in enumerate(names)
    }
    visitor.post(f"{base}/columns", **roles)
    visitor.get(f"{base}/part/estimate")  # the first one loads kernels
    start = time.perf_counter()
    visitor.get(f"{base}/part/estimate")
    estimating = time.perf_counter() - start
    visitor.post(f"{base}/runs", k="10", refine="off")  # so that there is a release to show
    _until(visitor, f"{base}/runs/1/status")
    visitor.post(f"{base}/explore/start")
    exploring = _until(visitor, f"{base}/explore/status", PATIENCE)
    visitor.post(f"{base}/explore/cancel")
    visitor.post(f"{base}/runs", k="10", refine=LONG)
    seconds: dict[str, list[float]] = {page: [] for page in ("/", *PAGES)}
    for _ in range(ROUNDS):
        for page in seconds:
            start = time.perf_counter()
            visitor.get("/" if page == "/" else f"{base}/{page}")
            seconds[page].append(time.perf_counter() - start)
        time.sleep(1)
    under_way = "running" in visitor.get(f"{base}/runs/2/status")
    rows: list[dict[str, object]] = [
        {
            "page": page,
            "slowest s": round(max(took), 3),
            "median s": round(sorted(took)[len(took) // 2], 3),
            "met": max(took) < LIMIT,
        }
        for page, took in seconds.items()
    ]
    rows.append({"page": "reading and suggesting", "slowest s": round(reading, 2)})
    rows.append({"page": "estimate, no job", "slowest s": round(estimating, 2)})
    rows.append({"page": "exploring (at most a minute)", "slowest s": round(exploring, 2)})
    rows.append({"page": f"server, {_memory(server)} MB; job still ran: {under_way}"})
    visitor.post(f"{base}/runs/2/cancel")
    return rows


def _until(visitor: Visitor, address: str, patience: float = 3600.0) -> float:
    """Wait for the end of a job, or until it took too long; the seconds that took."""
    start = time.perf_counter()
    while json.loads(visitor.get(address))["status"] == "running":
        if time.perf_counter() - start > patience:
            break
        time.sleep(0.1)
    return time.perf_counter() - start


def _memory(process: int) -> int:
    """Of a process, in MB, where the system tells it."""
    with suppress(OSError):
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
        found = re.search(r"VmHWM:\s+(\d+)", status)
        return int(found[1]) // 1024 if found else 0
    return 0
