"""The page that runs scenarios in a browser: the same runs as native ones, in a real browser, without a network."""

from __future__ import annotations

import base64
import importlib
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import expect

import xoff
from conftest import ENDLESS, ROOT, SMALL

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SIMULATOR = ROOT / "out" / "wasm" / "debug"

needs_simulator = pytest.mark.skipif(
    not (SIMULATOR / "xoff_wasm_bg.wasm").exists(), reason="there is no simulator: make wasm-for-tests"
)


@pytest.fixture(scope="module")
def docs() -> Iterator[Any]:
    """What finds a module of the site by its name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "docs"))
        yield importlib.import_module


@pytest.fixture(scope="module")
def run_links(docs: Any) -> Any:
    return docs("run_links")


@pytest.fixture(scope="module")
def file(docs: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page, as the site has it."""
    file = tmp_path_factory.mktemp("page") / "run.html"
    file.write_text(docs("run_page").page(ROOT / "scenarios", SIMULATOR), "utf-8")
    return file


@pytest.fixture(scope="module")
def page(browser: Browser, file: Path) -> Iterator[Page]:
    """The page in a browser; whatever goes wrong on it, or is asked from anywhere, fails the test that uses it last."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    own = (file.as_uri(), "blob:", "data:")
    page.on("request", lambda request: None if request.url.startswith(own) else wrong.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-fingerprint]", timeout=60_000)
    yield page
    page.close()
    assert not wrong


def open_link(page: Page, fragment: str) -> None:
    page.evaluate("delete document.documentElement.dataset.fingerprint")
    # The address may be the same already.
    page.evaluate(
        "hash => { history.replaceState(null, '', '#' + hash); dispatchEvent(new Event('hashchange')); }", fragment
    )


def fingerprint(page: Page) -> str:
    """The fingerprint of the run that the page shows next."""
    page.wait_for_selector("html[data-fingerprint]:not([data-busy=true])", timeout=60_000)
    return str(page.evaluate("document.documentElement.dataset.fingerprint"))


def tiles(page: Page) -> dict[str, str]:
    """The numbers of the run that the page shows."""
    names = page.locator("#numbers dt").all_inner_texts()
    return dict(zip(names, page.locator("#numbers dt + dd").all_inner_texts(), strict=True))


@needs_simulator
@pytest.mark.parametrize(
    "name",
    # PFC, credits, go-back-N, Ultra Ethernet, bit errors with retries, bursts, a file, a deadlock, closed loops, TCD.
    [
        "dumbbell", "infiniband_victim", "lossy", "uet_incast", "lossy_link", "bursts", "dragonfly_adversarial",
        "deadlock", "mpi_io", "congestion_tree",
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_run_in_the_browser_is_the_native_run(page: Page, name: str) -> None:
    native = xoff.run(ROOT / "scenarios" / f"{name}.toml")
    open_link(page, f"scenario={name}")
    assert fingerprint(page) == native.manifest["fingerprint"]
    shown, summary = tiles(page), native.manifest["summary"]
    assert shown["flows complete"] == f"{summary['completed']} of {summary['flows']}"
    assert shown["events"] == f"{native.manifest['events']:,}"
    assert shown["PAUSE frames"] == str(summary["pause_frames"])
    assert page.is_hidden("#fault")


@needs_simulator
def test_another_seed_is_another_run(page: Page) -> None:
    # A fingerprint that saw nothing would be equal for all.
    open_link(page, "scenario=fat_tree_permutation&set=topology.k=4&set=seed=1")
    one = fingerprint(page)
    open_link(page, "scenario=fat_tree_permutation&set=topology.k=4&set=seed=2")
    assert fingerprint(page) != one


@needs_simulator
def test_errors_stand_at_their_line(page: Page) -> None:
    open_link(page, "scenario=dumbbell")
    fingerprint(page)
    page.fill("#text", SMALL.replace("hosts = 3", "hosts = 3\nhots = 3"))
    page.wait_for_selector("#gutter .bad")
    # An empty line, [topology], name and hosts come before.
    assert page.inner_text("#gutter .bad") == "5"
    assert page.inner_text("#colours .c-bad") == "hots"
    problem = page.inner_text("#problems .problem")
    assert "line 5, column 1" in problem
    assert "hosts" in problem
    page.click("#problems button")
    caret = page.evaluate("document.getElementById('text').selectionStart")
    assert page.input_value("#text")[caret:].startswith("hots")
    page.click("#run")
    page.wait_for_selector("#fault:not([hidden])")
    assert "hots" in page.inner_text("#fault")
    page.fill("#text", SMALL)
    page.wait_for_selector("#problems .fine, #problems .warning")
    assert page.locator("#gutter .bad").count() == 0


@needs_simulator
def test_keys_and_values_are_completed_from_the_schema(page: Page) -> None:
    def choices(text: str) -> list[str]:
        page.fill("#text", text)
        page.locator("#text").press("Control+End")
        page.locator("#text").press("Control+ ")
        return page.locator("#choices:not([hidden]) li").all_inner_texts()

    assert "delay" in choices('[topology]\nname = "star"\nde')
    # Of a star, not of a fat-tree, and not what stands there already.
    found = choices('[topology]\nname = "star"\nhosts = 3\n')
    assert "rate" in found
    assert not {"k", "hosts", "name"} & set(found)
    assert '"hpcc"' in choices("[scheme]\nname = ")
    assert "flow_control" in choices("[flo")
    page.locator("#text").press("Enter")
    assert page.input_value("#text") == "[flow_control]"
    page.locator("#text").press("Control+z")
    assert page.input_value("#text") == "[flo"


@needs_simulator
def test_a_link_holds_the_scenario(page: Page, run_links: Any, small: Path) -> None:
    sets = ["traffic.0.size=2MB"]
    native = xoff.run(small, sets={"traffic.0.size": "2MB"})
    open_link(page, run_links.fragment(text=SMALL, sets=sets))
    expect(page.locator("#text")).to_have_value(SMALL)
    # A text of somebody else is not run before its reader says so: the page says what to press, and no run begins.
    expect(page.locator("#nothing")).to_have_text("The scenario is the link's. Press Run.")
    page.wait_for_timeout(500)
    assert page.evaluate("document.documentElement.dataset.fingerprint") is None
    assert "traffic.0.size = 2MB" in page.inner_text("#hint")
    page.click("#run")
    assert fingerprint(page) == native.manifest["fingerprint"]
    page.click("#share")
    expect(page.locator("#shared")).to_contain_text("link")
    linked = parse_qs(page.evaluate("location.hash.slice(1)"))
    packed = linked["text"][0]
    unpacked = zlib.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), -15)
    assert (unpacked.decode(), linked["set"]) == (SMALL, sets)


@needs_simulator
@pytest.mark.parametrize("fragment", ["text=AAAA", "text=%25", "scenario=__proto__", "scenario=nothing"])
def test_a_damaged_link_is_told(page: Page, fragment: str) -> None:
    open_link(page, fragment)
    expect(page.locator("#fault")).to_contain_text("The link")
    assert fingerprint(page)


@needs_simulator
def test_a_setting_is_turned_and_drawn_beside_the_old_one(page: Page) -> None:
    open_link(page, "scenario=incast")
    before = fingerprint(page)
    assert page.input_value("#knob") == "flow_control.xoff"
    page.evaluate("delete document.documentElement.dataset.fingerprint")
    page.fill("#slide", "0")
    after = fingerprint(page)
    assert page.inner_text("#value") == "25KB"
    native = xoff.run(ROOT / "scenarios" / "incast.toml", sets={"flow_control.xoff": "25KB"})
    assert after == native.manifest["fingerprint"] != before
    assert page.locator("#numbers .fingerprint dd").all_inner_texts() == [after, before]
    names = page.evaluate("document.getElementById('queues').data.map(({ name }) => name)")
    assert names == ["switch1->host0 (before)", "switch1->host0"]
    # The queue ends at what sixteen inputs hold: a quarter of the threshold, about a quarter of the queue.
    old, new = page.evaluate("document.getElementById('queues').data.map(({ y }) => Math.max(...y))")
    assert new < old / 2


@needs_simulator
def test_a_run_is_cancelled(page: Page, run_links: Any) -> None:
    open_link(page, run_links.fragment(text=ENDLESS))
    expect(page.locator("#text")).to_have_value(ENDLESS)
    page.click("#run")
    expect(page.locator("#progress span")).to_contain_text("simulated", timeout=30_000)
    page.click("#cancel")
    assert page.is_hidden("#progress")
    # The run's worker ends, for which Chromium takes two seconds; the one that checks scenarios is left.
    for _ in range(100):
        if len(page.workers) == 1:
            break
        page.wait_for_timeout(100)
    assert len(page.workers) == 1
    # The simulator is there for the next one.
    open_link(page, "scenario=incast")
    assert fingerprint(page) == xoff.run(ROOT / "scenarios" / "incast.toml").manifest["fingerprint"]


@needs_simulator
def test_the_tree_shows_who_is_paused(page: Page) -> None:
    open_link(page, "scenario=incast")
    fingerprint(page)
    # The page opens when most ports are paused: the sixteen senders, host1 to host16, for the receiver's port.
    spread = page.evaluate("document.getElementById('spread').data.map(({ name, y }) => [name, Math.max(...y)])")
    assert spread == [["paused ports", 16], ["congested roots", 1]]
    box = page.locator("#tree").bounding_box()
    assert box
    # The last of seventeen hosts in a row, each in the middle of its place; the drawing has a margin of 14 pixels.
    place = {"x": 14 + 16.5 / 17 * (box["width"] - 28), "y": 14 + 0.92 * (box["height"] - 28) - 3}
    page.locator("#tree").hover(position=place)  # type: ignore[arg-type]
    assert page.inner_text("#at").startswith("host16->switch1: paused from")


def test_a_page_without_a_simulator_says_so(docs: Any, browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "run.html"
    file.write_text(docs("run_page").page(ROOT / "scenarios", tmp_path), "utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    page.wait_for_selector("#fault:not([hidden])")
    assert "without the simulator" in page.inner_text("#fault")
    page.close()


def test_examples_are_found(run_links: Any) -> None:
    known: dict[str, str] = {}
    text = '# first.toml\n[topology]\nname = "star"\n[scheme]\nname = "none"\n[[traffic]]\npattern = "flow"\n'
    (shown,) = run_links.examples(text, "toml", known)
    assert shown[0] == "first.toml"
    assert run_links.examples("[scheme]\nname = 'none'", "toml", known) == []
    block = "xoff check first.toml\nxoff run first.toml -o out --set a.b=1 \\\n  --seed 7\n"
    block += "xoff run scenarios/incast.toml -o x"
    mine, ready = run_links.examples(block, "sh", known)
    assert mine[0] == "first.toml, a.b=1, seed=7"
    assert parse_qs(mine[1])["set"] == ["a.b=1", "seed=7"]
    assert ready == ("incast", "scenario=incast")
    assert run_links.examples('xoff.run("scenarios/dumbbell.toml")', "python", known) == [
        ("dumbbell", "scenario=dumbbell")
    ]
    assert run_links.to_page("docs/guide", "x") == "../run.html#x"
    assert run_links.to_page("index") == "run.html"


def test_every_file_that_a_ready_scenario_names_is_on_the_page(docs: Any) -> None:
    found = docs("run_page").ready(ROOT / "scenarios")
    assert set(found["ready"]) == {file.stem for file in (ROOT / "scenarios").glob("*.toml")}
    assert set(found["files"]) == {"dragonfly/adversarial.txt"}
    assert json.dumps(found)
