"""The way of a steward through the app, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from driving import App, begin_run, drop, fill, people

K = "Each record must look the same as at least"


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


def test_a_dropped_table_goes_all_six_steps(page: Any, people_project: str) -> None:
    page.goto(f"{people_project}/table")
    page.get_by_role("link", name="Continue to the columns").click()
    page.wait_for_selector("#single >> text=Unique records")
    page.get_by_label("Role of town").select_option("quasi-identifier")
    page.wait_for_selector("#single >> text=town")
    page.get_by_label("Role of ill").select_option("sensitive")
    page.wait_for_selector("#state >> text=1 sensitive")
    page.get_by_label("Role of name").select_option("pseudonym")
    page.wait_for_selector("#key >> text=a secret key of its own")
    page.get_by_role("link", name="Continue to generalization").click()
    page.get_by_label("Model of age").select_option("interval")
    fill(page, "Width of ranges", "10")
    page.wait_for_selector("#estimate .tiles")
    page.get_by_role("link", name="Continue to the requirement").click()
    fill(page, K, "12")
    page.wait_for_selector("#state >> text=k = 12")
    page.get_by_role("link", name="Continue to the run").click()
    number = begin_run(page)
    page.get_by_role("link", name=f"Open the release of run {number}").click()
    assert page.get_by_text("✓ Protected").is_visible()
    page.get_by_role("link", name="Open the report").click()
    page.wait_for_selector("text=What was released")
    assert "Person 0" not in page.content()
    assert not page.faults, page.faults


def test_what_is_entered_before_scripts_are_there_counts(page: Any, people_project: str) -> None:
    held: list[Any] = []
    page.route("**/htmx.min.js", lambda route: held.append(route))
    page.goto(f"{people_project}/requirement", wait_until="commit")
    fill(page, K, "11")
    held.pop().continue_()
    page.wait_for_selector("#state >> text=k = 11")
    assert not page.faults, page.faults


def test_the_estimate_follows_a_change_without_a_reload(page: Any, people_project: str) -> None:
    page.goto(f"{people_project}/requirement")
    fill(page, K, "5")
    page.wait_for_selector("#state >> text=k = 5")
    page.reload()
    page.wait_for_selector("#estimate .tiles")
    before = page.locator("#estimate .tiles").inner_text()
    fill(page, K, "60")
    page.wait_for_function(
        "before => { const t = document.querySelector('#estimate .tiles'); return t && t.innerText !== before; }",
        arg=before,
    )
    assert page.locator("#estimate .badge").inner_text() in ("Estimate", "Trial run")
    fill(page, K, "601")
    page.wait_for_selector("#estimate >> text=Choose k of at most 600")
    fill(page, K, "10")
    page.wait_for_selector("#estimate .tiles")


def test_two_tabs_show_the_same_project(page: Any, context: Any, people_project: str) -> None:
    page.goto(f"{people_project}/requirement")
    before = page.get_by_label(K).input_value()
    other = context.new_page()
    other.goto(f"{people_project}/requirement")
    fill(other, K, "33")
    other.wait_for_selector("#state >> text=k = 33")
    other.close()
    page.reload()
    assert page.get_by_label(K).input_value() == "33"
    page.get_by_role("button", name="Undo: k").click()
    page.wait_for_selector(f"#state >> text=k = {before}")


def test_progress_is_asked_for_where_events_do_not_come(page: Any, people_project: str) -> None:
    page.route("**/events", lambda route: route.abort())
    page.goto(f"{people_project}/run")
    number = begin_run(page)
    page.wait_for_selector("text=s so far")
    page.wait_for_selector(f"text=Open the release of run {number}", timeout=300_000)


def _tab_to(page: Any, holds: str) -> None:
    """Go on by the keyboard until a claim in JavaScript holds of the element in focus."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate(f"(e => {holds})(document.activeElement)"):
            return
    raise AssertionError(f"the keyboard does not reach {holds}")


def test_the_keyboard_alone_begins_a_run_which_survives_a_reload_and_is_cancelled(
    page: Any,
) -> None:
    _tab_to(page, "e.innerText === 'Open the sample'")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=48,842 records")
    _tab_to(page, "e.innerText.includes('Run and compare')")
    page.keyboard.press("Enter")
    page.wait_for_selector("#refine")
    _tab_to(page, "e.id === 'refine'")
    page.keyboard.press("End")
    _tab_to(page, "e.id === 'run'")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Run 1 is under way")
    page.reload()
    page.wait_for_selector("text=s so far")
    _tab_to(page, "e.innerText.startsWith('Cancel')")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Cancelled; nothing was kept.")
    page.reload()
    assert page.get_by_text("Cancelled; nothing was kept.").is_visible()
    assert not page.faults, page.faults


def test_a_bad_file_is_told_in_plain_words(page: Any) -> None:
    drop(page, "people.csv", "a,b\n1\n2,3,4\n")
    page.wait_for_selector("text=The table cannot be read")
    assert "Traceback" not in page.content()


def test_the_app_works_without_scripts(
    browser: Any, context: Any, app: App, tmp_path: Path
) -> None:
    table = tmp_path / "people.csv"
    table.write_text(people(), encoding="utf-8")
    plain = browser.new_context(java_script_enabled=False, storage_state=context.storage_state())
    plain.set_default_timeout(60_000)
    page = plain.new_page()
    page.goto(f"{app.address}/")
    page.get_by_label("Drop a file here").set_input_files(table)
    page.get_by_role("button", name="Open this file").click()
    page.wait_for_selector("text=600 records")
    page.get_by_role("link", name="Requirement").click()
    page.get_by_label(K).fill("7")
    page.get_by_role("button", name="Save the requirement").click()
    page.wait_for_selector("text=k = 7")
    page.get_by_role("link", name="Show the estimate").click()
    page.wait_for_selector("#estimate .tiles")
    page.get_by_role("link", name="Run and compare").click()
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("link", name="Open the release of run 1").click()
    assert page.get_by_text("✓ Protected").is_visible()
    plain.close()


def test_a_large_upload_does_not_grow_the_server_and_its_reading_is_cancelled(
    page: Any, app: App, tmp_path: Path
) -> None:
    """200 MB: only the way to the disk is measured."""
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
    page.get_by_role("button", name="Cancel reading").click()
    page.wait_for_selector("text=Reading was cancelled")
    page.goto(f"{app.address}/")
    uploads = list(app.folder.glob("*/upload/large.csv"))
    assert uploads[0].stat().st_size == 200_000_000
    project = page.locator(".projects li", has_text="large.csv")
    project.locator("summary", has_text="Delete").click()
    project.get_by_role("button", name="Delete permanently").click()
    project.wait_for(state="detached")
    assert not uploads[0].exists()
