"""The settings that `init` writes can be run: no suggested model refuses the column that it is for."""

import csv
import random
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.data.open import open_table
from shoal.pipeline.carriers.memory import encode_source
from shoal.pipeline.plan import check_roles
from shoal.settings.settings import Settings

NAMES = (
    "age", "sex", "race", "zip", "plz", "dob", "born", "city", "income", "salary", "name", "diagnosis", "visit_date",
    "region", "code", "note", "weight", "height", "children", "education", "x1", "Q7", "gender", "occupation", "year",
    "admitted", "value", "score", "nationality", "religion", "phone", "email", "time", "bmi", "status",
)  # fmt: skip
MISSING = (
    "Unknown",
    "?",
    "NA",
    "n/a",
    "-",
    "99",
    "999",
    "unbekannt",
    "k.A.",
    "00.00.0000",
    "",
    "none",
    "-9",
    "*",
)

Shell = Callable[..., tuple[int, str, str]]
Values = Callable[[random.Random], Any]


def _day(rng: random.Random) -> date:
    return date(1935, 1, 1) + timedelta(days=rng.randrange(30_000))


KINDS: tuple[Values, ...] = (
    lambda rng: rng.randrange(16, 90),
    lambda rng: rng.randrange(1, 6),
    lambda rng: rng.choice(["m", "f", "M ", "F"]),
    lambda rng: rng.choice(["White", "Black", "Unknown", "Other", "99"]),
    lambda rng: _day(rng).isoformat(),
    lambda rng: _day(rng).strftime("%d.%m.%Y"),
    lambda rng: _day(rng).strftime("%d/%m/%Y"),
    lambda rng: f"{rng.randrange(1, 13):02d}/{rng.randrange(1, 13):02d}/1980",
    lambda rng: _day(rng).strftime("%d.%m.%y"),
    lambda rng: _day(rng).strftime("%Y%m%d"),
    lambda rng: _day(rng).strftime("%d %b %Y"),
    lambda rng: f"{_day(rng)}T{rng.randrange(24):02d}:{rng.randrange(60):02d}:00Z",
    lambda rng: f"{rng.randrange(24):02d}:{rng.randrange(60):02d}",
    lambda rng: f"{rng.uniform(0, 99):.2f}",
    lambda rng: f"{rng.uniform(0, 99):.1f}".replace(".", ","),
    lambda rng: f"{rng.randrange(10**6):,}",
    lambda rng: f"{rng.randrange(10**5):05d}",
    lambda rng: f"{rng.randrange(1, 90)}.0",
    lambda rng: rng.choice(["18-29", "30-44", "45-59", "60+"]),
    lambda rng: rng.choice(["low", "medium", "high"]),
    lambda rng: rng.choice(["true", "false"]),
    lambda rng: rng.choice(["I50.1", "E11", "J45.0", "C50.4*"]),
    lambda rng: f"P{rng.randrange(400)} Q{rng.randrange(400)}",
    lambda rng: rng.choice(["", " ", "  x", "ß", "é", "日本"]),
    lambda rng: "same",
    lambda rng: "",
    lambda rng: rng.choice(["1E50", "1e5", "-0", "007", "+5", ".5", "5.", "1_000"]),
    lambda rng: rng.choice([9, 99, 999, 1, 2]),
    lambda rng: 10 ** rng.randrange(25),
    lambda rng: rng.choice(["0000-00-00", "2020-02-30", "1999-12-31"]),
    lambda rng: f"{rng.randrange(80, 100)}.{rng.randrange(10)}%",
    lambda rng: rng.choice(["£20", "€ 30", "40 USD"]),
    lambda rng: rng.choice(["a:b", 'say "x"', "c,d", "{e}", "f\ng"]),
)  # fmt: skip


def _table(rng: random.Random) -> list[list[Any]]:
    names = rng.sample(NAMES, rng.randrange(1, 9))
    records = rng.choice([1, 2, 3, 12, 40, 120, 300])
    columns = []
    for _ in names:
        kind, missing, share = (
            rng.choice(KINDS),
            rng.choice(MISSING),
            rng.choice([0, 0, 0.02, 0.2, 1]),
        )
        own = [missing if rng.random() < share else kind(rng) for _ in range(records)]
        if rng.random() < 0.2:  # as records of few people have
            own = [rng.choice(own[:3]) for _ in own]
        columns.append(own)
    return [names, *map(list, zip(*columns, strict=True))]


@pytest.mark.parametrize("seed", range(120))
def test_every_suggested_model_takes_its_column(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    path = tmp_path / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=rng.choice(",;")).writerows(_table(rng))
    try:
        found = shoal.suggest(path)
    except shoal.InputError:  # the file cannot be read, so that nothing is suggested
        return
    (tmp_path / "t.toml").write_text(found.to_toml(), encoding="utf-8")
    if not found.of("quasi-identifier"):
        return
    settings = Settings.load(tmp_path / "t.toml")
    source = open_table(path, settings.reading)
    assert check_roles(source.data.columns, settings)[1] == []
    assert encode_source(source, settings).records == found.records


def test_a_text_for_missing_that_is_a_value_elsewhere_is_missing_in_its_own_column(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(1)
    races = ["White", "Black", "Hispanic", "Unknown"]
    with (tmp_path / "t.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "age", "race", "cause"])
        for i in range(460):
            age = rng.randrange(16, 81) if i > 4 else "Unknown"
            writer.writerow([f"P{i} Q{i}", age, rng.choice(races), rng.choice(["Gun", "Taser"])])
    monkeypatch.chdir(tmp_path)
    assert shell("init", "t.csv")[0] == 0
    assert 'missing = { age = ["Unknown"] }' in (tmp_path / "t.toml").read_text()
    code, _, told = shell("anonymize", "t.csv", "--settings", "t.toml", "--output", "r.csv")
    assert code == 0, told
    released = list(csv.DictReader((tmp_path / "r.csv").read_text().splitlines()))
    assert sum(row["race"] == "Unknown" for row in released) > 50  # a value, which is released
    assert not any(row["age"] == "Unknown" for row in released)
    assert shell("audit", "r.csv", "--settings", "t.toml")[0] == 0
