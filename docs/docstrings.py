"""Docstrings that are filled when shoal is loaded, for the reference, which is made from the source alone."""

from __future__ import annotations

from importlib import import_module
from inspect import getdoc
from typing import Any

import griffe

FILLED = ("shoal.api.anonymize.anonymize",)


class FilledDocstrings(griffe.Extension):
    """Take the docstrings of some functions from the functions."""

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        if func.path in FILLED and func.docstring is not None:
            module, _dot, name = func.path.rpartition(".")
            func.docstring.value = getdoc(getattr(import_module(module), name)) or ""
