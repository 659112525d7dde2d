"""The way of a steward through the app, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from driving import App, drop, open_people, people


def test_the_sample_is_released_in_fewer_than_12_clicks(page: Any, tmp_path: Path) -> None:
    clicks = 0

    def click(role: str, name: str) -> None:
        nonlocal clicks
        clicks += 1
        page.get_by_role(role, name=name, exact=True).click()

    click("button", "Open the sample")
    page.wait_for_selector("text=48,842 records")
    click("link", "Run and compare")
    page.wait_for_selector("#estimate .tiles")
    click("button", "Run")
    page.wait_for_selector("text=Open the release of run 1", timeout=300_000)
    click("link", "Open the release of run 1")
    with page.expect_download() as waiting:
        click("link", "Download CSV")
    waiting.value.save_as(tmp_path / "release.csv")
    assert (tmp_path / "release.csv").read_text(encoding="utf-8").count("\n") == 48_843
    click("link", "Open the report")
    page.wait_for_selector("text=What risk is left")
    assert clicks < 12
    assert clicks == 6
    assert not page.faults, page.faults


def test_a_dropped_table_goes_all_six_steps(page: Any) -> None:
    open_people(page)
    page.get_by_role("link", name="Go on to the columns").click()
    page.wait_for_selector("#single >> text=only ones")
    page.get_by_label("Role of town").select_option("quasi-identifier")
    page.wait_for_selector("#single >> text=town")
    page.get_by_label("Role of ill").select_option("sensitive")
    page.wait_for_selector("#state >> text=1 sensitive")
    page.get_by_role("link", name="Go on to generalization").click()
    page.get_by_label("Model of age").select_option("interval")
    page.get_by_label("Width of bins").first.fill("10")
    page.get_by_label("Width of bins").first.press("Tab")
    page.wait_for_selector("#estimate .tiles")
    page.get_by_role("link", name="Go on to the requirement").click()
    page.get_by_label("Every record reads like at least").fill("12")
    page.get_by_label("Every record reads like at least").press("Tab")
    page.wait_for_selector("#state >> text=k = 12")
    page.get_by_role("link", name="Go on to the run").click()
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("link", name="Open the release of run 1").click()
    assert page.get_by_text("Proved: every record").is_visible()
    page.get_by_role("link", name="Open the report").click()
    page.wait_for_selector("text=What was released")
    assert "Person 0" not in page.content()
    assert not page.faults, page.faults


def test_the_estimate_follows_a_change_without_a_reload(page: Any) -> None:
    base = open_people(page)
    page.goto(f"{base}/requirement")
    page.wait_for_selector("#estimate .tiles")
    before = page.locator("#estimate .tiles").inner_text()
    page.get_by_label("Every record reads like at least").fill("60")
    page.get_by_label("Every record reads like at least").press("Tab")
    page.wait_for_function(
        "before => { const t = document.querySelector('#estimate .tiles'); return t && t.innerText !== before; }",
        arg=before,
    )
    assert page.locator("#estimate .badge").inner_text() == "Estimate"
    page.get_by_label("Every record reads like at least").fill("601")
    page.get_by_label("Every record reads like at least").press("Tab")
    page.wait_for_selector("#estimate >> text=choose k of at most 600")


def test_a_run_survives_a_reload_and_is_cancelled(page: Any) -> None:
    page.get_by_role("button", name="Open the sample").click()
    page.wait_for_selector("text=48,842 records")
    page.get_by_role("link", name="Run and compare").click()
    page.get_by_label("Time to improve").select_option("600")
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_selector("text=Run 1 is under way")
    page.reload()
    page.wait_for_selector("text=s so far")
    page.get_by_role("button", name="Cancel run 1").click()
    page.wait_for_selector("text=Cancelled; nothing was kept.")
    page.reload()
    assert page.get_by_text("Cancelled; nothing was kept.").is_visible()
    assert not page.faults, page.faults


def test_progress_is_asked_for_where_events_do_not_come(page: Any) -> None:
    page.route("**/events", lambda route: route.abort())
    page.goto(f"{open_people(page)}/run")
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_selector("text=s so far")
    page.wait_for_selector("text=Open the release of run 1", timeout=300_000)


def test_two_tabs_show_the_same_project(page: Any, context: Any) -> None:
    base = open_people(page)
    page.goto(f"{base}/requirement")
    other = context.new_page()
    other.goto(f"{base}/requirement")
    other.get_by_label("Every record reads like at least").fill("33")
    other.get_by_label("Every record reads like at least").press("Tab")
    other.wait_for_selector("#state >> text=k = 33")
    page.reload()
    assert page.get_by_label("Every record reads like at least").input_value() == "33"
    page.get_by_role("button", name="Undo the last change").click()
    page.wait_for_selector("#state >> text=k = 10")


def test_a_bad_file_is_told_in_plain_words(page: Any) -> None:
    drop(page, "people.csv", "a,b\n1\n2,3,4\n")
    page.wait_for_selector("text=The table cannot be read")
    assert "Traceback" not in page.content()


def test_the_keyboard_alone_opens_the_sample_and_goes_on(page: Any) -> None:
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.innerText") == "Open the sample":
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("text=48,842 records")
    for _ in range(20):
        page.keyboard.press("Tab")
        if "Requirement" in page.evaluate("document.activeElement.innerText"):
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Everybody hides among others")


def test_the_app_works_without_scripts(browser: Any, app: App, tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text(people(), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    context.set_default_timeout(30_000)
    page = context.new_page()
    page.goto(app.first)
    page.get_by_role("link", name="Go on to the app").or_(
        page.get_by_role("button", name="Open this file")
    ).first.wait_for()
    page.goto(f"{app.address}/")
    page.get_by_label("Drop a file here").set_input_files(table)
    page.get_by_role("button", name="Open this file").click()
    page.wait_for_selector("text=600 records")
    page.get_by_role("link", name="Requirement").click()
    page.get_by_label("Every record reads like at least").fill("7")
    page.get_by_role("button", name="Save the requirement").click()
    page.wait_for_selector("text=k = 7")
    page.get_by_role("link", name="Show the estimate").click()
    page.wait_for_selector("#estimate .tiles")
    page.get_by_role("link", name="Run and compare").click()
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("link", name="Open the release of run 1").click()
    assert page.get_by_text("Proved: every record").is_visible()
    context.close()


def test_a_large_upload_does_not_grow_the_server(page: Any, app: App, tmp_path: Path) -> None:
    """200 MB, too many columns for a table to be read from them quickly: only the way to the disk is measured."""
    large = tmp_path / "large.csv"
    line = b"x" * 999 + b"\n"
    with large.open("wb") as file:
        for _ in range(200):
            file.write(line * 1000)
    before = app.memory
    page.locator("#file").set_input_files(large)
    page.wait_for_url("**/table")
    assert app.memory < before + 40
    assert app.memory < 150
    page.goto(f"{app.address}/")
    uploads = list((tmp_path / "projects").glob("*/upload/large.csv"))
    assert uploads[0].stat().st_size == 200_000_000
    page.locator("summary", has_text="Delete").click()
    page.get_by_role("button", name="Delete for good").click()
    page.wait_for_url(f"{app.address}/")
    assert not uploads[0].exists()
