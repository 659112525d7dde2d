"""What is kept of groups by sensitive value is what the requirements say of them, however groups change."""

from __future__ import annotations

import numpy as np
import reference.requirements
import tables
from compiled import callable_here
from examples import several
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.refining import search as search_kernels
from shoal.kernels.shared import rules as rule_kernels
from shoal.kernels.shared import state as state_kernels
from shoal.solve.local_search.state import SearchState

add, remove, with_it, without_it = (
    callable_here(getattr(state_kernels, name))
    for name in ("add", "remove", "stays_diverse_with", "stays_diverse_without")
)
may_exchange = callable_here(search_kernels.may_exchange)
lacking, lacking_with = map(callable_here, (rule_kernels.lacking, rule_kernels.lacking_with))


@given(reference.requirements.cases(max_records=8), st.data())
@settings(max_examples=several(300))
def test_groups_may_take_and_give_what_the_requirements_allow(case, data):
    sample, _, requirements = case
    problem = reference.requirements.problem_of(sample, "lm", 1, requirements)
    meets = reference.requirements.meets(sample, 1, requirements)
    groups = np.array(data.draw(tables.partitions(sample.records)), dtype=np.int32)
    x = SearchState.of(problem, groups).search
    everyone = range(sample.records)
    for _ in range(3):
        own = [[i for i in everyone if x.s.group[i] == g] for g in range(max(x.s.group) + 1)]
        for i in everyone:
            mine = own[x.s.group[i]]
            rest = [other for other in mine if other != i]
            assert without_it(x.q, x.s, i) == (not rest or meets(rest))
            for g, members in enumerate(own):
                if g == x.s.group[i] or not members:
                    continue
                assert with_it(x.q, x.s, i, g) == meets([*members, i])
                if meets(members):  # or nobody asks
                    assert may_exchange(x, g, members[0], i) == meets([i, *members[1:]])
        moved = data.draw(st.sampled_from(everyone))
        to = data.draw(st.integers(0, len(own) - 1))
        if to != x.s.group[moved]:
            remove(x.c, x.s, x.codes, x.classes, moved)
            add(x.c, x.s, x.codes, x.classes, moved, to)


@given(reference.requirements.cases(max_records=8), st.data())
@settings(max_examples=several(300))
def test_what_a_group_lacks_with_a_record_is_what_it_lacks_once_it_has_joined(case, data):
    sample, k, requirements = case
    problem = reference.requirements.problem_of(sample, "lm", k, requirements)
    order = data.draw(st.permutations(range(sample.records)))
    counts = np.zeros(problem.tallied, np.int32)
    for size, joins in enumerate(order[:-1]):
        kept = np.full(problem.tallied, -1.0)
        np.add.at(counts, problem.values[joins], 1)
        for i in order[size + 1 :] * 2:  # the second time by what is kept
            found = lacking_with(problem.rules, problem.values, i, counts, size + 1, kept)
            united = counts.copy()
            np.add.at(united, problem.values[i], 1)
            assert abs(found - lacking(problem.rules, united, size + 2)) < 1e-12
