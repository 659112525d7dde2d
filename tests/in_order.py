"""`shoal.anonymize` with its random draws fixed, so that two releases can be compared record by record."""

from __future__ import annotations

from typing import Any

import shoal


def anonymize(data: Any, *, order_seed: int | None = None, **options: Any) -> Any:
    with shoal.testing.fixed_order(order_seed):
        return shoal.anonymize(data, **options)
