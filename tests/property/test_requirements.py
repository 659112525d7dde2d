"""Every method keeps every requirement that a table can keep; what it cannot keep is refused first."""

from __future__ import annotations

import in_order
import pytest
import tables
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import requirements as twins

import shoal
from shoal.solve.methods import METHODS

HONEST = [name for name, method in METHODS.items() if method().honours_requirements()]


@pytest.mark.parametrize("kind", twins.ALL_KINDS)
@pytest.mark.parametrize("method", HONEST)
@settings(max_examples=2)
@given(data=st.data())
def test_every_group_meets_the_requirement_and_the_audit_proves_it(method, kind, data):
    sample, k, required = data.draw(twins.cases(kind))
    release = shoal.anonymize(
        sample.frame,
        quasi_identifiers=sample.models,
        sensitive=sample.sensitive,
        k=k,
        requirements=required,
        method=method,
    )
    meets = twins.meets(sample, k, required)
    assert all(meets(group) for group in tables.members(release.groups.tolist()))
    assert shoal.audit(release.data, settings=release.settings) == release.audit


LOOSE = [name for name in HONEST if METHODS[name]().may_be_loosened()]


@pytest.mark.parametrize("kind", twins.ALL_KINDS)
@settings(max_examples=5)
@given(method=st.sampled_from(LOOSE), share=st.sampled_from([0.1, 0.5, 0.9]), data=st.data())
def test_loosened_groups_meet_the_requirement_and_the_audit_proves_it(kind, method, share, data):
    sample, k, required = data.draw(twins.cases(kind))
    release = in_order.anonymize(
        sample.frame,
        quasi_identifiers=sample.models,
        sensitive=sample.sensitive,
        k=k,
        requirements=required,
        method=method,
        loosen=share,
        order_seed=data.draw(st.integers(0, 99)),
    )
    meets = twins.meets(sample, k, required)
    assert all(meets(group) for group in tables.members(release.groups.tolist()))
    assert shoal.audit(release.data, settings=release.settings) == release.audit


def test_what_no_release_can_keep_is_refused_before_any_work():
    table = {"quasi0": [1, 2, 3, 4], "sensitive0": ["s", "s", "s", "t"]}
    stages: list[str] = []
    for method in HONEST:
        with pytest.raises(shoal.Infeasible, match=r"choose l of at most 1\.3333"):
            shoal.anonymize(
                tables.pa.table(table),
                quasi_identifiers=["quasi0"],
                sensitive=["sensitive0"],
                k=2,
                requirements=[shoal.LDiversity(2)],
                method=method,
                progress=lambda stage, done, total: stages.append(stage),
            )
    assert set(stages) == {"reading", "encoding"}
