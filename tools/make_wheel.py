"""Build a wheel that carries compiled kernels: python tools/make_wheel.py, or `make wheel`.

They are compiled for any processor of this machine's kind, and used where Python, platform and Numba are the same as
here; elsewhere the wheel works like one without them. It is named for this Python and this platform.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
BASELINE = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
COMPILED = "shoal/kernels/compiled"
DESCRIBE = "import json; from shoal.kernels.compile.cache import environment; print(json.dumps(environment()))"


def main() -> None:
    """Build the wheel into the folder dist."""
    with tempfile.TemporaryDirectory() as scratch:
        plain = Path(scratch) / "plain"
        command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", plain, ROOT]
        subprocess.run(command, check=True)
        kernels = compile_kernels(Path(scratch) / "kernels", "--all")
        (wheel,) = plain.glob("*.whl")
        made = add_kernels(wheel, kernels, ROOT / "dist")
    print(f"{made.relative_to(ROOT)}: {made.stat().st_size / 1e6:.1f} MB")


def compile_kernels(folder: Path, *options: str) -> Path:
    """Compile kernels for any processor into a folder; return the one that they are in."""
    folder.mkdir(mode=0o700)
    run(["-m", "shoal", "compile", "--quiet", *options], folder)
    (kernels,) = folder.glob("kernels-*")
    described = run(["-c", DESCRIBE], folder)
    (kernels / "made_for.json").write_text(described)
    return kernels


def run(arguments: list[str], folder: Path) -> str:
    """Run this interpreter with a folder of its own for kernels; return what it says."""
    paths = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH", ""))))
    environment = {**os.environ, **BASELINE, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": paths}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def add_kernels(wheel: Path, kernels: Path, target: Path) -> Path:
    """Write a wheel like another one, with kernels, into a folder; return its path."""
    name, version = wheel.name.split("-")[:2]
    tag = f"{sys.implementation.name[:2]}{sysconfig.get_config_var('py_version_nodot')}-none-{platform()}"
    target.mkdir(parents=True, exist_ok=True)
    made = target / f"{name}-{version}-{tag}.whl"
    about = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(wheel) as plain:
        files = {
            entry: plain.read(entry) for entry in plain.namelist() if entry != f"{about}/RECORD"
        }
    lines = [
        line
        for line in files[f"{about}/WHEEL"].decode().splitlines()
        if line and not line.startswith(("Tag:", "Root-Is-Purelib:"))
    ]
    lines += ["Root-Is-Purelib: false", f"Tag: {tag}", ""]
    files[f"{about}/WHEEL"] = "\n".join(lines).encode()
    for file in sorted(kernels.iterdir()):
        files[f"{COMPILED}/{file.name}"] = file.read_bytes()
    files[f"{about}/RECORD"] = record(files, f"{about}/RECORD")
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, content in files.items():
            archive.writestr(
                zipfile.ZipInfo(entry, (2020, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED
            )
    return made


def record(files: dict[str, bytes], own: str) -> bytes:
    """The list of a wheel's files with their hashes."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    for entry, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
        lines.writerow([entry, f"sha256={digest.decode()}", len(content)])
    lines.writerow([own, "", ""])
    return text.getvalue().encode()


def platform() -> str:
    """This platform, as names of wheels have it."""
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


if __name__ == "__main__":
    main()
