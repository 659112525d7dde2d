"""Folders in which large outputs are made: no end of the work, whatever its moment, leaves one behind."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from shoal.data.staging import MAKING, MARK, Staging


def test_only_folders_of_dead_processes_are_removed(tmp_path: Path) -> None:
    living, dead = Staging(tmp_path), tmp_path / f"{MARK}dead"
    dead.mkdir()
    (dead / "lock").touch()
    (dead / "encoded.parquet").touch()
    ended = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True
    )
    unmade, making = (tmp_path / f"{MAKING}{n}-x" for n in (ended.stdout.strip(), os.getpid()))
    unmade.mkdir()
    making.mkdir()
    other = Staging(tmp_path)
    assert not dead.exists()
    assert not unmade.exists()
    making.rmdir()
    assert living.folder.exists()
    assert living.folder.stat().st_mode & 0o777 == 0o700
    for staging in (living, other):
        staging.close()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("step", ["mkdir", "open", "rename", "rmtree"])
def test_an_interrupt_at_any_step_leaves_no_folder(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = {"open": os, "rmtree": shutil}.get(step, Path)
    work, interrupts = getattr(owner, step), [KeyboardInterrupt]

    def interrupted(*given: Any, **named: Any) -> Any:
        done = work(*given, **named)
        if interrupts:
            raise interrupts.pop()
        return done

    monkeypatch.setattr(owner, step, interrupted)
    with pytest.raises(KeyboardInterrupt):
        Staging(tmp_path).close()
    assert not list(tmp_path.iterdir())
