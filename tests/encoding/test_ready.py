"""Ready-made hierarchies: which values they contain, whether they are trees, and what is released and refused."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import narwhals as nw
import pandas as pd
import pyarrow as pa
import pytest

import shoal
from shoal import InputError, Ready
from shoal.audits.coarsened import prove_coarsened
from shoal.audits.ready import ReadyLine, is_at_finest
from shoal.encoding.frames import open_frame
from shoal.encoding.models.ready import READY
from shoal.encoding.models.ready_lists import rows_of
from shoal.encoding.source import Input

Shell = Callable[..., tuple[int, str, str]]
LABELS: list[tuple[str, str, Any]] = [
    ("countries", "FR", ("Western Europe", "Europe")),
    ("countries", "deu", ("Western Europe", "Europe")),
    ("countries", "Côte d'Ivoire", ("Western Africa", "Africa")),
    ("countries", "Ivory Coast", ("Western Africa", "Africa")),
    ("countries", "Korea, Republic of", ("Eastern Asia", "Asia")),
    ("countries", "SOUTH KOREA", ("Eastern Asia", "Asia")),
    ("countries", "The Gambia", ("Western Africa", "Africa")),
    ("countries", "St Lucia", ("Caribbean", "Americas")),
    ("countries", "Saint Lucia", ("Caribbean", "Americas")),
    ("countries", "Trinidad & Tobago", ("Caribbean", "Americas")),
    ("countries", "Atlantis", None),
    ("countries", "", None),
    ("icd-10-cm", "E11.9", ("E11.*", "E08-E13", "E00-E89")),
    ("icd-10-cm", "e119", ("E11.*", "E08-E13", "E00-E89")),
    ("icd-10-cm", "E11", ("E11.*", "E08-E13", "E00-E89")),
    ("icd-10-cm", "S72.001A", ("S72.*", "S70-S79", "S00-T88")),
    ("icd-10-cm", "C4A.1", ("C4A.*", "C43-C44", "C00-D49")),  # sorts after the block's last
    ("icd-10-cm", "E14.9", ("E14.*", "E14-E14", "E00-E89")),  # of ICD-10, not of ICD-10-CM
    ("icd-10-cm", "F00", None),
    ("icd-10-cm", "E1", None),
    ("icd-10-cm", "asthma", None),
    ("isco-08", "2411", ("241*", "24**", "2***")),
    ("isco-08", "0110", ("011*", "01**", "0***")),
    ("isco-08", "24", (None, "24**", "2***")),
    ("isco-08", "24110", None),
    ("nace-2", "62.01", ("62.0*", "62.*")),
    ("nace-2", "J62.01", ("62.0*", "62.*")),
    ("nace-2", "6201", ("62.0*", "62.*")),
    ("nace-2", "62", (None, "62.*")),
    ("nace-2", "J", None),
    ("plz", "01067", ("010**", "01***", "0****")),
    ("plz", "D-01067", ("010**", "01***", "0****")),
    ("plz", "1067", None),
    ("uk-postcodes", "SW1A 1AA", ("SW1A 1**", "SW1A ***", "SW area")),
    ("uk-postcodes", "sw1a1aa", ("SW1A 1**", "SW1A ***", "SW area")),
    ("uk-postcodes", "M11AE", ("M1 1**", "M1 ***", "M area")),
    ("uk-postcodes", "B33 8", ("B33 8**", "B33 ***", "B area")),
    ("uk-postcodes", "EC1A", (None, "EC1A ***", "EC area")),
    ("uk-postcodes", "10115", None),
    ("us-zip", "02139", ("021**", "MA")),
    ("us-zip", "90210-1234", ("902**", "CA")),
    ("us-zip", "021", ("021**", "MA")),
    ("us-zip", "2139", None),
    ("us-zip", "00000", None),
    ("ages", "0", ("0–4", "0–14", "0–14")),
    ("ages", "17", ("15–19", "15–24", "15–64")),
    ("ages", "65", ("65–69", "65 and over", "65 and over")),
    ("ages", "103", ("85 and over", "65 and over", "65 and over")),
    ("ages", "131", None),
    ("ages", "-1", None),
    ("ages", "34.5", None),
]


def values_of(which: str, rng: random.Random, count: int) -> list[str]:
    """Values that a hierarchy contains, in all their spellings."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

    def digits(n: int) -> str:
        return "".join(rng.choices("0123456789", k=n))

    def diagnosis() -> str:
        first, last, *_ = rng.choice(rows_of("icd-10-cm"))
        more = rng.choice(["", ".", ""]) + digits(rng.randint(1, 3)) if rng.random() < 0.8 else ""
        return rng.choice([first, last, f"{first[0]}{digits(2)}"]) + more

    makers: dict[str, Callable[[], str]] = {
        "ages": lambda: str(rng.randint(0, 130)),
        "countries": lambda: (
            lambda row: rng.choice([row[0], row[1], row[0].lower(), *row[4].split("|")])
        )(rng.choice(rows_of("countries"))),
        "icd-10-cm": diagnosis,
        "isco-08": lambda: digits(rng.randint(1, 4)),
        "nace-2": lambda: rng.choice(["", "C", "C."]) + rng.choice(
            [digits(2), f"{digits(2)}.{digits(1)}", f"{digits(2)}.{digits(2)}", digits(4)]
        ),
        "plz": lambda: rng.choice(["", "D-", "D"]) + digits(5),
        "uk-postcodes": lambda: (
            "".join(rng.choices(letters, k=rng.randint(1, 2)))
            + digits(1)
            + rng.choice(["", digits(1), rng.choice(letters)])
            + rng.choice(["", f" {digits(1)}", f" {digits(1)}AB", f"{digits(1)}xy"])
        ),
        "us-zip": lambda: digits(3) + rng.choice(["", digits(2), f"{digits(2)}-{digits(4)}"]),
    }  # fmt: skip
    found: dict[str, None] = {}
    while len(found) < count:
        value = makers[which]()
        if READY[which].labels(value) is not None:
            found[value] = None
    return list(found)


@pytest.mark.parametrize(("which", "value", "labels"), LABELS, ids=str)
def test_a_value_has_the_labels_that_the_standard_says(which: str, value: str, labels: Any) -> None:
    assert READY[which].labels(value) == labels


def test_every_country_of_iso_3166_is_known_by_both_codes_and_its_names() -> None:
    rows = rows_of("countries")
    assert len(rows) == len({row[0] for row in rows}) == len({row[1] for row in rows}) == 249
    spelled: dict[str, str] = {}
    for two, three, small, large, names in rows:
        for name in (two, three, *names.split("|")):
            assert READY["countries"].labels(name) == (small, large)
            assert spelled.setdefault(name, two) == two


def test_blocks_of_diagnoses_lie_in_their_chapters_and_do_not_overlap() -> None:
    rows = rows_of("icd-10-cm")
    assert len({row[2:4] for row in rows}) == 22
    for first, last, begin, end, _ in rows:
        assert begin <= first <= last <= end
    ends = sorted((first, last) for first, last, *_ in rows)
    overlaps = [(a, b) for a, b in pairwise(ends) if a[1] >= b[0]]
    assert overlaps == [(("C76", "C80"), ("C7A", "C7A")), (("D37", "D48"), ("D3A", "D3A"))]
    blocks = {READY["icd-10-cm"].labels(code)[1] for code in ("C7A.0", "C7B", "D3A", "C77", "D48")}  # type: ignore[index]
    assert blocks == {"C7A-C7A", "C7B-C7B", "D3A-D3A", "C76-C80", "D37-D48"}


def test_zip_codes_know_all_states() -> None:
    states = {state for _, state in rows_of("us-zip")}
    assert {"AK", "CA", "DC", "HI", "MA", "NY", "PR", "TX", "WY"} < states
    assert len(states) >= 52


@pytest.mark.parametrize("which", READY)
def test_levels_nest_and_a_label_is_never_a_value(which: str) -> None:
    values = values_of(which, random.Random(which), 120)
    above: dict[tuple[int, str], tuple[str | None, ...]] = {}
    for value in values:
        labels = READY[which].labels(value)
        assert labels is not None
        assert len(labels) == len(READY[which].levels)
        kept = [label is None for label in labels]
        assert kept == sorted(kept, reverse=True)  # gaps only below the value's own level
        for level, label in enumerate(labels):
            assert label not in values
            if label is not None:
                assert above.setdefault((level, label), labels[level:]) == labels[level:]


@pytest.mark.parametrize("which", READY)
def test_the_audit_finds_by_itself_which_values_a_label_covers(which: str) -> None:
    values = values_of(which, random.Random(which), 120)
    line = ReadyLine([*values, None], Ready(which))
    labels = [READY[which].labels(value) or () for value in values]
    for label in {label for own in labels for label in own if label is not None}:
        places = {at for low, high in line.covered(label) for at in range(low, high)}
        assert places == {at for at, own in enumerate(labels) if label in own}
    assert line.covered("Mars") == ()


@pytest.mark.parametrize("which", READY)
def test_a_release_has_no_text_finer_than_its_finest_level(which: str) -> None:
    values = values_of(which, random.Random(which), 30)
    for level in READY[which].levels:
        model = Ready(which, finest=level)
        table = pd.DataFrame({"x": values * 2, "y": 1})
        release = shoal.anonymize(
            table, quasi_identifiers={"x": model, "y": None}, k=2, method="mondrian", refine=False
        )
        texts = set(release.data["x"].astype(str)) - {"*"}
        height = READY[which].levels.index(level)
        above = [READY[which].labels(value) or () for value in values]
        coarser = {v for v, own in zip(values, above, strict=True) if own[height] is None}
        assert texts <= {label for own in above for label in own[height:] if label} | coarser
        kept = shoal.anonymize(
            table,
            quasi_identifiers=["y"],
            sensitive=["x"],
            coarsen={"x": model},
            k=2,
            method="mondrian",
            refine=False,
        )
        assert {is_at_finest(text, model) for text in kept.data["x"].astype(str)} == {True}
        prove_coarsened(open_frame(kept.data), {"x": model}, Input())
        fine = [
            value
            for value, own in zip(values, above, strict=True)
            if own[height] is not None and value not in texts
        ]
        assert not any(is_at_finest(value, model) for value in fine)


TOWNS = pa.table({"x": ["FR", "France", "DEU", "Japan", "JP", "KOR"] * 2})


def test_codes_and_names_of_one_column_meet_in_a_region() -> None:
    release = shoal.anonymize(TOWNS, quasi_identifiers={"x": Ready("countries")}, k=6)
    assert set(release.data["x"].to_pylist()) == {"Western Europe", "Eastern Asia"}


def test_missing_values_are_no_country() -> None:
    table = pa.table({"x": ["FR", "DE", None, None]})
    release = shoal.anonymize(
        table, quasi_identifiers={"x": Ready("countries")}, k=2, keep_order=True
    )
    assert release.data["x"].to_pylist() == ["Western Europe", "Western Europe", None, None]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (["FR", "Atlantis"], "1 of the 2 distinct values of column 'x' is not in"),
        (["FR", "Atlantis", "El Dorado"], "2 of the 3 distinct values of column 'x' are not in"),
    ],
)
def test_values_it_lacks_are_counted_and_not_named(values: list[str], says: str) -> None:
    with pytest.raises(InputError) as caught:
        shoal.anonymize(
            {"x": values}["x"] and pa.table({"x": values}),
            quasi_identifiers={"x": Ready("countries")},
            k=1,
        )
    message = str(caught.value)
    assert says in message
    assert "Correct" in message
    assert 'unlisted = "keep"' in message
    assert not {"Atlantis", "El Dorado", "FR,"} & set(message.split())


def test_values_it_lacks_may_be_kept_and_are_released_exactly_or_as_a_star() -> None:
    table = pa.table({"x": ["FR", "DE", "Atlantis", "Atlantis", "El Dorado", "JP"]})
    model = Ready("countries", unlisted="keep")
    release = shoal.anonymize(table, quasi_identifiers={"x": model}, k=2)
    assert set(release.data["x"].to_pylist()) == {"Western Europe", "Atlantis", "*"}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "A ready-made hierarchy needs a name ('which'). Names: ages, countries,"),
        ({"which": "country"}, "Unknown ready-made hierarchy 'country'; did you mean 'countries'?"),
        ({"which": 3}, "Unknown ready-made hierarchy 3. Names: ages,"),
        ({"which": "plz", "finest": "state"}, "Ready: 'finest' of 'plz' must be one of plz3, plz2, plz1."),
        ({"which": "plz", "unlisted": "drop"}, "Ready: 'unlisted' must be one of refuse, keep."),
        (
            {"which": "plz", "finest": "plz3", "unlisted": "keep"},
            "Ready: unlisted values have no levels, so 'unlisted' cannot be \"keep\" with 'finest'. Leave one out.",
        ),
    ],
    ids=str,
)  # fmt: skip
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as caught:
        Ready(**options)
    assert str(caught.value).startswith(says)


def test_a_release_whose_label_covers_other_values_is_refused() -> None:
    release = shoal.anonymize(
        TOWNS, quasi_identifiers={"x": Ready("countries")}, k=6, keep_order=True
    )
    wrong = pa.table(
        {"x": [t.replace("Eastern Asia", "Europe") for t in release.data["x"].to_pylist()]}
    )
    found = shoal.evaluate(TOWNS, release.data, settings=release.settings)
    assert found.verdict.is_proved
    with pytest.raises(shoal.ShoalError):
        shoal.loss(TOWNS, wrong, "lm", settings=release.settings)


def test_settings_say_it_in_a_file_and_on_the_command_line(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(
        {"x": ["FR", "DEU", "JP", "KOR"], "zip": ["02139", "02138", "02215", "02216"]}
    ).to_csv("t.csv", index=False)
    models = {"x": Ready("countries", finest="subregion"), "zip": Ready("us-zip")}
    settings = replace(shoal.Settings(), quasi_identifiers=models, k=2)
    settings.save("s.toml")
    assert shoal.Settings.load("s.toml").quasi_identifiers == models
    assert (
        'model = "ready"\nwhich = "countries"\nfinest = "subregion"' in Path("s.toml").read_text()
    )
    flags = ["-q", "x:ready:countries:finest=subregion", "-q", "zip:ready:us-zip", "-k", "2"]
    assert shell("anonymize", "t.csv", *flags, "-o", "r.csv")[0] == 0
    assert shell("anonymize", "t.csv", "--settings", "s.toml", "-o", "r2.csv")[0] == 0
    for name in ("r.csv", "r2.csv"):
        released = pd.read_csv(name, dtype=str)
        assert set(released["x"]) == {"Western Europe", "Eastern Asia"}
        assert set(released["zip"]) == {"021**", "022**"}
    code, _, err = shell("anonymize", "t.csv", "-q", "x:ready:countrys", "-o", "r3.csv")
    assert (code, "did you mean 'countries'?" in err) == (2, True)


def test_all_are_listed_with_values_levels_and_source(shell: Shell) -> None:
    code, out, _ = shell("hierarchies")
    assert code == 0
    assert set(shoal.list_hierarchies()) == set(READY)
    for name, known in READY.items():
        assert name in out
        assert known.source.split()[0] in out


def test_engines_and_memory_release_the_same(on: Callable[[Any], Any]) -> None:
    table = pa.table({"x": ["FR", "DEU", "JP", "KOR", "KE", "Peru"] * 4})
    model = {"x": Ready("countries")}
    released = [
        sorted(nw.from_native(made.data).lazy().collect("pyarrow")["x"].to_list())
        for made in (
            shoal.anonymize(given, quasi_identifiers=model, k=8) for given in (table, on(table))
        )
    ]
    assert released[0] == released[1]
