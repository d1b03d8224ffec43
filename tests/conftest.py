"""What the tests share: a command line in a process of its own, and small scenarios."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import forked

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parent.parent

# A shell starts what runs in its background with Ctrl-C ignored, and `nohup` with SIGHUP ignored; what tests send to
# commands has to arrive also there.
for _number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler)

Command = Callable[..., "subprocess.CompletedProcess[str]"]

# One flow of 1 MB over one switch.
SMALL = """
[topology]
name = "star"
hosts = 3
rate = "100Gbps"
delay = "1us"

[scheme]
name = "none"

[[traffic]]
pattern = "flow"
src = "host1"
dst = "host0"
size = "1MB"
"""

# Flows that never end, for longer than any test waits.
ENDLESS = """
[topology]
name = "star"
hosts = 3

[scheme]
name = "hpcc"

[run]
duration = "100s"

[[traffic]]
pattern = "flow"
src = "host1"
dst = "host0"

[record]
interval = "100ms"
queues = "switches"
"""


@pytest.fixture
def started_command(tmp_path: Path) -> Command:
    """Start Python to run `xoff` with these arguments in `tmp_path`."""

    def run(*arguments: str | Path, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "xoff", *map(str, arguments)]
        return subprocess.run(line, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)

    return run


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """Run `xoff` with these arguments in `tmp_path`, in a process that has imported it already."""

    def run(*arguments: str | Path, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        return forked.run([*map(str, arguments)], cwd, timeout=300)

    return run


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A scenario file that runs in no time."""
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    return file


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real browser."""
    from playwright.sync_api import sync_playwright

    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    assert chromium, "the report's test needs Chromium: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        yield browser
        browser.close()
