"""Write the map of the code into docs/explanation/architecture.md, from docstrings: `make map`.

The first paragraph of a docstring says what a folder or file is for. A sentence with "must not know" gets a column of
its own. A test says when the page is out of date.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "shoal"
PAGE = ROOT / "docs" / "explanation" / "architecture.md"
BEGIN, END = "<!-- map: made by tools/make_map.py -->\n", "<!-- end of the map -->\n"

# From top to bottom: imports point down. A room is a folder or a file of src/shoal; "shoal" is its __init__.py.
ORDER = (
    "__main__",
    "cli",
    "app",
    "sklearn",
    "shoal",
    "api",
    "reuse",
    "advice",
    "suggestions",
    "pipeline",
    "report",
    "assess",
    "samples",
    "settings",
    "data",
    "solve",
    "risk",
    "encoding",
    "progress",
    "atomic",
    "audits",
    "errors",
    "kernels",
)
WITHOUT_FILES = ("samples",)  # rooms that the table says enough about


def said(path: Path) -> str:
    """The first paragraph of the docstring of a file or folder."""
    path = path / "__init__.py" if path.is_dir() else path
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split())


def place_of(room: str) -> Path:
    """The file or folder of a room."""
    if room == "shoal":
        return PACKAGE / "__init__.py"
    return PACKAGE / room if (PACKAGE / room).is_dir() else PACKAGE / f"{room}.py"


def shown(path: Path) -> str:
    """A file or folder as the map names it."""
    return f"`{path.name}/`" if path.is_dir() else f"`{path.name}`"


def table() -> Iterator[str]:
    """Every room, what it contains, and what it must not know."""
    yield "| room | what it contains | what it must not know |"
    yield "| --- | --- | --- |"
    for place in map(place_of, ORDER):
        sentences = re.split(r"(?<=\.) (?=[A-Z])", said(place))
        holds = [own for own in sentences if "must not know" not in own]
        hidden = [own.partition("must not know ")[2].rstrip(".") for own in sentences]
        yield f"| {shown(place)} | {' '.join(holds).rstrip('.')} | {''.join(hidden)} |"


def files() -> Iterator[str]:
    """The files and folders of every room that is a folder, one line each."""
    for room in ORDER:
        folder = place_of(room)
        if folder.is_dir() and room not in WITHOUT_FILES:
            inside = [
                own
                for own in folder.iterdir()
                if own.suffix == ".py" or (own / "__init__.py").is_file()
            ]
            inside = [own for own in inside if own.name != "__init__.py"]
            yield f"\n### {room}\n"
            yield from (f"- {shown(own)}: {said(own)}" for own in sorted(inside))


def with_map(page: str) -> str:
    """The text of the page with the map as it is now."""
    before, _, rest = page.partition(BEGIN)
    _, found, after = rest.partition(END)
    assert found, f"{PAGE.name} lacks the lines that the map is written between"
    made = "\n".join([*table(), *files()])
    return f"{before}{BEGIN}\n{made}\n\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_map(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
