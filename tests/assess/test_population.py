"""Estimates of the population behave as their definitions say, and find what simulated populations have."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import shoal
from shoal.assess.population import estimate_uniqueness, expected_risk


@pytest.mark.parametrize("sampled", [0.01, 0.2, 0.49, 0.5, 0.51, 0.9])
def test_the_expected_risk_is_that_of_its_distribution(sampled: float) -> None:
    """Summed term by term: F = f + m with the chance of m failures before f successes."""
    sizes = np.array([1.0, 2.0, 7.0, 40.0])
    found = expected_risk(sizes, sampled)
    for f, risk in zip(sizes.astype(int), found, strict=True):
        chance, total = float(sampled) ** f, 0.0
        for m in range(20_000):
            total += chance / (f + m)
            chance *= (1 - sampled) * (f + m) / (m + 1)
        assert risk == pytest.approx(total, rel=1e-9)


def test_the_expected_risk_of_a_single_record_is_the_published_formula() -> None:
    p = 0.1
    assert expected_risk(np.array([1.0]), p)[0] == pytest.approx(p / (1 - p) * -np.log(p))
    assert expected_risk(np.array([3.0]), 1.0)[0] == pytest.approx(1 / 3)


def test_the_expected_risk_of_large_groups_is_their_share() -> None:
    assert expected_risk(np.array([1e6]), 0.25)[0] == pytest.approx(0.25e-6, rel=1e-4)


def test_zayatz_is_bayes_rule_over_hypergeometric_draws() -> None:
    sizes, population = np.array([1, 1, 1, 2, 2, 5]), 60
    records, counts = 12, {1: 3, 2: 2, 5: 1}
    drawn = {
        i: Fraction(i * comb(population - i, records - 1), comb(population, records))
        for i in counts
    }
    weight = {i: Fraction(number, 6) * drawn[i] for i, number in counts.items()}
    expected = 3 * Fraction(population, records) * weight[1] / sum(weight.values())
    assert estimate_uniqueness(sizes, population).zayatz == pytest.approx(float(expected))


def seats(rng: np.random.Generator, people: int, theta: float, alpha: float) -> np.ndarray:
    """Groups of people who come one by one, as Pitman's sampling formula has them."""
    groups: list[int] = []
    for i in range(people):
        weights = np.array([size - alpha for size in groups] + [theta + alpha * len(groups)])
        at = rng.choice(weights.size, p=weights / weights.sum()) if i else 0
        if at == len(groups):
            groups.append(0)
        groups[at] += 1
    return np.array(groups)


def sampled_sizes(rng: np.random.Generator, groups: np.ndarray, share: float) -> np.ndarray:
    people = np.repeat(np.arange(groups.size), groups)
    drawn = rng.choice(people, round(share * people.size), replace=False)
    sizes = np.bincount(drawn)
    return sizes[sizes > 0]


def test_pitman_finds_the_unique_people_of_its_own_population() -> None:
    rng = np.random.default_rng(4)
    errors = []
    for _ in range(5):
        groups = seats(rng, 4000, 20.0, 0.6)
        found = estimate_uniqueness(sampled_sizes(rng, groups, 0.1), 4000)
        assert found.chosen == "pitman"
        errors.append(found.people / np.count_nonzero(groups == 1) - 1)
    assert abs(np.mean(errors)) < 0.15


def test_snb_finds_the_unique_people_of_its_own_population() -> None:
    rng = np.random.default_rng(5)
    groups = 1 + rng.negative_binomial(0.8, 0.2, 20_000)
    found = estimate_uniqueness(sampled_sizes(rng, groups, 0.5), int(groups.sum()))
    assert found.snb == pytest.approx(np.count_nonzero(groups == 1), rel=0.05)


@pytest.mark.parametrize(("share", "chosen"), [(0.1, {"pitman"}), (0.3, {"snb", "zayatz"})])
def test_dankars_rule_takes_pitman_for_small_samples_and_else_the_lower(
    share: float, chosen: set[str]
) -> None:
    rng = np.random.default_rng(6)
    groups = 1 + rng.geometric(0.4, 3000)
    found = estimate_uniqueness(sampled_sizes(rng, groups, share), int(groups.sum()))
    assert found.chosen in chosen
    assert found.people == getattr(found, found.chosen)
    if share > 0.1 and found.snb is not None:
        assert found.people == min(found.snb, found.zayatz)


@pytest.mark.parametrize("sizes", [[2, 3], [1], [1, 1, 1], [1, 2], [5]])
@pytest.mark.parametrize("times", [1, 2, 1000])
def test_odd_samples_have_an_estimate_between_nobody_and_everybody(
    sizes: list[int], times: int
) -> None:
    population = sum(sizes) * times
    found = estimate_uniqueness(np.array(sizes), population)
    assert 0 <= found.people <= population
    assert found.people == 0 or min(sizes) == 1


# In an evaluation


def everybody() -> tuple[pa.Table, pa.Table]:
    """All people, and the quarter of them that is in the table."""
    rng = np.random.default_rng(11)
    age, town = rng.integers(20, 60, 800), rng.choice(["Lyon", "Nice", "Ulm"], 800)
    people = pa.table({"age": age, "town": town.tolist()})
    return people, people.take(np.sort(rng.choice(800, 200, replace=False)))


def evaluated(people: Any) -> tuple[pa.Table, shoal.Release, Any]:
    table = everybody()[1]
    models = {"age": shoal.Interval(), "town": shoal.Suppression()}
    release = shoal.anonymize(table, quasi_identifiers=models, k=5, method="mondrian", refine=False)
    return (
        table,
        release,
        shoal.evaluate(
            table, release.data, quasi_identifiers=models, k=5, queries=0, population=people
        ),
    )


def covers(closure: tuple[str, str], person: tuple[int, str]) -> bool:
    low, _, high = closure[0].partition("–")
    return int(low) <= person[0] <= int(high or low) and closure[1] in ("*", person[1])


def test_people_of_a_population_are_counted_one_by_one() -> None:
    people = everybody()[0]
    table, release, found = evaluated(people)
    persons = list(zip(*people.to_pydict().values(), strict=True))
    records = list(zip(*table.to_pydict().values(), strict=True))
    alike = [sum(person == record for person in persons) for record in records]
    before = found.population.before
    assert before.smallest == min(alike)
    assert before.highest == 1 / min(alike)
    assert before.average == pytest.approx(np.mean([1 / n for n in alike]))
    released = list(zip(*release.data.to_pydict().values(), strict=True))
    among = {r: sum(covers(r, person) for person in persons) for r in set(released)}
    after = found.population.after
    assert after.smallest == min(among.values()) >= 5
    assert after.average == pytest.approx(np.mean([1 / among[r] for r in released]))
    assert (before.people, before.uniqueness) == (800, None)


def test_a_share_and_a_number_of_people_say_the_same() -> None:
    found = [evaluated(people)[2].population for people in (0.25, 800)]
    assert found[0] == found[1]
    assert found[0].before.uniqueness.people > 0 == found[0].after.uniqueness.people
    assert found[0].after.highest < found[0].before.highest < 1


@pytest.mark.parametrize("given", [0, 1, 1.5, -3, 199, True, float("nan")])
def test_a_population_that_cannot_be_is_refused(given: object) -> None:
    with pytest.raises(shoal.InputError, match="number of people of at least 200"):
        evaluated(given)


def test_a_population_without_the_columns_is_refused() -> None:
    with pytest.raises(shoal.InputError, match="Column 'town' is not in the population"):
        evaluated(pa.table({"age": [1, 2]}))


def test_a_population_of_another_type_is_refused() -> None:
    people = pa.table({"age": ["young"] * 3, "town": ["Lyon"] * 3})
    with pytest.raises(shoal.InputError, match="Column 'age' has another type in the population"):
        evaluated(people)


def test_the_command_line_takes_a_share_a_number_and_a_file(tmp_path, capsys, monkeypatch) -> None:
    from shoal.cli import main

    people, table = everybody()
    pa.csv.write_csv(people, tmp_path / "people.csv")
    pa.csv.write_csv(table, tmp_path / "table.csv")
    given = ["-q", "age", "-q", "town", "-k", "5"]
    made = ["anonymize", str(tmp_path / "table.csv"), *given, "--method", "mondrian"]
    outputs = []
    for argument in ([], ["0.25"], ["800"], [str(tmp_path / "people.csv")]):
        command = [*made, "-o", str(tmp_path / "release.csv"), "--refine", "off", "--quiet"]
        if argument:
            files = [str(tmp_path / name) for name in ("table.csv", "release.csv")]
            command = ["evaluate", *files, *given, "--queries", "0", "--population", *argument]
        monkeypatch.setattr("sys.argv", ["shoal", *command])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code
        outputs.append(capsys.readouterr().out)
    assert outputs[1] == outputs[2]
    assert all("population" in out and "800 people" in out for out in outputs[1:])
    assert "unique people" in outputs[1]
    assert "smallest group" in outputs[3]
