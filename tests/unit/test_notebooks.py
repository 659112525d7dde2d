"""What notebooks show: tables with the numbers, no script, and everything escaped."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pandas as pd
import pytest

import shoal

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
        allow=["more"],
        k=2,
        requirements=[shoal.LDiversity(1.5)],
        title=BAD,
    )


def test_results_show_their_numbers_and_nothing_runs(release: shoal.Release[Any]) -> None:
    audit = shoal.audit(release.data, quasi_identifiers=[BAD], k=2)
    shows: dict[Any, tuple[str, ...]] = {
        release: ("12 released", "1.5-diversity"),
        release.audit: ("12", "frequency 1.5-diversity of 'ill'"),
        audit: ("not judged", "ill, more"),
        release.evaluate(queries=10): ("proved by the audit", "highest risk", BAD),
        release.certificate: ("Certificate",),
    }
    for result, texts in shows.items():
        shown = Shown(result._repr_html_())
        assert shown.tags <= {"table", "caption", "tbody", "tr", "th", "td", "p", "br"}
        assert all(text in shown.text for text in texts), (result, shown.text)
