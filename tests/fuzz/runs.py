"""A command that takes a second or two, for campaigns that disturb it, and what its outputs must look like."""

from __future__ import annotations

import csv
import random
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

K = 5
NAMES = ["age", "zip", "sex", "ill"]


def write_table(path: Path, records: int, seed: int = 0) -> None:
    """A table about people whose every column has a role."""
    rng = random.Random(seed)
    ills = [f"ill {number}" for number in range(40)]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(NAMES)
        for _ in range(records):
            zip_code = f"z{rng.randint(100, 999)}"
            writer.writerow([rng.randint(18, 95), zip_code, rng.choice("fm"), rng.choice(ills)])


def command(table: Path, release: Path, *more: str) -> list[str]:
    """Anonymize a table by a quick method."""
    roles = ["-q", "age", "-q", "zip", "-q", "sex", "-s", "ill", "-k", str(K)]
    how = ["--method", "mondrian", "--refine", "off"]
    start = [sys.executable, "-m", "shoal", "anonymize", str(table), "-o", str(release)]
    return [*start, *roles, *how, *more]


def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(arguments, capture_output=True, text=True)


def release_faults(path: Path, table: Path) -> list[str]:
    """What keeps a CSV file from being a whole release of a table."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            header, *records = csv.reader(file, strict=True)
    except (OSError, ValueError, csv.Error) as error:
        return [f"{path.name} cannot be read ({type(error).__name__})"]
    return record_faults(path.name, header, records, table)


def record_faults(
    name: str, header: Sequence[str], records: Sequence[Sequence[object]], table: Path
) -> list[str]:
    """What keeps records from being a whole release of a table."""
    with table.open(newline="", encoding="utf-8") as file:
        originals = list(csv.reader(file, strict=True))[1:]
    if list(header) != NAMES or {len(record) for record in records} != {len(NAMES)}:
        return [f"{name} is torn"]
    found = []
    if Counter(record[-1] for record in records) != Counter(record[-1] for record in originals):
        found.append(f"{name} has other sensitive values than the table")
    least = min(Counter(tuple(record[:-1]) for record in records).values())
    if least < K:
        found.append(f"{name} has a group of {least}")
    return found


def report_faults(path: Path) -> list[str]:
    """What keeps a file from being a whole report."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    whole = text.lower().startswith("<!doctype html>") and text.rstrip().endswith("</html>")
    return [] if whole else [f"{path.name} is torn"]


def settings_faults(path: Path) -> list[str]:
    """What keeps a file from being whole settings."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return [f"{path.name} cannot be read ({type(error).__name__})"]
    return [] if found.get("requirement", {}).get("k") == K else [f"{path.name} lacks k"]
