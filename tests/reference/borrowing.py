"""Slow twin of borrowing: cells that lack a little take records from finished groups, every choice weighed anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from reference import Group, cells
from reference.clustering import Cost


@dataclass(frozen=True)
class Visit:
    """A lattice point under some terms: the cell of every record there, and what it pays."""

    keys: Sequence[Any]
    costs: Sequence[float]
    limit: float  # cells that cost more wait for another visit
    place: int  # the same for all visits of a point under the same terms
    markup: float  # what borrowing may add to what the cell's own records pay, as a share of it
    share: float  # borrowed records per record of the cell


@dataclass
class Made:
    """A group, and what a record paid when it was made."""

    records: Group
    price: float


def lend(visits: Sequence[Visit], order: Group, k: int, lack: Cost) -> tuple[list[Group], Group]:
    """Groups made at the visits, in turn, and the records left over; `lack` is 0 where a group needs only k.

    Records are looked at in the order given.
    """
    made: list[Made] = []
    left, covered = list(order), []  # the latest covered last

    def lacking(group: Group) -> float:
        return max(0, k - len(group)) / k + lack(group)

    waiting: dict[int, list[float]] = {}  # what cells cost that were too dear at the last visit
    for visit in visits:
        if all(cost > visit.limit for cost in waiting.get(visit.place, [0.0])):
            continue
        waiting[visit.place] = []
        before = list(left)
        lenders = covered[::-1]
        for cell in cells(visit.keys[i] for i in before).values():
            members = [before[place] for place in cell]
            fewest = ceil(k / (1 + visit.share) - 1e-9) if visit.markup else k
            if len(members) < fewest:
                continue
            if visit.costs[members[0]] > visit.limit:
                waiting[visit.place].append(visit.costs[members[0]])
                continue
            if not lacking(members):
                made.append(Made(members, visit.costs[members[0]]))
            elif visit.markup:
                same = [i for i in lenders if visit.keys[i] == visit.keys[members[0]]]
                borrowed = borrow(made, members, same, visit, k, lacking)
                if lacking(members + borrowed):
                    continue
                for group in made:
                    group.records = [i for i in group.records if i not in borrowed]
                made.append(Made(members + borrowed, visit.costs[members[0]]))
            else:
                continue
            left = [i for i in left if i not in members]
        covered += [i for i in before if i not in left]
    return [group.records for group in made], left


def borrow(
    made: Sequence[Made], members: Group, lenders: Group, visit: Visit, k: int, lacking: Cost
) -> Group:
    """Records that each bring the cell nearer to what is required, from groups that do without them."""
    borrowed: Group = []
    cost = visit.costs[members[0]]
    budget = visit.markup * cost * len(members)
    for i in lenders:
        whole = members + borrowed
        if not lacking(whole) or len(whole) >= int(len(members) * (1 + visit.share)):
            break
        lender = next(group for group in made if i in group.records)
        rest = [j for j in lender.records if j != i and j not in borrowed]
        more = cost - lender.price
        helps = lacking([*whole, i]) < lacking(whole) - 1e-12
        if helps and more <= budget + 1e-6 and rest and not lacking(rest):
            borrowed.append(i)
            budget -= more
    return borrowed
