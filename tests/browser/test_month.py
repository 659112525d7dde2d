"""Next month's file with the same settings, and somebody else's release that fails, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from driving import App, drop, fill, open_people, people
from test_pages import faults_of
from test_way import K

TREE = "Lyon,France,*\nLille,France,*\nPorto,Portugal,*\n"


def test_a_new_month_lists_what_is_new_gets_its_values_and_runs(page: Any, tmp_path: Path) -> None:
    base = open_people(page)
    page.goto(f"{base}/columns")
    page.get_by_label("Role of town").select_option("quasi-identifier")
    page.wait_for_selector("#column-2 .effect a")
    page.goto(f"{base}/requirement")
    fill(page, K, "20")
    page.wait_for_selector("#state >> text=k = 20")
    tree = tmp_path / "town.csv"
    tree.write_text(TREE, encoding="utf-8")
    page.goto(f"{base}/generalization")
    page.locator("#tree-2 > summary").click()
    page.locator("#tree-file-2").set_input_files(tree)
    page.locator("#tree-2").get_by_role("button", name="Upload", exact=True).click()
    page.wait_for_selector("[role=treeitem]")
    page.goto(f"{base}/month")
    header, *lines = people().replace("Lille", "Nice").splitlines()
    april = "\n".join([f"{header},ward", *(f"{line},w{n % 9}" for n, line in enumerate(lines))])
    drop(page, "april.csv", april + "\n")
    page.wait_for_selector("text=People seen before")
    said = page.locator("#month").inner_text()
    assert "ward" in said.partition("Added columns")[2]
    assert "town: 1 value" in said.partition("Values that are not in a hierarchy")[2]
    assert "Nice" not in said
    assert page.get_by_role("button", name="Use this file and run").count() == 0
    found = faults_of(page)
    assert not found, "\n" + "\n".join(found)
    page.get_by_role("link", name="Add it to the tree").click()
    page.wait_for_selector(
        "text=1 value of the column or of the new month's file is not in the tree"
    )
    nice = page.locator("[role=treeitem]", has=page.get_by_text("Nice", exact=True))
    assert "only in the new file" in nice.inner_text()
    nice.drag_to(page.locator("[role=treeitem]", has=page.get_by_text("France", exact=True)))
    page.wait_for_selector("#added-2", state="detached")
    page.get_by_role("link", name="go back to the new month").click()
    page.get_by_role("button", name="Use this file and run").click()
    page.get_by_role("link", name="Open the release of run 1").click()
    assert page.get_by_text("✓ Protected").is_visible()
    assert "april.csv" in page.content()
    assert "20" in page.locator("#state").inner_text(), "the settings are those of the month before"
    assert not page.faults, page.faults


def test_a_release_of_somebody_else_shows_which_groups_fail(page: Any, app: App) -> None:
    page.goto(f"{app.address}/check")
    lines = "20–29,Lyon,a\n" * 6 + "30–39,Lyon,b\n" * 2 + "30–39,Porto,c\n"
    drop(page, "theirs.csv", "age,town,ill\n" + lines)
    page.wait_for_selector("text=Say below what to check")
    for name in ("age", "town"):
        page.get_by_label(name, exact=True).select_option("quasi-identifier")
    page.get_by_label("ill", exact=True).select_option("sensitive")
    page.get_by_label("k: the smallest").fill("3")
    page.get_by_role("button", name="Check the release").click()
    page.wait_for_selector("text=Groups that are too small")
    assert page.get_by_text("2 groups with 3 records in all").is_visible()
    page.get_by_role("button", name="Show these records").click()
    page.wait_for_selector("text=Record 1 is the first")
    shown = page.locator("#failing").inner_text()
    assert shown.count("30–39") == 3
    assert "20–29" not in shown
    page.get_by_label("k: the smallest").fill("2")
    page.get_by_label("Different values").fill("2")
    page.get_by_role("button", name="Check the release").click()
    page.wait_for_selector("text=Not proved")
    assert "k = 2 required" in page.locator("#check").inner_text()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download it").click()
    assert "Lyon" not in Path(waiting.value.path()).read_text(encoding="utf-8")
    assert not page.faults, page.faults


def test_a_part_that_does_not_come_is_said(page: Any, people_project: str) -> None:
    page.route("**/part/estimate", lambda route: route.abort())
    page.goto(f"{people_project}/requirement")
    page.wait_for_selector("text=The app does not respond")
    assert page.locator(".unreachable").count() == 1
