"""Files of shoal's own, in JSON, that say what they are; they are read with suspicion."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from shoal.errors import InputError


class OwnFile(NamedTuple):
    """What a kind of file is called, in the file and in sentences, and what to do where another one was given."""

    kind: str  # the entry "shoal" of the file
    version: int  # the entry "version"
    name: str  # like "Recoding", before the path
    what: str  # like "no recoding; give a file that …", for a file of another kind
    remedy: str  # like "make it anew from a release", for a file of another version


def read_own(own: OwnFile, path: Path) -> dict[str, Any]:
    """The content of a file that says it is of this kind and version."""
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"{own.name} '{path}' is not a regular file; name one.")
        content = json.loads(path.read_text(encoding="utf-8"))
        json.dumps(content, ensure_ascii=False).encode()  # half of a sign cannot be written
    except OSError as error:
        raise InputError(
            f"{own.name} '{path}' cannot be read: {error.strerror}; check the path."
        ) from None
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or content.get("shoal") != own.kind:
        raise InputError(f"'{path}' is {own.what}.")
    if content.get("version") != own.version:
        raise InputError(
            f"{own.name} '{path}' was written by another version of shoal; {own.remedy}."
        )
    return content
