"""Run the examples of README.md and docs/, and write what they print beside them.

The blocks of a page run in order, in a folder of their own that holds the files of docs/example. A block whose
info string has a `title` is first written to a file of that name. Blocks are of these languages:

python      shares its names with the page's other Python blocks. What it prints stands in a `text` block right
            below it, or behind each `print(…)` as a comment. One with a title is a module that others import.
console     `$ shoal …` runs in this process, other commands in a shell; below each stands what it prints.
sh          the same commands without `$` and without what they print.
toml, csv   settings and hierarchies, or parts of settings.
text        nothing to run.

`...` stands for anything, and seconds may differ. A block that cannot run has a comment in the line above, which
readers of the built page do not see: `<!-- not run by the tests: why -->`.
"""

from __future__ import annotations

import doctest
import io
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from math import inf
from pathlib import Path
from typing import Any
from unittest import mock

DOCS = Path(__file__).parent
ROOT = DOCS.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
LANGUAGES = ("console", "csv", "python", "sh", "text", "toml")

_BLOCK = re.compile(
    r"^(?P<not_run><!-- not run by the tests: \w[^\n]* -->\n)?"
    r'```(?P<language>\w*)(?: title="(?P<title>[\w.-]+)")?\n(?P<text>.*?)^```$',
    re.M | re.S,
)
_COMMAND = re.compile(r"((?:[^\n]*\\\n)*[^\n]*\n?)(.*)", re.S)  # a backslash continues a line
_OUTPUT = re.compile(r"\n*```text\n(?P<text>.*?)^```$", re.M | re.S)
_PRINTED = re.compile(r"^( *print\(.*\)  # )(.*)$", re.M)
_SECONDS = re.compile(r'^(seconds +|.*"seconds": )[\d.]+', re.M)


def languages(page: Path) -> list[str]:
    """The languages of a page's blocks."""
    return [block["language"] for block in _BLOCK.finditer(page.read_text(encoding="utf-8"))]


def with_outputs(page: Path, folder: Path) -> str:
    """The text of a page with what its examples print when they run in a folder."""
    from shoal.audits.requirements import REQUIREMENTS
    from shoal.encoding.models import MODELS
    from shoal.solve.measures.additive import ADDITIVE
    from shoal.solve.measures.catalogue import MEASURES
    from shoal.solve.methods import METHODS

    with (
        ExitStack() as stack
    ):  # a page imports modules of its own, and what these register is its own
        for registry in (METHODS, MODELS, REQUIREMENTS, MEASURES, ADDITIVE):
            stack.enter_context(mock.patch.dict(registry))
        stack.enter_context(mock.patch.object(sys, "path", [str(folder), *sys.path]))
        stack.callback(lambda: [sys.modules.pop(own.stem, None) for own in folder.glob("*.py")])
        return _with_outputs(page, folder)


def _with_outputs(page: Path, folder: Path) -> str:
    text, found, place = page.read_text(encoding="utf-8"), [], 0
    shutil.copytree(DOCS / "example", folder, dirs_exist_ok=True)
    names: dict[str, Any] = {"__name__": "example"}
    for block in _BLOCK.finditer(text):
        if block.start() < place:
            continue  # the output of the block before it
        found.append(text[place : block.start("text")])
        place = block.end("text")
        code, language = block["text"], block["language"]
        if block["title"]:
            (folder / block["title"]).write_text(code, encoding="utf-8")
        if block["not_run"] or (language == "python" and block["title"]):
            found.append(code)
        elif language in ("console", "sh"):
            found.append(_run_commands(code, language, folder))
        elif language == "python":
            output = _OUTPUT.match(text, block.end())
            printed = _run_python(code, names, f"{page.name}: {code[:60]}", folder)
            if output:
                found += [code, text[place : output.start("text")], _kept(output["text"], printed)]
                place = output.end("text")
            else:
                found.append(_with_comments(code, printed))
        else:
            if language == "toml":
                _check_settings(code, folder)
            found.append(code)
    return "".join([*found, text[place:]])


def _kept(shown: str, printed: str) -> str:
    """What the page shows if it is true, else what was printed."""
    wanted, got = (_SECONDS.sub(r"\1", text) for text in (shown, printed))
    is_true = doctest.OutputChecker().check_output(wanted, got, doctest.ELLIPSIS)
    return shown if is_true else printed


def _with_comments(code: str, printed: str) -> str:
    lines = iter(printed.splitlines())
    code = _PRINTED.sub(lambda match: match[1] + next(lines, "(nothing)"), code)
    left = list(lines)
    if left:
        raise AssertionError(f"{code}\nprints more than its comments say: {left}")
    return code


def _run_python(code: str, names: dict[str, Any], place: str, folder: Path) -> str:
    with _screen(folder) as screen:
        exec(compile(code, place, "exec", dont_inherit=True), names)
    return screen.getvalue()


def _run_commands(code: str, language: str, folder: Path) -> str:
    """The commands of a block, each with what it prints; `sh` blocks show commands only."""
    parts = re.split(r"^\$ ", code, flags=re.M)[1:] if language == "console" else code.splitlines()
    found, status = [], 0
    for part in parts:
        command, shown = _COMMAND.fullmatch(part).groups()  # type: ignore[union-attr]
        status, printed = _run_command(command.replace("\\\n", " ").strip(), status, folder)
        if status and not shown.startswith("shoal: "):
            raise AssertionError(f"{command}\nexits with {status}: {printed}")
        found.append(f"$ {command}{_kept(shown, printed)}")
    return "".join(found) if language == "console" else code


def _run_command(command: str, status: int, folder: Path) -> tuple[int, str]:
    """Exit code and output of a command; `make` and benchmarks are only looked up."""
    words = shlex.split(command, comments=True)
    if not words:
        return 0, ""
    if words[0] == "make":
        targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
        return int(not set(words[1:]) <= set(targets)), ""
    if words[:3] == ["python", "-m", "benchmarks"]:
        return int(not _is_benchmark([word for word in words[3:5] if word[0] != "-"])), ""
    if words[0] != "shoal":
        shell = ["sh", "-c", f"(exit {status}); {command}"]
        own = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        run = subprocess.run(shell, capture_output=True, text=True, cwd=folder, env=own)
        return run.returncode, run.stdout + run.stderr
    from shoal.cli import main

    before = signal.getsignal(signal.SIGTERM)
    try:
        with _screen(folder) as screen, mock.patch.object(sys, "argv", words):
            main()
    except SystemExit as end:
        return int(end.code or 0), screen.getvalue()
    finally:
        signal.signal(signal.SIGTERM, before)


def _is_benchmark(words: list[str]) -> bool:
    """Whether there is such a benchmark, a paper or one of its figures."""
    if words[:1] == ["papers"]:
        from benchmarks.papers.run import names

        return not words[1:] or any(f"{name}-".startswith(f"{words[1]}-") for name in names())
    return not words or (ROOT / "benchmarks" / "suite" / f"{words[0]}.py").is_file()


def _check_settings(code: str, folder: Path) -> None:
    from shoal.settings.toml import fields_of, read_toml

    problems: list[str] = []
    (folder / ".part.toml").write_text(code, encoding="utf-8")
    fields_of(read_toml(folder / ".part.toml"), folder, problems)
    if problems:
        raise AssertionError(f"{code}\n{problems}")


@contextmanager
def _screen(folder: Path) -> Iterator[io.StringIO]:
    """A screen of 100 columns to print on while working in a folder."""
    screen = io.StringIO()
    from shoal.cli import show

    with (
        chdir(folder),
        mock.patch.multiple(show, SOON=inf, EVERY=inf),  # slow machines log progress
        mock.patch.dict(os.environ, {"COLUMNS": "100", "LC_ALL": "C"}),
        redirect_stdout(screen),
        redirect_stderr(screen),
    ):
        yield screen


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    for page in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            text = with_outputs(page, Path(folder))
        if text != page.read_text(encoding="utf-8"):
            page.write_text(text, encoding="utf-8")
            sys.stdout.write(f"{page.relative_to(ROOT)} changed\n")
