"""Which generalization model fits a kind of column: a table of rules that may name models shoal learns later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from shoal.generalization import MODELS, Model
from shoal.generalization.models import is_ordered
from shoal.suggesting.profile import BANDS, CATEGORY, CODE, DATE, FLAG, NUMBER, Profile
from shoal.suggesting.reading import LEAST
from shoal.suggesting.scales import in_order

Options = Mapping[str, Any]


def _always(profile: Profile) -> Options | None:
    return {}


def _is_read_in_order(profile: Profile) -> Options | None:
    """An interval needs values that can be read as numbers or dates."""
    return {} if is_ordered(profile.typed) else None


def _bands(profile: Profile) -> Options | None:
    """The order of categories, if none of them is that of a few records only: settings name them."""
    values = in_order(profile.found.values) if profile.rarest >= LEAST else None
    return None if values is None else {"values": tuple(values)}


def _is_digits(profile: Profile) -> Options | None:
    """A prefix means something where codes are equally long digits or letters."""
    lengths = {len(text) for text in profile.texts.slice(0, 1000).to_pylist()}
    return {} if len(lengths) == 1 and lengths.pop() >= 3 else None


@dataclass(frozen=True)
class Choice:
    """A model for a kind of column: its name, options for a column or None where it does not fit, and why."""

    model: str
    why: str
    options: Callable[[Profile], Options | None] = _always


_FINER = 'a value or *; finer: model = "hierarchy" and hierarchy = "FILE.csv"'
_SUPPRESSION = Choice("suppression", _FINER)
MODEL_RULES: Mapping[str, tuple[Choice, ...]] = {
    DATE: (
        Choice("calendar", "day, month, year", _is_read_in_order),
        Choice("interval", "from a day to another", _is_read_in_order),
        _SUPPRESSION,
    ),
    NUMBER: (
        Choice("interval", "numbers have an order: 24–30", _is_read_in_order),
        _SUPPRESSION,
    ),
    CODE: (
        Choice("prefix", "the first signs say the region", _is_digits),
        Choice("suppression", f"codes have no order: {_FINER}"),
    ),
    BANDS: (Choice("order", "categories with an order", _bands), _SUPPRESSION),
    FLAG: (Choice("suppression", "a value or *"),),
    CATEGORY: (_SUPPRESSION,),
}  # the first model that this version knows and that fits is taken


@dataclass(frozen=True)
class Chosen:
    """The model that was chosen for a column."""

    name: str
    options: Options
    why: str

    def make(self) -> Model:
        return MODELS[self.name](**self.options)


def model_for(profile: Profile, has_order: bool = False) -> Chosen:
    """Choose a model by the kind of a column; one whose categories have an order themselves keeps it."""
    if has_order:
        return Chosen(
            "order", {}, "low .. high, in the order that the categories have in the table"
        )
    for choice in MODEL_RULES[profile.kind]:
        options = choice.options(profile) if choice.model in MODELS else None
        if options is not None:
            return Chosen(choice.model, options, choice.why)
    raise AssertionError(f"no model for {profile.kind}")
