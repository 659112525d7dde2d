"""One random case from one number: a table, the roles of its columns, and what is asked of its release.

Cells are recognisable, so that a message that shows one can be told: see `MARKS`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import shoal

from .demands import Demand
from .readings import DATE, NUMBER, TEXT, Tree, canonical

PLAIN = ("suppression", "subset")  # models that need no numbers or dates
MARKS = re.compile(r"(?i)Zq7|7130\d{3}|90071992\d|207\d-\d\d-\d\d")
FRAMES = ("pandas", "pandas category", "polars", "polars category", "arrow", "arrow dictionary")
FILES = (".csv", ".csv", ".csv.gz", ".tsv", ".parquet", ".jsonl", ".xlsx")
KINDS = {  # what a column holds: how its released texts are read
    "whole": NUMBER,
    "huge": NUMBER,
    "float": NUMBER,
    "decimal": NUMBER,
    "date": DATE,
    "stamp": DATE,
    "flag": TEXT,
    "few": TEXT,
    "text": TEXT,
    "place": TEXT,
}
HELD = {".jsonl": ("whole", "huge", "float", "flag", "few", "text", "place")}
HELD[".xlsx"] = ("whole", "float", "flag", "few", "text", "date", "place")
METHODS = (
    *("auto", "cover", "sequential", "agglomerative", "k_member", "mondrian", "hilbert"),
    *("bottom_up", "top_down", "two_means", "forest", "enhanced_pk", "greedy_pk", "incognito"),
    *("non_homogeneous", "exact"),
)
QUICK = (
    "mondrian",
    "hilbert",
    "agglomerative",
    "non_homogeneous",
)  # few kernels to compile or load
OBJECTIVES = (
    *("lm", "lm", "suppressed", "tree", "ncp", "gcp", "il", "entropy", "monotone_entropy"),
    *("mi", "pmi", "wmi"),
)
ODD = (  # pieces of text that other programs stumble over
    *("é", "e\u0301", "ß", "İ", "Ω", "\u212a", "ﬁ", "日本", "א", "\u202e", "👩‍👧", "𝒳", "\u00a0"),
    *(" ", "  ", ",", ";", '"', "'", "{", "}", "[", "]", ", ", "\\", "|", "*", "#", "%", "=", "-"),
    *("..", " .. "),
    *("\t", "null", "NaN", "0", "1e5", "%s", "{0}", "</td>", "&amp;"),
)
LINES = ("\n", "\r\n", "\r")

# Why a column may be refused that somebody can allow.
REASONS = ("unique", "reveals", "identifier", "text", "person", "links", "formula")


@dataclass(frozen=True)
class Rule:
    """The model of a quasi-identifier; None is the default for its kind."""

    model: str | None
    domain: tuple[Any, ...] | None = None
    tree: Tree | None = None
    options: dict[str, Any] = field(default_factory=dict)  # of models that fold values

    def named(self, kind: str) -> str:
        """The model, with the default spelled out."""
        return self.model or ("suppression" if KINDS[kind] == TEXT else "interval")


@dataclass(frozen=True)
class Case:
    """A table and what is asked of its release."""

    seed: int
    columns: dict[str, list[Any]]
    kinds: dict[str, str]
    container: str  # a kind of frame, or the suffix of a file
    rules: dict[str, Rule]
    sensitive: tuple[str, ...]
    identifiers: tuple[str, ...]
    kept: tuple[str, ...]
    unnamed: tuple[str, ...]
    k: int
    demands: tuple[Demand, ...]
    options: dict[str, Any] = field(default_factory=dict)  # passed on as they are
    refine: str = "off"
    saved_as: str = ""
    is_repeated: bool = False
    is_whole: bool = True  # nothing was spoiled on purpose
    coarsen: dict[str, dict[str, Any]] = field(default_factory=dict)  # options of the models

    @property
    def records(self) -> int:
        return len(next(iter(self.columns.values())))

    @property
    def released(self) -> list[str]:
        """Columns that are released as they are."""
        others = self.unnamed if self.options["others"] == "keep" else ()
        names = {*self.sensitive, *self.kept, *others}
        return [name for name in self.columns if name in names]


def draw_case(seed: int, methods: Sequence[str] = METHODS) -> Case:
    """The case of a number."""
    rng = random.Random(seed)
    method = rng.choice(methods)
    if method == "exact":
        records = rng.randint(1, 11)
    else:
        records = rng.randint(1, 60) if rng.random() < 0.93 else rng.randint(61, 300)
    is_file = rng.random() < 0.4
    container = rng.choice(FILES if is_file else FRAMES)
    drawing = _Drawing(rng, container, records)
    rules = {f"q{i}": drawing.quasi_identifier(f"q{i}") for i in range(rng.choice((1, 2, 2, 3, 4)))}
    sensitive = tuple(drawing.column(f"s{i}", secret=True) for i in range(rng.choice((0, 1, 1, 2))))
    kept = tuple(drawing.column(f"x{i}") for i in range(rng.choice((0, 0, 1, 2))))
    identifiers = tuple(drawing.column(f"id{i}") for i in range(rng.choice((0, 0, 1))))
    unnamed = tuple(drawing.column(f"u{i}") for i in range(rng.random() < 0.12))
    honours = method != "non_homogeneous"
    wants = sensitive and honours and rng.random() < 0.6
    demands = tuple(drawing.demand(sensitive) for _ in range(rng.choice((1, 1, 2)) if wants else 0))
    options: dict[str, Any] = {
        "method": method,
        "objective": rng.choice(OBJECTIVES if sensitive else OBJECTIVES[:-2]),
        "others": rng.choice(("drop", "keep")) if unnamed and rng.random() < 0.7 else "refuse",
        "seed": rng.choice((0, 1, 2**64 - 1)),
        "keep_order": rng.random() < 0.4,
        "render": rng.choice(("text",) * 5 + ("bounds",) * 3 + ("midpoint", "mean") * honours),
    }
    is_close = any(demand.kind in ("equal", "ordered", "hierarchical") for demand in demands)
    if honours and not is_close and rng.random() < 0.3:
        options["suppression_limit"] = rng.choice((0.01, 0.05, 0.2, 0.5, 0.9))
    may_loosen = method not in ("incognito", "non_homogeneous") and options["render"] != "mean"
    if may_loosen and rng.random() < 0.3:
        options["loosen"] = rng.choice((0.05, 0.3, 0.5, 0.95))
    if rng.random() < 0.3:
        options["weights"] = {name: rng.choice((0.1, 1.0, 2.5, 100)) for name in rules}
    named = [*sensitive, *kept, *unnamed, *identifiers]
    if rng.random() < 0.85:
        options["allow"] = {name: list(REASONS) for name in named}
    elif rng.random() < 0.5:
        options["allow"] = {name: rng.sample(REASONS, rng.randint(1, 3)) for name in named}
    if rng.random() < 0.2:
        options["identified_limit"] = rng.choice((0.0, 0.01, 0.05))
    if options["objective"] == "wmi":
        options["objective"] = shoal.WMI(rng.choice((0.0, 0.3, 1.0)))
    reading: dict[str, Any] = {"missing": [drawing.missing]} if drawing.missing else {}
    texts = [name for name, rule in rules.items() if rule.model in PLAIN and not rule.options]
    if texts and rng.random() < 0.2:
        reading["types"] = dict.fromkeys(texts, "text")
    if reading:
        options["reading"] = reading
    columns = list(drawing.columns)
    rng.shuffle(columns)
    case = Case(
        seed,
        {name: drawing.columns[name] for name in columns},
        drawing.kinds,
        container,
        rules,
        sensitive,
        identifiers,
        kept,
        unnamed,
        rng.choice((1, 2, 2, 3, 3, 4, 5, 8)) if rng.random() < 0.97 else records + 1,
        demands,
        options,
        rng.choice(("off", "off", "quick", "steps")),
        rng.choice((container, *FILES)) if is_file else rng.choice(("", "", *FILES)),
        rng.random() < 0.05,
        coarsen=_coarsening(seed, drawing.kinds, (*sensitive, *kept), demands),
    )
    return _spoiled(case, rng) if rng.random() < 0.06 else case


def _coarsening(
    seed: int, kinds: dict[str, str], names: Sequence[str], demands: Sequence[Demand]
) -> dict[str, dict[str, Any]]:
    """How some columns are coarsened whose texts then follow from each value alone."""
    rng = random.Random(f"coarsen {seed}")
    exact = {name for demand in demands if demand.values for name in demand.columns}
    exact |= {name for demand in demands if demand.kind == "ordered" for name in demand.columns}
    found: dict[str, dict[str, Any]] = {}
    for name in names:
        if name in exact or rng.random() < 0.5:
            continue
        if kinds[name] in ("whole", "huge"):
            found[name] = {"step": rng.choice((2, 10, 250))}
        elif kinds[name] in ("date", "stamp"):
            found[name] = {"finest": rng.choice(("month", "year"))}
    return found


class _Drawing:
    """Draws the columns of one table."""

    def __init__(self, rng: random.Random, container: str, records: int) -> None:
        self.rng = rng
        self.container = container
        self.records = records
        self.columns: dict[str, list[Any]] = {}
        self.kinds: dict[str, str] = {}
        self.trees: dict[str, Tree] = {}
        is_text = container in (".csv", ".csv.gz", ".tsv")
        self.missing = "Zq7?" if is_text and rng.random() < 0.2 else ""
        self.has_lines = is_text and rng.random() < 0.3

    def column(self, name: str, secret: bool = False) -> str:
        """Draw a column; sensitive values may be spelled in several ways."""
        kind = self.rng.choice(HELD.get(self.container, tuple(KINDS)))
        if secret and self.rng.random() < 0.5:
            kind = "few"
        values = self._pool(kind)
        if secret and KINDS[kind] == TEXT and kind != "flag":
            if self.rng.random() < 0.4:
                self.trees[name] = self._tree(values)
            elif self.rng.random() < 0.4:
                values = [*values, *(self._respelled(value) for value in values)]
        self._fill(name, kind, values)
        return name

    def quasi_identifier(self, name: str) -> Rule:
        kind = self.rng.choice(HELD.get(self.container, tuple(KINDS)))
        values = self._pool(kind)
        self._fill(name, kind, values)
        if kind == "place" or (self.rng.random() < 0.3 and self.container != ".jsonl"):
            rule = self._folding(kind)
            if rule is not None:
                return rule
        model = self.rng.choice((None, "suppression", "subset", "hierarchy", "interval"))
        if model == "interval" and KINDS[kind] == TEXT:
            model = self.rng.choice(("hierarchy", "order"))
        if model == "order" and kind in ("few", "text"):
            given = self.rng.sample(values, len(values)) if self.rng.random() < 0.7 else None
            return Rule(model, domain=None if given is None else tuple(given))
        model = None if model == "order" else model
        if model == "hierarchy" and kind not in ("few", "text", "whole"):
            model = None
        if model == "hierarchy":
            return Rule(model, tree=self._tree([str(value) for value in values]))
        with_domain = model is not None and self.rng.random() < 0.2 and kind != "stamp"
        return Rule(model, domain=tuple(values) if with_domain else None)

    def _folding(self, kind: str) -> Rule | None:
        """A model that needs no file, or folds values before records are grouped."""
        match kind:
            case "whole":
                high = self.rng.choice((7130100, 7130500, -7130500))
                steps = ({"step": 10}, {"step": 250}, {"high": high}, {"step": 10, "high": high})
                return Rule("interval", options=self.rng.choice(steps))
            case "float" | "decimal":
                return Rule("interval", options={"step": self.rng.choice((1, 10, 100))})
            case "date" | "stamp":
                finest = self.rng.choice(("day", "month", "year"))
                return Rule("calendar", options={"finest": finest})
            case "few" | "text":
                return Rule(self.rng.choice(("prefix", "ready")))
            case "place":
                return Rule("point", options={"finest": self.rng.choice((0.01, 0.07, 1, 45))})
        return None

    def demand(self, sensitive: tuple[str, ...]) -> Demand:
        rng = self.rng
        one = (rng.choice(sensitive),)
        columns = sensitive if rng.random() < 0.5 else one
        tree = self.trees.get(one[0])
        kinds = ["frequency", "distinct", "entropy", "recursive", "sensitivity", "alpha", "equal"]
        if all(KINDS[self.kinds[name]] != TEXT for name in one):
            kinds.append("ordered")
        if tree:
            kinds += ["extended", "extended", "hierarchical", "hierarchical"]
        kind = rng.choice(kinds)
        match kind:
            case "distinct" | "sensitivity":
                return Demand(kind, rng.randint(1, 4), columns)
            case "recursive":
                return Demand(kind, rng.randint(1, 3), columns, c=rng.choice((0.8, 1.5, 4)))
            case "alpha":
                known = sorted({v for v in self.columns[one[0]] if v is not None}, key=str)
                named = tuple(rng.sample(known, min(len(known), 2))) if rng.random() < 0.5 else ()
                named = tuple(value for value in named if canonical(value) is not None)
                level = rng.choice((0.3, 0.5, 0.75, 1.0))
                return Demand(kind, level, one if named else columns, values=named or None)
            case "extended":
                labels = [node[0] for node in tree[1]] if tree else []
                protected = tuple(rng.sample(labels, min(len(labels), 2)))
                level = rng.randint(1, 3)
                return Demand("sensitivity", level, one, tree=tree, protected=protected)
            case "hierarchical":
                return Demand(kind, rng.choice((0.2, 0.5, 0.9)), one, tree=tree)
            case "equal" | "ordered":
                return Demand(kind, rng.choice((0.1, 0.3, 0.6)), one)
        return Demand(kind, rng.choice((1.2, 1.5, 2, 3)), columns)

    def _pool(self, kind: str) -> list[Any]:
        """The values that a column may have, at least one."""
        rng = self.rng
        many = max(1, min(rng.choice((1, 2, 3, 6, 20, 80)), 2 * self.records))
        numbers = sorted(rng.sample(range(900), many))
        match kind:
            case "whole":
                sign = rng.choice((1, 1, -1))
                return [sign * (7130000 + number) for number in numbers]
            case "huge":
                return [9007199254740993 + number for number in numbers]
            case "float":
                return [7130000 + number + rng.choice((0.0, 0.5, 0.1)) for number in numbers]
            case "decimal":
                return [
                    Decimal(f"7130{number:03}.{rng.choice(('10', '25'))}") for number in numbers
                ]
            case "date":
                return [date(2073, 1, 1) + timedelta(days=number) for number in numbers]
            case "stamp":
                return [datetime(2073, 1, 1, 13) + timedelta(hours=number) for number in numbers]
            case "flag":
                return [True, False]
            case "few":
                return [self._text(number) for number in numbers[:4]]
            case "place":
                signs = rng.choice((1, 1, -1)), rng.choice((1, -1))
                return [
                    f"{signs[0] * (number % 90)}.7130{number:03}, {signs[1] * number % 180}.7130{number:03}"
                    for number in numbers
                ]
        return [self._text(number) for number in numbers]

    def _text(self, number: int) -> str:
        """A text that no other number gives, whatever stands around the number."""
        pieces = ODD if self.container != ".xlsx" else ("é", "ß", "日本", " ", ",", "'", "{", "[")
        pieces = (*pieces, *LINES) if self.has_lines else pieces
        odd = "".join(self.rng.choices(pieces, k=self.rng.choice((0, 0, 1, 2))))
        return f"Zq7{odd}.{number}v"

    def _respelled(self, text: str) -> str:
        """The same value to a reader, another to a program."""
        doubled = text.replace(".", "\u200b.")
        return self.rng.choice((text.swapcase(), f" {text}", f"{text} ", doubled, f"{text}\u00a0"))

    def _tree(self, values: Sequence[str]) -> Tree:
        """A random tree over these values and a few that the table may lack."""
        level: list[Tree] = [(value, ()) for value in dict.fromkeys(map(str, values))]
        if not level[0][0].lstrip("-").isdigit():
            level += [(f"Zq7 other {i}", ()) for i in range(self.rng.randint(0, 2))]
        number = 0
        while len(level) > 2 and self.rng.random() < 0.8:
            joined: list[Tree] = []
            while level:
                size = self.rng.randint(1, 4)
                part, level = level[:size], level[size:]
                number += 1
                joined.append((f"Node {number}", tuple(part)) if len(part) > 1 else part[0])
            level = joined
        below = level[0][1] if len(level) == 1 and level[0][1] else tuple(level)
        return (self.rng.choice(("*", "Any")), below)

    def _fill(self, name: str, kind: str, values: Sequence[Any]) -> None:
        rng = self.rng
        missing = rng.choice((0.0, 0.0, 0.0, 0.1, 0.5))
        if self.container == ".xlsx" and not name.startswith("q"):
            missing = 0.0
        skewed = rng.random() < 0.5
        column: list[Any] = []
        for _ in range(self.records):
            place = int(len(values) * rng.random() ** (3 if skewed else 1))
            column.append(None if rng.random() < missing else values[place])
        if all(value is None for value in column):
            column[0] = values[0]
        if self.container == ".xlsx" and column[-1] is None:
            column[-1] = values[0]  # empty rows at the end of a sheet are no records
        self.columns[name] = column
        self.kinds[name] = kind


def _spoiled(case: Case, rng: random.Random) -> Case:
    """The same case with something in it that has to be refused."""
    from dataclasses import replace

    options = dict(case.options)
    match rng.randrange(7):
        case 0:
            options["method"] = "no such method"
        case 1:
            options["suppression_limit"] = 1.5
        case 2:
            options["weights"] = {"nobody": 1.0}
        case 3:
            return replace(case, sensitive=(*case.sensitive, "nobody"), is_whole=False)
        case 4:
            return replace(case, k=0, is_whole=False)
        case 5:
            options["loosen"] = 1.0
        case _:
            name = next(iter(case.rules))
            rule = Rule("hierarchy", tree=("Any", (("Zq7 only this", ()), ("Zq7 and this", ()))))
            return replace(case, rules={**case.rules, name: rule}, is_whole=False)
    return replace(case, options=options, is_whole=False)
