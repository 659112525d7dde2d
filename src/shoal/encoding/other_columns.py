"""Columns that are not quasi-identifiers: their roles, coarser values and pseudonyms."""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn
from unicodedata import normalize

import narwhals as nw
import numpy as np
import pyarrow as pa

from shoal.atomic import create_private, readable_by_others, system_reason
from shoal.encoding.encode import encode_column
from shoal.encoding.forms import Records
from shoal.encoding.frames import Frame, arrow_column
from shoal.encoding.models import Calendar, Interval, Model
from shoal.encoding.models.base import labels_of
from shoal.encoding.source import Input, Source
from shoal.errors import LONGEST, InputError, added_to, raise_problems


@dataclass(frozen=True)
class Roles:
    """A table's columns by what becomes of them, each in one list."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    kept: tuple[str, ...]
    removed: tuple[str, ...]
    replaced: tuple[str, ...] = ()  # by pseudonyms
    undecided: tuple[str, ...] = ()  # nobody said what they are

    @property
    def unchanged(self) -> tuple[str, ...]:
        """Columns that are released as they are."""
        return (*self.sensitive, *self.kept)

    def problems(self) -> list[str]:
        """A sentence if the role of some columns is not decided."""
        if not self.undecided:
            return []
        several = len(self.undecided) > 1
        names = ", ".join(f"'{name[:LONGEST]}'" for name in self.undecided)
        return [
            f"Column{'s' if several else ''} {names} {'have' if several else 'has'} no role, so nothing is released; "
            "name each as a quasi-identifier (-q), sensitive (-s), an identifier to remove (-i) or a column to keep "
            'as it is (-x, keep=), or decide for all with others = "drop" or "keep" (--others).'
        ]


def assign_roles(
    columns: Sequence[str],
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    identifiers: Sequence[str],
    keep: Sequence[str],
    others: str,
    pseudonyms: Sequence[str] = (),
    person: str | None = None,
) -> Roles:
    """Give every column its role; `others` says what becomes of those that are not named.

    A column that tells persons apart is removed unless it is replaced by pseudonyms.
    """
    if person and person not in (*identifiers, *pseudonyms):
        identifiers = (*identifiers, person)
    named = {*quasi_identifiers, *sensitive, *identifiers, *keep, *pseudonyms}
    rest = tuple(name for name in columns if name not in named)
    return Roles(
        tuple(quasi_identifiers),
        tuple(sensitive),
        (*keep, *(rest if others == "keep" else ())),
        (*identifiers, *(rest if others == "drop" else ())),
        tuple(pseudonyms),
        rest if others == "refuse" else (),
    )


def coarsened(source: Source, models: Mapping[str, Model], reading: Input) -> Source:
    """The same table with what the models make of single values in place of their columns.

    Missing values stay missing. A column that is not in the table is somebody else's problem.

    Raises `InputError` with every problem found: columns that hold no numbers or dates, values outside their
    hierarchy, …
    """
    frame, problems = source.data, list[str]()
    found: dict[str, pa.Array] = {}
    for name in (name for name in models if name in frame.columns):
        with added_to(problems):
            found[name] = coarse_texts(frame, name, models[name], reading)
    raise_problems(problems)
    return replace(source, data=_with_columns(frame, found)) if found else source


def coarse_texts(
    frame: Frame, name: str, model: Model, reading: Input, counts: Records | None = None
) -> pa.Array:
    """How a model writes the single values of a column, as it does in a quasi-identifier of equal records."""
    column, codes = encode_column(frame, name, model, reading, True, counts)
    texts = pa.array(column.form.text(column.form.alone), pa.large_string())
    return texts.take(pa.array(codes))


def coarse_input(reading: Input, models: Mapping[str, Model]) -> Input:
    """How to read a table that is coarsened already: what its columns held before no longer counts."""
    types = {n: kind for n, kind in reading.types.items() if n not in models or kind == "text"}
    return replace(reading, types=types)


def range_columns(models: Mapping[str, Model]) -> list[str]:
    """The columns whose texts are ranges once they are coarsened, which have an order."""
    return [name for name, model in models.items() if isinstance(model, Interval | Calendar)]


def _with_columns(frame: Frame, columns: Mapping[str, pa.Array]) -> Frame:
    """A frame of the same kind with other columns in place of some of its own."""
    native = frame.to_native()
    if isinstance(native, pa.Table):
        for name, column in columns.items():
            native = native.set_column(native.column_names.index(name), name, column)
        return nw.from_native(native, eager_only=True)
    texts = nw.from_arrow(pa.table(dict(columns)), backend=frame.implementation)
    others = frame.drop(list(columns))
    if not others.columns:
        return texts.select(frame.columns)
    others = nw.maybe_reset_index(others)
    return nw.concat([others, texts], how="horizontal").select(frame.columns)


VARIABLE = "SHOAL_KEY"
LEAST_BYTES = 16  # of a key
MOST_BYTES = 1 << 16
RANDOM_BYTES = 32  # of a new key
DIGITS = 32  # of a pseudonym: 128 bits
_AROUND = b" \t\r\n"
_MARK = b"\xef\xbb\xbf"  # with which some editors begin a file


class Key:
    """The secret behind pseudonyms: shown nowhere, and never pickled."""

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def __repr__(self) -> str:
        return "Key(hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("A key is not pickled; read it where it is needed.")

    def pseudonym(self, text: str) -> str:
        """The pseudonym of a value that is written like this.

        Examples
        --------
        >>> Key(b"0123456789abcdef").pseudonym("4711")
        'd6f9c71fc9711c566dabe39ff39faefa'
        """
        return hmac.digest(self._secret, text.encode(), "sha256").hex()[:DIGITS]


def read_key(path: str | None) -> Key:
    """The key in a file, or, where none is named, in the environment variable SHOAL_KEY.

    Spaces and line ends around it do not belong to it, so that a file and a variable hold the same key.
    """
    if path is None:
        found = os.environ.get(VARIABLE, "")
        if not found:
            raise InputError(
                f"Pseudonyms need a key; make one with `shoal key -o FILE` and name the file in key_file (--key-file), "
                f"or set the environment variable {VARIABLE}."
            )
        return _key(os.fsencode(found), f"The key in {VARIABLE}")
    return _key(_content(Path(path)), "The key in the key file")


def _content(path: Path) -> bytes:
    """What a key file holds. No message shows the path: somebody may have given the key in its place."""
    try:
        if path.exists() and not path.is_file():
            raise InputError("The key file is not a regular file; name one.")
        with path.open("rb") as file:
            if readable_by_others(os.fstat(file.fileno())):
                raise InputError(
                    "Other users of this machine can read the key file, and the key undoes pseudonyms; take that right "
                    "from them with `chmod 600 FILE`, or make another key with `shoal key -o FILE`."
                )
            return file.read(MOST_BYTES).removeprefix(_MARK)
    except OSError as error:
        why = system_reason(error)
    raise InputError(
        f"The key file cannot be read: {why}; check the path in key_file (--key-file), or make a key with "
        "`shoal key -o FILE`."
    )


def _key(given: bytes, where: str) -> Key:
    secret = given.strip(_AROUND)
    if len(secret) < LEAST_BYTES:
        raise InputError(
            f"{where} has {len(secret)} bytes, which can be guessed; give at least {LEAST_BYTES}, or make one with "
            "`shoal key -o FILE`."
        )
    return Key(secret)


def write_key(path: Path) -> None:
    """Write 32 random bytes in hexadecimal digits to a new file that only its owner may read."""
    if os.path.lexists(path):
        raise InputError(f"'{path}' exists and may hold a key that is in use; choose another name.")
    text = f"{secrets.token_hex(RANDOM_BYTES)}\n"
    try:
        with os.fdopen(create_private(path), "w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        return
    except OSError as error:
        why = system_reason(error)
    raise InputError(f"'{path}' cannot be written: {why}; choose another place.")


def canonical(text: str) -> str:
    """The one way to write a value: Unicode in composed form, without spaces around it."""
    return normalize("NFC", text).strip()


def canonical_texts(frame: Frame, name: str, missing: Sequence[str] = ()) -> pa.Array:
    """The identifiers of a column as text, whole numbers without a decimal point; null where there is none."""
    encoded = arrow_column(frame, name).combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    labels = labels_of(encoded.dictionary)
    texts = [None if label in missing else canonical(label) or None for label in labels]
    return pa.array(texts, type=pa.large_string()).take(encoded.indices)


def pseudonyms_of(texts: pa.Array, key: Key) -> pa.Array:
    """The pseudonym of every text; null stays null."""
    encoded = texts.dictionary_encode()
    found = [key.pseudonym(text) for text in encoded.dictionary.to_pylist()]
    return pa.array(found, type=pa.string()).take(encoded.indices)


def repeat_problems(name: str, texts: pa.Array) -> list[str]:
    """A sentence where pseudonyms of a column would stand in several records and so link them."""
    encoded = texts.drop_null().dictionary_encode()
    counts = np.bincount(np.asarray(encoded.indices), minlength=1)
    several = int(np.count_nonzero(counts > 1))
    if not several:
        return []
    return [
        f"{several:,} pseudonyms of column '{name[:LONGEST]}' would be in several records and link the records of a "
        "person, whose groups taken together may identify them; remove the column instead (identifiers, -i), or keep "
        "one record of each person."
    ]
