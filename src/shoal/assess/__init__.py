"""How safe and how useful a release is: risk, distributions, queries, classification and association rules. These
modules must not depend on how the release was made.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any


class Result:
    """The results of an evaluation."""

    def to_dict(self) -> dict[str, Any]:
        """Convert this result to dicts, lists, texts and numbers, ready for JSON."""
        return asdict(self)  # type: ignore[call-overload]
