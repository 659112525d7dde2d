"""What a column is said to hold (`types` of `input`, `--type`) decides how it is read."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import shoal
from shoal.errors import InputError


def regions(records: int = 120) -> pd.DataFrame:
    chance = random.Random(3)
    return pd.DataFrame(
        {
            "region": [chance.randint(1, 9) for _ in range(records)],
            "born": [f"19{50 + n % 40}-01-0{1 + n % 9}" for n in range(records)],
            "ill": [n % 3 for n in range(records)],
        }
    )


def release(data: object, **types: str) -> shoal.Release:
    """A release of the regions, each column read as it is said."""
    return shoal.anonymize(
        data,
        quasi_identifiers=["region", "born"],
        sensitive=["ill"],
        k=5,
        refine=False,
        keep_order=True,
        reading={"types": types},
    )


def cells(made: shoal.Release) -> set[str]:
    """What the regions read in a release."""
    native = made.data["region"]
    return {
        str(value) for value in (native if isinstance(native, pd.Series) else native.to_pylist())
    }


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "regions.csv"
    regions().to_csv(path, index=False)
    return path


def test_codes_that_are_said_to_be_text_never_become_ranges(file: Path) -> None:
    for data in (file, regions()):
        assert release(data).settings.quasi_identifiers["region"] == shoal.Interval()
        made = release(data, region="text")
        assert cells(made) <= {*"123456789", "*"}
        assert made.settings.quasi_identifiers["region"] == shoal.Suppression()


def test_sensitive_codes_that_are_text_have_no_order_for_the_audit_either(file: Path) -> None:
    ordered = [shoal.TCloseness(t=1.0, ground="ordered")]
    made = release(file, ill="text")
    assert shoal.audit(made.data, settings=release(file).settings, requirements=ordered).proofs
    with pytest.raises(InputError, match="ill"):
        shoal.audit(made.data, settings=made.settings, requirements=ordered)
    with pytest.raises(InputError, match="ill"):
        shoal.anonymize(file, settings=made.settings, requirements=ordered)


@pytest.mark.parametrize(
    ("column", "kind"), [("born", "number"), ("region", "date"), ("ill", "date")]
)
def test_a_column_that_does_not_hold_what_is_said_is_refused(
    file: Path, column: str, kind: str
) -> None:
    with pytest.raises(
        InputError, match=f"'{column}' is declared as {kind}, but not all of its values are {kind}s"
    ):
        release(file, **{column: kind})


def test_what_fits_changes_nothing(file: Path) -> None:
    usual = release(file).data
    assert release(file, region="number", born="date", ill="number").data.equals(usual)


def test_types_are_checked_all_together(file: Path) -> None:
    with pytest.raises(InputError, match="'types' in"):
        release(file, region="colour")
    with pytest.raises(InputError, match="Column 'regions' is not in the table"):
        release(file, regions="text")


def test_settings_and_suggestions_keep_types(file: Path, tmp_path: Path) -> None:
    settings = release(file, region="text").settings
    settings.save(tmp_path / "settings.toml")
    assert shoal.Settings.load(tmp_path / "settings.toml").reading == settings.reading
    assert shoal.Settings.from_dict(settings.to_dict()).reading == settings.reading
    found = shoal.suggest(file, reading={"types": {"region": "text"}})
    assert found.reading.types == {"region": "text"}
    assert found.settings().reading.types == {"region": "text"}
    (tmp_path / "suggested.toml").write_text(found.to_toml(), encoding="utf-8")
    assert shoal.Settings.load(tmp_path / "suggested.toml").reading.types == {"region": "text"}
    assert {column.name: column.holds for column in found.columns}["region"] != "numbers"


def test_a_release_is_read_back_as_texts(file: Path) -> None:
    made = release(file, region="text")
    back = shoal.read_release(made.data, settings=made.settings)
    assert str(back.data["region"].type) == "large_string"


def test_the_command_line_says_types(
    file: Path, tmp_path: Path, shell: Callable[..., tuple[int, str, str]]
) -> None:
    given = ("anonymize", file, "-q", "region", "-q", "born", "-s", "ill", "-k", "5")
    output = tmp_path / "release.csv"
    assert shell(*given, "--type", "region:text", "--refine", "off", "-o", output)[0] == 0
    cells = {line.partition(",")[0] for line in output.read_text(encoding="utf-8").splitlines()[1:]}
    assert cells <= {*"123456789", "*"}
    code, _, said = shell(*given, "--type", "region", "-o", output)
    assert code == 2
    assert "--type region:text" in said
