"""What an engine adds to a run: how frames are opened, hashed and written, and how columns are named inside."""

from __future__ import annotations

import errno
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
import pyarrow as pa

from shoal.encoding.frames import Frame
from shoal.errors import InputError, shown, translate_errors
from shoal.solve.counted.remote import RemoteSolver

RESERVED = "_shoal_"  # prefix of columns that exist only inside a run

_PLAIN = re.compile(r"\w(?:[\w -]*\w)?")
_SPELLED = f"{RESERVED}named_"
_SIGN = re.compile(r"_([0-9a-f]+)_")


def inner_name(name: str) -> str:
    """The name of a column inside an engine.

    Examples
    --------
    >>> inner_name("age"), inner_name("capital.gain")
    ('age', '_shoal_named_capital_2e_gain')
    """
    if _PLAIN.fullmatch(name):
        return name
    return _SPELLED + "".join(sign if sign.isalnum() else f"_{ord(sign):x}_" for sign in name)


def outer_name(name: str) -> str:
    """The name of a column in the table, from its name inside an engine.

    Examples
    --------
    >>> outer_name(inner_name('a "b". c'))
    'a "b". c'
    """
    if not name.startswith(_SPELLED):
        return name
    return _SIGN.sub(lambda found: chr(int(found[1], 16)), name.removeprefix(_SPELLED))


Lazy = nw.LazyFrame[Any]

HASHES = 2**62  # hashes are whole numbers from 0 to this
LIBRARIES = ("duckdb", "_duckdb", "polars", "pyspark", "py4j", "grpc", "pyarrow", "narwhals")
FULL = (
    "no space left",
    "disk quota",
    "enospc",
    "max_temp_directory_size",
    "could not write all",
    "file too large",
)
MEMORY = ("out of memory", "outofmemory", "failed to allocate", "cannot allocate")


class Backend(ABC):
    """A library that runs queries over tables that need not fit in memory."""

    name: ClassVar[str]
    # The types that columns have in the original table; an engine may know others, without time zones for example.
    kinds: Mapping[str, pa.DataType] = {}

    @abstractmethod
    def named(self, native: Any, names: Callable[[str], str]) -> Any:
        """A frame of the engine with other names of its columns."""

    def inward(self, native: Any) -> Lazy:
        """A frame of the engine with the names that columns have inside of it."""
        return nw.from_native(self.named(native, inner_name))

    def outward(self, frame: Lazy) -> Any:
        """A frame of the engine with the names that columns have in the table."""
        return self.named(frame.to_native(), outer_name)

    @abstractmethod
    def table(self, data: pa.Table) -> Lazy:
        """A small table as a frame of this engine."""

    def scan(self, paths: Sequence[Path]) -> Lazy:
        """The records of Parquet files."""
        raise NotImplementedError

    @abstractmethod
    def stage(self, frame: Lazy, name: str) -> Lazy:
        """Write a frame, in its order, where the work is done, and return what was written."""

    def key(self, frame: Lazy) -> int:
        """A secret for the hashes of records, which are staged; not needed if no one else can read them.

        If there is one, it depends on all records together, so that a second run makes the same groups.
        """
        return 0

    @abstractmethod
    def hashed(self, frame: Lazy, columns: Sequence[str], name: str, secret: int) -> Lazy:
        """Add a column of hashes of other columns, whole numbers from 0 to HASHES, other ones for every secret."""

    @abstractmethod
    def collect(self, frame: Lazy) -> Frame:
        """Bring a small frame into memory, with the names that columns have in the table."""

    def arrow(self, frame: Lazy) -> pa.Table:
        """Bring a small frame of numbers into memory as Arrow."""
        return self.collect(frame).to_arrow()

    def elsewhere(self) -> RemoteSolver | None:
        """A remote solver for parts of rounds, if there is one."""
        return None

    def numbers(self, frame: Lazy) -> dict[str, np.ndarray]:
        """Bring a frame of whole numbers without nulls into memory."""
        table = self.arrow(frame)
        return {
            name: table[name].cast(pa.int64()).to_numpy().astype(np.int64)
            for name in table.column_names
        }


def engine_errors(engine: str) -> AbstractContextManager[None]:
    """Turn errors of a library into one sentence; its own message may show cells."""
    return translate_errors(_is_foreign, lambda error: _why(error, engine))


def _is_foreign(error: BaseException) -> bool:
    module = type(error).__module__.partition(".")[0]
    return module in LIBRARIES or isinstance(error, OSError | MemoryError)


def _why(error: BaseException, engine: str) -> str:
    words = str(error).lower()
    if getattr(error, "errno", None) == errno.ENOSPC or any(sign in words for sign in FULL):
        return (
            "The disk is full, so nothing was written. Free some space, or work elsewhere: next to the output, "
            "or in the folder that the environment variable TMPDIR names."
        )
    if isinstance(error, MemoryError) or any(sign in words for sign in MEMORY):
        return f"The engine {engine} ran out of memory. Give it more (--memory, memory=), or keep fewer columns."
    return (
        f"The engine {engine} could not finish ({type(error).__name__}). Check that the whole table can be read, "
        "and that its columns contain numbers, dates or text."
    )


# Bytes that solving takes for each record, and that a counted row takes for each column; measured by
# `python -m benchmarks scale` with eight quasi-identifiers.
BYTES_TO_SOLVE = 1_000
BYTES_OF_A_CODE = 40
FEWEST, MOST = 200_000, 8_000_000  # records solved at once; more would take hours
SHARE = 0.6  # share of free memory that is used if no amount is given
ENGINES_SHARE = 0.4  # share of that which an engine may use itself

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_UNITS |= {f"{unit}i": 1024**power for power, unit in enumerate("kmgt", start=1)}
_AMOUNT = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?i?)b?\s*", re.IGNORECASE)
_LEAST = 256_000_000


def read_memory(given: str | int | None) -> int:
    """Read an amount like "8GB" as bytes; by default most of what is free.

    Examples
    --------
    >>> read_memory("1.5 GB"), read_memory("2GiB")
    (1500000000, 2147483648)
    """
    if given is None:
        return int(SHARE * free_memory())
    amount = _AMOUNT.fullmatch(str(given)) if not isinstance(given, bool) else None
    bytes_given = int(float(amount[1]) * _UNITS[amount[2].lower()]) if amount else 0
    if bytes_given < _LEAST:
        raise InputError(
            f"The 'memory' parameter must be an amount of at least 256 MB, like 8GB. Got {shown(given)} instead."
        )
    return bytes_given


def free_memory() -> int:
    """Bytes of free memory, according to the system and the limit of a container."""
    import psutil  # which takes a tenth of a second, for large tables only

    free = []
    with suppress(OSError):
        free.append(int(psutil.virtual_memory().available))
    with suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        limit = int((group / "memory.max").read_text())
        free.append(limit - int((group / "memory.current").read_text()))
    return max(_LEAST, min(free, default=4 * 10**9))


def records_at_once(memory: int) -> int:
    """Records that can be solved at once."""
    return int(min(MOST, max(FEWEST, (1 - ENGINES_SHARE) * memory / BYTES_TO_SOLVE)))


def most_rows(memory: int, columns: int) -> int:
    """Combinations that can be counted in memory."""
    return int((1 - ENGINES_SHARE) * memory / (BYTES_OF_A_CODE * (columns + 2)))


def memory_for_engine(memory: int) -> int:
    """Bytes that an engine may use."""
    return int(ENGINES_SHARE * memory)
