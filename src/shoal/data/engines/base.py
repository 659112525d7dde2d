"""What an engine adds to a run: how frames are opened, mixed and written, and how columns are named inside."""

from __future__ import annotations

import errno
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
import pyarrow as pa

from shoal.encoding.frames import Frame
from shoal.errors import in_our_words
from shoal.solve.counted.remote import Elsewhere

RESERVED = "_shoal_"  # how names of columns begin that only the way itself uses

_PLAIN = re.compile(r"\w(?:[\w -]*\w)?")
_SPELLED = f"{RESERVED}named_"
_SIGN = re.compile(r"_([0-9a-f]+)_")


def inner(name: str) -> str:
    """The name of a column inside an engine.

    Examples
    --------
    >>> inner("age"), inner("capital.gain")
    ('age', '_shoal_named_capital_2e_gain')
    """
    if _PLAIN.fullmatch(name):
        return name
    return _SPELLED + "".join(sign if sign.isalnum() else f"_{ord(sign):x}_" for sign in name)


def outer(name: str) -> str:
    """The name of a column in the table, from its name inside an engine.

    Examples
    --------
    >>> outer(inner('a "b". c'))
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
        return nw.from_native(self.named(native, inner))

    def outward(self, frame: Lazy) -> Any:
        """A frame of the engine with the names that columns have in the table."""
        return self.named(frame.to_native(), outer)

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
        """A secret for the hashes of records, which are staged; none is needed where nobody else can read them.

        Where there is one, it follows from all records together, so that a second run makes the same groups.
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

    def elsewhere(self) -> Elsewhere | None:
        """Another place than this process where parts of rounds can be solved."""
        return None

    def numbers(self, frame: Lazy) -> dict[str, np.ndarray]:
        """Bring a frame of whole numbers without nulls into memory."""
        table = self.arrow(frame)
        return {
            name: table[name].cast(pa.int64()).to_numpy().astype(np.int64)
            for name in table.column_names
        }


def speaking_of(engine: str) -> AbstractContextManager[None]:
    """Turn what a library raises into one sentence; its own words may show cells."""
    return in_our_words(_is_foreign, lambda error: _why(error, engine))


def _is_foreign(error: BaseException) -> bool:
    module = type(error).__module__.partition(".")[0]
    return module in LIBRARIES or isinstance(error, OSError | MemoryError)


def _why(error: BaseException, engine: str) -> str:
    words = str(error).lower()
    if getattr(error, "errno", None) == errno.ENOSPC or any(sign in words for sign in FULL):
        return (
            "The disk is full, so nothing was written; make room, or let the work be done elsewhere: beside the "
            "output, or where the environment variable TMPDIR points to."
        )
    if isinstance(error, MemoryError) or any(sign in words for sign in MEMORY):
        return (
            f"The engine {engine} ran out of memory; give it more (--memory, memory=), or less to hold: "
            "fewer columns that are kept."
        )
    return (
        f"The engine {engine} could not finish ({type(error).__name__}); check that the table can be read to its "
        "end, and that its columns hold numbers, dates or text."
    )
