"""A browser for all tests of this folder, and an app for each of its files."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from driving import App, browser_path, running_app, running_browser

REASON = "no chromium on this machine; install it (Debian: apt-get install chromium) to test the app in a browser"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    if browser_path() is None:
        for item in items:
            if item.path.is_relative_to(here):
                item.add_marker(pytest.mark.skip(reason=REASON))


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    with running_browser() as found:
        yield found


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    with running_app(tmp_path / "projects") as found:
        yield found


@pytest.fixture
def context(browser: Any) -> Iterator[Any]:
    """A browser of one person: cookies of its own."""
    made = browser.new_context(accept_downloads=True)
    made.set_default_timeout(30_000)
    yield made
    made.close()


@pytest.fixture
def page(context: Any, app: App) -> Any:
    """The first page of the app, opened by its one-time address; what goes wrong on it is kept in `faults`."""
    found = context.new_page()
    found.faults = []
    found.on("console", lambda said: _note(found.faults, said))
    found.on("pageerror", lambda error: found.faults.append(str(error)))
    found.on("response", lambda got: _refused(found.faults, got))
    found.on("request", lambda asked: _foreign(found.faults, asked, app))
    found.goto(app.first)
    found.wait_for_url(f"{app.address}/")
    return found


def _note(faults: list[str], said: Any) -> None:
    """Keep an error; a question that a newer one or another page replaced is none."""
    if said.type == "error" and "abort" not in said.text.lower():
        faults.append(said.text)


def _refused(faults: list[str], got: Any) -> None:
    if got.status >= 400:
        faults.append(f"{got.status} {got.url}")


def _foreign(faults: list[str], asked: Any, app: App) -> None:
    if not asked.url.startswith((f"{app.address}/", "data:")):
        faults.append(f"foreign {asked.url}")
