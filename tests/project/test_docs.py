"""What the documentation shows is true: its examples run and print what they say, its lists are complete."""

from __future__ import annotations

import doctest
import re
import runpy
from importlib import import_module
from inspect import ismodule
from pathlib import Path

import pytest

import shoal
from shoal.data.open import library_problem

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
DOCS = ROOT / "docs"
EXAMPLES = runpy.run_path(str(DOCS / "make_outputs.py"), run_name="examples")
PAGES = EXAMPLES["PAGES"]

HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#:]*)(?:#([^):]+))?\)")


def modules_with_examples() -> list[str]:
    paths = [path for path in SOURCE.rglob("*.py") if ">>>" in path.read_text(encoding="utf-8")]
    names = [".".join(path.relative_to(SOURCE).with_suffix("").parts) for path in sorted(paths)]
    return [name.removesuffix(".__init__") for name in names]


def shown(page: Path) -> str:
    return str(page.relative_to(ROOT))


def name_of_heading(text: str) -> str:
    """What links call a heading, in MkDocs and elsewhere."""
    plain = re.sub(r"[^\w\s-]", "", text).strip().lower()
    return re.sub(r"\s", "-", plain)


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_examples_of_a_page_run_and_print_what_it_shows(page: Path, tmp_path: Path) -> None:
    """If shoal now prints something else: `python docs/make_outputs.py` writes it into the pages."""
    if page.name == "large-tables.md":
        for reason in library_problem("duckdb"):
            pytest.skip(reason)
    assert EXAMPLES["with_outputs"](page, tmp_path) == page.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_no_page_has_a_heading_twice(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = HEADING.findall(text)
    assert len(headings) == len(set(headings))


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_rows_of_a_table_have_as_many_cells_as_its_head(page: Path) -> None:
    text = re.sub(
        r"^```.*?^```$|<!--.*?-->|`[^`\n]*`",
        "",
        page.read_text("utf-8"),
        flags=re.MULTILINE | re.DOTALL,
    )
    for table in re.findall(r"^\|.*\n(?:\|.*\n)+", text, re.MULTILINE):
        cells = {row: len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}
        assert len(set(cells.values())) == 1, cells


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_no_block_escapes(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    languages = EXAMPLES["languages"](page)
    assert set(languages) <= set(EXAMPLES["LANGUAGES"])
    assert text.count("```") == 2 * len(languages)
    outside = re.sub(r"^```(console|python|sh)\b.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert re.findall(r"^ *(?:\$ |>>> |import |shoal \w+ .*\.csv).*$", outside, re.MULTILINE) == []


def test_examples_that_are_wrong_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nprint(1 + 1)  # 3\n```\n"
        "```console\n$ echo a b\na ...\n$ shoal --version\nshoal 0\n```\n"
        "```python\nprint(2)\n```\n\n```text\n1\n```\n"
    )
    assert EXAMPLES["with_outputs"](page, tmp_path) == (
        "```python\nprint(1 + 1)  # 2\n```\n"
        f"```console\n$ echo a b\na ...\n$ shoal --version\nshoal {shoal.__version__}\n```\n"
        "```python\nprint(2)\n```\n\n```text\n2\n```\n"
    )


@pytest.mark.parametrize(
    "block",
    [
        "```python\nprint(1)\n```\n",
        "```python\n1 / 0\n```\n",
        "```console\n$ shoal audit nothing.csv\n```\n",
        "```sh\nfalse\n```\n",
        "```sh\nmake coffee\n```\n",
        "```toml\n[requirment]\nk = 3\n```\n",
    ],
)
def test_examples_that_fail_are_found(block: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(block)
    with pytest.raises((AssertionError, ZeroDivisionError)):
        EXAMPLES["with_outputs"](page, tmp_path)
    page.write_text(f"<!-- not run by the tests: to be skipped -->\n{block}")
    assert EXAMPLES["with_outputs"](page, tmp_path) == page.read_text()


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_in_docstrings_are_true(name: str) -> None:
    result = doctest.testmod(import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize(
    "room",
    [
        "api.anonymize",
        "api.evaluate",
        "api.loss",
        "api.catalogue",
        "encoding.models.hierarchy",
        "data.files",
        "samples",
    ],
)
def test_public_modules_have_examples(room: str) -> None:
    assert any(f"{name}.".startswith(f"shoal.{room}.") for name in modules_with_examples())


def test_the_page_of_measures_lists_every_measure() -> None:
    text = (DOCS / "reference" / "measures.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == sorted(
        shoal.list_measures()
    )


def test_the_page_of_requirements_lists_every_requirement() -> None:
    text = (DOCS / "explanation" / "requirements.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)`", text, re.MULTILINE)) == set(shoal.list_requirements())


def test_the_page_of_requirements_shows_each_in_a_settings_file() -> None:
    text = (DOCS / "explanation" / "requirements.md").read_text(encoding="utf-8")
    named = re.findall(r"^\[\[requirement\.(\w+)\]\]$", text, re.MULTILINE)
    assert named == list(shoal.list_requirements())


def test_the_map_names_every_room_and_says_what_its_docstring_says() -> None:
    """If a room, a file or its docstring is new: `make map` writes it into the page."""
    made = runpy.run_path(str(ROOT / "tools" / "make_map.py"))
    page = made["PAGE"].read_text(encoding="utf-8")
    assert made["with_map"](page) == page
    paths = (path.relative_to(made["PACKAGE"]).parts[0] for path in made["PACKAGE"].rglob("*.py"))
    assert {made["place_of"](room).name for room in made["ORDER"]} == set(paths)


def test_the_picture_shows_what_shoal_does() -> None:
    drawn = runpy.run_path(str(DOCS / "make_picture.py"))["picture"]()
    assert (DOCS / "before-after.svg").read_text(encoding="utf-8") == drawn


def test_the_diagrams_are_those_that_the_script_draws() -> None:
    """If the script has changed: `python docs/make_diagrams.py` draws them again."""
    made = runpy.run_path(str(DOCS / "make_diagrams.py"))
    for name, draw in made["DIAGRAMS"].items():
        assert (made["TARGET"] / f"{name}.svg").read_text(encoding="utf-8") == draw()


def test_the_report_is_one_that_shoal_writes() -> None:
    made = runpy.run_path(str(DOCS / "make_report.py"))
    shown, now = made["REPORT"].read_text(encoding="utf-8"), made["report"]()
    times = re.compile(r"<time.*?</time>(, )?")
    assert times.sub("", shown) == times.sub("", now)


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_links_lead_somewhere(page: Path) -> None:
    lost = []
    for place, heading in LINK.findall(page.read_text(encoding="utf-8")):
        target = (page.parent / place).resolve() if place else page
        if not target.exists() or (DOCS in page.parents and DOCS not in target.parents):
            lost.append(place)
        elif heading:
            headings = HEADING.findall(target.read_text(encoding="utf-8"))
            lost += [heading] * (heading not in map(name_of_heading, headings))
    assert lost == []


def test_the_navigation_names_every_page_once() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = re.findall(r"^ +- [^:]+: (\S+\.md)$", text, re.MULTILINE)
    assert sorted(named) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


def test_the_reference_describes_every_public_name() -> None:
    pages = "\n".join(
        page.read_text(encoding="utf-8") for page in (DOCS / "reference").glob("*.md")
    )
    described = dict(
        re.findall(r"^::: (\S+)\n +options:[\s{]+heading: ([\w.]+)", pages, re.MULTILINE)
    )
    wanted = {}
    for name in sorted(set(shoal.__all__) - {"__version__"}):
        value = getattr(shoal, name)
        home = value.__name__ if ismodule(value) else f"{value.__module__}.{value.__qualname__}"
        wanted[home] = f"shoal.{name}"
    assert {home: described.get(home) for home in wanted} == wanted


@pytest.mark.parametrize("name", sorted(set(shoal.__all__) - {"__version__", "samples"}))
def test_every_public_name_is_explained(name: str) -> None:
    assert getattr(shoal, name).__doc__


def test_the_page_of_the_command_line_is_filled_with_every_command_and_option() -> None:
    pytest.importorskip(
        "typer", "0.29", reason="typer 0.28 lacks the descriptors that the page shows"
    )
    hooks = runpy.run_path(str(DOCS / "hooks.py"))
    page = (DOCS / "reference" / "command-line.md").read_text(encoding="utf-8")
    filled = hooks["on_page_markdown"](page)
    files = [
        *(SOURCE / "shoal" / "cli").glob("*.py"),
        *(SOURCE / "shoal" / "settings").glob("*.py"),
    ]
    help_texts = "\n".join(file.read_text(encoding="utf-8") for file in files)
    commands = [
        command.callback.__name__
        for command in import_module("shoal.cli.app").commands.registered_commands
    ]
    assert re.findall(r"^## shoal (\w+)$", filled, re.MULTILINE) == commands
    flags = set(re.findall(r'"(--?[a-z-]+)"', help_texts)) - {"-h", "--help", "--version"}
    assert [flag for flag in flags if not re.search(rf"`(.*, )?{flag}\b", filled)] == []


def test_the_page_of_the_settings_file_names_every_key() -> None:
    hooks = runpy.run_path(str(DOCS / "hooks.py"))
    page = DOCS / "reference" / "settings-file.md"
    text = hooks["on_page_markdown"](page.read_text(encoding="utf-8"))
    links = [place for place, _ in LINK.findall(text) if place]
    assert [place for place in links if not (page.parent / place).exists()] == []
    sections = import_module("shoal.settings.toml").SECTIONS
    keys = [*sections, *(key for known in sections.values() if known for key in known)]
    assert [
        key for key in keys if not re.search(rf"^## \[{key}\b|`{key}`", text, re.MULTILINE)
    ] == []


def test_files_named_in_contributing_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+(?:\.(?:py|md)|/))`", text)
    places = (ROOT, SOURCE, SOURCE / "shoal")
    assert [name for name in named if not any((place / name).exists() for place in places)] == []
    assert len(named) > 10


RECIPES = {"measure", "generalization model", "method", "requirement", "database", "setting"}
MOST_FILES = 3  # of the package that a recipe needs


def recipes() -> dict[str, str]:
    """The sections of CONTRIBUTING that say how to add something, by what it is."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    found = re.findall(r"^## Add an? ([^\n]+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return dict(found)


def test_there_is_a_recipe_for_everything_that_is_added_often() -> None:
    assert set(recipes()) == RECIPES


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_a_recipe_names_a_few_files_of_the_package_that_exist(recipe: str) -> None:
    named = set(re.findall(r"`([\w/]+(?:\.py|/))`", recipes()[recipe]))
    own = {name for name in named if not name.startswith("tests/")}
    assert 0 < len(own) <= MOST_FILES, own
    places = (SOURCE, SOURCE / "shoal")
    assert [name for name in own if not any((place / name).exists() for place in places)] == []
