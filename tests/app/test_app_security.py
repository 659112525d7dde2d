"""Who is let into the app, and what its pages may do."""

from __future__ import annotations

import os
import re
import socket
import stat
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
from starlette.testclient import TestClient

from shoal.app.security import Sessions
from shoal.app.server import Invitation, _invite, make_site, serve
from shoal.errors import InputError

HOST = "127.0.0.1:8765"
OWN = f"http://{HOST}"
PATIENCE = 60.0  # seconds, for a busy machine


@pytest.fixture
def sessions() -> Sessions:
    return Sessions()


@pytest.fixture
def stranger(tmp_path: Path, sessions: Sessions) -> Iterator[TestClient]:
    """A browser that has shown no token yet."""
    site = make_site(tmp_path / "projects", HOST, sessions)
    with TestClient(site, base_url=OWN + site.path, follow_redirects=False) as client:
        yield client


@pytest.fixture
def browser(stranger: TestClient, sessions: Sessions) -> TestClient:
    """A browser that has been let in."""
    stranger.get(f"{OWN}/open", params={"token": sessions.new_token()})
    return stranger


def test_nothing_is_shown_without_a_session(stranger: TestClient) -> None:
    answer = stranger.get("/")
    assert answer.status_code == 403
    assert "has no access yet" in answer.text


def test_a_token_opens_one_session_and_no_second(stranger: TestClient, sessions: Sessions) -> None:
    token = sessions.new_token()
    assert stranger.get(f"{OWN}/open", params={"token": token}).status_code == 200
    assert stranger.get("/").status_code == 200
    stranger.cookies.clear()
    assert stranger.get(f"{OWN}/open", params={"token": token}).status_code == 403
    assert stranger.get("/").status_code == 403


@pytest.mark.parametrize("token", ["", "wrong", "a" * 43, "é"])
def test_a_wrong_token_opens_nothing(stranger: TestClient, sessions: Sessions, token: str) -> None:
    sessions.new_token()
    answer = stranger.get(f"{OWN}/open", params={"token": token})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_a_head_request_does_not_use_a_token_up(stranger: TestClient, sessions: Sessions) -> None:
    token = sessions.new_token()
    stranger.head(f"{OWN}/open", params={"token": token})
    assert stranger.get(f"{OWN}/open", params={"token": token}).status_code == 200


def test_the_cookie_is_kept_from_scripts_and_other_sites(
    stranger: TestClient, sessions: Sessions
) -> None:
    answer = stranger.get(f"{OWN}/open", params={"token": sessions.new_token()})
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("shoal-8765=")
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()


def test_the_cookie_goes_only_where_the_pages_of_the_app_are(
    stranger: TestClient, sessions: Sessions
) -> None:
    """Browsers send it to every port of 127.0.0.1, but below its path only, which another server cannot know."""
    answer = stranger.get(f"{OWN}/open", params={"token": sessions.new_token()})
    path = stranger.base_url.path
    assert f"Path={path};" in answer.headers["set-cookie"]
    assert len(path) > 30
    own = {"cookie": answer.headers["set-cookie"].partition(";")[0]}
    for elsewhere in ("/", "/p/000000000000/table", "/static/app.css", path[:-2], f"{path[:-1]}x/"):
        refused = stranger.get(f"{OWN}{elsewhere}", headers=own)
        assert refused.status_code == 403
        assert path.strip("/") not in refused.text
    assert stranger.get(f"{OWN}{path}", headers=own).status_code == 200


def test_every_start_has_a_path_of_its_own(tmp_path: Path, sessions: Sessions) -> None:
    paths = {make_site(tmp_path / "projects", HOST, sessions).path for _ in range(2)}
    assert len(paths) == 2


def test_two_browsers_have_secrets_of_their_own(stranger: TestClient, sessions: Sessions) -> None:
    secrets = []
    for _ in range(2):
        stranger.cookies.clear()
        stranger.get(f"{OWN}/open", params={"token": sessions.new_token()})
        secrets.append(stranger.cookies["shoal-8765"])
        page = stranger.get("/").text
        assert not any(secret in page for secret in secrets)
    assert secrets[0] != secrets[1]


@pytest.mark.parametrize(
    "host", ["localhost:8765", "127.0.0.1", "evil.example", "127.0.0.1:8766", "127.0.0.1:8765.evil"]
)
def test_a_foreign_host_is_refused(browser: TestClient, host: str) -> None:
    assert browser.get("/", headers={"host": host}).status_code == 421
    assert browser.get("/static/app.css", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:8765"])
def test_a_foreign_origin_is_refused(browser: TestClient, origin: str) -> None:
    assert browser.get("/", headers={"origin": origin}).status_code == 403
    assert browser.post("/projects/sample", headers={"origin": origin}).status_code == 403


def test_a_change_needs_an_origin(browser: TestClient) -> None:
    assert browser.post("/projects/sample").status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_request_from_another_site_is_refused(browser: TestClient, site: str) -> None:
    assert browser.get("/", headers={"sec-fetch-site": site}).status_code == 403


def test_a_token_in_a_foreign_request_is_not_used_up(
    stranger: TestClient, sessions: Sessions
) -> None:
    token = sessions.new_token()
    where = {"token": token}
    assert stranger.get(f"{OWN}/open", params=where, headers={"host": "evil"}).status_code == 421
    assert stranger.get(f"{OWN}/open", params=where).status_code == 200


@pytest.mark.parametrize("path", ["/", "/nowhere", "/static/app.js", "/p/000000000000/table"])
def test_every_answer_keeps_the_page_to_itself(browser: TestClient, path: str) -> None:
    headers = browser.get(path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == ("no-cache" if "static" in path else "no-store")
    assert "server" not in headers


@pytest.mark.parametrize(
    "path",
    [
        "/p/..%2f..%2fetc/table",
        "/p/%2e%2e/table",
        "/static/..%2fsecurity.py",
        "/static/%2e%2e/security.py",
        "/p/000000000000/runs/..%2f1/download/csv",
    ],
)
def test_no_address_leads_out_of_its_folder(browser: TestClient, path: str) -> None:
    assert browser.get(path).status_code == 404


def test_no_template_has_code_or_style_of_its_own() -> None:
    import shoal.app

    for path in (Path(shoal.app.__file__).parent / "templates").glob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "<style" not in text
        assert " style=" not in text
        assert " onclick=" not in text
        assert "http://" not in text
        assert "https://" not in text
        assert "|safe" not in text.replace("' aria-current=\"step\"'|safe", "")


def test_the_server_loads_no_frames_and_no_kernels() -> None:
    code = (
        "import sys, shoal.app.server, shoal.cli.app\n"
        "heavy = {'numpy', 'numba', 'pandas', 'pyarrow', 'polars', 'llvmlite'}\n"
        "print(*sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_a_file_of_the_steward_leads_in_and_no_other_page_does(
    stranger: TestClient, sessions: Sessions
) -> None:
    where = {"token": sessions.new_token()}
    from_elsewhere = {"sec-fetch-site": "cross-site"}
    image = {**from_elsewhere, "sec-fetch-dest": "image"}
    page = {**from_elsewhere, "sec-fetch-dest": "document"}
    assert stranger.get(f"{OWN}/open", params=where, headers=image).status_code == 403
    assert stranger.get("/", headers=page).status_code == 403
    assert stranger.get(f"{OWN}/open", params=where, headers=page).status_code == 200
    assert stranger.get("/", headers=page).status_code == 403


@contextmanager
def started(folder: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """`shoal app` with a browser that notes its arguments, and the file with them."""
    noted, command = folder / "noted.txt", folder / "browser.sh"
    command.write_text(f'#!/bin/sh\necho "$@" > {noted}.new; mv {noted}.new {noted}\n')
    command.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, "-m", "shoal", "app", "--folder", str(folder / "projects")],
        env={**os.environ, "BROWSER": f"{command} %s"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        end = time.monotonic() + PATIENCE
        while not noted.exists():
            assert time.monotonic() < end, "no browser was opened"
            time.sleep(0.02)
        yield process, noted
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


@pytest.mark.skipif(os.name != "posix", reason="needs permissions of files")
def test_the_one_time_address_is_in_no_argument_and_no_output(tmp_path: Path) -> None:
    (tmp_path / "projects").mkdir()
    old = tmp_path / "projects" / "open-99999999.html"  # of an app that was killed
    old.touch()
    with started(tmp_path) as (process, noted):
        assert not old.exists()
        page = Path(url2pathname(urlsplit(noted.read_text().strip()).path))
        assert page == tmp_path / "projects" / f"open-{process.pid}.html"
        assert stat.S_IMODE(page.stat().st_mode) == 0o600
        assert stat.S_IMODE(page.parent.stat().st_mode) == 0o700
        found = re.search(r'href="(http://[^"]*token=([^"]+))"', page.read_text(encoding="utf-8"))
        assert found is not None
        arguments = Path(f"/proc/{process.pid}/cmdline")
        assert not arguments.exists() or found[2] not in arguments.read_text()
        with urllib.request.urlopen(found[1]) as answer:
            assert answer.status == 200
        assert not page.exists()
        process.terminate()
        said = process.communicate(timeout=PATIENCE)[0]
    assert found[2] not in said
    assert str(page) in said


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_an_address_that_nobody_used_is_gone_with_the_app(tmp_path: Path) -> None:
    with started(tmp_path) as (process, _):
        assert list((tmp_path / "projects").glob("open-*"))
        process.terminate()
        process.wait(PATIENCE)
        assert not list((tmp_path / "projects").glob("open-*"))


def test_an_address_is_shown_where_no_browser_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    monkeypatch.setattr("threading.Timer", lambda seconds, work: SimpleNamespace(start=work))
    _invite("http://127.0.0.1:1/open?token=x", Invitation(tmp_path), said.append)
    assert [("token" in line) for line in said] == [False, True]
    said.clear()
    _invite("http://127.0.0.1:1/open?token=x", None, said.append)
    assert said == ["shoal app: open http://127.0.0.1:1/open?token=x"]


def test_a_fresh_address_voids_the_page_that_leads_to_the_last(tmp_path: Path) -> None:
    invitation = Invitation(tmp_path)
    sessions = Sessions(invitation.remove)
    invitation.write(sessions.new_token())
    assert invitation.page.exists()
    sessions.new_token()
    assert not invitation.page.exists()


def test_a_port_in_use_is_said(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(InputError, match="Leave out --port"):
            serve(tmp_path, other.getsockname()[1], False, lambda text: None)
