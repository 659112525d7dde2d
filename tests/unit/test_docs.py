"""What the documentation shows is true: its examples run and print what they say, its lists are complete."""

from __future__ import annotations

import doctest
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import shoal

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)\)")
PRINTED = re.compile(r"^ *print\(.*\)  # (.*)$", re.MULTILINE)


def blocks(language: str) -> list[tuple[str, str]]:
    """Page and text of every code block in a language."""
    return [
        (page.name, text)
        for page in PAGES
        for kind, text in BLOCK.findall(page.read_text(encoding="utf-8"))
        if kind == language
    ]


def modules_with_examples() -> list[str]:
    paths = [path for path in SOURCE.rglob("*.py") if ">>>" in path.read_text(encoding="utf-8")]
    names = [".".join(path.relative_to(SOURCE).with_suffix("").parts) for path in sorted(paths)]
    return [name.removesuffix(".__init__") for name in names]


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in that holds the files of the examples."""
    shutil.copytree(DOCS / "example", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("page", "code"), blocks("python"))
@pytest.mark.usefixtures("example")
def test_python_examples_run_and_print_what_their_comments_say(
    page: str, code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    exec(compile(code, page, "exec"), {"__name__": "example"})
    assert capsys.readouterr().out.splitlines() == PRINTED.findall(code)


def test_the_readme_shows_python() -> None:
    assert "README.md" in {page for page, _ in blocks("python")}


@pytest.mark.parametrize("page", ["README.md", "evaluation.md", "requirements.md"])
def test_commands_of_a_page_run(page: str, example: Path) -> None:
    text = "\n".join(text for name, text in blocks("sh") if name == page)
    commands = [line for line in text.splitlines() if line.startswith("shoal ")]
    assert commands
    for command in commands:
        run = subprocess.run(
            [sys.executable, "-m", *shlex.split(command, comments=True)],
            capture_output=True,
            text=True,
            cwd=example,
        )
        assert run.returncode == 0, f"{command}\n{run.stderr}"
    assert list(example.glob("*.toml"))


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_in_docstrings_are_true(name: str) -> None:
    result = doctest.testmod(import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize(
    "room", ["anonymize", "evaluate", "generalization.hierarchy", "io", "listing", "samples"]
)
def test_public_modules_have_examples(room: str) -> None:
    assert any(f"{name}.".startswith(f"shoal.{room}.") for name in modules_with_examples())


def test_the_page_of_measures_lists_every_measure() -> None:
    text = (DOCS / "measures.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == sorted(shoal.measures())


def test_the_page_of_requirements_lists_every_requirement() -> None:
    text = (DOCS / "requirements.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)`", text, re.MULTILINE)) == set(shoal.requirements())


def test_the_requirements_of_the_page_can_be_loaded(example: Path) -> None:
    [toml] = [text for page, text in blocks("toml") if page == "requirements.md"]
    (example / "settings.toml").write_text(toml)
    tree = ["colon cancer,cancer,*", "lung cancer,cancer,*", "flu,infection,*", "HIV,infection,*"]
    (example / "diagnosis.csv").write_text("\n".join(tree))
    found = shoal.Settings.load(example / "settings.toml").requirements
    assert [item.name for item in found] == list(shoal.requirements())
    assert [problem for item in found for problem in item.problems()] == []


def test_the_picture_shows_what_shoal_does() -> None:
    drawn = runpy.run_path(str(DOCS / "make_picture.py"))["picture"]()
    assert (DOCS / "before-after.svg").read_text(encoding="utf-8") == drawn


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_files_named_in_contributing_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+(?:\.(?:py|md)|/))`", text)
    places = (ROOT, SOURCE, SOURCE / "shoal")
    assert [name for name in named if not any((place / name).exists() for place in places)] == []
    assert len(named) > 10
