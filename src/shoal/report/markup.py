"""HTML elements whose plain text is always escaped, so that no name or value can become markup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

VOID = {"meta", "br", "hr"}


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(tag: str, *content: str, **attributes: str) -> Markup:
    """An element; attributes are written `class_` and `aria_label` for `class` and `aria-label`.

    Examples
    --------
    >>> element("p", "a < b ", element("b", "c"), class_="note")
    '<p class="note">a &lt; b <b>c</b></p>'
    """
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for name, value in attributes.items()
    )
    if tag in VOID:
        return Markup(f"<{tag}{given}>")
    return Markup(f"<{tag}{given}>{join(content)}</{tag}>")


def join(content: Iterable[str]) -> Markup:
    """Content in a row: markup as it is, anything else escaped."""
    return Markup("".join(part if isinstance(part, Markup) else escape(part) for part in content))


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str, numbers: Sequence[int] = ()
) -> Markup:
    """A table that scrolls sideways where it is too wide; columns in `numbers` are aligned right.

    The first cell of a row is its head.
    """

    def cells(tag: str, texts: Sequence[str], **first: str) -> Markup:
        return join(
            element(
                tag if j or not first else "th",
                text,
                **({} if j else first),
                **({"class_": "number"} if j in numbers else {}),
            )
            for j, text in enumerate(texts)
        )

    head = element("thead", element("tr", cells("th", heads)))
    body = element("tbody", *(element("tr", cells("td", row, scope="row")) for row in rows))
    whole = element("table", element("caption", caption), head, body)
    return element("div", whole, class_="scroll", role="region", aria_label=caption, tabindex="0")


def details(summary: str, *content: str, **attributes: str) -> Markup:
    """Content that opens on demand."""
    return element("details", element("summary", summary), *content, **attributes)


def listed(lines: Iterable[str], **attributes: str) -> Markup:
    """Lines below each other."""
    return element("ul", *(element("li", line) for line in lines), **attributes)


def cut(text: str, most: int) -> str:
    """A text of at most so many characters, on one line; what does not print is replaced."""
    line = "".join(sign if sign.isprintable() else "�" for sign in text[: most + 1])
    return line if len(text) <= most else f"{line[: most - 1]}…"


def tiles(*entries: tuple[str, str, str]) -> Markup:
    """Numbers to be seen first: name, value and a note below it, which may be empty."""
    return element(
        "dl",
        *(
            element(
                "div",
                element("dt", name),
                element("dd", value, *([element("small", note)] if note else [])),
            )
            for name, value, note in entries
        ),
        class_="tiles",
    )


def fact_list(what: Mapping[str, str]) -> Markup:
    """Names and what belongs to each."""
    return element(
        "dl",
        *(join([element("dt", name), element("dd", text)]) for name, text in what.items()),
        class_="facts",
    )


def more(word: str) -> Markup:
    """A link to the explanation of a word."""
    return element("a", "What this means", href=f"#about-{word}", class_="more")


def rest(number: int, noun: str = "column") -> list[Markup]:
    """A line that says how many are not shown, where there are any."""
    if number <= 0:
        return []
    return [element("p", f"and {count(number, f'more {noun}')}", class_="quiet")]


def count(number: int, noun: str) -> str:
    """A number of things."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def percent(share: float) -> str:
    """A share that reads as none or all only if it is."""
    return _percent(share, 1)


def whole_percent(share: float) -> str:
    """A share of originals, no finer than whole percents, that reads as none or all only if it is."""
    return _percent(share, 0)


def _percent(share: float, decimals: int) -> str:
    least = 10.0 ** -(decimals + 2)
    if 0 < share < least:
        return f"< {100 * least:.{decimals}f} %"
    if 1 - least < share < 1:
        return f"> {100 - 100 * least:.{decimals}f} %"
    return f"{100 * share:.{decimals}f} %"


def number(value: float, digits: int = 3) -> str:
    """A loss, of so many significant digits.

    Examples
    --------
    >>> number(123456.0), number(12.0), number(0.12345)
    ('123,000', '12', '0.123')
    """
    short = (
        float(f"{value:.{digits}g}") if abs(value) > 1e-9 else 0.0
    )  # else sums of rounding errors
    return f"{short:,.0f}" if abs(short) >= 1000 else f"{short:.{digits}g}"
