"""`shoal hierarchy`: makes a hierarchy for a column or checks one against it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import WRITTEN, say
from shoal.cli import arguments as a
from shoal.cli.arguments import reading_given, shares_options, taking
from shoal.cli.options import parse_number
from shoal.errors import InputError, near_miss, raise_problems
from shoal.settings.declaration import Setting, read_input

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.encoding.frames import Frame
    from shoal.encoding.models import Hierarchy
    from shoal.encoding.models.base import CountedValues
    from shoal.encoding.source import Input

# The options that each kind takes, by name.
KINDS: dict[str, tuple[str, ...]] = {
    "calendar": ("levels",),
    "prefix": ("lengths", "separator"),
    "numbers": ("widths",),
    "order": ("order", "levels"),
    "data": ("by", "levels"),
}
UNFIT = 1  # exit code if a hierarchy does not fit

Options = dict[str, Any]


def _shape(values: Options) -> Options:
    """What the options say about the tree."""
    return {name: value for name, value in values.items() if value not in (None, [])}


shape_given = taking(
    [
        Setting("shape", name=name, help=said, metavar=metavar, takes=list if name == "by" else str)
        for name, metavar, said in (
            ("kind", "KIND", "calendar, prefix, numbers, order or data."),
            (
                "levels",
                None,
                "calendar: periods, such as day,month,year; order and data: number of levels.",
            ),
            ("widths", None, "numbers: widths of bins, such as 5,10,20."),
            ("lengths", None, "prefix: number of characters or parts to keep, such as 4,3,2."),
            ("separator", None, "prefix: separator between parts, such as '.'."),
            ("order", "FILE", "order: a file with one value per line, or names (alphabetical)."),
            ("by", "COLUMN", "data: column to compare records by; repeatable."),
        )
    ],
    _shape,
)


@shares_options(shape=shape_given, reading=reading_given)
def hierarchy(
    *,
    table: a.Table,
    column: Annotated[
        str, typer.Argument(metavar="COLUMN", help="Column of the table.", show_default=False)
    ],
    shape: Options,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="CSV file to write.")
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Check this hierarchy against the column instead."),
    ] = None,
    overwrite: a.Overwrite = False,
    reading: dict[str, Any],
    quiet: a.Quiet = False,
    json: a.Json = False,
) -> None:
    """Make a hierarchy for a column, or check one with --check.

    Shows the levels of the hierarchy. With --check, the exit code is 1 if it does not fit the column.

    The file lists the values of the column. Keep it with the original table; do not publish it.
    """
    from shoal.data.open import open_table
    from shoal.encoding.encode import column_problems

    problems = _purpose_problems(shape, output, check)
    problems += a.output_place_problems(output, [table, _order_file(shape)], overwrite)
    options, checked = _options(shape, problems), _checked(check, problems)
    how = read_input(reading, problems)
    source = a.chosen_table(table, None, reading, problems)
    raise_problems(problems)
    frame = open_table(source, how).data
    raise_problems(column_problems(frame.columns, [column, *shape.get("by", ())]))
    if checked is not None:
        _check(checked, _counted(frame, column, how), {"column": column}, quiet, json)
        return
    assert output is not None
    tree = _make(frame, column, options, how)
    tree.save(output, overwrite=overwrite)
    WRITTEN.append(output)
    if quiet:
        return
    preview = tree.preview(_counted(frame, column, how))
    if json:
        facts = {"hierarchy": str(output), "column": column, "kind": options["kind"]}
        say(dumps({**facts, **preview.to_dict()}))
        return
    say(str(preview))
    say(f"Wrote {output}. It lists the values of the column: keep it with the original table.")


def _checked(path: Path | None, problems: list[str]) -> Hierarchy | None:
    """Read the hierarchy to check; problems are added to `problems`."""
    from shoal.encoding.models import Hierarchy

    try:
        return None if path is None else Hierarchy.from_csv(path)
    except InputError as error:
        problems += error.problems
        return None


def _check(tree: Hierarchy, values: Any, about: Options, quiet: bool, as_json: bool) -> None:
    """Print where a tree and a column do not fit, and exit with 1 if a value is missing from the tree."""
    found = tree.check(values)
    if not quiet:
        facts = {"hierarchy": tree.source, **about, **found.to_dict()}
        say(dumps(facts) if as_json else str(found))
    if not found.fits:
        raise typer.Exit(UNFIT)


def _purpose_problems(shape: Options, output: Path | None, check: Path | None) -> list[str]:
    """Return contradictions: a command either makes a hierarchy or checks one."""
    if check is not None:
        other = [f"--{name}" for name in shape] + ["--output"] * (output is not None)
        return (
            [
                f"--check does not work with {', '.join(other)}. Leave {'it' if len(other) == 1 else 'them'} out."
            ]
            if other
            else []
        )
    found, kinds = [], ", ".join(KINDS)
    kind = shape.get("kind")
    if kind is None:
        found.append(
            f"Choose a kind of hierarchy with --kind, or check a file with --check. Kinds: {kinds}."
        )
    elif kind not in KINDS:
        found.append(f"Unknown kind '{kind}'{near_miss(kind, KINDS) or '.'} Kinds: {kinds}.")
    else:
        wrong = [name for name in shape if name not in ("kind", *KINDS[kind])]
        found += [f"Kind '{kind}' has no --{name}. Leave it out." for name in wrong]
    if output is None:
        found.append("No output is named. Name the file to write with --output.")
    return found


def _order_file(shape: Options) -> Path | None:
    order = shape.get("order")
    return None if order in (None, "names") else Path(order)


def _options(shape: Options, problems: list[str]) -> Options:
    """Return the options as numbers and lists; invalid ones are added to `problems`."""
    from shoal.encoding.models import Calendar, Order, Prefix
    from shoal.encoding.models.calendar import DEFAULT
    from shoal.encoding.models.makers import level_problems, width_problems

    found = dict(shape)

    def given(make: Callable[[], Any]) -> Any:
        try:
            return make()
        except InputError as error:
            problems.extend(error.problems)
            return None

    if shape.get("kind") == "calendar":
        levels = _list(shape["levels"]) if "levels" in shape else DEFAULT
        found["levels"] = levels
        given(lambda: Calendar(tuple(levels)))
    elif "levels" in shape:
        found["levels"] = parse_number(shape["levels"])
        problems += level_problems(found["levels"])
    if "widths" in shape:
        found["widths"] = [parse_number(text) for text in _list(shape["widths"])]
        problems += width_problems(found["widths"])
    if "lengths" in shape:
        found["lengths"] = [parse_number(text) for text in _list(shape["lengths"])]
        given(lambda: Prefix(tuple(found["lengths"])))
    if (path := _order_file(shape)) is not None:
        found["order"] = given(lambda: Order.from_file(path))
    return found


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _counted(frame: Frame, column: str, how: Input) -> CountedValues:
    from shoal.encoding.frames import arrow_column
    from shoal.encoding.models.base import counted_values

    return counted_values(arrow_column(frame, column), how.missing_in(column))


def _typed(found: CountedValues, how: Input) -> CountedValues:
    """Dates and numbers as text, spelled as in the column, because a hierarchy must list them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from shoal.encoding.models.base import is_ordered
    from shoal.encoding.type_inference import infer

    if not (len(found.values) and pa.types.is_large_string(found.values.type)):
        return found
    typed = infer(found.values, how)
    if not is_ordered(typed.type):
        return found
    order = pc.array_sort_indices(typed)
    places = order.to_pylist()
    labels, counts = (tuple(own[i] for i in places) for own in (found.labels, found.counts))
    return replace(found, values=typed.take(order), labels=labels, counts=counts)


def _make(frame: Frame, column: str, options: Options, how: Input) -> Hierarchy:
    """Make the tree of a column, by its kind."""
    from shoal.encoding.models import Hierarchy

    kind = options["kind"]
    if kind == "data":
        by = options.get("by") or [name for name in frame.columns if name != column]
        known = _table(frame, [column, *by], how)
        return Hierarchy.from_data(known, column, by=by, levels=options.get("levels", 4))
    if kind == "order":
        return Hierarchy.from_order(_order(frame, column, options, how), options.get("levels"))
    values = _counted(frame, column, how)
    if kind in ("calendar", "numbers"):
        values = _typed(values, how.of_column(column))
    if kind == "calendar":
        return Hierarchy.from_dates(values, options["levels"])
    if kind == "numbers":
        return Hierarchy.from_numbers(values, options.get("widths"))
    return Hierarchy.from_codes(values, options.get("lengths"), options.get("separator"))


def _order(frame: Frame, column: str, options: Options, how: Input) -> Any:
    """The order from a file, alphabetical order, or the column's own order."""
    from shoal.encoding.frames import category_order

    given = options.get("order")
    if given == "names":
        return sorted(_counted(frame, column, how).labels)
    own = given or category_order(frame, column)
    if own is None:
        raise InputError(
            f"Column '{column}' has no order of its own. Name a file that lists its values from lowest to "
            "highest with --order, or sort them alphabetically with --order names."
        )
    return own


def _table(frame: Frame, names: list[str], how: Input) -> pa.Table:
    """Some columns, with texts for missing values read as missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from shoal.encoding.frames import arrow_column

    found = {}
    for name in dict.fromkeys(names):
        values = arrow_column(frame, name)
        missing = how.missing_in(name)
        if missing and pa.types.is_large_string(values.type):
            stands = pc.is_in(values, pa.array(missing, values.type))
            values = pc.if_else(stands, pa.scalar(None, values.type), values)
        found[name] = values
    return pa.table(found)
