"""The report in a real browser: every plot is drawn, nothing is asked from the network, nothing goes wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page

import xoff
from conftest import SMALL
from xoff.report.page import write_report

# Three hosts send to one, with everything recorded and PAUSE early.
BUSY = (
    SMALL.replace("hosts = 3", "hosts = 4")
    + """
[[traffic]]
pattern = "incast"
senders = 3
receiver = "host0"
size = "300KB"

[flow_control]
name = "pfc"
xoff = "20KB"

[record]
interval = "1us"
queues = "all"
rates = "all"
utilization = true
"""
)

DRAWN = "node => node.querySelectorAll('.scatterlayer .trace path, .barlayer .point path').length"


def look(browser: Browser, page_file: Path) -> tuple[dict[str, int], list[str]]:
    """How many shapes each plot has, and everything that went wrong."""
    page = browser.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: wrong.append(request.url) if request.url != page_file.as_uri() else None)
    page.goto(page_file.as_uri())
    page.wait_for_selector("html[data-drawn]", timeout=60_000)
    shapes = {plot.get_attribute("id") or "": int(plot.evaluate(DRAWN)) for plot in page.query_selector_all(".plot")}
    page.close()
    return shapes, wrong


def test_every_plot_of_a_comparison_is_drawn(browser: Browser, tmp_path: Path) -> None:
    scenario = tmp_path / "busy.toml"
    scenario.write_text(BUSY)
    runs = []
    for scheme in ("none", "hpcc"):
        run = xoff.run(scenario, sets={"scheme.name": scheme})
        run.write(tmp_path / scheme)
        runs.append(run)
    shapes, wrong = look(browser, write_report(runs, tmp_path / "report.html"))
    assert wrong == []
    assert set(shapes) == {
        "fct-by-size",
        "slowdown-cdf",
        "queues",
        "max-queue-by-port",
        "rates",
        "pauses",
        "paused-by-port",
        "utilization",
        "utilization-by-port",
    }
    assert all(count > 0 for count in shapes.values()), shapes


def test_a_run_with_little_to_show_is_a_page_too(browser: Browser, small: Path, tmp_path: Path) -> None:
    shapes, wrong = look(browser, write_report([xoff.run(small)], tmp_path / "report.html"))
    assert wrong == []
    assert "pauses" not in shapes
    assert shapes["slowdown-cdf"] > 0


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of four runs, of which the last one recorded next to nothing."""
    folder = tmp_path_factory.mktemp("comparison")
    (folder / "busy.toml").write_text(BUSY)
    recorded: dict[str, object] = {"record.roots": True, "record.breakdown": True}
    bare: dict[str, object] = {"record.queues": "none", "record.rates": False, "record.utilization": False}
    recordings: dict[str, dict[str, object]] = {"none": recorded, "hpcc": recorded, "dcqcn": recorded, "bare": bare}
    for name, sets in recordings.items():
        scheme: dict[str, object] = {"scheme.name": "none" if name == "bare" else name}
        xoff.run(folder / "busy.toml", sets=scheme | sets).write(folder / name)
    return write_report([xoff.load(folder / name) for name in ("none", "hpcc", "dcqcn", "bare")], folder / "r.html")


@pytest.fixture(scope="module")
def page(browser: Browser, comparison: Path) -> Iterator[Page]:
    """That report, drawn once for all tests that look at it, on a wide screen at first."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(comparison.as_uri())
    page.wait_for_selector("html[data-drawn]", timeout=60_000)
    yield page
    page.close()


def at_width(page: Page, width: int) -> None:
    """Make the page so wide, and wait until its plots are drawn anew."""
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_function(f"innerWidth === {width}")
    page.evaluate("scrollTo(0, 0); new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)))")
    page.wait_for_selector("html[data-drawn]")
    fits = """() => [...document.querySelectorAll(".plot")].every((plot) =>
      Math.abs(plot.clientWidth - plot.querySelector(".main-svg").getBoundingClientRect().width) < 2)"""
    page.wait_for_function(fits)


def check_room(page: Page, width: int) -> None:
    """Nothing is wider than the page or covers anything else."""
    assert page.evaluate("document.documentElement.scrollWidth") == width
    # The summary shows all its numbers without being moved.
    assert (
        page.eval_on_selector(".summary", "table => table.parentElement.scrollWidth - table.parentElement.clientWidth")
        == 0
    )
    # Each plot stays within its card, and no card on another.
    outside = """() => [...document.querySelectorAll(".plot")].filter((plot) => {
      const box = (node) => node.getBoundingClientRect();
      const inner = box(plot.querySelector(".main-svg")), card = box(plot.closest(".card"));
      return inner.top < card.top || inner.bottom > card.bottom || inner.left < card.left || inner.right > card.right;
    }).map((plot) => plot.id)"""
    assert page.evaluate(outside) == []
    # A legend covers neither the plot's own area nor the names of its axes.
    covered = """() => [...document.querySelectorAll(".plot")].filter((plot) => {
      const legend = plot.querySelector(".legend")?.getBoundingClientRect();
      return legend && [...plot.querySelectorAll(".nsewdrag, .xtitle, .ytitle, .annotation-text")].some((node) => {
        const box = node.getBoundingClientRect();
        return Math.min(box.right, legend.right) - Math.max(box.left, legend.left) > 1
          && Math.min(box.bottom, legend.bottom) - Math.max(box.top, legend.top) > 1;
      });
    }).map((plot) => plot.id)"""
    assert page.evaluate(covered) == []


@pytest.mark.parametrize("width", [1280, 400, 800, 1920])
def test_everything_has_room_at_any_width(page: Page, width: int) -> None:
    at_width(page, width)
    check_room(page, width)


def test_everything_has_room_on_a_page_that_is_opened_narrow(browser: Browser, comparison: Path) -> None:
    page = browser.new_page(viewport={"width": 400, "height": 900})
    page.goto(comparison.as_uri())
    page.wait_for_selector("html[data-drawn]", timeout=60_000)
    check_room(page, 400)
    page.close()


@pytest.mark.parametrize("width", [400, 1280])
def test_the_contents_stay_in_sight_and_lead_to_each_part(page: Page, width: int) -> None:
    at_width(page, width)
    links = page.locator("nav a")
    heads = page.locator("main h2").all_inner_texts()
    assert links.all_inner_texts() == heads
    for number, head in enumerate(heads):
        # Playwright's own click moves the page first, upon which the contents move away between press and release.
        links.nth(number).evaluate("link => link.closest('ul').scrollTo(link.offsetLeft - 60, 0)")
        link = links.nth(number).bounding_box()
        assert link
        page.mouse.click(link["x"] + link["width"] / 2, link["y"] + link["height"] / 2)
        page.wait_for_function("head => document.querySelector('nav [aria-current]').innerText === head", arg=head)
        box = page.locator("main h2").nth(number).bounding_box()
        bar = page.locator("nav").bounding_box()
        assert box
        assert bar
        assert 0 <= bar["y"] < 10
        # Below the contents where they are a line above the page.
        assert box["y"] >= (bar["height"] if width == 400 else 0)


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_contents_move_at_once_for_a_reader_who_wants_no_motion(
    page: Page, motion: Literal["reduce", "no-preference"]
) -> None:
    page.emulate_media(reduced_motion=motion)
    at_width(page, 400)
    place = "document.querySelector('nav ul').scrollLeft"
    # Two frames after the page has jumped to its end, of which the contents follow the first.
    frames = "new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)))"
    at_once = page.evaluate(f"scrollTo(0, document.body.scrollHeight); {frames}.then(() => {place})")
    page.wait_for_timeout(1500)
    end = page.evaluate(place)
    page.emulate_media(reduced_motion="no-preference")
    assert end > 0
    assert (at_once == end) is (motion == "reduce")


def test_settings_are_a_table(page: Page) -> None:
    at_width(page, 1280)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    keys = page.locator("tr.differs td.key")
    assert keys.count() > 5
    # Each key has its cell for itself.
    own = """all => all.every((cell) => cell.scrollWidth <= cell.clientWidth
      && cell.offsetHeight === cell.parentElement.offsetHeight)"""
    assert keys.evaluate_all(own)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = false; })")


def test_what_is_paused_has_one_colour(page: Page) -> None:
    at_width(page, 1280)
    tree = page.locator(".legend-states li:has-text('paused') .key").evaluate(
        "key => getComputedStyle(key).backgroundColor"
    )
    traces = page.evaluate("document.getElementById('breakdown').data.map(({ name, marker }) => [name, marker.color])")
    (bars,) = [colour for name, colour in traces if name == "paused"]
    assert tree == "rgb(230, 159, 0)"
    assert bars == "#E69F00"
    assert [name for name, colour in traces if colour == bars] == ["paused"]


def test_what_was_not_recorded_is_said_once(page: Page) -> None:
    at_width(page, 1280)
    table = page.locator("h2:text-is('Not recorded') ~ .scroll table").first
    rows = [row.split("\t") for row in table.inner_text().splitlines()[1:]]
    assert {key: runs for key, _, runs in rows} == {
        f"record.{key}": "bare"
        for key in ("breakdown=true", "roots=true", "rates=all", "queues=switches", "utilization=true")
    }
    page.locator("#tree-run").select_option(label="bare")
    page.locator("#tree[data-run='3'][aria-busy='false']").wait_for(timeout=60_000)
    elsewhere = re.sub(r"Not recorded\n.*?\nCongestion tree", "", page.locator("main").inner_text(), flags=re.DOTALL)
    # But for the state in which the tree shows ports, of which four hosts at a switch have eight; three were paused.
    assert re.findall(r"[^\n]*not recorded[^\n]*", elsewhere, re.IGNORECASE) == ["not recorded 5"]
