"""Every page that xoff makes, in a real browser: nothing leads to a server, and names do nothing but stand there."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from matplotlib.image import imread
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

import hostile
import xoff
from conftest import ROOT, Command
from open_paper import PAPER as OPEN
from own_paper import PAPER as OWN
from test_compare import TINY
from xoff.papers.reproduction import reproduce, survey_readings
from xoff.report.article import ClaimRow, write_page
from xoff.report.explore.page import write_explorer
from xoff.report.figures import FigureFile, canvas
from xoff.report.page import write_report
from xoff.runs.executor import Local
from xoff.runs.scenario import Scenario
from xoff.studies.compare import compare
from xoff.studies.sweep import sweep
from xoff.studies.sweep.page import write_sweep_report
from xoff.studies.tune import tune
from xoff.studies.tune.page import write_tune_report

PAGES = ("report", "comparison", "explore", "sweep", "tune", "survey", "paper", "readings", "article")

MADE_BY = {
    "report.html": {"report", "comparison"},
    "explore.html": {"explore"},
    "sweep.html": {"sweep"},
    "tune.html": {"tune"},
    "article.html": {"survey", "paper", "readings", "article"},
}
"""Which pages a template makes."""

BUTTONS = ["Download plot", "Zoom", "Pan", "Zoom in", "Zoom out", "Autoscale", "Reset axes"]
"""All buttons of a plot. None sends anything anywhere."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Each page, of runs with hostile names where a page shows names."""
    folder = tmp_path_factory.mktemp("pages")
    text = hostile.scenario()
    (folder / "hostile.toml").write_text(text, "utf-8")
    run = xoff.run(folder / "hostile.toml")
    runs = []
    for name in (hostile.IMAGE, hostile.LINK.replace("/", "")):
        run.write(folder / name)
        runs.append(xoff.load(folder / name))
    labels = '[sweep]\n"traffic.0.label" = ["{}", "<img src=x onerror=hacked=1>"]\nseed = [1, 2]\n'
    sweep(Scenario(text + labels.format("<b>bold"), "hostile.toml", "."), folder / "sweep", Local(2), quiet=True)
    keys = '[tune]\nobjective = ["slowdown_p99", "slowdown_mean"]\ntrials = 6\nseeds = [1, 2]\nkeys.'
    keys += '"traffic.0.label" = ["<b>bold", "<img src=x onerror=hacked=1>"]\n'
    keys += 'keys."packets.mtu" = { from = "800B", to = "1518B" }\n'
    tune(Scenario(text + keys, "hostile.toml", "."), folder / "tune", Local(2), quiet=True)
    compare(folder / "survey", "hpcc, dcqcn", scale=TINY)
    reproduce(OWN, folder / "paper", None, quick=False)
    survey_readings(OPEN, folder / "readings", None, quick=True, trials=0)
    with canvas() as (figure, axes):
        axes.set_title(hostile.SCRIPT)
        figure.savefig(folder / "drawn.svg")
    texts = [*hostile.HOSTS, "`" + hostile.IMAGE]
    write_page(
        folder / "article.html",
        title=hostile.SCRIPT,
        lead=hostile.IMAGE + " and `code`",
        banner=hostile.LINK,
        claims=[ClaimRow(each, each, each, each, [each, each], "direction", each, [[each] * 5]) for each in texts],
        figures=[FigureFile("drawn", hostile.IMAGE, hostile.SCRIPT)],
        tables=[(each, each, [each], [[each]]) for each in texts],
    )
    return {
        "report": write_report([run], folder / "report.html"),
        "comparison": write_report(runs, folder / "comparison.html"),
        "explore": write_explorer(runs, folder / "explore.html"),
        "sweep": write_sweep_report(folder / "sweep", folder / "sweep.html"),
        "tune": write_tune_report(folder / "tune", folder / "tune.html"),
        "survey": folder / "survey" / "index.html",
        "paper": folder / "paper" / "index.html",
        "readings": folder / "readings" / "index.html",
        "article": folder / "article.html",
    }


class Opened:
    """A page in a browser, and everything that it did besides standing there."""

    def __init__(self, context: BrowserContext, file: Path) -> None:
        self.wrong: list[str] = []
        self.file = file
        self.page: Page = context.new_page()
        context.on("request", self._asked)
        context.on("page", lambda page: self.wrong.append(f"opened {page.url}"))
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("dialog", lambda dialog: self.wrong.append(f"asked {dialog.message}"))
        self.page.goto(file.as_uri())
        self._wait_for_figures()

    def resize(self, width: int) -> None:
        """Give the window another width, and wait until figures have followed it."""
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.wait_for_function(f"innerWidth === {width}")
        # A page that will draw its figures anew says so before the next frame; the explorer draws them in it.
        self.page.evaluate("new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)))")
        self._wait_for_figures()

    def _wait_for_figures(self) -> None:
        if "DecompressionStream" in self.file.read_text("utf-8"):
            self.page.wait_for_selector("html[data-drawn]", timeout=60_000)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.wrong.append(message.text)

    def _asked(self, request: Request) -> None:
        # Data that stand on the page, and blobs that it makes itself, come from no network.
        if not request.url.startswith((self.file.as_uri(), "data:", "blob:")):
            self.wrong.append(request.url)


@pytest.fixture(scope="module", params=PAGES)
def opened(request: pytest.FixtureRequest, pages: dict[str, Path], browser: Browser) -> Iterator[Opened]:
    """A page that tests share: none of them undoes what another looks for."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000}, accept_downloads=True)
    yield Opened(context, pages[request.param])
    context.close()


def test_these_are_all_pages() -> None:
    extending = {
        template.name
        for template in (ROOT / "python" / "xoff").rglob("*.html")
        if re.search('<!doctype|extends "(base|page).html"', template.read_text("utf-8"))
    }
    assert extending - {"base.html", "page.html"} == set(MADE_BY)
    assert set().union(*MADE_BY.values()) == set(PAGES)


def test_nothing_on_a_page_leads_to_a_server(opened: Opened) -> None:
    page = opened.page
    bars = page.query_selector_all(".modebar")
    assert len(bars) == len(page.query_selector_all(".plot"))
    for bar in bars:
        assert bar.eval_on_selector_all(".modebar-btn", "all => all.map((each) => each.dataset.title)") == BUTTONS
    # The buttons of plots show on hover, so they are pressed by the program.
    page.evaluate("document.querySelectorAll('.modebar-btn').forEach((button) => button.click())")
    away = "each => each.href && !each.href.startsWith(location.href.split('#')[0])"
    assert page.evaluate(f"[...document.querySelectorAll('a, area, form, iframe')].filter({away}).length") == 0
    words = page.evaluate("document.documentElement.outerHTML.replace(/<script.*?<\\/script>/gs, '')")
    assert not re.search(r"share chart|plotly cloud|chart studio", words, re.IGNORECASE)
    page.wait_for_timeout(300)
    assert opened.wrong == []


def test_a_page_runs_no_script_but_its_own_and_asks_no_server(browser: Browser, tmp_path: Path) -> None:
    # As if a name came into the page as HTML after all.
    write_page(tmp_path / "page.html", title="T", lead="L", banner="", figures=[])
    text = (tmp_path / "page.html").read_text("utf-8")
    harm = '<script>hacked=1</script><img src="data:," onerror="hacked=1"><img src="https://example.com/a.png">'
    (tmp_path / "page.html").write_text(text.replace("<main>", f"<main>{harm}"), "utf-8")
    context = browser.new_context()
    refused: list[str | None] = []
    context.on("requestfailed", lambda request: refused.append(request.failure))
    opened = Opened(context, tmp_path / "page.html")
    opened.page.wait_for_timeout(300)
    assert opened.page.evaluate("typeof hacked") == "undefined"
    # The picture is asked for, and refused by the page's policy before anything leaves the browser.
    assert refused == ["csp"]
    said = [each for each in opened.wrong if each != "https://example.com/a.png"]
    assert len(said) == 3
    assert all("Content Security Policy" in each for each in said)
    context.close()


def test_names_do_nothing_but_stand_there(opened: Opened) -> None:
    page = opened.page
    # What is folded is a page's too, and so are the details of a port and of a flow.
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    for rows in ("#tree-roots", "#tree-slowest"):
        for row in page.query_selector_all(f"{rows} tr[data-go]"):
            row.click()
    page.wait_for_timeout(300)
    assert page.evaluate("typeof hacked") == "undefined"
    # No name has become a picture, a link or bold.
    assert page.locator("img:not(figure > img), figure img:not([src^='data:image/svg+xml'])").count() == 0
    assert page.locator("svg a, main a[href]:not([href^='#'])").count() == 0
    assert (
        page.evaluate("""[...document.querySelectorAll('.plot text, .plot tspan, #tree-chart text, #tree-chart tspan')]
        .filter((text) => text.style.fontWeight === 'bold').length""")
        == 0
    )
    text = page.evaluate("document.title + document.body.textContent")
    # Nothing turns the writing or wipes it.
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", text)
    assert opened.wrong == []


def test_names_are_shown_as_they_are(pages: dict[str, Path], browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    opened = Opened(context, pages["report"])
    page = " ".join((opened.page.locator("main").text_content() or "").split())
    for name in (
        hostile.SCRIPT,
        hostile.IMAGE,
        hostile.RICH,
        hostile.TEX,
        r"\u202egnorw\u2066",
        r"\x1b[2Jgone\x07",
    ):
        assert name in page
    # Ports that had a queue: those to all hosts, and that of the host to which all others send.
    ports = opened.page.locator("#max-queue-by-port").text_content() or ""
    for name in (r"switch->\u202egnorw\u2066", r"switch->\x1b[2Jgone\x07", f"{hostile.SCRIPT}->switch"):
        assert name in ports
    assert opened.page.title().startswith(hostile.SCRIPT)
    context.close()


@pytest.mark.parametrize("width", [400, 1280])
def test_long_names_are_cut(browser: Browser, tmp_path: Path, width: int) -> None:
    hosts = [hostile.LONG[:100_000] + end for end in "abc"]
    (tmp_path / "long.toml").write_text(hostile.scenario(hostile.LONG, hostile.LONG, hosts))
    run = xoff.run(tmp_path / "long.toml")
    # A manifest may hold a longer one than a scenario's file.
    run.manifest["scenario"]["title"] = hostile.LONG * 10
    file = write_report([run, run], tmp_path / "report.html")
    # plotly.js and BokehJS take most of it.
    assert file.stat().st_size < 4_000_000
    context = browser.new_context(viewport={"width": width, "height": 1000})
    opened = Opened(context, file)
    page = opened.page
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    longest = "document.body.innerText.match(/\\S+/g).reduce((most, word) => Math.max(most, word.length), 0)"
    assert page.evaluate(longest) <= 100
    assert page.locator("h1").inner_text().count("\N{HORIZONTAL ELLIPSIS}") == 1
    # Hosts whose names differ at their ends stay apart.
    for end in "bc":
        assert page.locator(f"#tree-roots, #tree-slowest >> text=/ong{end} to/").count() > 0
    assert opened.wrong == []
    context.close()


@pytest.mark.parametrize("name", ["paper", "readings", "survey", "article"])
def test_pages_of_papers_follow_the_browsers_colours(browser: Browser, pages: dict[str, Path], name: str) -> None:
    backgrounds = {}
    for scheme in ("light", "dark"):
        context = browser.new_context(color_scheme=scheme)
        page = Opened(context, pages[name]).page
        text = page.locator("main").inner_text()
        assert "`" not in text.replace("`" + hostile.IMAGE, "")
        assert "<code>" not in text
        # Only the text of the driver has code in it.
        assert (page.locator("main code").count() > 0) == (name in ("paper", "readings", "article", "survey"))
        pixels = page.evaluate("""() => {
          const colour = (node) => getComputedStyle(node)[node === document.body ? "backgroundColor" : "color"];
          const grey = (text) => text.match(/\\d+/g).slice(0, 3).reduce((sum, each) => sum + Number(each), 0) / 3;
          const texts = document.querySelectorAll("h1, td:not([style]), th, figcaption, p, .verdict");
          return [document.body, ...texts].map(colour).map(grey);
        }""")
        ground, *inks = pixels
        backgrounds[scheme] = ground
        assert all(abs(ink - ground) > 80 for ink in inks), (scheme, pixels)
        for figure in page.query_selector_all("figure img"):
            shot = np.asarray(imread(io.BytesIO(figure.screenshot()), format="png"))[..., :3]
            # Most of a figure is its ground, which is as bright or dark as the page.
            assert abs(float(np.median(shot)) * 255 - ground) < 30
        context.close()
    assert backgrounds["light"] > 200
    assert backgrounds["dark"] < 50


def test_names_of_imported_files_and_own_schemes_do_nothing_either(
    browser: Browser, command: Command, tmp_path: Path
) -> None:
    nodes = [hostile.SCRIPT, hostile.RICH, "\u202egnorw"]
    hosts = "".join(f'<node id="{escape(node)}"/>' for node in nodes)
    links = "".join(f'<edge source="{escape(node)}" target="switch"/>' for node in nodes)
    graph = f'<graph edgedefault="undirected">{hosts}<node id="switch"/>{links}</graph>'
    (tmp_path / "net.graphml").write_text(f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{graph}</graphml>')
    own = '<img src=x onerror="hacked=1">[bold].py'
    (tmp_path / own).write_text((ROOT / "tests" / "own_schemes.py").read_text("utf-8"), "utf-8")
    text = hostile.scenario(hosts=nodes)
    whole = text[: text.index("[topology]")] + '[topology]\nname = "graph"\nfile = "net.toml"\n\n'
    (tmp_path / "own.toml").write_text(whole + text[text.index("[scheme]") :], "utf-8")
    for arguments in (
        ("import", "graphml", "net.graphml", "-o", "net.toml", "--rate", "100Gbps", "--delay", "1us"),
        ("run", "own.toml", "-o", "out", "--scheme", f"{own}:Aimd"),
        ("report", "out"),
    ):
        done = command(*arguments)
        assert done.returncode == 0, done.stderr
        assert not re.search("[\x00-\x09\x0b-\x1f\u202a-\u202e]", done.stdout + done.stderr)
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    opened = Opened(context, tmp_path / "out" / "report.html")
    text = " ".join((opened.page.locator("main").text_content() or "").split())
    for name in (hostile.SCRIPT, hostile.RICH, r"\u202egnorw"):
        assert name in text
    assert opened.page.evaluate("typeof hacked") == "undefined"
    assert opened.wrong == []
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_overview_of_a_survey_can_be_read_and_pointed_at(
    browser: Browser, pages: dict[str, Path], scheme: Literal["light", "dark"]
) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 1000}, color_scheme=scheme)
    opened = Opened(context, pages["survey"])
    page = opened.page
    cells = page.locator(".heat td[style]")
    assert cells.count() == 18
    # WCAG's contrast of the text with its cell.
    contrasts = cells.evaluate_all("""all => all.map((cell) => {
      const light = (text) => text.match(/\\d+/g).slice(0, 3).map((each) => each / 255)
        .map((each) => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4)
        .reduce((sum, each, index) => sum + each * [0.2126, 0.7152, 0.0722][index], 0);
      const style = getComputedStyle(cell);
      const [low, high] = [light(style.color), light(style.backgroundColor)].sort((a, b) => a - b);
      return (high + 0.05) / (low + 0.05);
    })""")
    assert min(contrasts) >= 4.5
    about = page.locator("#heat-about")
    assert about.is_hidden()
    cells.nth(0).hover()
    assert about.is_visible()
    assert about.inner_text().startswith("hpcc, dumbbell: utilization: ")
    page.keyboard.press("Escape")
    assert about.is_hidden()
    # A heading sorts by its column, and then gives the survey's order back.
    names = page.locator(".heat tbody th")
    before = names.all_inner_texts()
    orders = set()
    for head in page.locator(".heat thead button").all():
        head.click()
        orders.add(tuple(names.all_inner_texts()))
        first, last = page.locator(".heat tbody tr >> nth=0"), page.locator(".heat tbody tr >> nth=1")
        column = page.locator(".heat thead th[aria-sort=ascending]").evaluate("head => head.cellIndex - 1")
        values = [float(row.locator("td").nth(column).get_attribute("data-order") or "") for row in (first, last)]
        assert values == sorted(values)
        head.click()
        assert names.all_inner_texts() == before
    assert len(orders) == 2
    assert opened.wrong == []
    context.close()


def test_a_baseline_is_chosen_on_the_page(browser: Browser, pages: dict[str, Path]) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    opened = Opened(context, pages["sweep"])
    page = opened.page
    shown = page.locator("[data-baseline]:visible")
    assert shown.count() == 1
    before = shown.inner_text()
    page.locator("#baseline").select_option(index=1)
    assert shown.count() == 1
    assert shown.inner_text() != before
    assert opened.wrong == []
    context.close()


@pytest.mark.parametrize("name", ["explore", "sweep", "tune", "survey"])
def test_pages_of_many_runs_fit_every_width(browser: Browser, pages: dict[str, Path], name: str) -> None:
    context = browser.new_context(viewport={"width": 1920, "height": 900}, color_scheme="dark")
    opened = Opened(context, pages[name])
    for width in (1920, 1024, 400):
        opened.resize(width)
        assert opened.page.evaluate("document.documentElement.scrollWidth") == width
    assert opened.wrong == []
    context.close()


def test_the_page_of_a_tuning_draws_its_figures(browser: Browser, pages: dict[str, Path]) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    page = Opened(context, pages["tune"]).page
    for name in ("tune-front", "tune-history-0", "tune-history-1", "tune-contour-0"):
        assert page.locator(f"#{name} .main-svg").count() > 0
        assert page.locator(f"#{name} .scatterlayer .points path").count() > 0
    # Readable units, and what the scenario takes where one points.
    settings = page.locator("#trials td[title$='B']")
    assert settings.count() > 0
    assert re.fullmatch(r"[\d.]+ (B|KB)", settings.first.inner_text())
    context.close()
