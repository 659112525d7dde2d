"""The pages More detail and Explore in a real browser: waiting, measured, used, undone; and without scripts."""

from __future__ import annotations

from typing import Any

import pytest
from driving import App, drop, people
from test_pages import faults_of

WAIT = 300_000


@pytest.fixture(scope="module")
def coarse_project(context: Any, app: App) -> str:
    """A project whose ages are hidden by its settings."""
    page = context.new_page()
    page.goto(f"{app.address}/")
    drop(page, "coarse.csv", people(200))
    page.wait_for_selector("text=200 records")
    base = str(page.url.rpartition("/")[0])
    page.goto(f"{base}/columns")
    for name, role in (("town", "quasi-identifier"), ("ill", "sensitive")):
        field = page.get_by_label(f"Role of {name}")
        if field.input_value() != role:
            with page.expect_response("**/part/state"):
                field.select_option(role)
    page.goto(f"{base}/generalization")
    with page.expect_response("**/part/state"):
        page.locator("#model-1").select_option("suppression")
    page.goto(f"{base}/run")
    with page.expect_response("**/part/state"):
        page.locator("#refine").select_option("off")  # measured in less time
    page.close()
    return base


def test_more_detail_is_measured_used_by_a_click_and_undone(page: Any, coarse_project: str) -> None:
    page.goto(f"{coarse_project}/run")
    page.get_by_role("link", name="Find more detail").click()
    found = faults_of(page)
    page.get_by_role("button", name="Find what would keep more detail").click()
    page.wait_for_selector("text=s so far")
    found += faults_of(page)
    page.wait_for_selector("text=Measure again", timeout=WAIT)
    page.locator("summary", has_text="Lines of the settings file").first.click()
    assert page.get_by_text("[quasi_identifiers.").first.is_visible()
    found += faults_of(page)
    page.get_by_role("button", name="Use this age").first.click()
    page.wait_for_selector("text=In your settings")
    assert page.get_by_text("The settings have changed since this was measured").is_visible()
    found += faults_of(page)
    page.get_by_role("button", name="Undo: model of ‘age’").click()
    page.wait_for_selector("text=Redo: model of ‘age’")
    assert not found, "\n" + "\n".join(found)
    assert not page.faults, page.faults


def test_a_point_of_a_chart_takes_its_settings_over(page: Any, coarse_project: str) -> None:
    page.goto(f"{coarse_project}/explore")
    found = faults_of(page)
    page.get_by_role("button", name="Measure other settings").click()
    page.wait_for_selector("text=Measure again", timeout=WAIT)
    found += faults_of(page)
    page.locator("svg.points a", has_text="Take over k = 5:").locator(".dot").click()
    page.wait_for_url("**/run")
    assert page.locator("#k").input_value() == "5"
    page.goto(f"{coarse_project}/explore")
    found += faults_of(page)
    page.get_by_role("button", name="Take over leave out age").click()
    page.wait_for_url("**/run")
    page.wait_for_selector("#state >> text=1 quasi-identifier")
    page.get_by_role("button", name="Undo: role of ‘age’").click()
    page.wait_for_selector("#state >> text=2 quasi-identifiers")
    assert not found, "\n" + "\n".join(found)


def test_measuring_is_cancelled_while_other_pages_answer(page: Any, coarse_project: str) -> None:
    page.goto(f"{coarse_project}/advice")
    page.locator("form[action$='advice/start'] button").click()
    page.wait_for_selector("text=Other settings are being tried")
    page.get_by_role("link", name="Columns").click()
    page.wait_for_selector("#columns")
    page.go_back()
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_selector("text=Cancelled.")
    assert (
        page.get_by_role("button", name="Measure again")
        .or_(page.get_by_role("button", name="Find what would keep more detail"))
        .is_visible()
    )


def test_runs_are_compared_column_by_column(page: Any, coarse_project: str) -> None:
    for number, k in enumerate(("5", "10"), start=1):
        page.goto(f"{coarse_project}/run")
        page.locator("#k").fill(k)
        page.locator("#refine").select_option("off")
        page.get_by_role("button", name="Run", exact=True).click()
        page.wait_for_selector(f"text=Open the release of run {number}", timeout=WAIT)
    page.locator("summary", has_text="Compare column by column").click()
    table = page.get_by_role("region", name="Detail lost by column and run")
    assert table.get_by_role("rowheader").all_inner_texts() == ["age", "town"]
    page.wait_for_selector("#estimate .tiles")
    found = faults_of(page)
    assert not found, "\n" + "\n".join(found)


def test_both_pages_work_without_scripts(browser: Any, context: Any, coarse_project: str) -> None:
    plain = browser.new_context(java_script_enabled=False, storage_state=context.storage_state())
    plain.set_default_timeout(WAIT)
    page = plain.new_page()
    page.goto(f"{coarse_project}/explore")
    page.locator("form[action$='explore/start'] button").click()
    page.wait_for_selector("text=Measure again")
    page.locator("svg.points a", has_text="Take over k = 20:").locator(".dot").click()
    page.get_by_role("button", name="Take over k = 20", exact=True).click()
    page.wait_for_url("**/run")
    assert page.locator("#k").input_value() == "20"
    plain.close()
