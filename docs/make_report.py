"""Write the report that the page on reading reports shows; a test compares it with what shoal writes now."""

from __future__ import annotations

import tempfile
from contextlib import chdir
from pathlib import Path

import shoal

EXAMPLE = Path(__file__).parent / "example"
REPORT = EXAMPLE / "patients-report.html"


def report() -> str:
    """The report on the README's release."""
    with tempfile.TemporaryDirectory() as folder, chdir(EXAMPLE):
        release = shoal.anonymize(
            "patients.csv",
            quasi_identifiers={
                "age": shoal.Interval(),
                "sex": shoal.Suppression(),
                "town": shoal.Hierarchy.from_csv("town.csv"),
            },
            sensitive=["diagnosis"],
            identifiers=["name"],
            k=3,
            requirements=[shoal.LDiversity(2)],
        )
        release.certify(passes=10)
        path = Path(folder) / "report.html"
        release.save_report(path)
        return path.read_text(encoding="utf-8")


if __name__ == "__main__":
    REPORT.write_text(report(), encoding="utf-8")
