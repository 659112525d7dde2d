"""Every page for everybody: accessible, in light and dark, on a phone; closed to strangers."""

from __future__ import annotations

import http.client
import http.server
import threading
from pathlib import Path
from typing import Any

import pytest
from driving import App, fill, people, running_app

AXE = Path(__file__).with_name("axe.min.js")
STEPS = ("table", "columns", "generalization", "requirement", "run", "release")
COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}


def violations(page: Any, rules: dict[str, Any] | None = None) -> list[str]:
    """What axe-core finds on a page; it is run beside the page's own policy, which allows no such script.

    What a question to the server is about to replace is dimmed until the answer comes, so that is waited for.
    """
    page.wait_for_selector(".htmx-request", state="detached")
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("rules => axe.run(document, rules)", rules or {})["violations"]
    return [
        f"{page.url} {item['id']}: {item['help']}: {item['nodes'][0]['html'][:200]}"
        for item in found
    ]


def faults_of(page: Any) -> list[str]:
    """What is wrong with a page: wide and in light, in dark, and on a phone."""
    found = violations(page)
    page.emulate_media(color_scheme="dark")
    found += [f"dark: {fault}" for fault in violations(page, COLOURS)]
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 390, "height": 800})
    width = page.evaluate("document.scrollingElement.scrollWidth")
    if width > 390:
        found.append(f"{page.url} is {width} px wide")
    found += [f"390 px: {fault}" for fault in violations(page)]
    page.set_viewport_size({"width": 1280, "height": 720})
    return found


@pytest.fixture
def project(page: Any, people_project: str) -> str:
    """A project with a hierarchy, a pseudonym and a run that is done."""
    base = people_project
    page.goto(f"{base}/columns")
    page.get_by_label("Role of town").select_option("quasi-identifier")
    page.wait_for_selector("#single >> text=town")
    page.get_by_label("Role of ill").select_option("sensitive")
    page.wait_for_selector("#state >> text=1 sensitive")
    page.get_by_label("Role of name").select_option("pseudonym")
    page.wait_for_selector("#key-title")
    page.goto(f"{base}/generalization")
    page.locator("#tree-2 > summary").click()
    page.locator("#how-2").select_option("codes")
    page.locator("#tree-2").get_by_role("button", name="Build").click()
    page.wait_for_selector("text=What each level would look like")
    page.goto(f"{base}/run")
    if not page.get_by_role("link", name="Open the release of run").count():
        page.get_by_role("button", name="Run", exact=True).click()
        page.wait_for_selector("text=Open the release of run")
    return base


def ready(page: Any, address: str) -> None:
    """Open a page and wait for what comes later."""
    page.goto(address)
    if page.locator("#estimate").count():
        page.wait_for_selector("#estimate .tiles")
    if page.locator("#single").count():
        page.wait_for_selector("#single table")


def test_every_page_is_accessible_fits_a_phone_and_asks_nobody_else(
    page: Any, project: str, app: App
) -> None:
    ready(page, f"{app.address}/")
    found = faults_of(page)
    for step in STEPS:
        ready(page, f"{project}/{step}")
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        if step == "generalization":
            page.wait_for_selector("text=What each level would look like")
        if step == "table":
            page.get_by_role("button", name="Show the first 20 rows").click()
            page.wait_for_selector("text=Person 0001")
        found += faults_of(page)
    page.goto(f"{project}/requirement")
    fill(page, "Each record must look the same as at least", "9999")
    page.wait_for_selector("#estimate .problems")
    found += faults_of(page)
    fill(page, "Each record must look the same as at least", "10")
    page.wait_for_selector("#estimate .tiles")
    assert page.faults == []
    page.goto(f"{app.address}/nowhere")
    found += faults_of(page)
    assert not found, "\n" + "\n".join(found)


def test_pages_of_a_new_month_and_of_a_check_are_accessible_and_fit_a_phone(
    page: Any, people_project: str, app: App, tmp_path: Path
) -> None:
    table = tmp_path / "april.csv"
    table.write_text(people().replace("Lyon", "Lisbon"), encoding="utf-8")
    page.goto(f"{people_project}/month")
    found = faults_of(page)
    page.get_by_label("Path on this computer").fill(str(table))
    page.get_by_role("button", name="Compare this path").click()
    page.wait_for_selector("text=People seen before")
    found += faults_of(page)
    page.get_by_role("button", name="Do not use this file").click()
    page.goto(f"{people_project}/settings")
    found += faults_of(page)
    release = tmp_path / "theirs.csv"
    release.write_text("age,town\n" + "20–29,Lyon\n" * 6 + "30–39,Lyon\n" * 2, encoding="utf-8")
    page.goto(f"{app.address}/check")
    found += faults_of(page)
    page.get_by_label("Path on this computer").fill(str(release))
    page.get_by_role("button", name="Open this path").click()
    page.wait_for_selector("text=Say below what to check")
    page.get_by_label("age", exact=True).select_option("quasi-identifier")
    page.get_by_label("k: the smallest").fill("3")
    page.get_by_role("button", name="Check the release").click()
    page.wait_for_selector("text=Groups that are too small")
    page.get_by_role("button", name="Show these records").click()
    page.wait_for_selector("text=Record 1 is the first")
    found += faults_of(page)
    assert page.faults == []
    assert not found, "\n" + "\n".join(found)


def test_the_report_is_accessible_and_fits_a_phone(page: Any, project: str) -> None:
    """Read outside of the app, too: its sandbox there lets no script run, not even that of the test."""
    page.goto(f"{project}/release")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download it").click()
    page.goto("about:blank")
    page.set_content(Path(waiting.value.path()).read_text(encoding="utf-8"))
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    found = faults_of(page)
    assert not found, "\n" + "\n".join(found)


def test_an_address_opens_one_browser_only(page: Any, app: App, browser: Any) -> None:
    other = browser.new_context()
    stranger = other.new_page()
    assert stranger.goto(app.first).status == 403
    assert stranger.goto(f"{app.address}/").status == 403
    host = app.first.partition("/open")[0]
    assert stranger.goto(f"{host}/").status == 403
    assert stranger.goto(f"{host}/open?token=wrong").status == 403
    assert other.cookies() == []
    other.close()


def test_the_cookie_is_out_of_reach_of_scripts(page: Any) -> None:
    assert page.evaluate("document.cookie") == ""


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_foreign_requests_are_refused_in_spite_of_the_cookie(
    page: Any, context: Any, app: App, headers: dict[str, str], status: int
) -> None:
    cookie = context.cookies()[0]
    place = app.address.removeprefix("http://")
    place, _, path = place.partition("/")
    asked = http.client.HTTPConnection(place)
    own = {"Host": place, "Cookie": f"{cookie['name']}={cookie['value']}"}
    asked.request("GET", f"/{path}/", headers=own)
    assert asked.getresponse().read()
    asked.close()
    asked.request("GET", f"/{path}/", headers={**own, **headers})
    answer = asked.getresponse()
    assert answer.status == status
    asked.close()


def test_a_page_of_another_origin_cannot_send_a_form(page: Any, app: App) -> None:
    page.goto(
        f"data:text/html,<form method=post action='{app.address}/projects/sample'><button>x</button></form>"
    )
    page.get_by_role("button").click()
    page.wait_for_selector("text=Refused")


def test_another_server_of_this_machine_is_sent_no_cookie(page: Any, app: App) -> None:
    seen: list[str | None] = []

    class Other(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers.get("Cookie"))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"other")

        def log_message(self, *given: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        page.goto(f"http://127.0.0.1:{other.server_port}/")
        page.goto(f"http://127.0.0.1:{other.server_port}/p/table")
        other.shutdown()
    assert len(seen) >= 2
    assert set(seen) == {None}
    assert page.goto(f"{app.address}/").status == 200, "the app knows this browser still"


def test_the_page_that_shoal_app_opens_leads_into_the_app_and_is_gone_then(
    browser: Any, tmp_path: Path
) -> None:
    with running_app(tmp_path / "projects", browser="true %s") as started:
        opened = Path(started.first)
        started.first = opened.as_uri()
        page = browser.new_page()
        started.let_in(page)
        assert not opened.exists()
        page.close()
