"""The audit agrees with pycanon, a peer that computes the level of a table, wherever both define it the same way.

It differs by design in three places, none of them compared here: it drops records with a missing value and
has no place for it; its recursive diversity divides the count of the rarest value, where the definition has
the most frequent one, and rounds c up to a whole number; and closeness is equal for text and ordered for
numbers, not as the user says. Entropy ℓ is compared rounded down, which is how pycanon gives it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import AlphaK, LDiversity, PSensitive, TCloseness

anonymity = pytest.importorskip(
    "pycanon.anonymity", reason="make installs it; by hand: pip install --no-deps pycanon"
)

ROLES = {"quasi_identifiers": ["a", "b"], "sensitive": ["ill", "pay"], "k": 1}
# Asked for so little that every table keeps it: the audit then says what is reached.
LOOSE = [
    LDiversity(1, kind="distinct"),
    LDiversity(1, kind="entropy"),
    LDiversity(1, kind="recursive", c=1e6),
    PSensitive(1),
    AlphaK(1),
    TCloseness(1, columns=["ill"]),
    TCloseness(1, ground="ordered", columns=["pay"]),
]


@st.composite
def releases(draw: st.DrawFn) -> pd.DataFrame:
    n = draw(st.integers(2, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    frame = pd.DataFrame(
        {
            "a": rng.choice(["[1, 5]", "[6, 9]", "*"], n),
            "b": rng.integers(0, 2, n),
            "ill": rng.choice(list("abcd"), n),
            "pay": rng.choice([10, 20, 40, 80, 160], n),
        }
    )
    return frame if frame["pay"].nunique() > 1 else frame.assign(pay=np.arange(n))


def reached(frame: Any, roles: dict[str, Any], requirements: list[Any]) -> dict[str, float]:
    proofs = shoal.audit(frame, **roles, requirements=requirements).proofs
    return {proof.requirement: proof.reached for proof in proofs}


def rounded_down(entropy_l: float) -> set[int]:
    """What remains of ℓ without its decimals, on either side of a whole number that floats may miss."""
    return {math.floor(entropy_l - 1e-9), math.floor(entropy_l + 1e-9)}


@given(releases())
def test_both_say_the_same_of_random_releases(frame: pd.DataFrame) -> None:
    public = ["a", "b"]
    found = reached(frame, ROLES, LOOSE)
    assert shoal.audit(frame, **ROLES).k == anonymity.k_anonymity(frame, public)
    for name in ("ill", "pay"):
        distinct = anonymity.l_diversity(frame, public, [name])
        assert found[f"distinct 1-diversity of '{name}'"] == distinct
        assert found[f"1-sensitivity of '{name}'"] == distinct
        entropy = anonymity.entropy_l_diversity(frame, public, [name])
        assert entropy in rounded_down(found[f"entropy 1-diversity of '{name}'"])
        alpha = found[f"a share of at most 1 for any value of '{name}'"]
        assert alpha == pytest.approx(anonymity.alpha_k_anonymity(frame, public, [name])[0])
    ill = found["1-closeness (equal) of 'ill'"]
    assert ill == pytest.approx(anonymity.t_closeness(frame, public, ["ill"]), abs=1e-12)
    pay = found["1-closeness (ordered) of 'pay'"]
    assert pay == pytest.approx(anonymity.t_closeness(frame, public, ["pay"]), abs=1e-12)


def test_recursive_diversity_is_the_definition_s_not_pycanon_s() -> None:
    frame = pd.DataFrame({"a": ["*"] * 6, "b": [0] * 6, "ill": list("aaaabc")})
    roles = {"quasi_identifiers": ["a", "b"], "sensitive": ["ill"], "k": 1}
    requirement = LDiversity(3, kind="recursive", c=5)
    [ratio] = reached(frame, roles, [requirement]).values()
    assert ratio == 4 / 1  # the most frequent value has 4 records, the third one 1
    c, l = anonymity.recursive_c_l_diversity(frame, ["a", "b"], ["ill"])
    assert (c, l) == (math.floor(1 / 4 + 1), 3)  # the rarest over the most frequent


def test_both_say_the_same_of_the_sample() -> None:
    table = shoal.samples.adult().slice(0, 3000)
    settings = shoal.Settings.load(shoal.samples.adult_settings())
    asked = [LDiversity(1.05), LDiversity(2, kind="distinct"), TCloseness(0.7)]
    job = {"settings": settings, "method": "agglomerative", "requirements": asked}
    release = shoal.anonymize(table, **job)
    public = list(settings.quasi_identifiers)
    frame = release.data.to_pandas().fillna("missing")
    share, distinct, closeness = (proof.reached for proof in release.audit.proofs)
    assert release.k == anonymity.k_anonymity(frame, public)
    assert 1 / share == pytest.approx(anonymity.alpha_k_anonymity(frame, public, ["income"])[0])
    assert distinct == anonymity.l_diversity(frame, public, ["income"]) == 2
    assert closeness == pytest.approx(anonymity.t_closeness(frame, public, ["income"]))
