"""The app as a process of its own and a real browser that is led through it."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def browser_path() -> str | None:
    """Where a browser lies, None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@dataclass
class App:
    """A running app."""

    process: subprocess.Popen[str]
    first: str  # its one-time address, or the page that leads there
    folder: Path  # of its projects
    address: str = ""  # of its pages, which only a browser learns that is let in

    def let_in(self, page: Any) -> None:
        """Open the first page by the one-time address."""
        page.goto(self.first)
        page.wait_for_selector("text=Open the sample")
        self.address = page.url.rstrip("/")

    @property
    def memory(self) -> float:
        """Of the server, in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        assert found is not None
        return int(found[1]) / 1024


@contextmanager
def running_app(folder: Path, browser: str | None = None) -> Iterator[App]:
    """`shoal app` on a free port, ended in the end; `browser` is a command that it opens, by default none."""
    command = [sys.executable, "-m", "shoal", "app", "--folder", str(folder)]
    process = subprocess.Popen(
        command if browser else [*command, "--no-browser"],
        env={**os.environ, "BROWSER": browser or ""},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            found = re.search(r"http://\S+|/\S+\.html", line)
            if found:
                break
        else:
            raise RuntimeError("the app did not start")
        yield App(process, found[0], folder)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()  # type: ignore[union-attr]


@contextmanager
def running_browser() -> Iterator[Any]:
    """The browser of the system, without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


def people(records: int = 600) -> str:
    """A table with a name, two quasi-identifiers and an illness, as CSV."""
    chance = random.Random(1)
    lines = ["name,age,town,ill"]
    for number in range(records):
        town = chance.choice(["Lyon", "Lille", "Porto"])
        lines.append(f"Person {number:04},{chance.randint(20, 69)},{town},{chance.choice('abc')}")
    return "\n".join(lines) + "\n"


def drop(page: Any, name: str, content: str) -> None:
    """Drop a file on the field that takes one."""
    page.evaluate(
        """([name, content]) => {
            const data = new DataTransfer();
            data.items.add(new File([content], name, {type: "text/csv"}));
            document.querySelector(".drop").dispatchEvent(
                new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
        }""",
        [name, content],
    )


def open_people(page: Any) -> str:
    """Drop a small table and wait until it has been read; the address of its project."""
    drop(page, "people.csv", people())
    page.wait_for_selector("text=600 records")
    return str(page.url.rpartition("/")[0])


def fill(page: Any, label: str, value: str) -> None:
    """Fill a field and leave it."""
    page.get_by_label(label).first.fill(value)
    page.get_by_label(label).first.press("Tab")


def begin_run(page: Any) -> int:
    """Press Run; returns the number of the run."""
    page.wait_for_selector("#run")
    number = int(page.locator("table.runs tbody tr").count()) + 1
    page.get_by_role("button", name="Run", exact=True).click()
    return number
