"""How long a step of the report's time slider takes in headless Chromium, on a fat-tree of 1,024 hosts.

    python benches/congestion_tree.py [PAGE]

Without a page, it runs an incast of 200 hosts beside a permutation of all, with everything recorded, and writes its
report first. A step is measured from the slider's event to the moment at which the page has the frame after the one
that draws it, so that no step is below a frame's time; the idle page's own frames stand beside it.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import xoff

SCENARIO = """
title = "Incast and a permutation on 1,024 hosts"
[topology]
name = "fat_tree"
k = 16
rate = "100Gbps"
delay = "1us"
[scheme]
name = "dcqcn"
[detector]
name = "tcd"
[flow_control]
name = "pfc"
xoff = "100KB"
[run]
duration = "200us"
[[traffic]]
pattern = "permutation"
size = "1MB"
[[traffic]]
pattern = "incast"
senders = 200
receiver = "host0"
size = "100KB"
start = "20us"
[record]
interval = "1us"
queues = "all"
utilization = true
roots = true
states = "all"
"""

STEPS = """async (count) => {
  const slider = document.getElementById("tree-slider");
  const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const found = { idle: [], script: [], step: [] };
  const whole = Number(slider.max);
  for (let step = 0; step < count; step++) {
    let begin = performance.now();
    await frames();
    found.idle.push(performance.now() - begin);
    begin = performance.now();
    slider.value = Math.round(whole * (step + 0.5) / count);
    slider.dispatchEvent(new Event("input"));
    found.script.push(performance.now() - begin);
    await frames();
    found.step.push(performance.now() - begin);
  }
  return found;
}"""


def measure(page_file: Path, steps: int) -> dict[str, Any]:
    """Milliseconds of each step over the whole time of the page."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1320, "height": 900})
        page.goto(page_file.resolve().as_uri())
        page.wait_for_selector("html[data-drawn]", timeout=300_000)
        page.locator("#tree-map").scroll_into_view_if_needed()
        found: dict[str, Any] = page.evaluate(STEPS, steps)
        browser.close()
    return found


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description="A step of the congestion tree's slider, in ms.")
    parser.add_argument("page", nargs="?", type=Path)
    parser.add_argument("--steps", type=int, default=100)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page = given.page
        if page is None:
            scenario = Path(folder) / "large.toml"
            scenario.write_text(SCENARIO)
            page = xoff.run(scenario).report(Path(folder) / "report.html")
        print(f"{page.stat().st_size / 1e6:.1f} MB")
        for name, values in measure(page, given.steps).items():
            print(f"{name:<7} median {statistics.median(values):6.1f} ms, most {max(values):6.1f} ms")


if __name__ == "__main__":
    main()
