"""Names of columns inside engines: plain ones stay, others are spelled without dots, quotes and the like."""

from __future__ import annotations

import re

RESERVED = "_shoal_"  # how names of columns begin that only the way itself uses

_PLAIN = re.compile(r"\w(?:[\w -]*\w)?")
_SPELLED = f"{RESERVED}named_"
_SIGN = re.compile(r"_([0-9a-f]+)_")


def inner(name: str) -> str:
    """The name of a column inside an engine.

    Examples
    --------
    >>> inner("age"), inner("capital.gain")
    ('age', '_shoal_named_capital_2e_gain')
    """
    if _PLAIN.fullmatch(name):
        return name
    return _SPELLED + "".join(sign if sign.isalnum() else f"_{ord(sign):x}_" for sign in name)


def outer(name: str) -> str:
    """The name of a column in the table, from its name inside an engine.

    Examples
    --------
    >>> outer(inner('a "b". c'))
    'a "b". c'
    """
    if not name.startswith(_SPELLED):
        return name
    return _SIGN.sub(lambda found: chr(int(found[1], 16)), name.removeprefix(_SPELLED))
