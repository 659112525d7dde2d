"""The page that takes the browser to the one-time address.

All users of a machine can read the arguments of a command, so the browser is given the name of a file instead of the
address. Only its owner may read the file, and it is removed once the address is used or void, or when the app ends.
"""

from __future__ import annotations

import os
from pathlib import Path

from shoal.app.files import write_text_file
from shoal.staging import runs

_NAME = "open-{process}.html"
_PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>shoal</title>'
    '<meta http-equiv="refresh" content="0; url={address}"></head>'
    '<body><main><h1>shoal</h1><p><a href="{address}">Go on to the app</a></p></main></body></html>'
)


class Invitation:
    """A file in the private folder of the app that leads to an address."""

    def __init__(self, folder: Path) -> None:
        self.page = folder / _NAME.format(process=os.getpid())

    def write(self, address: str) -> None:
        """Write the page, and remove those of apps that were killed; their addresses are void."""
        for old in self.page.parent.glob(_NAME.format(process="*")):
            if not runs(old.stem.rpartition("-")[2]):
                old.unlink(missing_ok=True)
        write_text_file(self.page, _PAGE.format(address=address))

    def remove(self) -> None:
        self.page.unlink(missing_ok=True)
