"""Polars: lazy frames, run by its streaming engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import narwhals as nw
import polars as pl
import pyarrow as pa

from shoal.data.engines.base import Backend, Lazy
from shoal.data.staging import Staging
from shoal.encoding.frames import Frame, open_frame


class Polars(Backend):
    """Lazy queries, staged as Parquet files."""

    name = "polars"

    def __init__(self, staging: Staging) -> None:
        self.staging = staging

    def scan(self, paths: Sequence[Path]) -> Lazy:
        return self.inward(pl.scan_parquet(list(paths), glob=False))

    def named(self, native: pl.LazyFrame, names: Callable[[str], str]) -> pl.LazyFrame:
        return native.rename({name: names(name) for name in native.collect_schema().names()})

    def table(self, data: pa.Table) -> Lazy:
        frame = pl.from_arrow(data)
        assert isinstance(frame, pl.DataFrame)
        return nw.from_native(frame.lazy())

    def stage(self, frame: Lazy, name: str) -> Lazy:
        path = self.staging.place(f"{name}.parquet")
        self.outward(frame).sink_parquet(path, compression="zstd")
        return self.scan([path])

    def hashed(self, frame: Lazy, columns: Sequence[str], name: str, secret: int) -> Lazy:
        native = frame.to_native()
        kinds = native.collect_schema()
        listed = [
            pl.col(column).cast(pl.String)
            if isinstance(kinds[column], pl.Categorical | pl.Enum)
            else pl.col(column)
            for column in columns
        ]
        mixed = pl.struct(listed).hash(secret % 2**64) // 4
        return nw.from_native(native.with_columns(mixed.cast(pl.Int64).alias(name)))

    def collect(self, frame: Lazy) -> Frame:
        return open_frame(self.outward(frame).collect(engine="streaming"))
