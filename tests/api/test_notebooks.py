"""What notebooks show: tables with the numbers, no script, and everything escaped."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from math import inf
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from allowed import allowing

import shoal
from shoal.progress import progress_or_bar

BAD = '<script>alert("1")</script>'


class Shown(HTMLParser):
    """The tags and the text of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += f"{data} "


@pytest.fixture(scope="module")
def release() -> shoal.Release[Any]:
    people = pd.DataFrame({BAD: [31, 33, 52, 58] * 3, "ill": list("abca") * 3, "more": 1})
    return shoal.anonymize(
        people,
        quasi_identifiers=[BAD],
        sensitive=["ill"],
        keep=["more"],
        allow=allowing("more"),
        k=2,
        requirements=[shoal.LDiversity(1.5)],
        title=BAD,
    )


def test_results_show_their_numbers_and_nothing_runs(release: shoal.Release[Any]) -> None:
    audit = shoal.audit(release.data, quasi_identifiers=[BAD], k=2)
    shows: dict[Any, tuple[str, ...]] = {
        release: ("12 released", "1.5-diversity"),
        release.audit: ("12", "frequency 1.5-diversity of 'ill'"),
        audit: ("without a role", "ill, more"),
        release.evaluate(queries=10): ("verdict", "highest risk", BAD),
        release.certificate: ("Certificate",),
    }
    for result, texts in shows.items():
        shown = Shown(result._repr_html_())
        assert shown.tags <= {"table", "caption", "tbody", "tr", "th", "td", "p", "br"}
        assert all(text in shown.text for text in texts), (result, shown.text)


class Cell:
    """What a notebook shows below a cell, in the place of IPython."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, is_notebook: bool) -> None:
        self.shown: list[str] = []
        shell = SimpleNamespace(kernel=None) if is_notebook else SimpleNamespace()
        python = SimpleNamespace(get_ipython=lambda: shell)
        handle = SimpleNamespace(update=self.shown.append)
        display = SimpleNamespace(
            HTML=str, display=lambda html, display_id: self.shown.append(html) or handle
        )
        monkeypatch.setitem(sys.modules, "IPython", python)
        monkeypatch.setitem(sys.modules, "IPython.display", display)


def test_long_work_shows_a_bar_and_takes_it_away(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = Cell(monkeypatch, is_notebook=True)
    monkeypatch.setattr("shoal.progress.SOON", 0)
    monkeypatch.setattr("shoal.progress.EVERY", 0)
    people = pd.DataFrame({"age": [31, 33, 52, 58]})
    release = shoal.anonymize(people, quasi_identifiers=["age"], k=2)
    assert "<progress></progress> grouping" in cell.shown
    assert cell.shown[-1] == ""
    release.certify(passes=1)
    assert cell.shown[-1] == ""


def test_quick_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = Cell(monkeypatch, is_notebook=True)
    monkeypatch.setattr("shoal.progress.SOON", inf)
    with progress_or_bar(None) as report:
        report("grouping", 1, 2)
    assert cell.shown == []


@pytest.mark.parametrize("is_notebook", [True, False])
def test_no_bar_is_shown_elsewhere_or_beside_a_function_of_ones_own(
    monkeypatch: pytest.MonkeyPatch, is_notebook: bool
) -> None:
    cell = Cell(monkeypatch, is_notebook=is_notebook)
    monkeypatch.setattr("shoal.progress.SOON", 0)
    told: list[str] = []
    given = (lambda stage, done, total: told.append(stage)) if is_notebook else None
    with progress_or_bar(given) as report:
        report("<b>", 1, 2)
    assert cell.shown == []
    assert told == (["<b>"] if is_notebook else [])
