"""One case through shoal's public functions and the checker: what became of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import shoal

from .cases import KINDS, MARKS, METHODS, Case, draw_case
from .checker import Promise, Released, faults
from .containers import (
    DELIMITED,
    build_frame,
    categories_of,
    fields_of,
    lists_of,
    read_delimited,
    read_saved,
    write_file,
)
from .demands import Demand
from .readings import DATE, FILL, NUMBER, Tree, coarse, fold, key, read, reader_of

LONGEST = 2000  # characters of a message; it may list the columns of a table
QUOTED = re.compile(r"'[^']*'|[\d.]+")


@dataclass(frozen=True)
class Outcome:
    """What became of a case: released, refused, infeasible or failed, and why."""

    seed: int
    kind: str
    details: tuple[str, ...] = ()


def try_case(seed: int, methods: Sequence[str] = METHODS) -> Outcome:
    """Run one case and check what comes of it."""
    case = draw_case(seed, methods)
    with TemporaryDirectory() as folder:
        try:
            return Trial(case, Path(folder)).run()
        except (KeyboardInterrupt, SystemExit):
            raise
        except (
            BaseException
        ) as error:  # no ShoalError, so a failure; polars' panics are no Exception
            place = error.__traceback__
            while place and place.tb_next:
                place = place.tb_next
            where = f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}" if place else ""
            return Outcome(seed, "failed", (f"{type(error).__name__}: {error} ({where})",))


def message_faults(error: shoal.ShoalError, marks: re.Pattern[str] = MARKS) -> list[str]:
    """What is wrong with a message: it is no sentence, or shows a cell."""
    sentences = getattr(error, "problems", None) or str(error).split("\n")
    found = []
    for sentence in sentences:
        if marks.search(sentence):
            found.append(f"a message shows a cell: {sentence}")
        if "\n" in sentence or not sentence.endswith((".", "?")) or len(sentence) > LONGEST:
            found.append(f"a message is no sentence: {sentence!r}")
    return found or ([] if sentences else ["a message is empty"])


class Trial:
    """One case and what it is compared with."""

    def __init__(self, case: Case, folder: Path) -> None:
        self.case = case
        self.folder = folder
        self.is_file = case.container.startswith(".")
        self.table: Any = write_file(case, folder) if self.is_file else build_frame(case)
        self.given_table = dict(case.columns) if self.is_file else lists_of(self.table)
        self.original = self.coarse(self.given_table)
        self.fields = fields_of(case) if case.container in DELIMITED else {}
        for name in case.coarsen if self.fields else ():
            self.fields[name] = [text or "" for text in self.original[name]]

    def coarse(self, columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
        """Columns as they are once some are coarsened."""
        own = self.case.coarsen
        return {
            name: [coarse(value, own[name]) for value in values] if name in own else values
            for name, values in columns.items()
        }

    def run(self) -> Outcome:
        seed = self.case.seed
        try:
            release = self.anonymize()
        except shoal.Infeasible as error:
            found = message_faults(error)
            if self.case.is_whole and self.promise().is_possible():
                found.append(f"refused although the whole table as one group will do: {error}")
            return Outcome(seed, "failed" if found else "infeasible", tuple(found))
        except shoal.InputError as error:
            found = message_faults(error)
            reasons = tuple(QUOTED.sub("…", problem) for problem in error.problems)
            if not (found or self.case.is_whole):
                return Outcome(seed, "refused as meant")
            return Outcome(seed, "failed" if found else "refused", tuple(found) or reasons)
        if not self.case.is_whole:
            return Outcome(seed, "failed", ("released although the settings are wrong",))
        found = self.faults(release)
        kind = "left some out" if release.suppressed else "released"
        return Outcome(seed, "failed" if found else kind, tuple(found))

    def anonymize(self, **given: Any) -> shoal.Release:
        case = self.case
        refine = {"off": False, "quick": "quick", "steps": shoal.Refine(steps=5)}[case.refine]
        with shoal.testing.fixed_order(case.seed):
            return shoal.anonymize(
                self.table,
                quasi_identifiers={name: self._model(name) for name in case.rules},
                sensitive=list(case.sensitive),
                identifiers=list(case.identifiers),
                keep=list(case.kept),
                coarsen={
                    name: shoal.Interval(**own) if "step" in own else shoal.Calendar(**own)
                    for name, own in case.coarsen.items()
                },
                k=case.k,
                requirements=[_requirement(demand) for demand in case.demands],
                refine=refine,
                **given,
                **case.options,
            )

    def _model(self, name: str) -> Any:
        rule = self.case.rules[name]
        domain = None if rule.domain is None else list(rule.domain)
        match rule.model:
            case "hierarchy":
                assert rule.tree is not None
                return shoal.Hierarchy.from_dict(_nested(rule.tree))
            case "interval":
                return shoal.Interval(domain, **rule.options)
            case "calendar":
                return shoal.Calendar(**rule.options)
            case "point":
                return shoal.Point(**rule.options)
            case "prefix":
                return shoal.Prefix(fill=FILL)
            case "ready":
                return shoal.Ready("countries", unlisted="keep")
            case "order":
                return shoal.Order(domain or "names")
            case "subset":
                return shoal.Subset(domain)
            case "suppression":
                return shoal.Suppression(domain)
        return None

    def promise(self, order: Sequence[int] | None = None) -> Promise:
        """What a release must keep; cells are read by the values of the records in it, not of those left out."""
        case = self.case
        records = range(case.records) if order is None else order
        readers = {
            name: reader_of(
                rule.named(case.kinds[name]),
                KINDS[case.kinds[name]],
                [self.original[name][record] for record in records],
                rule.domain,
                rule.tree,
                rule.options,
            )
            for name, rule in case.rules.items()
        }
        return Promise(
            readers,
            {
                name: [fold(key(value), rule.options) for value in self.original[name]]
                for name, rule in case.rules.items()
            },
            {name: self.original[name] for name in case.sensitive},
            self.rows(self.original),
            case.k,
            case.demands,
            case.options.get("suppression_limit", 0.0),
            case.options.get("weights", {}),
        )

    def rows(self, columns: dict[str, list[Any]]) -> list[tuple[Any, ...]]:
        """The columns that are released as they are, by record; whatever differs in type or spelling differs."""
        reading = _loose if self.is_file else repr
        records = len(next(iter(columns.values())))
        rows = zip(*(map(reading, columns[name]) for name in self.case.released), strict=True)
        return list(rows) or [()] * records

    def columns(self) -> list[str]:
        """The released columns, in the table's order."""
        case, names = self.case, []
        for name in case.columns:
            if name in case.rules:
                is_range = case.rules[name].named(case.kinds[name]) in ("interval", "order")
                as_bounds = is_range and case.options["render"] == "bounds"
                names += [f"{name}_min", f"{name}_max"] if as_bounds else [name]
            elif name in case.released:
                names.append(name)
        return names

    def hides_missing(self) -> bool:
        """Whether empty bounds may stand for a missing value as well as for anything."""
        return any(
            f"{name}_min" in self.columns() and None in self.original[name]
            for name in self.case.rules
        )

    def _has_single_numbers(self) -> bool:
        """Whether ranges are released as single numbers, which do not tell what they stand for."""
        return self.case.options["render"] in ("midpoint", "mean")

    def cells(self, columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
        """What each quasi-identifier reads; in a column of numbers nothing may be anything, as beyond a coded end."""
        if self._has_single_numbers():
            for name in self.case.rules:
                cells = columns[name]
                if not any(isinstance(cell, str) for cell in cells):
                    columns = {**columns, name: ["*" if cell is None else cell for cell in cells]}
        return {
            name: columns[name]
            if name in columns
            else list(zip(columns[f"{name}_min"], columns[f"{name}_max"], strict=True))
            for name in self.case.rules
        }

    def faults(self, release: shoal.Release) -> list[str]:
        case = self.case
        columns = lists_of(release.data)
        if list(columns) != self.columns():
            return [f"columns {list(columns)} instead of {self.columns()}"]
        values = self.typed(columns)
        groups = release.groups.tolist()
        order = [i for i, group in enumerate(groups) if group >= 0]
        reads_the_same = case.options["method"] != "non_homogeneous"
        hides_missing = self.hides_missing()
        released = Released(
            self.cells(columns),
            self.rows(values),
            {name: values[name] for name in case.sensitive},
            order if case.options["keep_order"] else None,
            release.suppressed,
            None if hides_missing and not reads_the_same else release.audit.k,
            None if hides_missing or self._has_single_numbers() else release.loss("lm"),
            reads_the_same,
        )
        found = faults(self.promise(order), released)
        found += self._trace_faults(release)
        found += self._verdict_faults(release, columns)
        if not self.is_file and lists_of(self.table) != self.given_table:
            found.append("the table given was changed")
        is_chance = "loosen" in case.options or not reads_the_same  # drawn anew in every run
        if case.is_repeated and not is_chance:
            again = lists_of(self.anonymize().data)
            if _multiset(again) != _multiset(columns):
                found.append("a second run releases other records")
        if case.saved_as:
            found += self.saved_faults(release, columns)
        return found

    def _verdict_faults(self, release: shoal.Release, columns: dict[str, list[Any]]) -> list[str]:
        """Whether the verdict counts the people that unprotected columns identify, and calls nothing else safe."""
        case, verdict = self.case, release.verdict
        kept = [name for name in case.released if name not in case.sensitive]
        secret = [name for name in verdict.unprotected.columns if name not in kept]
        if not set(kept) <= set(verdict.unprotected.columns) or not set(secret) <= set(
            case.sensitive
        ):
            return [f"the verdict counts {verdict.unprotected.columns} as unprotected"]
        known = [name for name in columns if name not in case.released]
        counted = [columns[name] for name in (*known, *kept, *secret)]
        rows = Counter(zip(*(map(repr, values) for values in counted), strict=True))
        alone = sum(count == 1 for count in rows.values()) if kept or secret else 0
        limit = case.options.get("identified_limit", 0.0) * release.audit.records
        allow = case.options.get("allow", {})
        found = []
        if verdict.unprotected.identified != alone:
            found.append(f"the verdict counts {verdict.unprotected.identified} people, not {alone}")
        if verdict.is_protected and (case.k < 2 or alone > limit):
            found.append("a release that identifies people is called protected")
        allowed = any("unique" in allow.get(name, ()) for name in kept)
        if kept and not secret and alone > limit and not allowed:
            found.append("kept columns that identify people are released without being allowed")
        return found

    def typed(self, columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
        """Columns that a file's release may hold as text, back in the types that the case has."""
        if not self.is_file:
            return columns
        typed = dict(columns)
        for name in self.case.released:
            value_of = {_loose(value): value for value in self.original[name]}
            fields = self.fields.get(name, self.original[name])
            value_of |= dict(zip(map(_loose, fields), self.original[name], strict=True))
            typed[name] = [value_of.get(_loose(value), value) for value in columns[name]]
        return typed

    def _trace_faults(self, release: shoal.Release) -> list[str]:
        """Categories that only records left out have."""
        found = []
        values = lists_of(release.data)
        for name in self.case.released:
            gone = set(self.original[name]) - set(values[name])
            traces = gone & set(categories_of(release.data, name))
            if traces:
                found.append(f"column '{name}' lists {len(traces)} values of records left out")
        return found

    def saved_faults(self, release: shoal.Release, columns: dict[str, list[Any]]) -> list[str]:
        path = self.folder / f"release{self.case.saved_as}"
        try:
            release.save(path)
        except shoal.InputError as error:
            return message_faults(error) + ([f"{path.name} is there"] if path.exists() else [])
        if self.case.saved_as not in DELIMITED:
            saved, written = (_multiset(c, loosely=True) for c in (read_saved(path), columns))
            for records in (saved, written):
                records.pop((None,) * len(columns), None)  # a sheet does not tell how many it has
            same = saved == written
            return [] if same else [f"{path.name} holds other records than the release"]
        try:
            saved = read_delimited(path, list(columns))
        except ValueError as error:
            return [f"{path.name} cannot be read: {error}"]
        found = []
        if len(saved[next(iter(saved))]) != len(columns[next(iter(columns))]):
            found.append(f"{path.name} has another number of records than the release")
        if self.fields and self.case.released:
            was, now = (
                Counter(zip(*(fields[name] for name in self.case.released), strict=True))
                for fields in (self.fields, saved)
            )
            if now - was:
                changed = (now - was).total()
                found.append(
                    f"unchanged fields of {changed} records are not byte for byte the same"
                )
        for name in self.case.rules:
            if name in columns and all(
                cell is None or isinstance(cell, str) for cell in columns[name]
            ):
                texts = Counter("" if cell is None else cell for cell in columns[name])
                if texts != Counter(saved[name]):
                    found.append(f"column '{name}' reads otherwise in {path.name}")
        return found


def _multiset(columns: dict[str, list[Any]], loosely: bool = False) -> Counter[tuple[Any, ...]]:
    reading = _loose if loosely else repr
    return Counter(zip(*(map(reading, values) for values in columns.values()), strict=True))


def _loose(value: Any) -> Any:
    """A value as any format may hold it: dates and decimal numbers as text, empty texts as missing."""
    if not isinstance(value, str):
        return key(value)
    for kind in (NUMBER, DATE):
        try:
            return read(value, kind)
        except (ValueError, ArithmeticError):
            continue
    return value or None


def _nested(tree: Tree) -> dict[str, Any]:
    def below(node: Tree) -> Any:
        return {child[0]: below(child) for child in node[1]} or None

    return {tree[0]: below(tree)}


def _requirement(demand: Demand) -> Any:
    columns = list(demand.columns)
    tree = None if demand.tree is None else shoal.Hierarchy.from_dict(_nested(demand.tree))
    match demand.kind:
        case "sensitivity":
            protected = list(demand.protected)
            return shoal.PSensitive(int(demand.level), tree, protected or (), columns=columns)
        case "alpha":
            values = None if demand.values is None else list(demand.values)
            return shoal.AlphaK(demand.level, values, columns=columns)
        case "equal" | "ordered" | "hierarchical":
            return shoal.TCloseness(demand.level, demand.kind, tree, columns=columns)
    return shoal.LDiversity(demand.level, demand.kind, demand.c, columns=columns)
