"""A browser without scripts that was let into the app, and the requests that a steward makes with it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from shoal.app.security import Sessions
from shoal.app.server import make_site

HOST = "127.0.0.1:8765"
OWN = {"origin": f"http://{HOST}"}
PATIENCE = 120.0  # seconds, for a machine that compiles at the same time


class Steward:
    """A browser without scripts."""

    def __init__(self, client: TestClient, root: Path) -> None:
        self.client, self.root = client, root
        self.base = ""

    def upload(self, content: bytes | str, name: str = "people.csv") -> str:
        """Open a file; the page that is shown once it has been read."""
        files = {"file": (name, content)}
        answer = self.client.post("/projects/upload", headers=OWN, files=files)
        path = str(self.client.base_url.path).rstrip("/")
        self.base = answer.headers.get("location", "").removeprefix(path).rpartition("/")[0]
        if not self.base:
            return answer.text
        self.wait(lambda: self.get("part/looking").json()["status"] != "running")
        return self.page("table")

    def get(self, part: str) -> Any:
        return self.client.get(f"{self.base}/{part}")

    def page(self, part: str) -> str:
        answer = self.get(part)
        assert answer.status_code == 200, answer.text
        return str(answer.text)

    def post(self, part: str, **fields: Any) -> Any:
        return self.client.post(f"{self.base}/{part}", headers=OWN, data=fields)

    def run(self, **fields: Any) -> None:
        """Start a run and wait for its end."""
        assert self.post("runs", **{"refine": "off", **fields}).status_code == 303
        self.finish()

    def finish(self) -> None:
        number = max(int(p.name) for p in self.folder.glob("runs/*"))
        self.wait(lambda: self.get(f"runs/{number}/status").json()["status"] == "over")

    @property
    def folder(self) -> Path:
        return self.root / self.base.rpartition("/")[2]

    def wait(self, holds: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < end, "it takes too long"
            time.sleep(0.05)


@contextmanager
def let_in(root: Path) -> Iterator[Steward]:
    """Somebody in front of an app with no projects."""
    sessions = Sessions()
    site = make_site(root, HOST, sessions)
    with TestClient(site, base_url=f"http://{HOST}{site.path}", follow_redirects=False) as client:
        client.get(f"http://{HOST}/open", params={"token": sessions.new_token()})
        yield Steward(client, root)
