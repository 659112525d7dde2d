"""What type checkers and editors know of shoal. mypy reads this file, nobody runs it.

An `ignore` says that mypy must refuse the line; one that is not needed is an error.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

import pandas as pd
import polars as pl
import pyarrow as pa

import shoal

pandas_frame = pd.DataFrame()
polars_frame = pl.DataFrame()
arrow_table = pa.table({})

# The kind of frame that goes in comes out, and a file comes out as an Arrow table.
assert_type(shoal.anonymize(pandas_frame, k=2), shoal.Release[pd.DataFrame])
assert_type(shoal.anonymize(polars_frame, k=2), shoal.Release[pl.DataFrame])
assert_type(shoal.anonymize(arrow_table, k=2), shoal.Release[pa.Table])
assert_type(shoal.anonymize("people.csv", k=2), shoal.Release[pa.Table])
assert_type(shoal.anonymize(Path("people.csv"), k=2), shoal.Release[pa.Table])
assert_type(shoal.anonymize(pandas_frame, k=2).data, pd.DataFrame)
assert_type(shoal.anonymize(polars_frame, k=2).data, pl.DataFrame)
shoal.anonymize([1, 2], k=2)  # type: ignore[call-overload]
shoal.anonymize(7, k=2)  # type: ignore[call-overload]


def of_any_kind(release: shoal.Release) -> None:
    """`Release` alone is a release of whatever kind."""
    assert_type(release.data, Any)
    assert_type(release.k, int)
    assert_type(release.to_dict(), dict[str, Any])


of_any_kind(shoal.anonymize(pandas_frame, k=2))

# Names are known, and so are the other ways to say something.
shoal.anonymize(pandas_frame, method="mondrian", objective="lm", render="bounds", others="drop")
shoal.anonymize(pandas_frame, method=shoal.Mondrian(strict=False), refine=shoal.Refine(steps=5))
shoal.anonymize(pandas_frame, method=shoal.Mondrian, refine=False)
shoal.anonymize(pandas_frame, refine="quick")
shoal.anonymize(pandas_frame, render="midpoint")
shoal.anonymize(pandas_frame, render="mean")
shoal.anonymize(pandas_frame, refine=2.5)
shoal.anonymize(pandas_frame, refine="slow")  # type: ignore[call-overload]
shoal.anonymize(pandas_frame, method="mondrain")  # type: ignore[call-overload]
shoal.anonymize(pandas_frame, objective="ml")  # type: ignore[call-overload]
shoal.anonymize(pandas_frame, objective="dm")  # type: ignore[call-overload]  # cannot be minimized
shoal.anonymize(pandas_frame, render="html")  # type: ignore[call-overload]
shoal.anonymize(pandas_frame, others="guess")  # type: ignore[call-overload]
shoal.anonymize(pandas_frame, unknown=1)  # type: ignore[call-overload]
for method in shoal.list_methods():
    shoal.anonymize(pandas_frame, k=2, method=method)
for measure in shoal.list_measures():
    shoal.loss(pandas_frame, "release.csv", measure, k=2, aggregate="sum")
shoal.loss(pandas_frame, polars_frame, "ml")  # type: ignore[arg-type]

# The other public functions and what they return.
assert_type(shoal.audit("release.csv", k=2).k, int)
assert_type(shoal.evaluate(pandas_frame, "release.csv", k=2).verdict.is_proved, bool)
assert_type(shoal.classify(pandas_frame, "ill", settings="settings.toml").release, float)
assert_type(shoal.Settings.from_dict({}), shoal.Settings)
assert_type(shoal.samples.adult(), pa.Table)
