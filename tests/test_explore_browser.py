"""The page to explore a run, in a real browser: what is chosen, brushed, restored and saved is what the tables have."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest
from playwright.sync_api import Browser, FloatRect, Locator, Page

import xoff
from test_pages_browser import Opened
from xoff.report.explore.page import write_explorer
from xoff.runs.results import Run

# Three senders and one receiver, then a late message on another pair of hosts.
SCENARIO = """
title = "Explored"

[topology]
name = "star"
hosts = 6
rate = "100Gbps"
delay = "1us"

[scheme]
name = "none"

[flow_control]
name = "pfc"
xoff = "40KB"

[[traffic]]
pattern = "incast"
label = "answers"
senders = ["host1", "host2", "host3"]
receiver = "host0"
size = "300KB"

[[traffic]]
pattern = "flow"
label = "late"
src = "host4"
dst = "host5"
size = "100KB"
start = "200us"

[record]
interval = "1us"
queues = "all"
utilization = true
rates = "all"
roots = true
breakdown = true
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """The same messages with links of 100 Gbps and of 50 Gbps."""
    folder = tmp_path_factory.mktemp("explored")
    (folder / "scenario.toml").write_text(SCENARIO)
    found = []
    for name, rate in (("fast", "100Gbps"), ("slow", "50Gbps")):
        xoff.run(folder / "scenario.toml", sets={"topology.rate": rate}).write(folder / name)
        found.append(xoff.load(folder / name))
    return found


@pytest.fixture(scope="module")
def files(runs: list[Run], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("explorers")
    return {
        "one": write_explorer(runs[:1], folder / "one.html"),
        "two": write_explorer(runs, folder / "two.html"),
    }


IN_SIGHT = """(name) => new Promise((done) => {
  const figure = explorer.figures.find((each) => each.name === name);
  const look = () => requestAnimationFrame(figure.inSight ? () => requestAnimationFrame(done) : look);
  look();
})"""
"""Waits until a figure is in sight and drawn."""


class Explorer(Opened):
    """The page, opened at a fragment."""

    def __init__(self, context: Any, file: Path, fragment: str = "") -> None:
        super().__init__(context, file)
        if fragment:
            # From another page: one that stays loaded may write its own fragment before it is loaded anew.
            self.page.goto("about:blank")
            self.page.goto(f"{file.as_uri()}#{fragment}")
        self.page.wait_for_selector("html[data-drawn]")
        settle(self.page)


@pytest.fixture
def explore(browser: Browser, files: dict[str, Path]) -> Iterator[Any]:
    """Opens a page, and sees at the end that it asked nobody anything."""
    opened: list[Explorer] = []

    def make(name: str = "one", fragment: str = "", **more: Any) -> Page:
        context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True, **more)
        opened.append(Explorer(context, files[name], fragment))
        return opened[-1].page

    yield make
    for each in opened:
        assert each.wrong == []
        each.page.context.close()


def settle(page: Page) -> None:
    """Wait until tables and address show the view."""
    page.wait_for_selector("html[data-settled]:not([data-moving])")


def still(page: Page, element: Locator) -> FloatRect:
    """Where an element is, in sight, once the page has stopped to move."""
    settle(page)
    # Figures that come into sight with the element are drawn then, and get their legends.
    element.scroll_into_view_if_needed()
    last = None
    for _ in range(100):
        box = element.bounding_box()
        if box is not None and box == last:
            return box
        last = box
        page.wait_for_timeout(100)
    raise AssertionError("the page moves on and on")


def ids(page: Page) -> set[int]:
    """The messages of the table of messages."""
    return {int(text) for text in page.locator("#table-messages tbody td:first-child").all_inner_texts()}


def alive(run: Run, start_ps: int, end_ps: int) -> set[int]:
    """The messages that are alive between two moments, by the table of flows."""
    flows = run.flows.to_pylist()
    return {
        row["id"] for row in flows if row["start_ps"] <= end_ps and row["start_ps"] + (row["fct_ps"] or 0) >= start_ps
    }


def legend(page: Page, name: str) -> str:
    """The legend of a figure, which is drawn when it comes into sight."""
    page.locator(f"#figure-{name}").scroll_into_view_if_needed()
    page.evaluate(IN_SIGHT, name)
    return page.locator(f"#figure-{name} .legend").inner_text()


def saved(page: Page, button: str) -> str:
    # Figures get their final height as they come into sight, so that a button may move while a pointer goes to it.
    page.locator(button).scroll_into_view_if_needed()
    settle(page)
    with page.expect_download(timeout=60_000) as waiting:
        page.locator(button).evaluate("button => { setTimeout(() => button.click()); }")
    return Path(waiting.value.path()).read_text("utf-8")


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def write(page: Page, field: str, text: str) -> None:
    page.locator(field).fill(text)
    page.locator(field).press("Enter")
    settle(page)


def test_a_time_range_filters_all_of_the_page(explore: Any, runs: list[Run]) -> None:
    page = explore()
    assert ids(page) == {0, 1, 2, 3}
    write(page, "#from", "150 us")
    # The answers take 3 x 300 KB at 100 Gbps, some 75 us with headers: only the late message is alive.
    assert ids(page) == {3} == alive(runs[0], 150_000_000, int(runs[0].manifest["sim_time_ps"]))
    assert "late: 1 message" in legend(page, "fct")
    assert "answers" not in legend(page, "fct")
    page.wait_for_function("location.hash === '#from=150000000'")  # the link follows a little later
    write(page, "#to", "180us")
    assert ids(page) == set()
    assert "No message" in page.locator("#figure-messages .absent").inner_text()
    still(page, page.locator("#whole"))
    page.locator("#whole").click()
    settle(page)
    assert ids(page) == {0, 1, 2, 3}


def test_a_drag_over_the_overview_brushes_and_a_drag_over_a_plot_zooms(explore: Any, runs: list[Run]) -> None:
    page = explore()
    for name, low, high in (("overview", 0.75, 0.95), ("queues", 0.5, 0.9)):
        chart = page.locator(f"#figure-{name} .chart")
        chart.scroll_into_view_if_needed()
        box = still(page, chart)
        before = page.evaluate("explorer.view.range")
        frame = page.evaluate(
            f"(({{ left, right }}) => [left, right])(explorer.figures.find((f) => f.name === '{name}').frame)"
        )
        x = [box["x"] + frame[0] + share * (frame[1] - frame[0]) for share in (low, high)]
        page.mouse.move(x[0], box["y"] + 60)
        page.mouse.down()
        page.mouse.move((x[0] + x[1]) / 2, box["y"] + 60)
        page.mouse.move(x[1], box["y"] + 60)
        page.mouse.up()
        settle(page)
        start, end = page.evaluate("explorer.view.range")
        length = before[1] - before[0]
        # A pixel is about a thousandth of the plot.
        assert abs(start - (before[0] + low * length)) < 0.003 * length
        assert abs(end - (before[0] + high * length)) < 0.003 * length
        assert ids(page) == alive(runs[0], start, end)


def test_keys_move_and_zoom_the_time_range(explore: Any) -> None:
    page = explore(fragment="from=100000000&to=180000000")
    page.locator("#figure-queues .chart").scroll_into_view_if_needed()
    settle(page)
    page.locator("#figure-queues .chart").focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("String(explorer.view.range) === '90000000,170000000'")
    page.keyboard.press("+")
    page.wait_for_function("String(explorer.view.range) === '110000000,150000000'")
    page.keyboard.press("0")
    page.wait_for_function("explorer.view.from === null && explorer.view.to === null")


def test_the_search_finds_and_chooses_by_keys(explore: Any) -> None:
    page = explore()
    page.locator("#search").fill("message 2")
    assert page.locator("#found [role=option]").first.inner_text().startswith("message 2: host3 \u2192 host0, 300 KB")
    page.keyboard.press("Enter")
    page.locator("#search").fill("switch1->host0")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    settle(page)
    chosen = page.locator("#chosen").inner_text()
    assert "message 2" in chosen
    assert "->host0" in chosen
    assert "message 2" in legend(page, "rates")
    assert page.locator("#figure-rates .legend li").count() == 1
    assert "switch1->host0" in legend(page, "queues")
    assert page.locator("#figure-queues .legend li").count() == 1
    page.locator("#search").fill("no such name")
    assert "Nothing that was recorded has such a name" in page.locator("#found").inner_text()
    page.locator("#search").fill("")
    page.keyboard.press("Escape")
    still(page, page.locator("#chosen button").first)
    page.locator("#chosen button").first.click()
    settle(page)
    assert "message 2" not in page.locator("#chosen").inner_text()


def test_a_label_filters_messages(explore: Any) -> None:
    page = explore(fragment="label=answers")
    assert ids(page) == {0, 1, 2}
    assert "late" not in legend(page, "slowdown")


def test_what_lies_below_a_figure_stays_where_it_is_when_the_figure_is_drawn(explore: Any) -> None:
    """Only legends grow. A canvas whose height comes with its drawing moves all below it, and the pointer misses."""
    page = explore()
    last = page.locator("#figure-slowdown")
    top = "document.querySelector('#figure-slowdown').getBoundingClientRect().top + scrollY"
    before = page.evaluate(top)
    for figure in page.locator(".figure:visible").all():
        still(page, figure)
    still(page, last)
    legends = "[...document.querySelectorAll('.figure .legend')].reduce((sum, each) => sum + each.offsetHeight, 0)"
    assert abs(page.evaluate(top) - before) <= page.evaluate(legends)


def test_a_link_restores_the_view(explore: Any) -> None:
    page = explore()
    page.locator("#search").fill("label answers")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    write(page, "#from", "10us")
    write(page, "#to", "60us")
    page.locator("[data-view=by]").select_option("size")
    page.locator("[data-view=metric]").select_option("goodput_bps")
    # A page that is still moving puts something else beneath the pointer.
    still(page, page.locator("#tail"))
    page.locator("#tail").check()
    settle(page)
    # The link follows the view a little later.
    page.wait_for_function("location.hash.includes('tail') && location.hash.includes('to=60000000')")
    fragment = page.evaluate("location.hash").removeprefix("#")
    again = explore(fragment=fragment)
    view = (
        "JSON.stringify(['from', 'to', 'chosen', 'by', 'metric', 'tail', 'query'].map((name) => explorer.view[name]))"
    )
    assert again.evaluate(view) == page.evaluate(view)
    assert again.evaluate("explorer.view.chosen") == [{"kind": "label", "key": "answers"}]
    assert again.locator("#search").input_value() == "label answers"
    assert again.locator("#from").input_value() == "10 us"
    assert ids(again) == {0, 1, 2}


def test_a_link_to_what_a_page_lacks_says_so(explore: Any) -> None:
    page = explore(fragment="port=nowhere&by=colour&from=x&flow=0")
    assert "does not have: port nowhere, by=colour" in page.locator("#said").inner_text().replace("from=x, ", "")
    assert page.evaluate("explorer.view.chosen") == [{"kind": "flow", "key": "0"}]


def test_saved_data_are_those_of_the_tables(explore: Any, runs: list[Run]) -> None:
    page = explore(fragment="from=20000000&to=40000000")
    port = page.evaluate("explorer.ports()[0]")
    table = runs[0].queues.to_pylist()
    expected = {
        (row["time_ps"], name): row[name]
        for row in table
        for name in ("bytes", "max_bytes")
        if row["port"] == port and 20_000_000 <= row["time_ps"] <= 40_000_000
    }
    assert expected
    text = saved(page, "#figure-queues [data-save=csv]")
    found = {(int(row["time_ps"]), row["column"]): int(row["value"]) for row in rows_of(text) if row["subject"] == port}
    assert found == expected
    done = {row["id"]: row["fct_ps"] for row in runs[0].flows.to_pylist() if row["id"] < 3}
    saved_fct = [int(row["fct_ps"]) for row in rows_of(saved(page, "#figure-fct [data-save=csv]"))]
    assert saved_fct == sorted(done.values())
    parts = rows_of(saved(page, "#figure-messages [data-save=csv]"))
    for flow, fct in done.items():
        # The parts of a complete message sum to its completion time.
        assert sum(int(row["time_ps"]) for row in parts if int(row["flow"]) == flow) == fct


def test_each_figure_is_saved_as_svg(explore: Any) -> None:
    page = explore("two")
    for name in (
        "overview",
        "queues",
        "utilization",
        "stopped",
        "spans",
        "rates",
        "messages",
        "fct",
        "slowdown",
        "ratio",
    ):
        root = ET.fromstring(saved(page, f"#figure-{name} [data-save=svg]"))
        texts = [each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}text")]
        assert page.locator(f"#figure-{name} h2").inner_text() in texts
        drawn = [each for kind in ("path", "rect") for each in root.iter(f"{{http://www.w3.org/2000/svg}}{kind}")]
        assert len(drawn) > 5
        assert "NaN" not in ET.tostring(root, "unicode")


def test_the_difference_of_two_runs_is_that_of_their_tables(explore: Any, runs: list[Run]) -> None:
    page = explore("two")
    fct = [{row["id"]: row["fct_ps"] for row in run.flows.to_pylist()} for run in runs]
    rows = rows_of(saved(page, "#table-messages [data-save=csv]"))
    assert {int(row["flow"]): int(row["difference_ps"]) for row in rows} == {
        flow: fct[1][flow] - fct[0][flow] for flow in fct[0]
    }
    # The late message is alone. Half the rate costs its serialization at the sender once more: 100,000 B and 69 x 62
    # B of
    # headers, 8.34 us. The last frame waits at the switch for one full frame (0.12 us), and its ACK passes two links.
    late = next(row for row in rows if row["flow"] == "3")
    assert 8.3e6 < int(late["difference_ps"]) < 8.8e6
    shown = page.locator("#table-messages tbody tr", has_text="late").inner_text()
    assert f"+{int(late['difference_ps']) / 1e6:.4g}"[:5] in shown
    ports = rows_of(saved(page, "#table-ports [data-save=csv]"))
    name = max(ports, key=lambda row: float(row["max_bytes_first"] or 0))["port"]
    most = [
        int(pc.max(run.queues.filter(pc.equal(run.queues["port"].cast("string"), name))["max_bytes"]).as_py())
        for run in runs
    ]
    row = next(row for row in ports if row["port"] == name)
    assert int(row["max_bytes_difference"]) == most[1] - most[0]


def test_what_was_not_recorded_is_said_with_its_setting(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "plain.toml").write_text(SCENARIO[: SCENARIO.index("[record]")])
    xoff.run(tmp_path / "plain.toml").write(tmp_path / "plain")
    file = write_explorer([xoff.load(tmp_path / "plain")], tmp_path / "plain.html")
    context = browser.new_context()
    opened = Explorer(context, file)
    for name, setting in (
        ("queues", "record.queues=switches"),
        ("utilization", "record.utilization=true"),
        ("rates", "record.rates=all"),
    ):
        opened.page.locator(f"#figure-{name}").scroll_into_view_if_needed()
        opened.page.wait_for_timeout(100)
        assert setting in opened.page.locator(f"#figure-{name} .absent").inner_text()
        assert opened.page.locator(f"#figure-{name} [data-save=csv]").is_disabled()
    assert "record.breakdown=true" in (opened.page.locator("#figure-messages .said").text_content() or "")
    assert opened.wrong == []
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_on_its_ground(explore: Any, scheme: str) -> None:
    page = explore(color_scheme=scheme)
    contrast = page.evaluate("""() => {
      const light = (text) => text.match(/[0-9a-f]{2}/gi).map((each) => parseInt(each, 16) / 255)
        .map((each) => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4)
        .reduce((sum, each, index) => sum + each * [0.2126, 0.7152, 0.0722][index], 0);
      const [low, high] = [light(explorer.looks.muted), light(explorer.looks.card)].sort((a, b) => a - b);
      return (high + 0.05) / (low + 0.05);
    }""")
    assert contrast >= 4.5


def test_decimation_keeps_minima_and_maxima(explore: Any) -> None:
    page = explore()
    # 100,000 samples in 500 columns, of which one is high and one is low.
    high, low, points = page.evaluate("""() => {
      const time = Float64Array.from({ length: 100_000 }, (_, at) => at), value = new Float64Array(100_000).fill(10);
      value[54_321] = 99;
      value[77_777] = 1;
      const frame = new Frame({ width: 586, height: 200, x: [0, 99_999], y: [0, 100] });
      const points = pointsOf(new Series(time, value), frame), ys = points.filter((_, at) => at % 2);
      return [Math.min(...ys) - frame.y(99), Math.max(...ys) - frame.y(1), points.length / 2];
    }""")
    assert abs(high) < 1e-6
    assert abs(low) < 1e-6
    assert points <= 4 * 501


def test_packed_numbers_are_exact() -> None:
    from xoff.report.explore.pack import Pack

    pack = Pack({})
    pack.add("small", np.array([0, 255]))
    pack.add("third", np.array([1 / 3, np.nan]))
    pack.add("half", np.array([0.5, np.nan]))
    pack.add_times("time", np.array([3_000_000, 1_000_000, 10**13], dtype=np.uint64))
    kinds = {name: each["type"] for name, each in pack._arrays.items()}
    assert kinds == {"small": "uint8", "third": "float64", "half": "float32", "time": "uint32"}
    assert pack._arrays["time"]["unit"] == 1_000_000


def test_a_link_of_strange_names_breaks_nothing(explore: Any) -> None:
    # Names that every object of JavaScript has, one thing many times, and times the wrong way round.
    ports = "&".join(["port=nowhere"] * 300)
    page = explore(fragment=f"__proto__=1&constructor=2&toString=x&from=100&to=100&{ports}")
    line = page.get_by_text("does not have").inner_text()
    assert "__proto__" in line
    assert "from=100 to=100" in line
    assert line.count("port nowhere") == 1
    assert ids(page) == ids(explore())
