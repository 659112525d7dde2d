"""Every page for everybody: accessible, in light and dark, on a phone; closed to strangers."""

from __future__ import annotations

import http.client
from pathlib import Path
from typing import Any

import pytest
from driving import App, open_people

AXE = Path(__file__).with_name("axe.min.js")
STEPS = ("table", "columns", "generalization", "requirement", "run", "release")


def violations(page: Any) -> list[str]:
    """What axe-core finds on a page; it is run beside the page's own policy, which allows no such script."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")["violations"]
    return [
        f"{page.url} {item['id']}: {item['help']}: {item['nodes'][0]['html'][:200]}"
        for item in found
    ]


def too_wide(page: Any) -> list[str]:
    """The page, if a phone would have to scroll sideways."""
    page.set_viewport_size({"width": 390, "height": 800})
    width = page.evaluate("document.scrollingElement.scrollWidth")
    page.set_viewport_size({"width": 1280, "height": 720})
    return [f"{page.url} is {width} px wide"] if width > 390 else []


@pytest.fixture
def project(page: Any) -> str:
    """A project with a hierarchy and one run that is done."""
    base = open_people(page)
    page.get_by_role("link", name="Columns", exact=False).first.click()
    page.get_by_label("Role of town").select_option("quasi-identifier")
    page.wait_for_selector("#single >> text=town")
    page.get_by_label("Role of ill").select_option("sensitive")
    page.wait_for_selector("#state >> text=1 sensitive")
    page.goto(f"{base}/generalization")
    page.locator("#tree-2 > summary").click()
    page.get_by_label("Build one from").nth(1).select_option("codes")
    page.locator("#tree-2").get_by_role("button", name="Build").click()
    page.wait_for_selector("text=What each level would look like")
    page.goto(f"{base}/run")
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_selector("text=Open the release of run 1")
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
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        ready(page, f"{app.address}/")
        found += violations(page) + too_wide(page)
        for step in STEPS:
            ready(page, f"{project}/{step}")
            page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
            if step == "generalization":
                page.wait_for_selector("text=What each level would look like")
            if step == "table":
                page.get_by_role("button", name="Show the first 20 rows").click()
                page.wait_for_selector("text=Person 0001")
            found += violations(page) + too_wide(page)
    page.goto(f"{project}/requirement")
    page.get_by_label("Every record reads like at least").fill("9999")
    page.get_by_label("Every record reads like at least").press("Tab")
    page.wait_for_selector("#estimate .problems")
    found += violations(page)
    assert page.faults == []
    page.goto(f"{app.address}/nowhere")
    found += violations(page)
    assert not found, "\n" + "\n".join(found)


def test_an_address_opens_one_browser_only(page: Any, app: App, browser: Any) -> None:
    other = browser.new_context()
    stranger = other.new_page()
    assert stranger.goto(app.first).status == 403
    assert stranger.goto(f"{app.address}/").status == 403
    assert stranger.goto(f"{app.address}/open?token=wrong").status == 403
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
    asked = http.client.HTTPConnection(place)
    own = {"Host": place, "Cookie": f"{cookie['name']}={cookie['value']}"}
    asked.request("GET", "/", headers=own)
    assert asked.getresponse().read()
    asked.close()
    asked.request("GET", "/", headers={**own, **headers})
    answer = asked.getresponse()
    assert answer.status == status
    asked.close()


def test_a_page_of_another_origin_cannot_send_a_form(page: Any, app: App) -> None:
    page.goto(
        f"data:text/html,<form method=post action='{app.address}/projects/sample'><button>x</button></form>"
    )
    page.get_by_role("button").click()
    page.wait_for_selector("text=Refused")
