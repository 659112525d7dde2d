"""Reports as a reader's program sees them."""

from __future__ import annotations

import re
from html.parser import HTMLParser

SECTIONS = (
    "verdict",
    "done",
    "loss",
    "risk",
    "care",
    "distributions",
    "sample",
    "experts",
    "words",
)


class Page(HTMLParser):
    """A page's elements, checked to be balanced, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag == "rect", f"<{tag}/> is no empty element of HTML"
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> ends nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"] and data.strip():
            self.words.append(data)

    @property
    def text(self) -> str:
        return "\n".join(self.words)

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]


def section(text: str, name: str) -> Page:
    """One section of a report."""
    return Page(re.findall(rf'<section id="{name}">.*?</section>', text, re.DOTALL)[0])
