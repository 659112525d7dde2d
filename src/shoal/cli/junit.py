"""An audit as JUnit XML, which build servers show as tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

if TYPE_CHECKING:
    from shoal.auditing.examination import Examination
    from shoal.errors import ShoalError


def junit_of(name: str, examination: Examination, k: int) -> str:
    """A test for k, each requirement and the verdict; those that are missed fail."""
    tests = [f"k = {k}", *(proof.requirement for proof in examination.audit.proofs)]
    cases = [
        _case(name, test, f"<failure message={_attribute(miss)}/>" if miss else "")
        for test, miss in zip(tests, examination.misses, strict=True)
    ]
    failures = sum(bool(miss) for miss in examination.misses)
    verdict = examination.audit.verdict
    if verdict is not None:
        said = escape(_plain("\n".join((verdict.sentence, *verdict.reasons))))
        is_bare = not verdict.is_proved and not failures  # k = 1
        inside = f"<failure message={_attribute(said)}/>" if is_bare else ""
        cases.append(_case(name, "verdict", inside or f"<system-out>{said}</system-out>"))
        failures += is_bare
    return _suite(name, cases, failures=failures)


def junit_of_error(name: str, error: ShoalError) -> str:
    """One test that could not be done, or failed before anything was counted."""
    from shoal.errors import AuditFailed

    has_failed = isinstance(error, AuditFailed)
    kind, text = "failure" if has_failed else "error", escape(_plain(str(error)))
    message = _attribute(type(error).__name__)
    case = _case(name, "audit", f"<{kind} message={message}>{text}</{kind}>")
    return _suite(name, [case], failures=int(has_failed), errors=int(not has_failed))


def write_junit(text: str, path: Path) -> None:
    """Write the file; a new run replaces that of the last."""
    from shoal.io import write_text

    write_text(text, path, overwrite=True)


def _suite(name: str, cases: list[str], failures: int = 0, errors: int = 0) -> str:
    counts = f'tests="{len(cases)}" failures="{failures}" errors="{errors}"'
    inside = "\n".join(cases)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<testsuites {counts}>\n<testsuite name={_attribute(name)} {counts}>\n{inside}\n</testsuite>\n"
        "</testsuites>\n"
    )


def _case(suite: str, name: str, inside: str) -> str:
    return f"  <testcase classname={_attribute(suite)} name={_attribute(name)}>{inside}</testcase>"


def _attribute(text: str) -> str:
    return quoteattr(_plain(text))


def _plain(text: str) -> str:
    """A text without signs that XML does not allow."""
    return "".join(sign if sign.isprintable() or sign == "\n" else "?" for sign in text)
