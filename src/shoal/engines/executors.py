"""Parts of a round solved by the executors of Spark, where shoal is installed there; classic and Connect."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa

from shoal.version import __version__

CHUNK = 4 << 20  # bytes of a part in one row: Connect sends messages of 128 MB at most
PART, NUMBER, BYTES = "part", "number", "bytes"
SCHEMA = f"{PART} bigint, {NUMBER} bigint, {BYTES} binary"


class Executors:
    """The executors of a session, as a place where parts of a round are solved."""

    def __init__(self, session: Any) -> None:
        self._session = session

    @cached_property
    def version(self) -> str:
        """The version of shoal on an executor, empty if there is none."""
        frame = self._session.range(1).mapInArrow(_asking(), "version string")
        try:
            return str(frame.toArrow()["version"][0].as_py())
        except Exception:  # no Python there, or another one than here
            return ""

    def is_ready(self) -> bool:
        return self.version == __version__

    @property
    def note(self) -> str:
        if self.is_ready():
            return "parts of rounds were solved by the executors"
        found = f"version {self.version} of shoal" if self.version else "no shoal"
        return (
            f"parts of rounds were solved by the driver: executors have {found}; install version {__version__} there "
            "to solve them in less time"
        )

    def solve(self, parts: Sequence[bytes]) -> list[bytes]:
        frame = self._session.createDataFrame(in_chunks(parts))
        # By range and not by hash, so that no task gets two parts while another gets none.
        spread = frame.repartitionByRange(len(parts), PART)
        solved = spread.groupBy(PART).applyInArrow(solve_chunks, SCHEMA).toArrow()
        return out_of_chunks(solved, len(parts))


def _asking() -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A function that travels whole, since an executor without shoal could not load it by its name."""

    def version(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        try:
            from shoal.version import __version__ as found
        except ImportError:
            found = ""
        for _ in batches:
            yield pyarrow.RecordBatch.from_pydict({"version": [found]})

    return version


def solve_chunks(part: pa.Table) -> pa.Table:
    """Solve a part that came in chunks; runs on an executor."""
    from shoal.counted.elsewhere import solve_packed

    number = part[PART][0].as_py()
    return in_chunks([solve_packed(_joined(part))], first=number)


def in_chunks(parts: Sequence[bytes], first: int = 0) -> pa.Table:
    """Byte strings as a table of chunks that are small enough to be sent; parts are numbered from `first`."""
    rows = [
        (first + i, place, part[place : place + CHUNK])
        for i, part in enumerate(parts)
        for place in range(0, len(part), CHUNK)
    ]
    numbers, places, chunks = zip(*rows, strict=True)
    return pa.table(
        {
            PART: pa.array(numbers, pa.int64()),
            NUMBER: pa.array(places, pa.int64()),
            BYTES: pa.array(chunks, pa.binary()),
        }
    )


def out_of_chunks(table: pa.Table, parts: int) -> list[bytes]:
    """The byte strings that were cut into chunks, whatever the order of these."""
    numbers = table[PART].to_numpy()
    return [_joined(table.filter(pa.array(numbers == part))) for part in range(parts)]


def _joined(part: pa.Table) -> bytes:
    return b"".join(part.sort_by(NUMBER)[BYTES].to_pylist())
