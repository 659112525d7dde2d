"""Small files of a project, written whole or not at all and readable by their owner only."""

from __future__ import annotations

import json
import os
import secrets
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.whole import create_private


def read_toml_file(path: Path) -> dict[str, Any]:
    """The content of a TOML file."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def toml_text(content: Mapping[str, Any]) -> str:
    """Content as TOML."""
    import tomli_w

    return tomli_w.dumps(content)


def write_toml_file(path: Path, content: Mapping[str, Any]) -> None:
    write_text_file(path, toml_text(content))


def read_json(path: Path) -> Any:
    """The content of a JSON file, None where there is none or it is broken."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def write_json(path: Path, content: Any) -> None:
    write_text_file(path, json.dumps(content, ensure_ascii=False))


def write_text_file(path: Path, text: str) -> None:
    """Write a text under another name first, so that a crash leaves the old file."""
    name = path.with_name(f".{secrets.token_hex(8)}")
    try:
        with os.fdopen(create_private(name), "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        name.replace(path)
    except BaseException:
        name.unlink(missing_ok=True)
        raise
