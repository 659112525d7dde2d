"""Make the picture of the report for the documentation: `python tools/make_report_picture.py [file]`.

Run `python docs/make_report.py` first: the picture shows the upper part of the report that it writes.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "browser"))

from driving import running_browser  # noqa: E402

REPORT = ROOT / "docs" / "example" / "patients-report.html"


def main(file: Path, width: int = 900, height: int = 1100) -> None:
    """Save a picture of the upper part of the report."""
    with running_browser() as browser:
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme="light")
        page.goto(REPORT.as_uri())
        page.screenshot(path=file)


if __name__ == "__main__":
    main(*(Path(given) for given in sys.argv[1:2] or [ROOT / "docs" / "images" / "report.png"]))
