"""What a worker can be asked, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shoal.app.worker import estimating, keys, looking, making, trees

TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "look": looking.look,
    "rows": looking.rows,
    "types": looking.types,
    "single": looking.single,
    "estimate": estimating.estimate,
    "check": estimating.check,
    "build": trees.build,
    "write": trees.write,
    "tree": trees.tree,
    "model": trees.model,
    "key": keys.key,
    "run": making.run,
}
