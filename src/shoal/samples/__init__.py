"""The sample table, UCI Adult (census records of 1994), and hierarchies for its categories.

Source, licence and changes: README.md in this folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

_FOLDER = Path(__file__).parent


def adult() -> pa.Table:
    """Return the Adult census table: 48,842 records of 15 columns.

    Missing values are null; 45,222 records have none. Columns keep their published names, numbers
    are int64 and all others strings.

    Returns
    -------
    pyarrow.Table
        A fresh table; the records are in the order of the source.

    Examples
    --------
    >>> from shoal.samples import adult
    >>> table = adult()
    >>> table.shape
    (48842, 15)
    >>> table["age"][0].as_py()
    25
    """
    import pyarrow.parquet as pq

    # ParquetFile, unlike read_table, never takes a folder named "a=b" above the file for a column.
    with pq.ParquetFile(_FOLDER / "adult.parquet") as file:
        return file.read()


def adult_hierarchies() -> dict[str, Path]:
    """Return the hierarchy file of each categorical column of the Adult table, by column.

    A file has no header and one line per value, ``leaf,level 1,…,root``, and holds every value
    of its column. Missing values have no line.

    Returns
    -------
    dict of str to pathlib.Path
        Column name to CSV file, in alphabetical order of the columns.

    Examples
    --------
    >>> from shoal.samples import adult_hierarchies
    >>> print(adult_hierarchies()["sex"].read_text(encoding="utf-8"), end="")
    Female,*
    Male,*
    """
    return {path.stem: path for path in sorted((_FOLDER / "hierarchies").glob("*.csv"))}


def adult_settings() -> Path:
    """Return the path of the settings that `shoal demo` uses: eight quasi-identifiers, income sensitive, k = 10."""
    return Path(__file__).parent / "adult.toml"
