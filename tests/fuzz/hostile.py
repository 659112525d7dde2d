"""Feed shoal hostile files: damaged, oversized and odd ones give a plain sentence or a release, never anything else.

`python -m tests.fuzz.hostile --files 2000`, or one again: `python -m tests.fuzz.hostile --file 17`
"""

from __future__ import annotations

import argparse
import faulthandler
import gzip
import io
import json
import random
import sys
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from allowed import allowing

import shoal

from .__main__ import say
from .trials import message_faults

HANGS = 60  # seconds that a file may take
NAMES = ("age", "zip", "ill")
Damage = Callable[[bytes, random.Random], bytes]


def try_file(number: int, folder: Path) -> tuple[str, list[str]]:
    """Give shoal the hostile file of a number; return what became of it and what is wrong with that."""
    rng = random.Random(number)
    name, content = draw_file(rng)
    path = folder / name
    path.write_bytes(content)
    use = _use_settings if name.endswith(".toml") else _use_table
    if name.startswith("tree"):
        use = _use_hierarchy
    faulthandler.dump_traceback_later(HANGS, exit=True)
    try:
        use(path, folder)
        return "released", []
    except shoal.ShoalError as error:
        found = message_faults(error)
        if error.exit_code not in (2, 3):
            found.append(f"exit code {error.exit_code}: {error}")
        return f"refused {path.name}", found
    except Exception as error:
        return "failed", [f"{name}: {type(error).__name__}: {str(error)[:200]}"]
    finally:
        faulthandler.cancel_dump_traceback_later()
        path.unlink()


def draw_file(rng: random.Random) -> tuple[str, bytes]:
    """The name and the content of a hostile file."""
    name = rng.choice(list(MAKERS))
    content = MAKERS[name](rng)
    if rng.random() < 0.85:
        for _ in range(rng.choice((1, 1, 2, 5))):
            content = rng.choice(DAMAGES)(content, rng)
    if name.endswith(".gz"):
        content = gzip.compress(content)
        if rng.random() < 0.4:
            content = rng.choice(DAMAGES)(content, rng)
    return name, content


def _use_table(path: Path, folder: Path) -> None:
    release = shoal.anonymize(
        path,
        quasi_identifiers=["age", "zip"],
        sensitive=["ill"],
        others="drop",
        allow=allowing("ill"),
        k=2,
        method="mondrian",
        refine=False,
    )
    release.save(folder / "release.csv", overwrite=True)


def _use_settings(path: Path, folder: Path) -> None:
    (folder / "good.csv").write_bytes(_csv(random.Random(0)))
    shoal.anonymize(folder / "good.csv", settings=path, method="mondrian", refine=False)


def _use_hierarchy(path: Path, folder: Path) -> None:
    tree = shoal.Hierarchy.from_csv(path)
    table = {"zip": [*tree.leaves[:5], *tree.leaves[:5]]}
    import pyarrow as pa

    models = {"zip": tree}
    shoal.anonymize(pa.table(table), quasi_identifiers=models, k=2, method="mondrian", refine=False)


def _rows(rng: random.Random) -> list[tuple[int | None, str, str]]:
    return [
        (
            rng.randint(7130000, 7130999) if rng.random() < 0.95 else None,
            f"Zq7{rng.randint(0, 9)}",
            rng.choice(("Zq7 flu", "Zq7 gout")),
        )
        for _ in range(rng.choice((2, 8, 30)))
    ]


def _csv(rng: random.Random) -> bytes:
    delimiter, end = rng.choice(",;\t|"), rng.choice(("\n", "\r\n", "\r"))
    rows = [NAMES, *_rows(rng)]
    lines = (delimiter.join("" if cell is None else str(cell) for cell in row) for row in rows)
    return end.join(lines).encode()


def _headless(rng: random.Random) -> bytes:
    """A table whose first row is a person."""
    rows = _rows(rng)
    return "\n".join(f"{age or 7130000},{zip_code},{ill}" for age, zip_code, ill in rows).encode()


def _jsonl(rng: random.Random) -> bytes:
    lines = (json.dumps(dict(zip(NAMES, row, strict=True))) for row in _rows(rng))
    return "\n".join(lines).encode()


def _parquet(rng: random.Random) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = zip(*_rows(rng), strict=True)
    sink = io.BytesIO()
    table = pa.table(dict(zip(NAMES, map(list, columns), strict=True)))
    pq.write_table(table, sink, compression=rng.choice(("snappy", "zstd", "none")))
    return sink.getvalue()


def _xlsx(rng: random.Random) -> bytes:
    from openpyxl import Workbook

    book = Workbook()
    for row in [NAMES, *_rows(rng)]:
        book.active.append(row)
    sink = io.BytesIO()
    book.save(sink)
    return sink.getvalue()


def _xlsx_bomb(rng: random.Random) -> bytes:
    """A workbook whose sheet is a few megabytes of the same cell once it is unpacked."""
    source, sink = zipfile.ZipFile(io.BytesIO(_xlsx(rng))), io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as bomb:
        for item in source.namelist():
            data = source.read(item)
            if item.endswith("sheet1.xml"):
                data = data.replace(b"<sheetData>", b"<sheetData>" + b"<row></row>" * 200_000)
            bomb.writestr(item, data)
    return sink.getvalue()


def _toml(rng: random.Random) -> bytes:
    models = {"age": "interval", "zip": rng.choice(("suppression", "subset"))}
    parts = ['[columns]\nsensitive = ["ill"]\nothers = "drop"\nallow = ["ill"]']
    parts += [f'[quasi_identifiers.{name}]\nmodel = "{model}"' for name, model in models.items()]
    parts += ["[requirement]\nk = 2", '[objective]\nmeasure = "lm"']
    return "\n".join(parts).encode()


def _tree(rng: random.Random) -> bytes:
    lines = (f"Zq7{i},level {i // 3},*" for i in range(rng.choice((1, 4, 10))))
    return "\n".join(lines).encode()


def _deep_json(rng: random.Random) -> bytes:
    depth = rng.choice((10, 1000, 100_000))
    return b'{"age": 1, "zip": ' + b"[" * depth + b"]" * depth + b', "ill": "Zq7"}\n'


def _long_field(rng: random.Random) -> bytes:
    return b"age,zip,ill\n1," + b"Zq7" * rng.choice((100, 700_000, 7_000_000)) + b",x\n2,b,y\n"


def _wide(rng: random.Random) -> bytes:
    names = [*NAMES, *(f"c{i}" for i in range(rng.choice((100, 5000))))]
    return "\n".join([",".join(names), *[",".join(["1"] * len(names))] * 3]).encode()


def _noise(rng: random.Random) -> bytes:
    return rng.randbytes(rng.choice((0, 1, 3, 50, 5000)))


MAKERS: dict[str, Callable[[random.Random], bytes]] = {
    "table.csv": _csv,
    "more.csv": _csv,
    "headless.csv": _headless,
    "table.tsv": _csv,
    "table.csv.gz": _csv,
    "table.jsonl": _jsonl,
    "table.jsonl.gz": _jsonl,
    "table.parquet": _parquet,
    "table.xlsx": _xlsx,
    "bomb.xlsx": _xlsx_bomb,
    "settings.toml": _toml,
    "tree.csv": _tree,
    "deep.jsonl": _deep_json,
    "long.csv": _long_field,
    "wide.csv": _wide,
    "noise.csv": _noise,
    "noise.jsonl": _noise,
    "noise.parquet": _noise,
    "noise.xlsx": _noise,
    "noise.csv.gz": _noise,
    "noise.toml": _noise,
    "tree noise.csv": _noise,
}


def _cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randint(0, len(content))]


def _flip(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice((1, 4, 30))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _insert(content: bytes, rng: random.Random) -> bytes:
    piece = rng.choice(PIECES)
    place = rng.randint(0, len(content))
    return content[:place] + piece * rng.choice((1, 1, 100)) + content[place:]


def _repeat(content: bytes, rng: random.Random) -> bytes:
    start = rng.randint(0, len(content))
    return content + content[start : start + rng.choice((1, 40, 4000))]


def _recode(content: bytes, rng: random.Random) -> bytes:
    text = content.decode("latin-1")
    return text.encode(rng.choice(("utf-16", "utf-8-sig", "utf-32", "cp037")), "replace")


PIECES = (
    *(b"\0", b"\r", b"\n", b"\r\n", b'"', b",", b";", b"\t", b"\\", b"{", b"[", b"\x1b[31m", b"*"),
    *(b"\xff", b"\xed\xa0\x80", b"\\ud800", b"NaN", b"Infinity", b"1e999", b"9" * 400, b"null"),
    *("\u2028".encode(), "\ufeff".encode(), "\u202e".encode(), b"0x10", b"-0", b"[[", b"= 1"),
)
DAMAGES: tuple[Damage, ...] = (_cut, _flip, _flip, _insert, _insert, _insert, _repeat, _recode)


def main() -> int:
    """Try as many files as asked for; 1 if one of them did harm."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.hostile", description=__doc__)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--file", type=int, help="try this file only")
    given = parser.parse_args()
    start, files = (given.start, given.files) if given.file is None else (given.file, 1)
    results: Counter[str] = Counter()
    failures = 0
    with TemporaryDirectory() as folder:
        for number in range(start, start + files):
            kind, found = try_file(number, Path(folder))
            results[kind] += 1
            for fault in found:
                failures += 1
                say(f"file {number}: {fault}; again: python -m tests.fuzz.hostile --file {number}")
    say(f"{files} files, {failures} failures")
    for kind, count in results.most_common():
        say(f"{count:8} {kind}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
