"""Properties drop examples that they say nothing about, so that Hypothesis draws others in their place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]


def early_returns(code: str) -> Iterator[int]:
    """Yield the lines where a property returns instead of calling `assume` or `reject`."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.FunctionDef) and any(
            ast.unparse(decorator).startswith("given(") for decorator in node.decorator_list
        ):
            rest: list[ast.AST] = list(node.body)
            while rest:
                own = rest.pop()
                if isinstance(own, ast.Return):
                    yield own.lineno
                elif not isinstance(own, ast.FunctionDef):
                    rest += ast.iter_child_nodes(own)


def test_no_property_returns_early() -> None:
    found = [
        f"{path.relative_to(TESTS)}:{line}"
        for path in sorted(TESTS.rglob("test_*.py"))
        for line in early_returns(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_an_early_return_is_found() -> None:
    code = (
        "@given(st.integers())\ndef test_it(n):\n    if n < 0:\n        return\n    assert n >= 0"
    )
    assert list(early_returns(code)) == [4]
