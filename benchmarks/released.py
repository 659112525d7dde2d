"""What somebody sees in a released table: unique records, and values that name persons; counted without shoal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

NEARLY_UNIQUE = 0.5  # share of records with a value of their own
TEXTS = 0.05  # share of values with several words, and of records with a text of their own
MOST_VALUES = 200  # distinct values that are looked at for identifiers
_PERSONAL = re.compile(
    r"[\w.+-]+@[\w-]+\.\w+|https?://|\+\d[\d /-]{7,}|\b[A-Z]{2}\d{2}[ A-Z0-9]{11,}\b|"
    r"\b[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]\b|\b\d{3}-\d{2}-\d{4}\b|\b\d{1,3}(\.\d{1,3}){3}\b"
)
_DATE = re.compile(r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})([ T].*)?")


def unique_records(rows: Sequence[tuple[str, ...]]) -> int:
    """Records that no other one reads like."""
    return sum(count == 1 for count in Counter(rows).values())


def nearly_unique(texts: Sequence[str]) -> bool:
    """Whether many records have a value of their own."""
    return unique_records([(text,) for text in texts]) >= NEARLY_UNIQUE * len(texts)


def free_text(texts: Sequence[str]) -> bool:
    """Whether values are sentences of few records, or some hold an address or a number of a person."""
    counts = Counter(texts)
    if any(_PERSONAL.search(text) for text in list(counts)[:MOST_VALUES]):
        return True
    long = [text for text in counts if len(text.split()) >= 4]
    alone = sum(counts[text] == 1 for text in long)
    return alone > TEXTS * len(texts)


def exact_dates(texts: Sequence[str]) -> bool:
    """Whether most values are days."""
    known = [text for text in set(texts) if text != "None"]
    days = sum(bool(_DATE.fullmatch(text)) for text in known)
    return len(known) > 2 and days > 0.5 * len(known)
