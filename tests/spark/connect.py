"""One release through Spark Connect, in a process of its own: a process has either classic sessions or these."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any
from unittest.mock import patch

FOLDER = Path(sys.argv[1])


def main() -> None:
    """Anonymize a Parquet file and save the release, as a table and as a folder."""
    warnings.simplefilter("ignore")
    from pyspark.sql import SparkSession

    import shoal

    session: Any = SparkSession.builder.remote(sys.argv[2]).getOrCreate()
    session.conf.set("spark.sql.shuffle.partitions", 3)
    frame = session.read.parquet(str(FOLDER / "people.parquet"))
    with patch("shoal.pipeline.carriers.on_engine.records_at_once", lambda memory: 40):
        release = shoal.anonymize(
            frame,
            quasi_identifiers=["age", "town"],
            sensitive=["ill"],
            identifiers=["name"],
            keep=["ward"],
            allow=["ward"],
            k=4,
            method="cover",
            refine=False,
        )
    assert "the Spark executors solved the parts of the table" in release.notes
    assert type(release.data).__module__.startswith("pyspark.sql.connect")
    release.save(FOLDER / "release")
    release.save("released")
    assert session.table("released").count() == release.audit.records
    release.close()  # type: ignore[attr-defined]
    assert [row.tableName for row in session.sql("SHOW TABLES").collect()] == ["released"]
    session.sql("DROP TABLE released")
    session.stop()


if __name__ == "__main__":
    main()
