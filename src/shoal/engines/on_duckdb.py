"""DuckDB: relations of the user's, or files that outgrow memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import pyarrow as pa

from shoal.engines.base import Engine, Lazy
from shoal.staging import Staging
from shoal.table.frames import Frame, open_frame


class DuckDB(Engine):
    """Queries of one connection, staged as Parquet files."""

    name = "duckdb"

    def __init__(self, relation: Any, staging: Staging) -> None:
        """Work in the connection of a relation."""
        self.relation, self.staging = relation, staging

    @classmethod
    def own(cls, staging: Staging, memory: int) -> DuckDB:
        """Open a connection of our own, which may use so many bytes."""
        connection = duckdb.connect(
            config={
                "memory_limit": f"{memory >> 20}MiB",
                "temp_directory": str(staging.place("spilled")),
                "preserve_insertion_order": False,
            }
        )
        # DuckDB draws a bar on standard output where Python runs no file: `python -c`, notebooks, spawned processes.
        connection.execute("SET enable_progress_bar = false")
        return cls(connection.sql("SELECT 1 AS one"), staging)

    def _sql(self, query: str) -> Any:
        return self.relation.query("_shoal_any", query)

    def scan(self, paths: Sequence[Path]) -> Lazy:
        """The records of Parquet files."""
        files = ", ".join(_text(str(path)) for path in paths)
        return nw.from_native(self._sql(f"SELECT * FROM read_parquet([{files}])"))

    def table(self, data: pa.Table) -> Lazy:
        from pyarrow.parquet import write_table

        path = self.staging.place(f"table-{len(list(self.staging.folder.iterdir()))}.parquet")
        write_table(data, path)
        return self.scan([path])

    def stage(self, frame: Lazy, name: str) -> Lazy:
        path = self.staging.place(f"{name}.parquet")
        frame.to_native().write_parquet(str(path), compression="zstd")
        return self.scan([path])

    def hashed(self, frame: Lazy, columns: Sequence[str], name: str, secret: int) -> Lazy:
        listed = [duckdb.ColumnExpression(column) for column in columns]
        mixed = duckdb.FunctionExpression("hash", duckdb.ConstantExpression(secret), *listed)
        positive = duckdb.FunctionExpression(">>", mixed, duckdb.ConstantExpression(2))
        added = positive.cast("BIGINT").alias(name)
        return nw.from_native(frame.to_native().select(duckdb.StarExpression(), added))

    def collect(self, frame: Lazy) -> Frame:
        return open_frame(frame.to_native().to_arrow_table())


def _text(value: str) -> str:
    """A text in SQL."""
    return "'" + value.replace("'", "''") + "'"
