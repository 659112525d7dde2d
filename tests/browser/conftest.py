"""One browser and one app for all tests of this folder, and a small table that several of them work on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from driving import App, browser_path, open_people, running_app, running_browser

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


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with running_app(tmp_path_factory.mktemp("app") / "projects") as found:
        yield found


@pytest.fixture(scope="session")
def context(browser: Any, app: App) -> Iterator[Any]:
    """The browser of one person, let in by the one-time address."""
    made = browser.new_context(accept_downloads=True)
    made.set_default_timeout(60_000)
    page = made.new_page()
    app.let_in(page)
    page.close()
    yield made
    made.close()


@pytest.fixture(scope="session")
def people_project(context: Any, app: App) -> str:
    """The address of a project about a small table that was dropped; tests set what they need of it."""
    page = context.new_page()
    page.goto(f"{app.address}/")
    base = open_people(page)
    page.close()
    return base


@pytest.fixture
def page(context: Any, app: App) -> Iterator[Any]:
    """The first page of the app; what goes wrong on it is kept in `faults`."""
    found = context.new_page()
    found.faults = []
    found.on("console", lambda said: _note(found.faults, said))
    found.on("pageerror", lambda error: found.faults.append(str(error)))
    found.on("response", lambda got: _refused(found.faults, got))
    found.on("request", lambda asked: _foreign(found.faults, asked, app))
    found.goto(f"{app.address}/")
    yield found
    found.close()


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
