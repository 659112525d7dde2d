"""Make the pictures of the app for the documentation: `python tools/make_app_pictures.py [folder]`.

Starts the app with an empty folder of projects, leads a browser through the six steps with the sample, and saves a
picture of each.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "browser"))

from driving import running_app, running_browser  # noqa: E402

STEPS = {
    "table": 760,
    "columns": 900,
    "generalization": 900,
    "requirement": 900,
    "run": 1180,
    "release": 740,
}  # pixels that are shown


def main(folder: Path, width: int = 1200, scheme: str = "light") -> None:
    """Save a picture of each step."""
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as projects,
        running_app(Path(projects)) as app,
        running_browser() as browser,
    ):
        context = browser.new_context(viewport={"width": width, "height": 680}, color_scheme=scheme)
        page = context.new_page()
        app.let_in(page)
        page.screenshot(path=folder / "app-home.png")
        page.get_by_role("button", name="Open the sample").click()
        page.wait_for_selector("text=Read as", timeout=60_000)
        base = page.url.rpartition("/")[0]
        _run(page, base)
        for step, height in STEPS.items():
            page.set_viewport_size({"width": width, "height": height})
            page.goto(f"{base}/{step}")
            if page.locator("#estimate").count():
                page.wait_for_selector("#estimate .tiles", timeout=60_000)
            page.wait_for_timeout(300)
            page.screenshot(path=folder / f"app-{step}.png")


def _run(page: Any, base: str) -> None:
    """Two runs, so that there is something to compare."""
    for number, k in enumerate((10, 5), start=1):
        page.goto(f"{base}/run")
        page.locator("#k").fill(str(k))
        page.locator("#refine").select_option("off")
        page.get_by_role("button", name="Run", exact=True).click()
        page.wait_for_selector(f"text=Open the release of run {number}", timeout=300_000)


if __name__ == "__main__":
    main(*(Path(given) for given in sys.argv[1:2] or [ROOT / "docs" / "images"]))
