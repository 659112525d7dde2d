"""A few patients whose illness is sensitive, for tests of requirements."""

from __future__ import annotations

import pandas as pd

from shoal import Hierarchy

JOB = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "k": 2}
PATIENTS = pd.DataFrame(
    {
        "age": [31, 33, 34, 35, 52, 55, 58, 59],
        "ill": ["flu", "flu", "flu", "cold", "cold", "flu", "flu", None],
        "pay": [1, 2, 3, 4, 5, 6, 7, 8],
    }
)
TREE = Hierarchy.from_dict({"*": {"cancer": ["colon", "breast"], "cold": None, "flu": None}})
