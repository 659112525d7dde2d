"""Pseudonyms: identifiers replaced by keyed hashes, so that equal values stay equal and only the key tells which.

A pseudonym is the first 32 hexadecimal digits of HMAC-SHA-256(key, text). The name of the column does not enter, so
that tables whose identifiers have different names can be joined.
"""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn
from unicodedata import normalize

import numpy as np
import pyarrow as pa

from shoal.errors import LONGEST, InputError
from shoal.generalization.models import labels_of
from shoal.table.frames import Frame, arrow_column
from shoal.whole import create_private, readable_by_others

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


def read_key(path: str | None, environment: Mapping[str, str] | None = None) -> Key:
    """The key in a file, or, where none is named, in the environment variable SHOAL_KEY.

    Spaces and line ends around it do not belong to it, so that a file and a variable hold the same key.
    """
    if path is None:
        found = (os.environ if environment is None else environment).get(VARIABLE, "")
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
        why = os.strerror(error.errno) if error.errno else type(error).__name__
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
        why = os.strerror(error.errno) if error.errno else type(error).__name__
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
    shown = name[:LONGEST]
    return [
        f"{several:,} pseudonyms of column '{shown}' would be in several records and link the records of a person, "
        "whose groups taken together may identify them; remove the column instead (identifiers, -i), or keep "
        "one record of each person."
    ]
