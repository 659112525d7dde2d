"""Made-up tables as they are in life, each with what a person would say of every column.

A column's truth is the roles that are right for it, and the model if it is a quasi-identifier: I identifier,
Q quasi-identifier, S sensitive, K kept, D not released. An identifier must be I or D, whatever else is wrong. Only a
column whose value is the same for all may be kept.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

Truth = tuple[str, str]  # letters of the roles that are right, and the model
ID, GONE, CONSTANT, SECRET, TEXT = ("I", ""), ("D", ""), ("K", ""), ("S", ""), ("ID", "")
UNKNOWN = GONE  # neither name nor values say what it means
NUMBER, DATE, VALUE = ("Q", "interval"), ("Q", "calendar"), ("Q", "suppression")
POINT, JOINED = ("Q", "point"), ("", "")  # latitude, and longitude, which is joined to it
BANDS, CODE, READY = ("Q", "order"), ("Q", "prefix"), ("Q", "ready")
PERSONAL = "ID"  # roles of columns that name persons


def words(text: str) -> list[str]:
    return text.split()


FIRST = words(
    "Anna Ben Clara David Eva Felix Greta Hans Ida Jörg Karl Lea Max Nina Otto Paula Rosa Søren Tim Uwe"
)
LAST = words(
    "Müller Schmidt Weiß O'Neill García López Dupont Lefèvre Rossi Bianchi Jansen Silva Köhler Braun"
)
TOWNS = words("Köln Bonn Aachen Düren Neuss Jülich Brühl Siegburg")
JOBS = words("nurse teacher clerk driver cook engineer farmer painter")


@dataclass(frozen=True)
class Made:
    """A table as the content of a file, and the truth about its columns."""

    content: bytes
    suffix: str
    truth: dict[str, Truth]


Column = Callable[[random.Random, int], Any]


@dataclass(frozen=True)
class Of:
    """A column whose value is the same in all records of a person, who is told apart by another column."""

    person: str
    make: Column


def made(
    columns: dict[str, tuple[Column | Of, Truth]],
    records: int = 1200,
    delimiter: str = ",",
    encoding: str = "utf-8",
    seed: int = 1,
    points: dict[str, str] | None = None,
) -> Made:
    """A table of random records; `points` has the new name of a latitude, whose truth is that of both columns."""
    chance = random.Random(seed)
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\r\n")
    writer.writerow(columns)
    for record in range(records):
        row: dict[str, Any] = {}
        for name, (make, _) in columns.items():
            if isinstance(make, Of):
                row[name] = make.make(random.Random(f"{name} {row[make.person]}"), record)
            else:
                row[name] = make(chance, record)
        writer.writerow(row.values())
    named = {name: (points or {}).get(name, name) for name in columns}
    truth = {named[name]: truth for name, (_, truth) in columns.items() if truth != JOINED}
    return Made(text.getvalue().encode(encoding), ".csv", truth)


def one_of(*values: Any, weights: list[float] | None = None) -> Column:
    return lambda chance, _: chance.choices(values, weights)[0]


def whole(low: int, high: int) -> Column:
    return lambda chance, _: chance.randint(low, high)


def count(most: int = 30) -> Column:
    return lambda chance, _: min(most, int(chance.expovariate(0.5)))


def decimal(mean: float, spread: float, sign: str = ".", digits: int = 1) -> Column:
    return lambda chance, _: f"{abs(chance.gauss(mean, spread)):.{digits}f}".replace(".", sign)


def day(
    form: str, first: int = 1930, last: int = 2005, missing: str = "", share: float = 0.0
) -> Column:
    span = (date(last, 12, 31) - date(first, 1, 1)).days

    def make(chance: random.Random, _: int) -> str:
        if chance.random() < share:
            return missing
        return (date(first, 1, 1) + timedelta(chance.randint(0, span))).strftime(form)

    return make


def moment(form: str = "%Y-%m-%d %H:%M:%S") -> Column:
    return lambda chance, _: (
        datetime(2013, 1, 1) + timedelta(minutes=chance.randint(0, 700_000))
    ).strftime(form)


def row(start: int = 1) -> Column:
    return lambda _, record: start + record


def repeated(start: int, persons: int) -> Column:
    return lambda chance, _: start + chance.randrange(persons) * 7


def person(form: str) -> Column:
    return lambda chance, _: form.format(first=chance.choice(FIRST), last=chance.choice(LAST))


def shaped(shape: str) -> Column:
    """9 becomes a digit, A a letter."""
    return lambda chance, _: "".join(
        str(chance.randrange(10)) if s == "9" else chance.choice("ABCDEFGHJK") if s == "A" else s
        for s in shape
    )


def sentence(chance: random.Random, record: int) -> str:
    said = words(
        "seen today by the ward nurse complains of pain since yesterday no fever family informed"
    )
    return f"{' '.join(chance.choices(said, k=9))} {chance.choice(LAST)} {record % 900}"


def iban(chance: random.Random, _: int) -> str:
    body = "".join(str(chance.randrange(10)) for _ in range(18))
    check = 98 - int(body + "131400") % 97
    return f"DE{check:02d}{body}"


def health_insurance(chance: random.Random, _: int) -> str:
    letter = chance.randrange(26)
    digits = [*divmod(letter + 1, 10), *(chance.randrange(10) for _ in range(8))]
    total = sum(sum(divmod(d * (1 + i % 2), 10)) for i, d in enumerate(digits))
    return chr(65 + letter) + "".join(map(str, digits[2:])) + str(total % 10)


def spanish(chance: random.Random, _: int) -> str:
    number = chance.randrange(10**8)
    return f"{number:08d}{'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23]}"


def french(chance: random.Random, _: int) -> str:
    number = int(
        f"{chance.choice('12')}{chance.randrange(40, 99)}{chance.randrange(1, 13):02d}"
        f"{chance.randrange(10, 96)}{chance.randrange(1, 990):03d}{chance.randrange(1, 999):03d}"
    )
    return f"{number}{97 - number % 97:02d}"


def email(chance: random.Random, record: int) -> str:
    return f"{chance.choice(FIRST).lower().replace('ö', 'o').replace('ø', 'o')}{record}@example.org"


def uuid(chance: random.Random, _: int) -> str:
    return str(UUID(int=chance.getrandbits(128)))
