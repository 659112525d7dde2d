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
from shoal.errors import LONGEST, InputError, added_to, counted, raise_problems


@dataclass(frozen=True)
class Roles:
    """A table's columns by role, each in one list."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    kept: tuple[str, ...]
    removed: tuple[str, ...]
    replaced: tuple[str, ...] = ()  # by pseudonyms
    undecided: tuple[str, ...] = ()  # columns without a role

    @property
    def unchanged(self) -> tuple[str, ...]:
        """Columns that are released unchanged."""
        return (*self.sensitive, *self.kept)

    def problems(self) -> list[str]:
        """Return a sentence if some columns have no role."""
        if not self.undecided:
            return []
        several = len(self.undecided) > 1
        names = ", ".join(f"'{name[:LONGEST]}'" for name in self.undecided)
        return [
            f"Column{'s' if several else ''} {names} {'have' if several else 'has'} no role, so nothing is released. "
            f"Make {'each' if several else 'it'} a quasi-identifier (-q), sensitive (-s), an identifier to remove (-i) "
            'or a column to keep unchanged (-x, keep=), or decide for all with others = "drop" or "keep" '
            "(--others)."
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
    """Give every column its role; `others` is the role of columns that are not named.

    A column that identifies people is removed unless it is replaced by pseudonyms.
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
    """The same table with columns replaced by what the models make of single values.

    Missing values stay missing. Columns that are not in the table are reported elsewhere.

    Raises `InputError` with every problem found: columns without numbers or dates, values outside their
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
    """How to read a table that is already coarsened: what its columns contained before no longer counts."""
    types = {n: kind for n, kind in reading.types.items() if n not in models or kind == "text"}
    return replace(reading, types=types)


def range_columns(models: Mapping[str, Model]) -> list[str]:
    """The columns whose texts are ranges once they are coarsened, which have an order."""
    return [name for name, model in models.items() if isinstance(model, Interval | Calendar)]


def _with_columns(frame: Frame, columns: Mapping[str, pa.Array]) -> Frame:
    """A frame of the same kind with some of its columns replaced."""
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
    """The secret key of pseudonyms: never shown, and never pickled."""

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def __repr__(self) -> str:
        return "Key(hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("A key cannot be pickled. Read it where it is needed.")

    def pseudonym(self, text: str) -> str:
        """Return the pseudonym of a value in this spelling.

        Examples
        --------
        >>> Key(b"0123456789abcdef").pseudonym("4711")
        'd6f9c71fc9711c566dabe39ff39faefa'
        """
        return hmac.digest(self._secret, text.encode(), "sha256").hex()[:DIGITS]


def read_key(path: str | None) -> Key:
    """Read the key from a file or, if none is named, from the environment variable SHOAL_KEY.

    Spaces and line ends around it do not count, so a file and a variable contain the same key.
    """
    if path is None:
        found = os.environ.get(VARIABLE, "")
        if not found:
            raise InputError(
                "Pseudonyms need a key. Make one with `shoal key -o FILE` and name the file in key_file "
                f"(--key-file), or set the environment variable {VARIABLE}."
            )
        return _key(os.fsencode(found), f"The key in {VARIABLE}")
    return _key(_content(Path(path)), "The key in the key file")


def _content(path: Path) -> bytes:
    """Read a key file. No message shows the path, because someone may have given the key itself."""
    try:
        if path.exists() and not path.is_file():
            raise InputError("The key file is not a regular file. Name one that is.")
        with path.open("rb") as file:
            if readable_by_others(os.fstat(file.fileno())):
                raise InputError(
                    "Other users of this computer can read the key file, and the key undoes pseudonyms. "
                    "Restrict it with `chmod 600 FILE`, or make another key with `shoal key -o FILE`."
                )
            return file.read(MOST_BYTES).removeprefix(_MARK)
    except OSError as error:
        why = system_reason(error)
    raise InputError(
        f"The key file cannot be read: {why}. Check the path in key_file (--key-file), or make a key with `shoal "
        "key -o FILE`."
    )


def _key(given: bytes, where: str) -> Key:
    secret = given.strip(_AROUND)
    if len(secret) < LEAST_BYTES:
        raise InputError(
            f"{where} has {counted(len(secret), 'byte')}, which can be guessed. Give at least {LEAST_BYTES}, or "
            "make one with `shoal key -o FILE`."
        )
    return Key(secret)


def write_key(path: Path) -> None:
    """Write 32 random bytes in hexadecimal digits to a new file that only its owner may read."""
    if os.path.lexists(path):
        raise InputError(f"'{path}' exists and may be a key in use. Choose another name.")
    text = f"{secrets.token_hex(RANDOM_BYTES)}\n"
    try:
        with os.fdopen(create_private(path), "w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        return
    except OSError as error:
        why = system_reason(error)
    raise InputError(f"'{path}' cannot be written: {why}. Choose another place.")


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
    """Return a sentence if pseudonyms of a column would occur in several records and so link them."""
    encoded = texts.drop_null().dictionary_encode()
    counts = np.bincount(np.asarray(encoded.indices), minlength=1)
    several = int(np.count_nonzero(counts > 1))
    if not several:
        return []
    return [
        f"{counted(several, 'pseudonym')} of column '{name[:LONGEST]}' would "
        f"{'occur' if several == 1 else 'each occur'} in several records and link the records of a person, whose "
        "groups together may identify them. Remove the column instead (identifiers, -i), or keep one record per "
        "person."
    ]
