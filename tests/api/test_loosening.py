"""Loosened closures: drawn as their slow twin says, above the tight ones, of values that would be shown anyway."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import in_order
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import reference
import tables
from hypothesis import given
from hypothesis import strategies as st
from reference import loosening as twin

import shoal
from shoal.encoding.closed import Closed, loosen, loosened
from shoal.solve.problem import Problem

shares = st.sampled_from([0.05, 0.2, 0.5, 0.9])


class Drawn:
    """Numbers that come in the same order to whoever asks in the same order."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def random(self, shape: Any) -> Any:
        return self.rng.random(shape)


def closed_of(sample: tables.Sample, groups: list[int]) -> Closed:
    return sample.problem("lm").close(np.array(groups, np.int32))


def read(column: reference.Column, closed: Closed, j: int) -> list[reference.Closure]:
    texts = closed.table.columns[j].form.text(closed.of_column(j))
    return [reference.read(column, text) for text in texts]


@given(tables.partitioned_samples(max_records=30), shares, st.integers(0, 99))
def test_closures_are_loosened_as_the_twin_says(drawn, share, seed):
    sample, groups = drawn
    closed = closed_of(sample, groups)
    for j, column in enumerate(sample.twins):
        form = closed.table.columns[j].form
        found = loosen(form, closed.of_column(j), share, Drawn(seed))  # type: ignore[arg-type]
        expected = twin.loosened(column, read(column, closed, j), share, Drawn(seed).random)
        assert [reference.read(column, text) for text in form.text(found)] == expected


@given(tables.partitioned_samples(max_records=30), shares, st.integers(0, 99))
def test_loosened_closures_hold_the_tight_ones_and_show_nothing_new(drawn, share, seed):
    sample, groups = drawn
    tight = closed_of(sample, groups)
    loose = loosened(tight, share, seed)
    for j, column in enumerate(sample.twins):
        before, after = read(column, tight, j), read(column, loose, j)
        pairs = set(zip(tight.groups.tolist(), loose.groups.tolist(), strict=True))
        assert all(before[g] <= after[h] for g, h in pairs)
        assert shown(column, after) <= shown(column, before)


def shown(column: reference.Column, closures: list[reference.Closure]) -> set[Any]:
    """What a reader sees of a column: nodes, ends of ranges, members of sets."""
    if column.model in ("suppression", "hierarchy"):
        return set(closures)
    plain = [closed for closed in closures if None not in closed]
    whole = {closed for closed in closures if None in closed}
    if column.model == "interval":
        return whole | {end for closed in plain for end in (min(closed), max(closed))}
    return whole.union(*plain)


@given(tables.partitioned_samples(max_records=30), shares, st.integers(0, 99))
def test_groups_that_read_the_same_become_one_and_records_stay(drawn, share, seed):
    sample, groups = drawn
    loose = loosened(closed_of(sample, groups), share, seed)
    assert np.unique(loose.closures, axis=1).shape == loose.closures.shape
    assert set(loose.groups.tolist()) == set(range(loose.closures.shape[1]))
    assert loose.groups.size == sample.records


def many(model: Any, seed: int = 0, n: int = 4000) -> shoal.Release:
    """A release with hundreds of groups, of which some need a single value and some a more general one."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"x": 30 * rng.beta(1, 3, n) // 1, "y": rng.integers(0, 40, n)})
    models = {"x": model, "y": shoal.Interval()}
    return shoal.anonymize(table, quasi_identifiers=models, k=5, method="cover", refine=False)


TREE = shoal.Hierarchy.from_dict(
    {
        "*": {
            f"h{h}": {f"h{h}.{t}": [str(15 * h + 3 * t + u) for u in range(3)] for t in range(5)}
            for h in range(2)
        }
    }
)


@pytest.mark.parametrize("share", [0.1, 0.3])
@pytest.mark.parametrize("model", [TREE, shoal.Interval(), shoal.Subset()], ids=lambda m: m.name)
def test_about_that_share_of_what_is_shown_is_not_needed(model: Any, share: float) -> None:
    """Over many draws, ends, nodes and members that no record of their group needs make up the share, or less."""
    tight = many(model).closed
    needless = total = 0
    for seed in range(20):
        loose = loosened(tight, share, seed)
        needed = tight_again(loose)
        needless += count_needless(model, needed.of_column(0), loose.of_column(0))
        total += count_facts(model, loose.of_column(0))
    assert 0.6 * share < needless / total < 1.15 * share


def tight_again(closed: Closed) -> Closed:
    """The closures that the groups of a loosened table would need."""
    problem = Problem.of(closed.table, "lm", 1)
    return Closed(closed.table, closed.groups, problem.closures(closed.groups)[0])


def count_needless(model: Any, before: Any, after: Any) -> int:
    if isinstance(model, shoal.Subset):
        return int(
            sum(bin(a & ~b).count("1") for a, b in zip(after.flat, before.flat, strict=True))
        )
    return int((before != after).sum())


def count_facts(model: Any, after: Any) -> int:
    """Nodes above values, ends of ranges, members of sets of several."""
    if isinstance(model, shoal.Subset):
        sizes = np.array([sum(bin(word).count("1") for word in words) for words in after.T])
        return int(sizes[sizes > 1].sum())
    if isinstance(model, shoal.Interval):
        return 2 * int((after[0] < after[1]).sum())
    return int((after[0] >= 30).sum())


def people(n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "town": rng.choice(list("abcdef"), n),
            "ill": rng.choice(["x", "y", "z"], n),
        }
    )


JOB = {"quasi_identifiers": ["age", "town"], "sensitive": ["ill"], "k": 4, "method": "mondrian"}


def test_the_draws_are_fresh_chance_that_no_setting_repeats(tmp_path: Path) -> None:
    first = shoal.anonymize(people(), **JOB, loosen=0.4, keep_order=True)
    first.settings.save(tmp_path / "settings.toml")
    again = shoal.anonymize(people(), settings=tmp_path / "settings.toml")
    assert again.settings.loosen == 0.4
    assert not first.data.equals(again.data)


def test_a_seed_for_tests_repeats_the_draws() -> None:
    first, second = (
        in_order.anonymize(people(), **JOB, loosen=0.4, order_seed=3) for _ in range(2)
    )
    pd.testing.assert_frame_equal(first.data, second.data)


def test_nothing_is_loosened_unless_it_is_asked_for() -> None:
    plain, none = (
        shoal.anonymize(people(), **JOB, keep_order=True, **more) for more in ({}, {"loosen": 0})
    )
    pd.testing.assert_frame_equal(plain.data, none.data)


@pytest.mark.parametrize("share", [-0.1, 1, 1.5, float("nan"), True, "0.2"])
def test_a_share_that_cannot_be_is_refused(share: Any) -> None:
    with pytest.raises(
        shoal.InputError, match="'loosen' parameter must be a share from 0 to below 1"
    ):
        shoal.anonymize(people(), **JOB, loosen=share)


@pytest.mark.parametrize("method", ["incognito", "non_homogeneous"])
def test_methods_whose_closures_belong_together_are_refused(method: str) -> None:
    job = JOB | {"method": method}
    with pytest.raises(shoal.InputError, match=f"method '{method}' cannot be loosened"):
        shoal.anonymize(people(), **job, loosen=0.1)
    shoal.anonymize(people(), **job, loosen=0)


def test_a_certificate_stays_below_the_loss() -> None:
    tight = shoal.anonymize(people(), **JOB)
    loose = shoal.anonymize(people(), **JOB, loosen=0.4)
    assert tight.certificate is not None
    assert loose.certificate is not None
    assert loose.loss() > tight.loss()
    assert 0 < loose.certificate.bound <= tight.loss()
    assert loose.certificate.ratio == pytest.approx(loose.loss() / loose.certificate.bound)


def test_records_that_are_left_out_stay_out() -> None:
    table = people()
    table.loc[len(table)] = [107, "zzz", "x"]
    release = shoal.anonymize(table, **JOB, suppression_limit=0.01, loosen=0.5, objective="ncp")
    assert release.suppressed >= 1
    texts = release.data["age"].tolist() + release.data["town"].tolist()
    assert not any("107" in text or "zzz" in text for text in texts)


@pytest.mark.parametrize("render", ["text", "bounds"])
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_a_loosened_file_passes_its_audit(tmp_path: Path, suffix: str, render: str) -> None:
    release = shoal.anonymize(pa.Table.from_pandas(people()), **JOB, loosen=0.4, render=render)
    release.save(tmp_path / f"release{suffix}")
    assert shoal.audit(tmp_path / f"release{suffix}", settings=release.settings).k == release.k
