"""Compiles the kernels that standard input names and says after each that it is done.

A process of its own, started by `ahead.py`: python -m shoal.kernels.compile.worker
"""

from __future__ import annotations

import gc
import json
import os
import sys
import threading

from shoal.kernels.compile.ahead import Signature


def main() -> None:
    """Compile what one line of standard input asks for; end when whoever asked has gone."""
    asked = json.loads(sys.stdin.readline())
    gc.disable()  # a process that ends soon need not tidy up
    threading.Thread(target=_end_with_parent, daemon=True).start()
    for kernel, arguments in asked:
        Signature(kernel, tuple(arguments)).compile()
        sys.stdout.write(f"{kernel}\n")
        sys.stdout.flush()


def _end_with_parent() -> None:
    """Wait for the end of standard input, which the asking process keeps open as long as it lives."""
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)


if __name__ == "__main__":
    main()
