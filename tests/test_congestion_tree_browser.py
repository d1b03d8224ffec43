"""The congestion tree in a real browser: clicks on a port, on a flow, on the slider and on play, and what they show."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import combinations, groupby
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from matplotlib.image import imread
from playwright.sync_api import Browser, Page

import xoff
from xoff.report.page import write_report
from xoff.runs.results import Run

# Two flows share the link to receiver0. Their switch stops the other one, and with them the flow to receiver1.
SCENARIO = """
[topology]
name = "dumbbell"
switches = 2
senders = 3
receivers = 2
rate = "100Gbps"
trunk_rate = "400Gbps"
delay = "1us"

[scheme]
name = "none"

[flow_control]
name = "pfc"
xoff = "50KB"

[[traffic]]
pattern = "flow"
label = "congested"
src = "sender0"
dst = "receiver0"
size = "2MB"

[[traffic]]
pattern = "flow"
label = "congested"
src = "sender1"
dst = "receiver0"
size = "2MB"

[[traffic]]
pattern = "flow"
label = "victim"
src = "sender2"
dst = "receiver1"
size = "1MB"

[record]
interval = "1us"
queues = "all"
utilization = true
roots = true
"""

TRUNK, ROOT = "switch1->switch2", "switch2->receiver0"
ORANGE = (0xE6, 0x9F, 0x00)
"""The colour of paused ports."""


@pytest.fixture(scope="module", autouse=True)
def without_figures() -> Iterator[None]:
    """Reports of the tree alone: the other figures take most of the time in which a page opens."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xoff.report.page.sections", lambda _runs: [])
        yield


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    scenario = tmp_path_factory.mktemp("tree") / "victim.toml"
    scenario.write_text(SCENARIO)
    return xoff.run(scenario)


@pytest.fixture(scope="module")
def file(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report([run], tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture
def page(browser: Browser, file: Path) -> Iterator[Page]:
    """The report of the run; when the test is over, nothing may have gone wrong or been asked from the network."""
    page = browser.new_page(viewport={"width": 1320, "height": 1000})
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: wrong.append(request.url) if request.url != file.as_uri() else None)
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-drawn]", timeout=60_000)
    page.locator("#tree-map").scroll_into_view_if_needed()
    yield page
    page.close()
    assert wrong == []


SPY = """
const texts = new Map();
const { clearRect, fillText } = CanvasRenderingContext2D.prototype;
CanvasRenderingContext2D.prototype.clearRect = function (...box) {
  texts.set(this.canvas, []);
  clearRect.apply(this, box);
};
CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
  const size = this.measureText(text), at = (x, y) => new DOMPoint(x, y).matrixTransform(this.getTransform());
  const low = at(x - size.actualBoundingBoxLeft, y - size.actualBoundingBoxAscent);
  const high = at(x + size.actualBoundingBoxRight, y + size.actualBoundingBoxDescent);
  texts.get(this.canvas)?.push([text, low.x, low.y, high.x, high.y]);
  fillText.call(this, text, x, y);
};
globalThis.painted = () => canvases(document.getElementById("tree-map")).flatMap((canvas) => texts.get(canvas) ?? []);
"""
"""Keeps what is written on canvases since they were last wiped, with the places of the letters."""

CANVASES = """
const canvases = (node) => [...node.children].flatMap((child) => [
  ...(child.matches("canvas") ? [child] : []),
  ...(child.shadowRoot ? canvases(child.shadowRoot) : []),
  ...canvases(child),
]);
"""

WATCH = """
globalThis.frames = [];
const isOrange = (canvas) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data
  .some((red, at, data) => at % 4 === 0 && red === 0xE6 && data[at + 1] === 0x9F && data[at + 2] === 0);
const isSeen = (element) => getComputedStyle(element).visibility === "visible";
const watch = () => {
  const legend = document.querySelector(".legend-states"), map = document.getElementById("tree-map");
  if (legend && map && isSeen(legend)) frames.push({
    paused: Number(legend.querySelector("li[data-state='5'] b").innerText),
    orange: canvases(map).some((canvas) => canvas.width && isSeen(canvas) && isOrange(canvas)),
  });
  requestAnimationFrame(watch);
};
requestAnimationFrame(watch);
"""
"""Keeps for each frame how many ports are said to be paused, where that can be seen, and whether such can be."""


def texts(page: Page) -> dict[str, list[float]]:
    """What is written on the map, and from where to where: left, top, right and bottom."""
    page.wait_for_timeout(300)
    found: dict[str, list[float]] = {}
    for text, *box in page.evaluate("painted()"):
        # Whatever is written has its rim first, at the same place.
        assert found.setdefault(text, box) == box, text
    return found


def zoom(page: Page, steps: int, at: tuple[float, float] = (0.3, 0.5)) -> None:
    box = page.locator(".tree .map").bounding_box()
    assert box
    page.mouse.move(box["x"] + at[0] * box["width"], box["y"] + at[1] * box["height"])
    page.keyboard.down("Control")
    for _ in range(abs(steps)):
        page.mouse.wheel(0, -100 if steps > 0 else 100)
        page.wait_for_timeout(60)
    page.keyboard.up("Control")


def place(page: Page, port: str) -> tuple[float, float]:
    """Where a port is drawn, in pixels of the window."""
    page.locator("#tree-map").scroll_into_view_if_needed()
    box = page.locator("#tree-map").bounding_box()
    found = page.evaluate("name => congestionTree.place(name)", port)
    assert box
    return box["x"] + found["x"], box["y"] + found["y"]


def orange_pixels(page: Page, port: str) -> int:
    """Pixels around a port that have the colour of paused ports."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    x, y = place(page, port)
    shot = page.screenshot(clip={"x": x - 8, "y": y - 8, "width": 16, "height": 16})
    pixels = np.rint(np.asarray(imread(io.BytesIO(shot), format="png"))[..., :3] * 255)
    return int((pixels == ORANGE).all(axis=-1).sum())


def now_ps(page: Page) -> float:
    value, unit = page.locator("#tree-time").inner_text().split()
    assert unit == "us"
    return float(value) * 1e6


def count(page: Page, state: str) -> int:
    return int(page.locator(f".legend-states li:has-text('{state}') b").first.inner_text())


def active(run: Run, table: str, time_ps: float) -> set[str]:
    """Ports with a row of a table that spans a time."""
    data = pl.DataFrame(run.table(table)).with_columns(pl.col("port").cast(pl.String))
    begun = pl.col("start_ps") <= time_ps
    return set(data.filter(begun & (time_ps < pl.col("start_ps") + pl.col("length_ps")))["port"])


def test_the_slider_shows_what_the_tables_say(page: Page, run: Run) -> None:
    slider = page.locator("#tree-slider")
    box = slider.bounding_box()
    assert box
    seen = set()
    for share in (0.1, 0.35, 0.6):
        slider.click(position={"x": box["width"] * share, "y": box["height"] / 2})
        time = now_ps(page)
        assert time == pytest.approx(share * run.manifest["sim_time_ps"], rel=0.1)
        paused, roots = active(run, "pauses", time), active(run, "roots", time)
        # A port with two priorities could be both, one with a single priority cannot.
        assert (count(page, "paused"), count(page, "congested root")) == (len(paused), len(roots))
        assert (orange_pixels(page, TRUNK) > 10) == (TRUNK in paused)
        seen.add(TRUNK in paused)
    page.keyboard.press("End")
    assert count(page, "paused") == 0
    assert orange_pixels(page, TRUNK) == 0
    # The page opens when most ports are paused, so the trunk was seen in one state at least.
    assert seen


def test_keys_move_in_time(page: Page, run: Run) -> None:
    page.locator("#tree").focus()
    page.keyboard.press("Home")
    assert now_ps(page) == 0
    page.keyboard.press("ArrowRight")
    step = now_ps(page)
    assert 0 < step <= run.manifest["sim_time_ps"] / 100
    page.keyboard.press("Shift+ArrowRight")
    assert now_ps(page) == pytest.approx(11 * step)
    page.keyboard.press("ArrowLeft")
    assert now_ps(page) == pytest.approx(10 * step)
    # The first change of congestion is the first root, or the first pause.
    page.keyboard.press("Home")
    page.keyboard.press(".")
    starts = [pl.DataFrame(run.table(table))["start_ps"].min() for table in ("pauses", "roots")]
    assert now_ps(page) == pytest.approx(min(float(str(start)) for start in starts), abs=500)
    page.keyboard.press(",")
    assert now_ps(page) == pytest.approx(min(float(str(start)) for start in starts), abs=500)


def test_play_moves_and_stops(page: Page) -> None:
    page.locator("#tree").focus()
    page.keyboard.press("Home")
    page.locator("#tree-play").click()
    assert page.locator("#tree-play").inner_text() == "Pause"
    page.wait_for_function("() => Number(document.getElementById('tree-slider').value) > 5")
    page.locator("#tree-map").hover()
    page.locator("#tree-play").click()
    stopped = now_ps(page)
    assert page.locator("#tree-play").inner_text() == "Play"
    page.wait_for_timeout(200)
    assert now_ps(page) == stopped > 0


def test_a_click_on_a_port_shows_its_queue_and_pauses(page: Page, run: Run) -> None:
    page.mouse.click(*place(page, TRUNK))
    details = page.locator("#tree-details")
    details.locator("h4:has-text('Port')").wait_for()
    text = details.inner_text()
    assert f"Port {TRUNK}" in text
    pauses = pl.DataFrame(run.pauses).filter(pl.col("port").cast(pl.String) == TRUNK)
    assert f"Paused {len(pauses)} times" in text
    assert "1 link from a root" in text
    # One line for the queue, and lanes for the states.
    page.wait_for_selector("#tree-chart .scatterlayer .trace path", state="attached")
    assert "queue (KB)" in page.locator("#tree-chart").inner_text()
    # A root says what it stopped: the trunk, and for that the three senders.
    page.mouse.click(*place(page, ROOT))
    page.locator(f"#tree-details h4:has-text('{ROOT}')").wait_for()
    spread = page.locator("#tree-spread").inner_text()
    assert "1 link from the root" in spread
    assert "2 links from the root" in spread
    assert "Congested root" in details.inner_text()
    # A click beside all ports lets go of it.
    box = page.locator("#tree-map").bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 5)
    page.wait_for_function("() => document.getElementById('tree-details').childElementCount === 0")


def test_clicks_that_follow_each_other_at_once_all_count(page: Page) -> None:
    places = [place(page, port) for port in (TRUNK, ROOT, TRUNK)]
    for x, y in places:
        page.mouse.click(x, y)
    page.locator(f"#tree-details h4:has-text('{TRUNK}')").wait_for()
    page.mouse.click(*places[1])
    page.locator(f"#tree-details h4:has-text('{ROOT}')").wait_for()


def test_a_click_on_a_victim_shows_where_it_waited(page: Page, run: Run) -> None:
    flows = pl.DataFrame(run.flows)
    assert flows.filter("hol_blocked")["id"].to_list() == [2]
    rows = page.locator("#tree-victims tr[data-go]")
    assert rows.count() == 1
    rows.first.click()
    details = page.locator("#tree-details")
    assert "Flow 2: sender2 to receiver1 (victim)" in details.inner_text()
    assert "A victim" in details.inner_text()
    # Its path has three ports. The trunk stood still as often as its pauses meet the flow's life.
    hops = [line.split("\t") for line in details.locator("table").inner_text().splitlines()[1:]]
    assert [hop[0] for hop in hops] == ["sender2->switch1", TRUNK, "switch2->receiver1"]
    end = int(flows["start_ps"][2]) + int(flows["fct_ps"][2])
    trunk = pl.DataFrame(run.pauses).filter((pl.col("port").cast(pl.String) == TRUNK) & (pl.col("start_ps") < end))
    assert int(hops[1][2]) == len(trunk) > 0
    assert hops[2][1:3] == ["0 ps", "0"]
    page.wait_for_selector("#tree-chart .scatterlayer .trace path", state="attached")
    # From there to the port.
    details.locator(f"a:has-text('{TRUNK}')").click()
    page.locator(f"#tree-details h4:has-text('Port {TRUNK}')").wait_for()


def test_each_run_of_a_page_can_be_chosen(browser: Browser, run: Run, tmp_path: Path) -> None:
    scenario = tmp_path / "bare.toml"
    scenario.write_text(SCENARIO[: SCENARIO.index("[record]")].replace('"50KB"', '"5MB"'))
    bare = xoff.run(scenario)
    run.write(tmp_path / "full")
    bare.write(tmp_path / "bare")
    file = write_report([run, bare], tmp_path / "report.html")
    page = browser.new_page()
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-drawn]", timeout=60_000)
    assert page.locator("#tree-victims-title").is_visible()
    # What one of them lacks is said in one place.
    assert page.locator("td.key:text-is('record.roots=true')").count() == 1
    # However fast one follows the other, the last one chosen is what stands there, once.
    for label in ("bare", "full", "bare"):
        page.locator("#tree-run").select_option(label=label)
    # Between two drawings the page is busy without a pause.
    page.locator("#tree[data-run='1'][aria-busy='false']").wait_for(timeout=60_000)
    assert page.locator("#tree[data-run='1']").count() == 1
    assert page.locator("#tree-map > .bk-Plot").count() == 1
    # Nothing was sampled, and nothing stopped.
    assert count(page, "not recorded") == bare.ports.num_rows
    assert not page.locator("#tree-victims-title").is_visible()
    assert page.locator("#tree-slowest-title").inner_text() == "Flows, the slowest first"
    page.close()


def test_what_is_idle_and_what_is_not_recorded_look_different(browser: Browser, tmp_path: Path) -> None:
    # Nothing is sent from some 500 us on. The trunk is horizontal: solid where its ports are idle, dashed where no
    # table says so, with 7 pixels of grey between two gaps.
    longest = {}
    for recorded in (True, False):
        sampled = SCENARIO if recorded else SCENARIO.replace("utilization = true\n", "").replace("roots = true\n", "")
        (tmp_path / "calm.toml").write_text(sampled)
        calm = xoff.run(tmp_path / "calm.toml", sets={"run.duration": "1ms", "run.stop": "time"})
        page = browser.new_page(viewport={"width": 1320, "height": 1000}, color_scheme="light")
        page.goto(write_report([calm], tmp_path / "report.html").as_uri())
        page.wait_for_selector("html[data-drawn]", timeout=60_000)
        page.locator("#tree-slider").press("End")
        assert count(page, "idle" if recorded else "not recorded") == calm.ports.num_rows
        page.locator("#tree[aria-busy='false']").wait_for()
        shot = imread(io.BytesIO(page.locator("#tree-map").screenshot()), format="png")[..., :3] * 255
        # The grey of the lines is #cfd6dd, and a line between two rows of pixels is half of that on #f6f8fa.
        grey = np.all((shot > 190) & (shot < 240), axis=-1)
        longest[recorded] = max(len(list(own)) for row in grey for is_grey, own in groupby(row) if is_grey)
        page.close()
    assert longest[True] > 100
    assert longest[False] < 14


def test_the_numbers_are_seen_with_what_they_count(browser: Browser, run: Run, tmp_path: Path) -> None:
    scenario = tmp_path / "calm.toml"
    scenario.write_text(SCENARIO.replace('"50KB"', '"5MB"'))
    run.write(tmp_path / "full")
    xoff.run(scenario).write(tmp_path / "calm")
    file = write_report([run, xoff.load(tmp_path / "calm")], tmp_path / "report.html")
    page = browser.new_page()
    page.add_init_script(CANVASES + WATCH)
    page.goto(file.as_uri())
    for number in ("0", "1", "0"):
        page.locator(f"#tree-run option[value='{number}']").wait_for(state="attached", timeout=60_000)
        page.locator("#tree-run").select_option(value=number)
        page.locator(f"#tree[data-run='{number}']").wait_for(timeout=60_000)
        page.wait_for_timeout(300)
    frames = page.evaluate("frames")
    assert all((frame["paused"] > 0) == frame["orange"] for frame in frames)
    # Only what each of the runs opens with was ever to be seen.
    seen = [paused for paused, _ in groupby(frame["paused"] for frame in frames)]
    assert seen == [seen[0], 0, seen[0]]
    assert seen[0] > 0
    page.close()


def test_nothing_is_drawn_over_the_buttons(page: Page) -> None:
    zoom(page, 8, at=(0.25, 0.5))
    page.wait_for_timeout(700)
    box = page.locator(".tree .map").bounding_box()
    assert box
    shot = page.screenshot(clip=box)
    pixels = np.rint(np.asarray(imread(io.BytesIO(shot), format="png"))[..., :3] * 255)
    columns = np.flatnonzero((pixels == ORANGE).all(axis=-1).any(axis=0))
    # The trunk goes on beyond the picture's right edge, at which the buttons stand.
    assert box["width"] - 34 < columns.max() < box["width"] - 28


NETWORKS = {
    "leaf_spine": ("leaves = 4\nspines = 4\nhosts_per_leaf = 8", "host0", "host9"),
    "fat_tree": ("k = 8", "host0", "host1"),
    "dumbbell": ("switches = 3\nsenders = 40\nreceivers = 2", "receiver0", "receiver1"),
}


@pytest.fixture(scope="module", params=NETWORKS)
def incasts(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A topology, and the report of two incasts in it."""
    keys, *receivers = NETWORKS[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    text = f"[topology]\nname = '{request.param}'\n{keys}\n" + SCENARIO[SCENARIO.index("[scheme]") :]
    text = text[: text.index("[[traffic]]")] + text[text.index("[record]") :]
    for receiver in receivers:
        text += f"[[traffic]]\npattern = 'incast'\nsenders = 12\nreceiver = '{receiver}'\nsize = '200KB'\n"
    (folder / "incasts.toml").write_text(text)
    return request.param, write_report([xoff.run(folder / "incasts.toml")], folder / "report.html")


def test_the_number_of_a_root_stands_there_while_it_is_one(browser: Browser, file: Path) -> None:
    page = browser.new_page(viewport={"width": 1300, "height": 1000})
    page.add_init_script(CANVASES + SPY)
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-drawn]", timeout=60_000)
    # The page opens when most ports are paused, for the sake of a root.
    assert count(page, "congested root") == 1
    assert "1" in texts(page)
    page.locator("#tree").focus()
    for key, roots in (("Home", 0), (".", 1), ("End", 0)):
        page.keyboard.press(key)
        assert count(page, "congested root") == roots
        assert ("1" in texts(page)) == (roots == 1)
    page.close()


def test_no_text_is_written_over_another_at_any_zoom(browser: Browser, incasts: tuple[str, Path]) -> None:
    topology, file = incasts
    page = browser.new_page(viewport={"width": 1300, "height": 1000})
    page.add_init_script(CANVASES + SPY)
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-drawn]", timeout=60_000)
    page.locator("#tree-map").scroll_into_view_if_needed()
    seen: dict[tuple[int, int], set[str]] = {}
    # The map is never narrower than at a width of 1000 or so.
    for width, path in ((1300, (0, 2, 3, -8)), (700, (0, -8))):
        page.set_viewport_size({"width": width, "height": 1000})
        for steps in path:
            zoom(page, steps)
            boxes = texts(page)
            seen[width, steps] = set(boxes)
            for (one, a), (other, b) in combinations(boxes.items(), 2):
                apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
                assert apart, f"{one} and {other} after {steps} steps, at {width} pixels"
    opened = seen[1300, 0]
    switch, first, last = {
        "leaf_spine": ("leaf0", "host0 to", "host31"),
        "fat_tree": ("core0", "host0 to", "host127"),
        "dumbbell": ("switch1", "sender0 to", "sender39"),
    }[topology]
    assert {switch, first, last, "1"} <= opened
    # The names that have no room as it opens have it later; a root's number has it at any zoom.
    assert {"leaf_spine": "host9", "fat_tree": "edge9", "dumbbell": "sender9"}[topology] in seen[1300, 3] - opened
    assert "1" in seen[1300, -8]
    page.close()
