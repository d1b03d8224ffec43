"""The report in a real browser: every plot is drawn, nothing is asked from the network, nothing goes wrong."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser

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
