"""The smoke test that other versions are tried with passes here, too."""

from __future__ import annotations

import signal
import sys

import smoke


def test_the_usual_path_works_with_the_installed_versions(tmp_path, monkeypatch):
    monkeypatch.setattr(signal, "signal", lambda number, handler: None)
    monkeypatch.setattr(sys, "argv", sys.argv)
    assert smoke.main(tmp_path).startswith("Works with Python 3.")
