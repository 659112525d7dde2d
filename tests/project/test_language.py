"""People read plain English: no phrase that a native writer would not use, and nouns that agree with their counts."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest
import typer.main

import shoal
from shoal.audits.verdict import Audit, Persons, Unprotected, judge
from shoal.cli.app import commands
from shoal.cli.show import show_audit
from shoal.encoding.other_columns import Roles
from shoal.errors import ShoalError, counted
from shoal.risk.leaks import kept_leaks

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "shoal"

# What nobody should have to read, as a regular expression of whole words → what to write instead.
PHRASES = {
    "anew": "again",
    "another \\w+ than": "a different … from",
    "asks? no other": "is sent nowhere",
    "beside": "next to, in addition to",
    "betray(s|ed|ing)?": "reveal",
    "by fresh chance|fresh chance|of chance|chance repeatable": "random, at random, repeatable",
    "cannot be had": "is not available",
    "come to read|comes? alike|(come|comes|came) to (be|have|look|mean)": "become (the same)",
    "dear|dearer|dearest": "costly, with the highest loss",
    "(wait|last) for ever": "forever, indefinitely",
    "found out": "detected",
    "gives? away|gave away|given away": "reveal",
    "holds(?! for)": "contains",
    "hold (no|a|an|the|one|none|people|all|more|those|values|several|any|every)": "contain",
    "in place of|in its place": "instead of, instead",
    "is so in": "is true for",
    "JSON-lines": "JSON Lines",
    "kept as (it is|they are)|released as (it is|they are)": "kept unchanged, released unchanged",
    "(keep|keeps|kept|keeping) (the|its|their|all|every) requirements?": "meet",
    "(keep|keeps|kept|keeping) (k|diversity|closeness)(?! records)": "meet, ensure",
    "knows? (it|this|that|them|these) of (a|any|the) person": "knows this about a person",
    "knows? nothing of": "does not take into account",
    "(un)?mend(s|ed|ing)?": "correct, repair",
    "names? (it|them) sensitive": "make it sensitive",
    "nothing is left for": "adds nothing",
    "of everybody": "of everyone",
    "of unknown meaning": "unknown",
    "owns|(may|can|could) own": "has",
    "persons": "people",
    "put to the": "tested with",
    "ragged": "has a different number of columns",
    "(which|that|records|groups) (read|reads) (alike|like|the same|unlike)": "look the same, look like",
    "seldom": "rarely",
    "shall": "will, should, must",
    "signs?": "character (or minus, plus, symbol)",
    "singl(e|es|ed|ing) out": "identify",
    "some ?body": "someone",
    "stands? (alone|apart|beside|between|for|in|nowhere|there)": "mean, be, occur, represent",
    "such that": "so that, with",
    # people may be told something
    "(tell(s|ing)?|told)(?! (you|your|us|them|people|someone) )": "report, reveal, show, distinguish",
    "is to say|is said|what is not said": "is given, means",
    "looked at|is looked for": "examined, searched",
    "there is to say": "notes",
    "torn": "damaged, incomplete",
    "unlike all others": "unusual",
    "what is said of": "what is given for",
    "who ?ever": "anyone who",
    "(?<!− )1 (records|people|persons|groups|columns|values|rows|runs)": "the singular",
}
# What is clear to experts and to readers of the glossary, but not to people who clean a table.
JARGON = {
    "closures?": "group, general value",
    "cell sets?": "group",
    "clusters?|equivalence class(es)?|QI-groups?": "group",
    "ℓ0|ℓ2": "a number with its meaning, detail lost",
    "m-invariance": "possible sensitive values of each person",
    "tuples?": "record",
    "tight": "as specific as possible",
}


class Exempt(NamedTuple):
    """A phrase that a file may use, and why."""

    file: str
    phrase: str
    reason: str


EXCEPTIONS: tuple[Exempt, ...] = ()


class Line(NamedTuple):
    """A text that somebody may read, and where it is written."""

    file: str
    number: int
    text: str


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def texts_of_commands() -> Iterator[Line]:
    """The help of all commands, arguments and options."""

    def walk(command: Any, name: str) -> Iterator[Line]:
        yield Line(f"{name} --help", 0, inspect.cleandoc(command.help or ""))
        for parameter in command.params:
            texts = (parameter.name, getattr(parameter, "help", None))
            yield Line(f"{name} {parameter.opts[0]}", 0, texts[1] or "")
        for part, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, f"{name} {part}")

    yield from walk(typer.main.get_command(commands), "shoal")


def texts_of_code(*rooms: str) -> Iterator[Line]:
    """The texts that code may show: all strings of several words but docstrings and queries."""
    for room in rooms:
        own = PACKAGE / room
        for path in sorted(own.rglob("*.py")) if own.is_dir() else [own]:
            yield from texts_of_file(path)


def texts_of_file(path: Path) -> Iterator[Line]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if id(node) in inside or id(node) in docstrings:
            continue
        if isinstance(node, ast.JoinedStr):
            parts = [str(getattr(part, "value", "")) for part in node.values if is_text(part)]
            text = "…".join(parts)
        elif is_text(node):
            text = node.value  # type: ignore[attr-defined]
        else:
            continue
        if len(text.split()) > 1 and not NOT_PROSE.search(text):
            yield Line(shown(path), node.lineno, text)


# Queries, regular expressions, and lists of words in column names.
NOT_PROSE = re.compile(
    r"\w\|\w|\b(SELECT|FROM|COUNT\(|ALTER TABLE)\b|\[\^?[a-zA-Z0-9]-|\(\?|\\[bdsw]|=\w+ =|^(\S+ ){30}"
)


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def texts_of_templates(room: str) -> Iterator[Line]:
    for path in sorted((PACKAGE / room / "templates").glob("*.html")):
        yield from paragraphs(path, without_tags(without_jinja(path.read_text(encoding="utf-8"))))


JINJA = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
LITERAL = re.compile(r"\"([^\"]*)\"|'([^']*)'")
TAG = re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1>|<[/!a-zA-Z][^>]*>", re.DOTALL)
READ_ALOUD = re.compile(r"\b(?:title|alt|placeholder|aria-label|aria-description)=\"([^\"]*)\"")


def without_jinja(text: str) -> str:
    """A template without its code, but with the sentences that are written in this code."""

    def sentences(code: re.Match[str]) -> str:
        found = ["".join(own) for own in LITERAL.findall(code[0])]
        return said_on_as_many_lines(code[0], [own for own in found if len(own.split()) > 1])

    return JINJA.sub(sentences, text)


def without_tags(text: str) -> str:
    """A page without tags and comments, but with the attributes that people see or hear."""
    return TAG.sub(lambda tag: said_on_as_many_lines(tag[0], READ_ALOUD.findall(tag[0])), text)


def said_on_as_many_lines(replaced: str, texts: list[str]) -> str:
    return f" {' … '.join(texts)} " + "\n" * (replaced.count("\n") - "".join(texts).count("\n"))


def texts_of_docstrings() -> Iterator[Line]:
    """What `help` shows of the public names and of what these have."""
    modules = [shoal.extend, shoal.testing, importlib.import_module("shoal.sklearn")]
    names = [(shoal, name) for name in shoal.__all__]
    names += [(module, name) for module in modules for name in vars(module) if name[0] != "_"]
    seen = set()
    for module, name in names:
        thing = getattr(module, name)
        parts = vars(thing).items() if inspect.isclass(thing) else ()
        for one in (thing, *(part for key, part in parts if not key.startswith("_"))):
            one = getattr(one, "fget", None) or getattr(one, "__func__", one)
            own = getattr(one, "__module__", None) or ""
            if own.startswith("shoal") and callable(one) and id(one) not in seen:
                seen.add(id(one))
                yield Line(f"{own}.{one.__qualname__}", 0, without_examples(one.__doc__ or ""))


def without_examples(text: str) -> str:
    return text.partition("Examples\n")[0]


def texts_of_pages(*pages: str) -> Iterator[Line]:
    for pattern in pages:
        for path in sorted(ROOT.glob(pattern)):
            page = path.read_text(encoding="utf-8")
            yield from paragraphs(path, without_code(page))
            for block in BLOCK.finditer(page):
                for comment in COMMENT.finditer(block[0]):
                    number = page.count("\n", 0, block.start() + comment.start()) + 1
                    yield Line(shown(path), number, comment[1])


# Blocks of code, tables made from docstrings, code in lines, and addresses of links.
CODE = re.compile(
    r"^ *```.*?^ *```$|<!-- map: .*?<!-- end of the map -->|^::: .*$|`[^`\n]*`|\]\([^)]*\)",
    re.DOTALL | re.MULTILINE,
)


BLOCK = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
COMMENT = re.compile(r"(?:^|\s)# (.*)$", re.MULTILINE)  # in a block of code, which people read


def without_code(page: str) -> str:
    """A page as people read it, without comments such as the marks of figures."""
    return without_tags(CODE.sub(lambda code: said_on_as_many_lines(code[0], []), page))


def paragraphs(path: Path, text: str) -> Iterator[Line]:
    """The paragraphs of a text, each as one line, so that a phrase is also seen across two lines."""
    for found in re.finditer(r"(?:^.*\S.*\n?)+", text, re.MULTILINE):
        number = text.count("\n", 0, found.start()) + 1
        yield Line(shown(path), number, " ".join(found[0].split()))


MESSAGES = (
    "settings",
    "errors.py",
    "progress.py",
    "pipeline",
    "data",
    "risk",
    "advice",
    "audits",
    "suggestions",
)
AREAS: dict[str, tuple[Callable[[], Iterator[Line]], bool]] = {
    # whether jargon is allowed: Python's documentation and the pages have a glossary
    "commands": (texts_of_commands, False),
    "cli": (lambda: texts_of_code("cli"), False),
    "messages": (lambda: texts_of_code(*MESSAGES, "encoding", "reuse", "api", "assess"), False),
    "methods": (lambda: texts_of_code("solve"), True),
    "docstrings": (texts_of_docstrings, True),
    "app": (lambda: texts_of_templates("app"), False),
    "app code": (lambda: texts_of_code("app"), False),
    "report": (lambda: texts_of_templates("report"), False),
    "report code": (lambda: texts_of_code("report"), False),
    "docs": (lambda: texts_of_pages("docs/*.md", "docs/*/**/*.md"), True),
    "readme": (lambda: texts_of_pages("README.md", "CHANGELOG.md", "CONTRIBUTING.md"), True),
}


def findings(area: str) -> Iterator[tuple[Line, str, str]]:
    """Each place where a text has a phrase, the phrase, and what to write instead."""
    collect, knows_jargon = AREAS[area]
    table = PHRASES if knows_jargon else {**PHRASES, **JARGON}
    forms = {
        re.compile(rf"(?<![\w-])(?:{phrase})(?![\w-])", re.IGNORECASE): phrase for phrase in table
    }
    for line in collect():
        for form, phrase in forms.items():
            for found in form.finditer(line.text):
                start = max(0, found.start() - 60)
                near = line.text[start : found.end() + 60]
                yield line._replace(text=near), found.group(), table[phrase]


def is_exempt(line: Line, phrase: str) -> bool:
    return any(own.file in line.file and own.phrase == phrase.lower() for own in EXCEPTIONS)


@pytest.mark.parametrize("area", AREAS)
def test_texts_have_no_phrase_that_stops_a_reader(area: str) -> None:
    assert any(AREAS[area][0]())
    found = [
        f"{line.file}:{line.number}: '{phrase}' (better: {better}) in: {line.text}"
        for line, phrase, better in findings(area)
        if not is_exempt(line, phrase)
    ]
    assert not found, f"{len(found)} places\n" + "\n".join(found)


def test_there_are_few_exceptions_each_with_a_reason_and_in_use() -> None:
    assert len(EXCEPTIONS) <= 10
    used = {
        own
        for area in AREAS
        for line, phrase, _ in findings(area)
        for own in EXCEPTIONS
        if own.file in line.file and own.phrase == phrase.lower()
    }
    assert used == set(EXCEPTIONS)
    assert all(own.reason for own in EXCEPTIONS)


NOUNS = "record|person|group|column|value|row|label|set|level|release|class|query|byte|other"
PLURALS = "records|people|persons|groups|columns|values|rows|labels|sets|levels|releases|queries|bytes|others"
WRONG = re.compile(
    rf"(?<![\d,.])1 (?:\w+ )?(?:{PLURALS})\b|(?<![\d,.] )\b(?:0|2) (?:{NOUNS})\b(?!-)|\b1 \w+ (?:have|are|do|contain)\b"
)


def agrees(text: str) -> bool:
    return WRONG.search(text) is None


def test_wrong_numbers_of_nouns_are_seen() -> None:
    assert not any(
        map(agrees, ("1 records", "0 group", "2 person", "1 distinct values", "1 group have"))
    )
    assert all(
        map(
            agrees,
            ("1 record", "0 groups", "2 people", "1,001 records", "12 columns", "0.1 values"),
        )
    )


@pytest.mark.parametrize(("number", "said"), [(0, "0 groups"), (1, "1 group"), (2, "2 groups")])
def test_a_counted_noun_agrees_with_its_number(number: int, said: str) -> None:
    assert counted(number, "group") == said
    assert agrees(counted(number, "person", "people"))


def people(number: int) -> pd.DataFrame:
    """So many people of the same age after one more of another age, each with an illness of their own."""
    return pd.DataFrame({"age": [20, *[30] * number], "ill": [f"i{i}" for i in range(number + 1)]})


def refusal(work: Callable[[], Any]) -> str:
    with pytest.raises(ShoalError) as caught:
        work()
    return str(caught.value)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_failed_audits_agree_with_their_counts(number: int) -> None:
    roles = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "k": 5}
    several = [shoal.LDiversity(3)]
    said = [
        refusal(lambda: shoal.audit(people(number), **roles, requirements=several)),
        refusal(lambda: shoal.anonymize(people(number), **roles, requirements=several)),
        refusal(lambda: shoal.audit(people(number).head(number), **roles)),
    ]
    assert all(map(agrees, said)), said


@pytest.mark.parametrize("number", [0, 1, 2])
def test_verdicts_agree_with_their_counts(number: int) -> None:
    columns = tuple(f"c{i}" for i in range(number))
    for of in (1, 2):
        for identified in range(min(number, of) + 1):
            unprotected = Unprotected(columns, identified, of, limit=0.0 if number % 2 else 1.0)
            assert agrees(str(judge("Every record looks the same as 1 other", 2, (), unprotected)))
    assert agrees(
        " ".join(own.sentence for own in kept_leaks(columns, number, max(1, number), True))
    )


@pytest.mark.parametrize("number", [1, 2])
def test_audits_agree_with_their_counts(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    audit = Audit(number, number, number, by_person=Persons("name", number, number))
    show_audit(audit)
    assert agrees(capsys.readouterr().out)
    assert agrees(re.sub("<[^>]*>", " ", audit._repr_html_()))


@pytest.mark.parametrize("number", [0, 1, 2])
def test_left_out_records_and_releases_agree_with_their_counts(number: int) -> None:
    frame = pd.DataFrame({"age": [30, 30, *[90 + i for i in range(number)]]})
    limit = number / len(frame)
    release = shoal.anonymize(frame, quasi_identifiers=["age"], k=2, suppression_limit=limit)
    assert agrees(f"{release}\n{release.audit}\n{release.recoding}\n{release.mapping}")


@pytest.mark.parametrize("number", [1, 2])
def test_columns_agree_with_their_counts(number: int) -> None:
    columns = [f"c{i}" for i in range(number)]
    said = Roles(("age",), (), (), (), undecided=tuple(columns)).problems()
    frame = pd.DataFrame({name: [1, 2] for name in columns})
    said.append(refusal(lambda: shoal.anonymize(frame, quasi_identifiers=["nothing"], k=2)))
    assert all(map(agrees, said)), said


@pytest.mark.parametrize("number", [0, 1, 2])
def test_hierarchies_agree_with_their_counts(number: int) -> None:
    tree = shoal.Hierarchy.from_dict({"*": {"A": ["a", *"xy"[:number]], "B": ["b"]}})
    values = ["a", *"pq"[:number]]
    said = f"{tree}\n{tree.check(values)}\n{tree.preview([*values, *[None] * number])}"
    assert agrees(said), said


@pytest.mark.parametrize("number", [1, 2])
def test_values_outside_a_model_agree_with_their_counts(number: int) -> None:
    frame = pd.DataFrame({"job": ["a", "b", *"pq"[:number]]})
    for model in (shoal.Order(["a", "b"]), shoal.Hierarchy.from_dict({"*": ["a", "b"]})):
        said = refusal(partial(shoal.anonymize, frame, quasi_identifiers={"job": model}, k=1))
        assert agrees(said), said


def is_count(number: ast.FormattedValue) -> bool:
    text = ast.unparse(number.value)
    is_whole = text.startswith("len(") or ast.unparse(number).endswith(":,}'")
    return is_whole and not text.lstrip("_").isupper()


def test_counts_in_messages_go_through_the_helper() -> None:
    """A plural right behind a number in braces is wrong for 1, unless the number is a constant."""
    found = []
    for room in ("cli", *MESSAGES, "encoding", "reuse", "api", "assess"):
        own = PACKAGE / room
        for path in sorted(own.rglob("*.py")) if own.is_dir() else [own]:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.JoinedStr):
                    pairs = zip(node.values, node.values[1:], strict=False)
                    found += [
                        f"{shown(path)}:{node.lineno}: {ast.unparse(node)}"
                        for number, text in pairs
                        if isinstance(number, ast.FormattedValue)
                        and is_count(number)
                        and is_text(text)
                        and re.match(rf" (?:{PLURALS})\b", text.value)  # type: ignore[attr-defined]
                    ]
    assert not found, "\n".join(found)
