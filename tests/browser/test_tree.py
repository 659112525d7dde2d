"""The tree editor of the page Generalization: by mouse, by keyboard, with hundreds of values."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from driving import App, drop, fill
from test_pages import faults_of
from test_way import K

TOWNS = ("Lyon", "Lille", "Porto", "Braga")


def table(towns: int = 0) -> str:
    """A table with a town of four countries and, if asked for, a code with many values; one town is rare."""
    chance = random.Random(7)
    lines = ["age,town,ill" + (",code" if towns else "")]
    for n in range(400 if not towns else 3 * towns):
        town = "Faro" if n < 3 else chance.choice(TOWNS)
        code = f",c{n % towns:03}" if towns else ""
        lines.append(f"{chance.randint(20, 69)},{town},{chance.choice('abc')}{code}")
    return "\n".join(lines) + "\n"


def opened(context: Any, app: App, content: str, *columns: str) -> str:
    """The address of a project whose `columns` are quasi-identifiers too."""
    page = context.new_page()
    page.goto(f"{app.address}/")
    drop(page, "towns.csv", content)
    page.wait_for_selector("text=Continue to the columns")
    base = str(page.url.rpartition("/")[0])
    page.goto(f"{base}/columns")
    for name in columns:
        page.get_by_label(f"Role of {name}").select_option("quasi-identifier")
        page.wait_for_selector(f"#single >> text={name}")
    page.goto(f"{base}/requirement")
    fill(page, K, "9999")  # which no release can meet: an estimate of it takes no time
    page.wait_for_selector("#state >> text=k = 9999")
    page.close()
    return base


@pytest.fixture(scope="module")
def towns_project(context: Any, app: App) -> str:
    return opened(context, app, table(), "town")


def build(page: Any, base: str, number: int, how: str) -> None:
    page.goto(f"{base}/generalization")
    page.locator(f"#tree-{number} > summary").click()
    page.locator(f"#how-{number}").select_option(how)
    page.locator(f"#tree-{number}").get_by_role("button", name="Build").click()
    page.wait_for_selector(f"#tree-{number} [role=treeitem]")


def saved(page: Any, number: int = 1) -> str:
    """The outline, once it has been saved."""
    page.wait_for_function(
        """number => !document.getElementById(`preview-${number}`).hasAttribute("aria-busy")""",
        arg=number,
    )
    return str(page.locator(f"#outline-{number}").input_value())


def said(page: Any) -> str:
    return str(page.locator(".said").inner_text())


def row(page: Any, label: str) -> Any:
    item = page.locator("[role=treeitem]", has=page.get_by_text(label, exact=True))
    assert item.count() == 1, label
    return item


def branch(page: Any, label: str) -> None:
    """Press New branch and name it."""
    page.get_by_role("button", name="New branch", exact=True).click()
    page.get_by_label("Name of the branch").fill(label)
    page.get_by_role("button", name="Use this name").click()


def test_values_are_grouped_and_dragged_with_the_mouse(
    page: Any, towns_project: str, tmp_path: Path
) -> None:
    build(page, towns_project, 1, "values")
    assert saved(page) == "*\n  Braga\n  Faro\n  Lille\n  Lyon\n  Porto\n"
    assert "fewer than 10 records" in row(page, "Faro").inner_text()
    row(page, "Lille").click()
    row(page, "Lyon").click(modifiers=["Shift"])
    branch(page, "France")
    assert "  France\n    Lille\n    Lyon\n" in saved(page)
    row(page, "*").click()
    branch(page, "Portugal")
    assert "Portugal" not in saved(page), "an empty branch is not saved"
    row(page, "Porto").drag_to(row(page, "Portugal"))
    assert said(page) == "Moved ‘Porto’ to ‘Portugal’."
    row(page, "Braga").click(modifiers=["Control"])
    row(page, "Faro").click(modifiers=["Control"])
    row(page, "Faro").drag_to(row(page, "Porto"))
    assert said(page) == "Moved 2 entries to ‘Portugal’."
    row(page, "*").click()
    branch(page, "Europe")
    row(page, "France").drag_to(row(page, "Europe"))
    row(page, "Portugal").drag_to(row(page, "Europe"))
    whole = "*\n  Europe\n    France\n      Lille\n      Lyon\n    Portugal\n      Porto\n      Braga\n      Faro\n"
    assert saved(page) == whole
    row(page, "Europe").drag_to(row(page, "Portugal"))
    assert "cannot be moved into itself" in said(page)
    page.wait_for_selector("#preview-1 >> text=Level 2")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download the tree").click()
    assert waiting.value.suggested_filename == "town.csv"
    lines = Path(waiting.value.path()).read_text(encoding="utf-8").splitlines()
    assert "Lyon,France,Europe,*" in lines
    page.reload()
    page.wait_for_selector("[role=treeitem]")
    assert page.locator("#outline-1").input_value() == whole
    assert not page.faults, page.faults


def test_the_keyboard_does_all_that_the_mouse_does(page: Any, towns_project: str) -> None:
    press = page.keyboard.press
    build(page, towns_project, 1, "values")
    before = saved(page)
    page.locator("[role=treeitem]").first.focus()
    assert page.locator("[role=treeitem][tabindex='0']").count() == 1, "one stop for the Tab key"
    for key in ("ArrowDown", "Space", "l", "Space", "Insert"):
        press(key)
    page.keyboard.type("north")
    press("Enter")
    assert "  north\n    Braga\n    Lille\n" in saved(page)
    assert page.locator("[role=treeitem]:focus").inner_text().split("\n")[1:] == [
        "north",
        "2 values",
    ]
    press("F2")
    page.keyboard.type("Lyon")
    press("Enter")
    assert "already a value or a branch" in said(page)
    page.keyboard.press("Control+a")
    page.keyboard.type("North")
    press("Enter")
    assert "  North\n" in saved(page)
    press("End")
    press("Control+x")
    assert "Cut ‘Porto’" in said(page)
    press("n")
    press("Control+v")
    assert said(page) == "Moved ‘Porto’ to ‘North’."
    assert "    Porto\n" in saved(page)
    press("ArrowLeft")
    press("ArrowLeft")
    branches = page.locator("[role=treeitem][aria-expanded]")
    assert branches.last.get_attribute("aria-expanded") == "false"
    assert not page.get_by_text("Porto", exact=True).is_visible()
    press("ArrowRight")
    press("Delete")
    assert said(page) == "Removed ‘North’. What was in it is now in ‘*’."
    press("Delete")
    assert "stays in the tree" in said(page)
    assert page.get_by_role("button", name="Undo: remove ‘North’").is_visible()
    press("Control+z")
    assert said(page) == "Undone: remove ‘North’."
    assert "    Porto\n" in saved(page)
    assert page.get_by_role("button", name="Redo: remove ‘North’").is_visible()
    press("Control+y")
    assert "North" not in saved(page)
    for _ in range(4):
        press("Control+z")
    assert saved(page) == before
    assert not page.faults, page.faults


def test_all_edits_of_a_tree_are_one_step_of_the_project(page: Any, towns_project: str) -> None:
    build(page, towns_project, 1, "values")
    before = saved(page)
    for label in ("Lyon", "Lille"):
        row(page, label).click()
        page.keyboard.press("Space")
        branch(page, f"of {label}")
        saved(page)
    page.locator("#history").get_by_role("button", name="Undo: tree of ‘town’").click()
    page.locator("#tree-1 > summary").click()
    page.wait_for_selector("[role=treeitem]")
    assert saved(page) == before


def test_a_tree_that_lacks_values_gets_them(page: Any, towns_project: str, tmp_path: Path) -> None:
    file = tmp_path / "town.csv"
    file.write_text("Lyon,France,*\nLille,France,*\nNice,France,*\n", encoding="utf-8")
    page.goto(f"{towns_project}/generalization")
    page.locator("#tree-1 > summary").click()
    page.locator("#tree-file-1").set_input_files(file)
    page.locator("#tree-1").get_by_role("button", name="Upload", exact=True).click()
    page.wait_for_selector("text=3 values of the column are not in the tree")
    assert "new" in row(page, "Porto").inner_text()
    found = faults_of(page)
    assert not found, "\n" + "\n".join(found)
    row(page, "Nice").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    assert "Porto" in saved(page)
    assert page.get_by_text("not in the tree").count() == 0
    assert "The hierarchy fits 400 records." in page.locator("#preview-1").inner_text()
    assert not page.faults, page.faults


def test_hundreds_of_values_are_found_selected_and_grouped(
    page: Any, context: Any, app: App
) -> None:
    base = opened(context, app, table(600), "code")
    build(page, base, 3, "values")
    items = page.locator("[role=treeitem]")
    assert items.count() == 601
    page.get_by_label("Find", exact=True).fill("C12")
    assert said(page) == "10 names found."
    assert items.count() == 11
    page.get_by_role("button", name="Select the values found").click()
    assert said(page) == "10 values selected."
    branch(page, "12")
    assert "  12\n    c120\n    c121\n" in saved(page, 3)
    page.reload()
    page.wait_for_selector("[role=treeitem]")
    assert items.count() == 592, "branches of a large tree begin closed"
    found = faults_of(page)
    assert not found, "\n" + "\n".join(found)
    assert not page.faults, page.faults


def test_a_tree_that_is_edited_is_what_the_release_uses(page: Any, towns_project: str) -> None:
    build(page, towns_project, 1, "values")
    row(page, "Lille").click()
    row(page, "Lyon").click(modifiers=["Shift"])
    branch(page, "France")
    assert "France" in saved(page)
    page.locator("#finest-1").fill("1")
    page.locator("#finest-1").press("Tab")
    page.goto(f"{towns_project}/requirement")
    fill(page, K, "10")
    page.wait_for_selector("#state >> text=k = 10")
    page.goto(f"{towns_project}/run")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("link", name="Open the release of run 1").click()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download CSV").click()
    release = Path(waiting.value.path()).read_text(encoding="utf-8")
    assert "France" in release
    assert "Lyon" not in release
    page.goto(f"{towns_project}/generalization?open=1")
    page.wait_for_selector("[role=treeitem]")
    row(page, "France").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    assert "France" not in saved(page)
    assert not page.faults, page.faults
