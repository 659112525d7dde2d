"""The content of a settings file from disk and to it."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.errors import InputError, raise_problems
from shoal.whole import write_whole


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The content of a settings file."""
    try:
        raise_problems(_path_problems(Path(path)))
        return tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(
            f"Settings file '{path}' cannot be read: {error.strerror}; check the path."
        ) from None
    except UnicodeDecodeError:
        raise InputError(f"Settings file '{path}' is not UTF-8 text; save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at (line \d+|end of document)", str(error))
        where = f" at {line[1]}" if line else ""
        raise InputError(f"Settings file '{path}' is not valid TOML{where}; mend it.") from None
    except RecursionError:
        raise InputError(f"Settings file '{path}' is nested too deeply; mend it.") from None


def _path_problems(path: Path) -> list[str]:
    """A sentence where opening a file could wait for ever."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        return [f"Settings file '{path}' is not a regular file; copy its content to one."]
    return []


def write_toml(content: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write the content of a settings file, whole or not at all."""
    import tomli_w

    text = tomli_w.dumps(content)
    write_whole(
        Path(path), True, lambda file: file.write_text(text, encoding="utf-8", newline="\n")
    )
