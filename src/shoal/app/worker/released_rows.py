"""The first rows of a finished release and, if the user asks, an original record that fits each of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.app.projects import read_json
from shoal.app.worker.preview import LONGEST
from shoal.assess.comparison import Comparison, read_comparison
from shoal.data.open import open_table
from shoal.encoding.frames import Frame
from shoal.encoding.other_columns import coarse_input, coarsened
from shoal.encoding.source import Input
from shoal.errors import InputError
from shoal.settings.settings import make_settings

ROWS = 10
FILES = ("release.parquet", "release.csv")  # one of which every finished run has


def first_rows(answer: Any, project: str, run: str, originals: bool = False) -> dict[str, Any]:
    """The first released rows as texts. With `originals`, also records of the table that fit them."""
    folder = Path(run)
    files = [folder / name for name in FILES if (folder / name).exists()]
    if not files:
        raise InputError("The files of this run are gone. Start a new run.")
    released = open_table(files[0], Input()).data
    names = list(released.columns)
    rows = _texts(released, names, range(min(ROWS, released.shape[0])))
    found = {"columns": names, "rows": rows, "records": released.shape[0]}
    return {**found, **(_originals(folder, released, names, len(rows)) if originals else {})}


def _originals(folder: Path, released: Frame, names: list[str], rows: int) -> dict[str, Any]:
    """For each of the first rows, a record that fits and how many fit by their quasi-identifiers."""
    settings = make_settings(folder / "settings.toml")
    source = open_table(read_json(folder / "run.json")["table"], settings.reading)
    coarse = coarsened(source, settings.coarsen, settings.reading)
    own = replace(settings, reading=coarse_input(settings.reading, settings.coarsen))
    known = {*settings.quasi_identifiers, *settings.sensitive, *settings.pseudonyms}
    others = [name for name in names if name in source.data.columns and name not in known]
    compared = read_comparison(coarse.data, released, own, others)
    shown = [name for name in names if name in source.data.columns]
    chosen: list[int] = []
    counts = []
    for row in range(rows):
        fits = fitting(compared, row)
        counts.append(int(np.count_nonzero(fits)))
        same = fits & _unchanged(compared, row)
        same[[place for place in chosen if place >= 0]] = False
        chosen.append(int(np.argmax(same)) if same.any() else -1)
    texts = _texts(source.data, shown, [max(place, 0) for place in chosen])
    fitted = [
        dict(zip(shown, row, strict=True)) if place >= 0 else None
        for row, place in zip(texts, chosen, strict=True)
    ]
    return {"originals": fitted, "fits": counts}


def fitting(compared: Comparison, row: int) -> npt.NDArray[np.bool_]:
    """Which records of the table have the quasi-identifiers that a released row may stand for."""
    group = int(compared.groups[row])
    fits = np.ones(compared.table.records, dtype=np.bool_)
    for number, column in enumerate(compared.table.columns):
        inside = column.form.holds(compared.of_column(number)[:, [group]])[:, 0] > 0
        fits &= inside[compared.table.codes[:, number]]
    return fits


def _unchanged(compared: Comparison, row: int) -> npt.NDArray[np.bool_]:
    """Which records of the table have the same values as a released row in the columns released unchanged."""
    same = np.ones(compared.table.records, dtype=np.bool_)
    for name, codes in compared.released.items():
        same &= compared.table.sensitive[name].codes == codes[row]
    return same


def _texts(frame: Frame, names: list[str], places: Any) -> list[list[str]]:
    """Cells of some rows as short texts."""
    few = frame[list(places)]
    cells = [
        ["" if value is None else str(value)[:LONGEST] for value in few.get_column(name).to_list()]
        for name in names
    ]
    return [list(row) for row in zip(*cells, strict=True)]
