"""The key of pseudonyms: made by the function behind `shoal key`, and checked before it is chosen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.app.projects import OWN_KEY
from shoal.table.pseudonyms import read_key, write_key


def key(answer: Any, project: str, path: str = "") -> dict[str, Any]:
    """Check the key in a file, by default the project's own, which is made where there is none."""
    own = Path(project) / OWN_KEY
    if not path and not own.exists():
        write_key(own)
    read_key(path or str(own))
    return {}
