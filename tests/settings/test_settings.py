"""Settings come back from their file as they were, and make the same release again."""

from __future__ import annotations

from dataclasses import MISSING, fields, replace
from datetime import date
from pathlib import Path
from typing import Any

import in_order
import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import (
    Calendar,
    Hierarchy,
    InputError,
    Interval,
    Order,
    Prefix,
    Ready,
    Settings,
    Subset,
    Suppression,
)
from shoal.encoding.models import Model
from shoal.settings.settings import make_settings
from shoal.solve.methods import METHODS, Method

ZIPS = ["02139", "02140", "10001", "10002"]
TABLE = pa.table(
    {
        "name": [f"p{i}" for i in range(24)],
        "age": [20 + 7 * i % 31 for i in range(24)],
        "born": [date(1990 + i % 4, 5, 1) for i in range(24)],
        "zip": [ZIPS[i % 4] for i in range(24)],
        "ill": ["abc"[i % 3] for i in range(24)],
    }
)
TREE = "02139,East,*\n02140,East,*\n10001,West,*\n10002,West,*\n"
UNBALANCED = {"*": {"East": {"Near": ["02139", "02140"], "10001": None}, "10002": None}}

MODELS: dict[str, tuple[str, Model | None]] = {
    "default": ("age", None),
    "suppression": ("zip", Suppression()),
    "suppression in a domain": ("zip", Suppression(domain=(*ZIPS, "99999"))),
    "interval": ("age", Interval()),
    "interval in a domain": ("age", Interval(domain=tuple(range(10, 90)))),
    "interval in a domain of dates": (
        "born",
        Interval(domain=tuple(date(year, 5, 1) for year in range(1980, 2000))),
    ),
    "order": ("zip", Order(("10002", *ZIPS[:3], "99999"))),
    "order of numbers": ("age", Order([*range(50, 9, -1), 51.0])),
    "order by name": ("zip", Order("names")),
    "order with ends": ("zip", Order(ZIPS, low="02140", high="10001")),
    "suppression with ends": ("age", Suppression(low=20, high=45.0)),
    "subset with ends": ("age", Subset(high=45)),
    "interval with a step": ("age", Interval(step=5, start=2, low=11, high=45)),
    "interval with a broken step": ("age", Interval(step=2.5)),
    "interval of months": ("born", Interval(step="month", high=date(1990, 1, 1))),
    "calendar": ("born", Calendar()),
    "calendar of weeks": ("born", Calendar(["year", "week"], finest="year", low="1985")),
    "prefix": ("zip", Prefix()),
    "prefix with options": ("zip", Prefix([2, 3], fill="#", finest=4)),
    "ready": ("zip", Ready("us-zip", unlisted="keep")),
    "ready with a level": ("zip", Ready("us-zip", finest="state")),
    "prefix of parts": ("zip", Prefix(separator="-")),
    "hierarchy with a finest level": ("zip", Hierarchy.from_dict(UNBALANCED, finest=1)),
    "hierarchy with ends": (
        "age",
        Hierarchy.from_sets([range(10, 40), range(40, 90)], low=20, high=80),
    ),
    "subset": ("zip", Subset()),
    "subset in a domain": ("zip", Subset(domain=(*ZIPS, "99999"))),
    "hierarchy from a dict": ("zip", Hierarchy.from_dict(UNBALANCED)),
    "hierarchy from sets": ("zip", Hierarchy.from_sets([ZIPS[:2], ZIPS[2:]])),
    "hierarchy from rows": ("zip", Hierarchy.from_rows(zip(ZIPS, "AABB", "****", strict=True))),
}


def settings_for(column: str, model: Model | None, **more: Any) -> Settings:
    models = {column: model} if column == "age" else {"age": Interval(), column: model}
    given = {
        "sensitive": ("ill",),
        "identifiers": ("name",),
        "others": "drop",
        "allow": {"ill": ("unique",)},
        "k": 3,
        **more,
    }
    return Settings(quasi_identifiers=models, **given)


def saved(settings: Settings, path: Path) -> Settings:
    settings.save(path)
    return Settings.load(path)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_comes_back_and_makes_the_same_release(name: str, tmp_path: Path) -> None:
    settings = settings_for(*MODELS[name], weights={"age": 2.5})
    again = saved(settings, tmp_path / "settings.toml")
    assert again == settings
    release = in_order.anonymize(TABLE, settings=settings, order_seed=1)
    assert release.data.equals(in_order.anonymize(TABLE, settings=again, order_seed=1).data)
    spelled_out = saved(release.settings, tmp_path / "release.toml")
    assert spelled_out == release.settings
    assert release.data.equals(in_order.anonymize(TABLE, settings=spelled_out, order_seed=1).data)


def test_a_hierarchy_file_moves_along_with_the_settings(tmp_path: Path) -> None:
    tree, job = tmp_path / "here" / "trees" / "zip.csv", tmp_path / "here" / "jobs" / "job.toml"
    tree.parent.mkdir(parents=True)
    job.parent.mkdir()
    tree.write_text(TREE)
    settings = settings_for("zip", Hierarchy.from_csv(tree))
    assert saved(settings, job) == settings
    (tmp_path / "here").rename(tmp_path / "there")
    again = Settings.load(tmp_path / "there" / "jobs" / "job.toml")
    assert again == settings
    assert shoal.anonymize(TABLE, settings=again).k >= 3


def test_a_hierarchy_file_is_found_from_a_linked_folder(tmp_path: Path) -> None:
    (tmp_path / "deep" / "jobs").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "deep" / "jobs")
    (tmp_path / "zip.csv").write_text(TREE)
    settings = settings_for("zip", Hierarchy.from_csv(tmp_path / "zip.csv"))
    assert saved(settings, tmp_path / "link" / "job.toml") == settings


def other(value: Any) -> Any:
    """A value of the same type that is not the default; an option without one has parts by column."""
    if value is MISSING:
        return {"ill": 2.5, "a.b = c": 1}
    return value if isinstance(value, str) else not value if isinstance(value, bool) else value * 2


@pytest.mark.parametrize("kind", METHODS.values(), ids=METHODS)
def test_methods_come_back_with_their_options(kind: type[Method], tmp_path: Path) -> None:
    options = {option.name: other(option.default) for option in fields(kind)}  # type: ignore[arg-type]
    for method in (kind(), kind(**options)):
        settings = settings_for("age", None, method=method)
        assert saved(settings, tmp_path / "settings.toml").method == method


def test_everything_else_comes_back(tmp_path: Path) -> None:
    settings = settings_for(
        "zip",
        None,
        k=7,
        requirements=(shoal.LDiversity(2, columns=["ill"]), shoal.PSensitive(2)),
        suppression_limit=0.01,
        objective="wmi",
        w=0.25,
        weights={"zip": 3, "age": 0.125},
        refine=shoal.Refine(steps=12),
        seed=2**63 - 1,
        keep_order=True,
        loosen=0.2,
        render="bounds",
        keep=("ward",),
        allow={"ward": ("unique", "reveals")},
        identified_limit=0.01,
        coarsen={"ward": shoal.Interval(step=2)},
        pseudonyms=("patient",),
        key_file=str(tmp_path / "secret.key"),
        person="patient",
        series=True,
        title="Patients",
        reading=shoal.Input("cp1252", ";", ",", "%d.%m.%Y", "Data", ("?", "99")),
    )
    assert saved(settings, tmp_path / "settings.toml") == settings
    assert all(getattr(settings, field.name) != field.default for field in fields(Settings))


@pytest.mark.parametrize(
    ("given", "means"),
    [
        ("quick", shoal.Refine()),
        (True, shoal.Refine()),
        (False, False),
        (30, shoal.Refine(seconds=30.0)),
        (np.float64(0.5), shoal.Refine(seconds=0.5)),
        (shoal.Refine(steps=0), shoal.Refine(steps=0)),
    ],
)
def test_every_way_to_say_how_long_to_refine_comes_back(
    given: Any, means: Any, tmp_path: Path
) -> None:
    settings = make_settings(settings_for("zip", None), refine=given)
    assert settings.refine == means
    assert saved(settings, tmp_path / "settings.toml").refine == means


@pytest.mark.parametrize(
    "name", ["my age", "a.b.c", 'say "age"', "back\\slash", "Größe 💥", "[age]", "age = 1", "\t\n", "'"]
)  # fmt: skip
def test_any_column_name_comes_back(name: str, tmp_path: Path) -> None:
    settings = Settings(
        quasi_identifiers={name: None}, sensitive=(f"s{name}",), identifiers=(f"i{name}",), k=2
    )
    assert saved(settings, tmp_path / "settings.toml") == settings


def test_settings_may_be_written_as_in_anonymize(tmp_path: Path) -> None:
    loose = Settings(
        quasi_identifiers=["age", "zip"],  # type: ignore[arg-type]
        sensitive="ill",  # type: ignore[arg-type]
        identifiers=["name"],  # type: ignore[arg-type]
        k=np.int64(3),
        weights={"age": np.float32(2)},
        seed=np.uint8(7),
        method="mondrian",  # type: ignore[arg-type]
        others="drop",
        allow="ill",  # type: ignore[arg-type]
    )
    strict = settings_for("zip", None, weights={"age": 2.0}, method=shoal.Mondrian(), seed=7)
    strict = replace(strict, quasi_identifiers={"age": None, "zip": None})
    assert saved(loose, tmp_path / "settings.toml") == strict
    assert make_settings(loose) == strict


def test_numpy_domains_can_be_saved(tmp_path: Path) -> None:
    settings = settings_for("age", Interval(domain=np.arange(20, 52)))  # type: ignore[arg-type]
    again = saved(settings, tmp_path / "settings.toml")
    assert again == settings_for("age", Interval(domain=tuple(range(20, 52))))


def test_what_is_given_replaces_what_the_file_says(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    settings_for("zip", Subset(), seed=5, weights={"age": 2.0, "zip": 3.0}).save(path)
    changed = make_settings(path, k=9, quasi_identifiers=["zip"], sensitive=[])
    assert changed == Settings(
        quasi_identifiers={"zip": None},
        identifiers=("name",),
        others="drop",
        allow={"ill": ("unique",)},
        k=9,
        seed=5,
        weights={"zip": 3.0},  # a column that is no longer there takes its weight along
    )


def test_a_failed_save_leaves_the_older_file(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    settings_for("age", None).save(path)
    older = path.read_bytes()
    with pytest.raises(TypeError):
        settings_for("age", Interval(domain=(object(),))).save(path)
    with pytest.raises(InputError, match="cannot be written: Not a directory"):
        settings_for("age", None).save(path / "below")
    with pytest.raises(InputError, match="cannot be written: Is a directory"):
        settings_for("age", None).save(tmp_path)
    assert path.read_bytes() == older
    assert [item.name for item in tmp_path.iterdir()] == ["settings.toml"]
