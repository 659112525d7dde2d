"""How many random examples a test tries, which grows with Hypothesis' profile."""

from __future__ import annotations

from hypothesis import settings

FEWEST = 5


def several(number: int) -> int:
    """So many examples for each hundred of the profile: an eighth of `number` as a rule, thrice as many with "many"."""
    return max(FEWEST, number * settings.default.max_examples // 100)
