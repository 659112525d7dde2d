"""DuckDB: relations of the user's, or files that outgrow memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import pyarrow as pa

from shoal.data.databases.connection import quoted, text_in_sql
from shoal.data.engines.base import Backend, Lazy
from shoal.data.staging import Staging
from shoal.encoding.frames import Frame, open_frame


class DuckDB(Backend):
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
        files = ", ".join(text_in_sql(str(path)) for path in paths)
        return self.inward(self._sql(f"SELECT * FROM read_parquet([{files}])"))

    def named(self, native: Any, names: Callable[[str], str]) -> Any:
        if all(names(name) == name for name in native.columns):
            return native
        return native.project(
            ", ".join(f"{quoted(name)} AS {quoted(names(name))}" for name in native.columns)
        )

    def table(self, data: pa.Table) -> Lazy:
        from pyarrow.parquet import write_table

        path = self.staging.place(f"table-{len(list(self.staging.folder.iterdir()))}.parquet")
        write_table(data, path)
        return self.scan([path])

    def stage(self, frame: Lazy, name: str) -> Lazy:
        path = self.staging.place(f"{name}.parquet")
        self.outward(frame).write_parquet(str(path), compression="zstd")
        return self.scan([path])

    def hashed(self, frame: Lazy, columns: Sequence[str], name: str, secret: int) -> Lazy:
        listed = [duckdb.ColumnExpression(column) for column in columns]
        mixed = duckdb.FunctionExpression("hash", duckdb.ConstantExpression(secret), *listed)
        positive = duckdb.FunctionExpression(">>", mixed, duckdb.ConstantExpression(2))
        added = positive.cast("BIGINT").alias(name)
        return nw.from_native(frame.to_native().select(duckdb.StarExpression(), added))

    def collect(self, frame: Lazy) -> Frame:
        table = self.outward(frame).to_arrow_table()
        for place, field in enumerate(table.schema):
            kind = self.kinds.get(field.name, field.type)
            # DuckDB knows the zone of a session alone.
            if _is_zoned(kind) and _is_zoned(field.type):
                table = table.set_column(place, field.name, table.column(place).cast(kind))
        return open_frame(table)


def _is_zoned(kind: pa.DataType) -> bool:
    return pa.types.is_timestamp(kind) and kind.tz is not None
