"""How safe and how useful a release is: risk, distributions, queries, classification and association rules. It must not
know how the release was made.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any


class Result:
    """The numbers that an evaluation found."""

    def to_dict(self) -> dict[str, Any]:
        """This result as dicts, lists, texts and numbers, ready for JSON."""
        return asdict(self)  # type: ignore[call-overload]
