"""What is installed and what is published hold all that is needed and nothing else."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "shoal"
DATA = {
    ".tsv",
    ".css",
    ".csv",
    ".json",
    ".md",
    ".parquet",
    ".toml",
    ".typed",
    ".html",
    ".js",
    ".svg",
    ".txt",
}
IN_SOURCE = {"benchmarks", "docs", "src", "tests", "tools"}


def build(kind: str, project: Path, folder: Path) -> Path:
    """Build a distribution of a project as pip would."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory"]
    subprocess.run([*command, str(folder)], cwd=project, check=True, capture_output=True)
    [built] = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The names in a wheel."""
    built = build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))
    return zipfile.ZipFile(built).namelist()


def test_a_wheel_holds_the_package_and_its_data_and_nothing_else(wheel):
    packed = {name.removeprefix("shoal/") for name in wheel if name.startswith("shoal/")}
    files = [path for path in PACKAGE.rglob("*") if path.is_file()]
    wanted = {str(p.relative_to(PACKAGE)) for p in files if "__pycache__" not in p.parts}
    assert packed == wanted
    assert {Path(name).suffix or Path(name).name for name in packed} - {".py"} <= DATA | {
        "py.typed"
    }
    assert {
        "py.typed",
        "report/templates/page.html",
        "samples/adult.parquet",
        "samples/adult.toml",
    } <= packed
    assert not [name for name in packed if Path(name).name.startswith(("make_", "test_"))]


def test_a_wheel_brings_its_licences_and_nothing_beside_the_package(wheel):
    others = {name.partition("/")[2] for name in wheel if not name.startswith("shoal/")}
    about = {"METADATA", "RECORD", "WHEEL", "entry_points.txt"}
    assert others == {*about, "licenses/LICENSE", "licenses/NOTICE"}


def test_a_source_archive_makes_the_same_wheel_and_holds_nothing_of_this_machine(wheel, tmp_path):
    (tmp_path / "sdist").mkdir()
    archive = build("sdist", ROOT, tmp_path / "sdist")
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path / "source", filter="data")
    [project] = (tmp_path / "source").iterdir()
    folders = {path.name for path in project.iterdir() if path.is_dir()}
    assert folders == IN_SOURCE
    names = {str(path.relative_to(project)) for path in project.rglob("*") if path.is_file()}
    assert not [name for name in names if name.endswith((".pyc", ".nbc", ".nbi"))]
    assert {"Makefile", "constraints.txt", "constraints-oldest.txt", "LICENSE", "NOTICE"} <= names
    again = build("wheel", project, tmp_path / "again")
    assert sorted(zipfile.ZipFile(again).namelist()) == sorted(wheel)


def test_the_image_is_built_from_files_that_are_there_and_not_ignored():
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    copied = {
        name
        for line in lines
        if line.startswith("COPY ") and "--from" not in line
        for name in line.split()[1:-1]
    }
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert ignored[1] == "*"
    assert copied == {line[1:] for line in ignored if line.startswith("!")}
    assert all((ROOT / name).exists() for name in copied)
    assert lines.index("USER shoal") < lines.index('ENTRYPOINT ["shoal"]')
