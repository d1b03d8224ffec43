"""The page of a run that goes on, and the server that gives it to this machine's browser and to nobody else.

The server listens on 127.0.0.1. Whoever asks needs the token of the page's address and, against names that lead
elsewhere (DNS rebinding), the server's own name in `Host`. Nothing allows another site to read an answer: there are no
CORS headers.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from xoff.report.explore.data import Limits, run_pack
from xoff.report.explore.page import explorer
from xoff.report.explore.so_far import SoFar
from xoff.text import line_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xoff.report.explore.pack import Pack
    from xoff.runs.execution import Look
    from xoff.runs.results import Run

_LIMITS = Limits(rows=600_000, flows=50_000, spans=100_000)
"""Bounds on what a page that asks each second is given."""

_LAST_S = 3.0
"""How long the server waits for open pages to take the last of a run, in seconds."""

_NEWS_S = 5.0
"""How long an answer waits for something new, in seconds."""

_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Live:
    """A run that goes on as a page, which grows with each look."""

    def __init__(self, resolved: dict[str, Any], label: str, version: str) -> None:
        self.so_far = SoFar(resolved, label, version)
        self.token = secrets.token_urlsafe(24)
        # What the run's thread takes is never held for long: pages are made under a lock of their own.
        self._changed = threading.Condition()
        self._making = threading.Lock()
        self._waiting: list[Look] = []
        self._where: str | None = None
        self._version = 0
        self._packed: tuple[int, bytes] = (-1, b"")
        self._asked = 0.0
        self._taken = -1

    def look(self, look: Look) -> None:
        """Take in what a look has found."""
        with self._changed:
            self._waiting.append(look)
            self._version += 1
            self._changed.notify_all()

    def ended(self, where: str) -> None:
        """The run has ended, with its results in the folder `where`; waits a little for open pages to see it."""
        with self._changed:
            self._where = where
            self._version += 1
            self._changed.notify_all()
            if time.monotonic() - self._asked < 2 * _LAST_S:
                self._changed.wait_for(lambda: self._taken >= self._version, timeout=_LAST_S)

    def page(self) -> bytes:
        """The page as it begins."""
        with self._making:
            run, pack = self._pack()
        text = explorer([run], [pack], template="live.html", scripts=["explore-live.js"], connect="'self'")
        return str(text).encode()

    def data(self, since: int) -> bytes | None:
        """The run so far as a block; `None` if nothing is new since the version `since`, after a while of waiting."""
        with self._changed:
            self._asked = time.monotonic()
            self._changed.wait_for(lambda: self._version > since or self._where is not None, timeout=_NEWS_S)
            if self._version <= since:
                return None
        with self._making:
            if self._packed[0] <= since:
                _, pack = self._pack()
                self._packed = (self.so_far.version, pack.packed())
            return self._packed[1]

    def took(self, version: int) -> None:
        """A page has the version."""
        with self._changed:
            self._taken = max(self._taken, version)
            self._changed.notify_all()

    def _pack(self) -> tuple[Run, Pack]:
        """The run so far, with all looks up to now."""
        with self._changed:
            looks, self._waiting = self._waiting, []
            version, where = self._version, self._where
        for look in looks:
            self.so_far.take(look)
        self.so_far.at(version, where)
        run = self.so_far.run()
        pack = run_pack(run, self.so_far.label, _LIMITS)
        pack.about["live"] = self.so_far.about()
        return run, pack

    @contextlib.contextmanager
    def served(self, port: int = 0) -> Iterator[str]:
        """Serve the page at `port`, or any that is free; gives its address.

        Raises `OSError` if the port is taken.
        """
        server = _Server(("127.0.0.1", port), _Handler)
        server.live = self
        thread = threading.Thread(target=server.serve_forever, name="xoff-live", daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/{self.token}/"
        finally:
            server.shutdown()
            server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    # Another process on this machine must not be able to take the port over.
    allow_reuse_address = False
    live: Live


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 20
    """Seconds after which a client that says nothing is left."""
    server_version = "xoff"
    sys_version = ""

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        parts = path.split("/")
        if not self._is_own_name() or not self._is_own_site():
            self._answer(HTTPStatus.FORBIDDEN, b"this server answers pages of its own only\n")
        elif len(parts) != 3 or not secrets.compare_digest(parts[1].encode(), self.server.live.token.encode()):
            self._answer(HTTPStatus.NOT_FOUND, b"the address needs the token that xoff run --live has printed\n")
        elif parts[2] == "":
            self._answer(HTTPStatus.OK, self.server.live.page(), "text/html; charset=utf-8")
        elif parts[2] == "data":
            self._data(query)
        else:
            self._answer(HTTPStatus.NOT_FOUND, b"no such page\n")

    def _data(self, query: str) -> None:
        number = query.removeprefix("since=")
        if not (number.isascii() and number.isdigit() and len(number) < 12):
            self._answer(HTTPStatus.BAD_REQUEST, b"expected data?since=NUMBER\n")
            return
        found = self.server.live.data(int(number))
        if found is None:
            self._answer(HTTPStatus.NO_CONTENT, b"")
        else:
            self._answer(HTTPStatus.OK, found, "application/octet-stream")
        self.server.live.took(int(number))

    def _is_own_name(self) -> bool:
        own = self.server.server_port
        return self.headers.get("Host") in (f"127.0.0.1:{own}", f"localhost:{own}")

    def _is_own_site(self) -> bool:
        """Whether no other site asks: browsers say which one does."""
        origin = self.headers.get("Origin")
        site = self.headers.get("Sec-Fetch-Site", "none")
        return origin in (None, f"http://{self.headers.get('Host')}") and site in ("none", "same-origin")

    def _answer(self, status: HTTPStatus, body: bytes, kind: str = "text/plain; charset=utf-8") -> None:
        with contextlib.suppress(ConnectionError):  # The page was closed.
            self.send_response(status)
            for name, value in _HEADERS.items():
                self.send_header(name, value)
            if status is not HTTPStatus.NO_CONTENT:
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def send_error(self, code: int, *_: object, **__: object) -> None:
        """Refuse what `http.server` itself refuses, such as another method, as this server refuses everything."""
        self.close_connection = True
        status = HTTPStatus(code)
        self._answer(status, f"{status.phrase.lower()}: this server answers GET of its own page only\n".encode())

    def log_message(self, *_: object) -> None:
        """Nothing: the terminal belongs to the run."""


def watched(resolved: str, scenario: str, version: str) -> Live:
    """A live page for a scenario, resolved as JSON, that is called `scenario`."""
    return Live(json.loads(resolved), line_text(scenario), version)
