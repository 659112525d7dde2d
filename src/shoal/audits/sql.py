"""The audit as SQL, for tables that stay in a database: the query returns a row for every missed requirement."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shoal.audits.requirements import Requirement
from shoal.errors import InputError

_TEMPLATE = re.compile(
    r"\{\{ ?[\w.()', ]+ ?\}\}"
)  # of dbt and similar tools, which insert the name there


def audit_sql(
    relation: str,
    columns: Sequence[str],
    k: int,
    requirements: Sequence[Requirement] = (),
    sensitive: Sequence[str] = (),
) -> str:
    """Return a query that finds nothing if a table meets its requirements.

    Parameters
    ----------
    relation
        The name of the table, with a schema before a dot, or a template like `{{ model }}`, which is not changed.
    columns
        The columns in which quasi-identifiers are released.

    Raises
    ------
    InputError
        If plain SQL cannot count a requirement.

    Examples
    --------
    >>> print(audit_sql("release.patients", ["age"], 3).splitlines()[-4])
      SELECT 1 AS one FROM "release"."patients" GROUP BY "age" HAVING COUNT(*) < 3
    """
    table = _relation(relation)
    checks = [
        (
            "at least one record",
            f"SELECT 1 AS one FROM (SELECT COUNT(*) AS records FROM {table}) AS t WHERE records = 0",
        ),
        (f"k = {k}", _groups(table, columns, f"COUNT(*) < {int(k)}")),
    ]
    for requirement in requirements:
        for name in requirement.over(sensitive):
            checks.append((requirement.describe(name), _check(requirement, name, table, columns)))
    parts = [
        f"SELECT {sql_text(what)} AS requirement, COUNT(*) AS failing_groups\nFROM (\n  {query}\n) AS missed"
        for what, query in checks
    ]
    union = "\nUNION ALL\n".join(parts)
    return (
        f"SELECT requirement, failing_groups FROM (\n{union}\n) AS checks\nWHERE failing_groups > 0"
    )


def _groups(source: str, columns: Sequence[str], condition: str) -> str:
    names = ", ".join(map(sql_name, columns))
    return f"SELECT 1 AS one FROM {source} GROUP BY {names} HAVING {condition}"


def _check(requirement: Requirement, name: str, table: str, columns: Sequence[str]) -> str:
    """The groups that miss a requirement on a sensitive column."""
    value = _value(name)
    names = ", ".join(map(sql_name, columns))
    counted = (
        f"(SELECT {names}, {value} AS shoal_value, COUNT(*) AS shoal_count FROM {table} "
        f"GROUP BY {names}, {value}) AS counted"
    )
    condition = requirement.missed_in_sql()
    if condition is None:
        raise InputError(
            f"Plain SQL cannot count {requirement.describe(name)}. Check the table with shoal, or require k, "
            "diversity by frequency or distinct, sensitivity without a hierarchy, or alpha for all values."
        )
    return _groups(counted, columns, condition)


def _value(name: str) -> str:
    """A sensitive value in SQL, with 1, 1.0 and 1,00 as one value.

    Zeros at the end of any text with a point or comma are removed. A few more values than in `same_value` become
    one, which makes the requirements that SQL can count stricter, never looser.
    """
    text = f"LOWER(TRIM(CAST({sql_name(name)} AS VARCHAR(1000))))"
    plain = f"RTRIM(RTRIM(REPLACE({text}, ',', '.'), '0'), '.')"
    return (
        f"COALESCE(CASE WHEN REPLACE({text}, ',', '.') LIKE '%.%' THEN {plain} ELSE {text} END, '')"
    )


def _relation(name: str) -> str:
    if _TEMPLATE.fullmatch(name.strip()):
        return name.strip()
    parts = name.split(".")
    if not all(part.strip() for part in parts) or len(parts) > 3:
        raise InputError(
            "The table name for SQL must be NAME, SCHEMA.NAME or DATABASE.SCHEMA.NAME. Correct it."
        )
    return ".".join(map(sql_name, parts))


def sql_name(name: str) -> str:
    """The name of a column or table in SQL."""
    if "\0" in name:
        raise InputError(
            "A name contains a NUL character, which SQL cannot write. Rename the column or table."
        )
    return '"' + name.replace('"', '""') + '"'


def sql_text(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"
