"""Which kernels a run needs, and for which types of arguments: what can be compiled before it begins.

`signatures.json` names them for each part of a run, with the seconds that compiling takes; `python -m tests.signatures`
writes it. A run that needs others compiles them on the way.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from numba import config, types

from shoal.kernels.bundles import BundleType, bundles_work
from shoal.kernels.compilation import KERNELS
from shoal.kernels.machine_code import kept_file

FILE = Path(__file__).with_name("signatures.json")
ARRAY = re.compile(r"(\w+)\[(\d)([CFA])(r?)\]")
NAMED = ("int8", "int64", "uint64", "float64", "int32", "float32", "boolean", "none", "npy_rng")


@dataclass(frozen=True)
class Signature:
    """A kernel and the types of its arguments."""

    kernel: str
    arguments: tuple[str, ...]
    seconds: float = 0.0  # that compiling takes, about

    def types(self) -> tuple:
        """Return the types as Numba has them."""
        return tuple(map(type_of, self.arguments))

    def is_kept(self) -> bool:
        """Whether its machine code is on disk."""
        load(self.kernel)
        return kept_file(self.kernel, self.types()) is not None

    def compile(self) -> None:
        """Compile it, or load it if it is kept."""
        load(self.kernel).compile(self.types())


def needed(parts: Iterable[str]) -> list[Signature]:
    """Return what some parts of a run need, each once; parts that nobody listed need nothing.

    Where kernels take their arguments another way, which is not on the list, nothing is.
    """
    listed = _listed()["parts"] if bundles_work() and not config.DISABLE_JIT else {}
    found = {
        (kernel, tuple(arguments)): seconds
        for part in parts
        for kernel, arguments, seconds in listed.get(part, [])
    }
    return [Signature(*what, seconds) for what, seconds in found.items()]


def missing(parts: Iterable[str]) -> list[Signature]:
    """Return what some parts of a run need and what is not compiled yet."""
    return [signature for signature in needed(parts) if not signature.is_kept()]


def parts() -> tuple[str, ...]:
    """Return the names of all parts."""
    return tuple(_listed()["parts"])


def text_of(kind) -> str:
    """Write a type of Numba; raise ValueError for one that is not among those that can be listed."""
    if isinstance(kind, BundleType):
        return f"{kind.cls.__module__.removeprefix('shoal.kernels.')}.{kind.cls.__qualname__}"
    if isinstance(kind, types.Array) and kind.aligned:
        readonly = "" if kind.mutable else "r"
        return f"{text_of(kind.dtype)}[{kind.ndim}{kind.layout}{readonly}]"
    text = {types.boolean: "boolean", types.npy_rng: "npy_rng"}.get(kind, str(kind))
    if text not in NAMED:
        raise ValueError(f"Type {text} cannot be listed.")
    return text


@cache
def type_of(text: str):
    """Read a type that `text_of` wrote."""
    if "." in text:
        return _bundle(text)
    array = ARRAY.fullmatch(text)
    if array is None:
        return getattr(types, text)
    kind, dimensions, layout, readonly = array.groups()
    return types.Array(type_of(kind), int(dimensions), layout, readonly=bool(readonly))


def _bundle(text: str):
    module, _, name = text.rpartition(".")
    cls = getattr(importlib.import_module(f"shoal.kernels.{module}"), name)
    return BundleType(cls, tuple(map(type_of, _listed()["bundles"][text])))


def load(kernel: str):
    """The kernel of a name."""
    importlib.import_module(f"shoal.kernels.{kernel.rpartition('.')[0]}")
    return KERNELS[kernel]


@cache
def _listed() -> dict:
    try:
        return json.loads(FILE.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # as in a package that somebody cut down
        return {"bundles": {}, "parts": {}}
