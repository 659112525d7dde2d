"""The page Columns with many columns: search, filter, order, several at once, charts on demand."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from driving import App, drop
from test_pages import faults_of

COLUMNS = 200


def wide() -> str:
    """A table of 200 columns: a name, an age, a date, and codes, numbers and answers that repeat."""
    chance = random.Random(4)
    names = ["name", "age", "admission_day", "zip"]
    names += [f"{('Q', 'lab', 'answer')[n % 3]}{n:03}" for n in range(4, COLUMNS)]
    lines = [",".join(names)]
    for n in range(300):
        cells = [
            f"Person {n:04}",
            str(chance.randint(20, 69)),
            f"2024-{1 + n % 12:02}-{1 + n % 28:02}",
        ]
        cells.append(chance.choice(["10115", "20095", "80331"]))
        for number in range(4, COLUMNS):
            cells.append(str(chance.randint(1, 5) if number % 3 else round(chance.gauss(50, 9), 1)))
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def wide_project(context: Any, app: App) -> Iterator[str]:
    page = context.new_page()
    page.goto(f"{app.address}/")
    drop(page, "wide.csv", wide())
    page.wait_for_selector("text=200 columns")
    yield page.url.rpartition("/")[0]
    page.close()


def shown(page: Any) -> list[str]:
    """The names of the columns that are shown, in their order."""
    rows = "[...document.querySelectorAll('tr[data-number]')].filter(r => !r.hidden).map(r => r.dataset.name)"
    found: list[str] = page.evaluate(rows)
    return found


def test_columns_are_found_filtered_and_ordered(page: Any, wide_project: str) -> None:
    page.goto(f"{wide_project}/columns")
    assert len(shown(page)) == COLUMNS
    page.get_by_label("Find", exact=True).fill("ADMISSION")
    assert shown(page) == ["admission_day"]
    assert page.locator("#shown").inner_text() == "1 of 200 columns"
    page.reload()
    assert shown(page) == ["admission_day"], "the search stays"
    page.get_by_label("Find", exact=True).fill("nowhere")
    assert page.get_by_text("No column matches").is_visible()
    page.get_by_label("Find", exact=True).fill("")
    page.get_by_label("Show", exact=True).select_option("identifier")
    assert "name" in shown(page)
    assert "age" not in shown(page)
    page.get_by_label("Show", exact=True).select_option("unsure")
    unsure = shown(page)
    assert 0 < len(unsure) < COLUMNS
    page.get_by_label("Show", exact=True).select_option("")
    page.get_by_label("Order", exact=True).select_option("unsure")
    assert shown(page)[: len(unsure)] == unsure
    page.get_by_label("Order", exact=True).select_option("")
    assert shown(page)[:2] == ["name", "age"]
    assert not page.faults, page.faults


def test_ticked_columns_get_a_role_and_a_model_at_once(page: Any, wide_project: str) -> None:
    page.goto(f"{wide_project}/columns")
    page.get_by_label("Find", exact=True).fill("lab")
    page.get_by_label("Tick all columns").check()
    number = len(shown(page))
    assert page.locator("#ticked").inner_text() == f"{number} columns ticked."
    page.get_by_label("Find", exact=True).fill("lab00")
    few = len(shown(page))
    assert f"{number - few} of them not shown" in page.locator("#ticked").inner_text()
    page.get_by_label("Tick all columns").uncheck()
    page.get_by_label("Find", exact=True).fill("lab")
    page.get_by_role("button", name="Apply").click()
    assert "Choose a role or a model" in page.locator("#ticked").inner_text()
    page.locator("#all").select_option("quasi-identifier")
    page.locator("#all_model").select_option("subset")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_selector("#state >> text=quasi-identifiers")
    page.get_by_label("Show", exact=True).select_option("quasi-identifier")
    assert len(shown(page)) == number - few
    row = page.locator("tr[data-name=lab010]")
    assert row.locator(".effect").inner_text().startswith("subset")
    page.get_by_label("Show", exact=True).select_option("")
    page.get_by_label("Tick all columns").check()
    page.locator("#all").select_option("drop")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_selector("#state >> text=k =")
    assert not page.faults, page.faults


def test_shift_ticks_all_columns_between_two(page: Any, wide_project: str) -> None:
    page.goto(f"{wide_project}/columns")
    page.get_by_label("Find", exact=True).fill("")
    page.get_by_label("Tick age", exact=True).click()
    page.get_by_label("Tick zip", exact=True).click(modifiers=["Shift"])
    assert page.locator("#ticked").inner_text() == "3 columns ticked."


def test_a_chart_comes_on_demand_and_follows_the_role(page: Any, wide_project: str) -> None:
    page.goto(f"{wide_project}/columns")
    assert page.locator("svg.bars").count() == 0
    link = page.locator("[data-more='2']")
    link.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector('#details-2 svg.bars text:has-text("2024-01")')
    assert link.get_attribute("aria-expanded") == "true"
    page.get_by_label("Role of admission_day").select_option("keep")
    page.wait_for_selector("#column-2 >> text=not protected")
    page.locator("#details-2").get_by_label("Make it less precise").fill("month")
    page.keyboard.press("Tab")
    page.wait_for_selector("#column-2 >> text=less precise: month")
    page.get_by_label("Role of admission_day").select_option("quasi-identifier")
    page.locator("#column-2 .effect a").wait_for()
    page.wait_for_selector("#details-2 >> text=Choose how it becomes less precise")
    link.click()
    assert page.locator("#details-2").count() == 0
    assert not page.faults, page.faults


def test_200_columns_are_accessible_and_fit_a_phone_without_breaking_a_word(
    page: Any, wide_project: str
) -> None:
    page.goto(f"{wide_project}/columns")
    page.locator("[data-more='3']").click()
    page.wait_for_selector("#details-3 svg.bars")
    page.wait_for_selector("#single :is(table, p:not(.quiet))")
    page.wait_for_selector("#estimate :is(.tiles, .problems)")
    found = faults_of(page)
    assert not found, "\n" + "\n".join(found)
    page.set_viewport_size({"width": 390, "height": 800})
    broken = page.evaluate(
        """() => [...document.querySelectorAll('.columns th[scope=row]')].filter(cell => {
            const range = document.createRange();
            return [...cell.childNodes].some(part => {
                if (part.nodeType !== 3 || !part.data.trim() || /\\s/.test(part.data.trim())) return false;
                range.selectNode(part);
                return new Set([...range.getClientRects()].map(box => box.top)).size > 1;
            });
        }).map(cell => cell.innerText)"""
    )
    assert broken == []
    inside = page.evaluate(
        "[...document.querySelectorAll('#bulk button, .columns select')]"
        ".every(e => e.getBoundingClientRect().right <= 390)"
    )
    assert inside, "actions stay in reach"
