"""`xoff run --live`: the page that grows, who may see it, and that a run does not notice."""

from __future__ import annotations

import http.client
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

import xoff
from conftest import ENDLESS, ROOT, Command

LIVE = ENDLESS.replace('interval = "100ms"', 'interval = "100us"\nrates = true')


def until(page: Page, condition: str) -> None:
    """Wait until an expression holds on a page, whose policy forbids the browser to do so by itself."""
    end = time.monotonic() + 60
    while not page.evaluate(condition):
        assert time.monotonic() < end, condition
        page.wait_for_timeout(100)


class Running:
    """A run that goes on, with its page's address."""

    def __init__(self, folder: Path, *more: str) -> None:
        (folder / "endless.toml").write_text(LIVE)
        arguments = [sys.executable, "-m", "xoff", "run", "endless.toml", "-o", "out", "--live", *more]
        self.process = subprocess.Popen(
            arguments, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if found := re.match(r"live: (http://127\.0\.0\.1:(\d+)/([\w-]{32})/)$", line.strip()):
                self.address, self.port, self.token = found[1], int(found[2]), found[3]
                return
        raise AssertionError("no address")

    def get(self, path: str, **headers: str) -> http.client.HTTPResponse:
        """What the server answers; `_` in the names of headers is `-`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        return connection.getresponse()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    run = Running(tmp_path)
    yield run
    if run.process.poll() is None:
        run.process.kill()
        run.process.communicate()


def test_only_the_page_itself_gets_an_answer(running: Running) -> None:
    path = f"/{running.token}/"
    page = running.get(path)
    assert page.status == 200
    text = page.read().decode()
    assert "connect-src 'self'" in text
    assert not any(name.lower().startswith("access-control-") for name, _ in page.getheaders())
    assert page.getheader("Cross-Origin-Resource-Policy") == "same-origin"
    assert page.getheader("Cache-Control") == "no-store"
    for wrong in ("/", "/data?since=0", f"/{'x' * 32}/", f"/{running.token[:-1]}/", f"{path}../etc/passwd"):
        assert running.get(wrong).status == 404
    # A name that leads to 127.0.0.1, and other sites.
    assert running.get(path, Host="evil.example").status == 403
    assert running.get(path, Host="evil.example:80").status == 403
    assert running.get(path, Origin="http://evil.example").status == 403
    assert running.get(path, Sec_Fetch_Site="cross-site").status == 403
    assert running.get(path, Sec_Fetch_Site="same-site").status == 403
    for method in ("POST", "PUT", "OPTIONS"):
        connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=20)
        connection.request(method, path)
        refused = connection.getresponse()
        assert (refused.status, refused.getheader("X-Content-Type-Options")) == (501, "nosniff")
        assert b"<" not in refused.read()
    assert running.get(f"{path}data?since=-1").status == 400
    assert running.get(f"{path}data?since=x").status == 400
    assert running.get(path, Host=f"localhost:{running.port}").status == 200
    # No other address of this machine answers.
    connection = http.client.HTTPConnection("127.0.0.2", running.port, timeout=2)
    with pytest.raises(ConnectionRefusedError):
        connection.request("GET", path)


def test_the_page_grows_and_ctrl_c_keeps_what_was_recorded(running: Running, browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    asked: list[str] = []
    wrong: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(running.address)
    until(page, "Number(document.documentElement.dataset.looks) >= 2")
    samples = "explorer.runs[0].count('queues.bytes')"
    before = page.evaluate(f"[{samples}, explorer.runs[0].end_ps]")
    assert before[0] > 0
    looks = page.evaluate("Number(document.documentElement.dataset.looks)")
    until(page, f"Number(document.documentElement.dataset.looks) > {looks}")
    after = page.evaluate(f"[{samples}, explorer.runs[0].end_ps]")
    assert after[0] > before[0]
    assert after[1] > before[1]
    assert re.fullmatch(r"[\d.]+ %", page.locator("#live-done").inner_text())
    assert re.fullmatch(r"[\d,]+", page.locator("#live-speed").inner_text())
    assert "not recorded" in page.locator("#live-roots").inner_text()
    # The port to the receiver is shown by itself.
    assert page.evaluate("explorer.ports().includes('switch1->host0')")
    # Whatever is chosen stays when rows come.
    page.locator("#search").fill("message 0")
    page.keyboard.press("Enter")
    looks = page.evaluate("Number(document.documentElement.dataset.looks)")
    until(page, f"Number(document.documentElement.dataset.looks) > {looks}")
    assert page.evaluate("explorer.view.chosen") == [{"kind": "flow", "key": "0"}]
    running.process.send_signal(signal.SIGINT)
    until(page, "document.getElementById('live-state').textContent.startsWith('ended')")
    running.process.communicate(timeout=60)
    assert running.process.returncode == 130
    assert all(url.startswith(running.address) for url in asked)
    assert wrong == []
    run = xoff.load(tmp_path / "out")
    assert not run.complete
    assert run.queues.num_rows >= after[0]
    context.close()


def test_results_are_the_same_bytes_with_a_page(started_command: Command, tmp_path: Path) -> None:
    scenario = ROOT / "scenarios" / "fat_tree_permutation.toml"
    sets = ("--set", "record.queues=switches", "--set", "record.variables=all", "--set", "record.interval=5us")
    for name, more in (("plain", ("--threads", "1")), ("watched", ("--live",))):
        done = started_command("run", scenario, "-o", name, "-q", *sets, *more)
        assert done.returncode == 0, done.stderr
    for file in (tmp_path / "plain").glob("*.parquet"):
        assert file.read_bytes() == (tmp_path / "watched" / file.name).read_bytes(), file.name


def test_a_port_that_is_taken_is_said(running: Running, command: Command, small: Path) -> None:
    done = command("run", small, "-o", "other", "--live", "--live-port", running.port)
    assert done.returncode == 2
    assert f"--live-port {running.port}: the page cannot be served" in done.stderr
    done = command("run", small, "-o", "other", "--live-port", "8000")
    assert done.returncode == 2
    assert "expected --live as well" in done.stderr


def test_a_run_with_nobody_watching_ends_at_once(command: Command, small: Path) -> None:
    began = time.monotonic()
    done = command("run", small, "-o", "out", "--live", "-q")
    assert done.returncode == 0
    assert time.monotonic() - began < 20
