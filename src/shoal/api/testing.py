"""For tests of programs that use shoal: what is drawn at random in every run, drawn the same way again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from shoal.encoding.encode import FIXED_SEED


@contextmanager
def fixed_order(seed: int) -> Iterator[None]:
    """Fix the order of released records and the draws of `loosen` and of a series, in this thread, for tests only.

    Anyone who knows the seed can undo them: never publish a release that was made so.

    Examples
    --------
    >>> import pandas as pd, shoal
    >>> people = pd.DataFrame({"age": [31, 33, 52, 58], "ill": list("abca")})
    >>> def ills():
    ...     with shoal.testing.fixed_order(1):
    ...         return list(shoal.anonymize(people, quasi_identifiers=["age"], sensitive=["ill"], k=2).data["ill"])
    >>> ills() == ills()
    True
    """
    before = FIXED_SEED.set(seed)
    try:
        yield
    finally:
        FIXED_SEED.reset(before)
