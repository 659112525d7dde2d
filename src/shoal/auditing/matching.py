"""How many different persons have as many different values: the largest matching between the two."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence


def most_pairs(values: Sequence[int], persons: Sequence[int]) -> int:
    """The most pairs of a value and a person who has it, such that no value and no person is in two of them.

    `values` and `persons` say who has what. Every value looks for a person who is free, or who can be made free by
    giving their value's partner another person (Kuhn 1955).

    Examples
    --------
    >>> most_pairs([1, 2, 3, 1], [7, 7, 7, 8])  # one person has three values, another has one of them
    2
    """
    owners: dict[int, list[int]] = {}
    for value, person in zip(values, persons, strict=True):
        owners.setdefault(value, []).append(person)
    taken: dict[int, int] = {}  # the value that each person stands for
    chosen: dict[int, int] = {}  # the person who stands for each value
    return sum(_place(value, owners, taken, chosen) for value in owners)


def _place(
    value: int, owners: dict[int, list[int]], taken: dict[int, int], chosen: dict[int, int]
) -> bool:
    """Find a person for a value, moving others; return whether there is one."""
    asked_by: dict[int, int] = {}
    waiting = deque([value])
    while waiting:
        asking = waiting.popleft()
        for person in owners[asking]:
            if person in asked_by:
                continue
            asked_by[person] = asking
            if person in taken:
                waiting.append(taken[person])
                continue
            while asking != value:  # go back, giving each value on the way its new person
                before = chosen[asking]
                taken[person], chosen[asking] = asking, person
                person, asking = before, asked_by[before]
            taken[person], chosen[asking] = asking, person
            return True
    return False
