"""Who makes runs: processes of this machine, or a Dask cluster, both as executors of `concurrent.futures`."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from typing import Any, Protocol

from xoff.errors import RunError, UserError

CONNECT_S = 5.0
"""Longest time for a connection to a scheduler, in seconds."""

RETRY_S = 1.0
"""Time between two looks for a cluster's scheduler, in seconds."""


class Crew(Protocol):
    """Makes runs."""

    at_once: int
    """Runs handed over before one is finished."""
    here: bool
    """It writes into this machine's folders itself; otherwise it sends results back."""
    blames: bool
    """When it breaks, one of the runs that it was making is the cause."""

    def start(self) -> Executor:
        """An executor, a new one after each break."""

    def close(self) -> None:
        """Stop what still runs."""


class Local:
    """Processes of this machine."""

    here = True
    blames = True

    def __init__(self, workers: int | None = None) -> None:
        self.at_once = workers or os.cpu_count() or 1
        self._pool: ProcessPoolExecutor | None = None
        self._others: set[Any] = set()

    def start(self) -> Executor:
        """A fresh pool."""
        self.close()
        self._others = set(multiprocessing.active_children())
        # A process started afresh has no threads of its parent's to inherit.
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(self.at_once, mp_context=context, initializer=_begin_worker)
        return self._pool

    def close(self) -> None:
        """Stop its processes, whatever they do."""
        if self._pool is None:
            return
        pool, self._pool = self._pool, None
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - self._others:
            child.terminate()
            child.join()


def _begin_worker() -> None:
    # Ctrl-C is for the parent to answer; and a worker whose parent was killed has nobody to work for.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_leave_with, args=(parent.join,), daemon=True).start()


def _leave_with(gone: Callable[[], None]) -> None:
    gone()
    os._exit(1)


class Cluster:
    """The workers of a running Dask scheduler, which comes back when it is started anew."""

    here = False
    blames = False
    at_once = 1_000

    def __init__(self, address: str, *, patience_s: float = 600.0, say: Callable[[str], None] | None = None) -> None:
        try:
            import distributed as module
        except ImportError:
            raise UserError("--cluster needs Dask; install it: pip install 'xoff[dask]'") from None
        distributed: Any = module
        self._distributed = distributed
        self._address, self._patience_s = address, patience_s
        self.say = say or (lambda _: None)
        self._client: Any = None
        self._known = False

    def start(self) -> Executor:
        """Connect, waiting for the scheduler where it has been there before."""
        self.close()
        host, port = self._place()
        until = time.monotonic() + self._patience_s
        told = False
        while True:
            try:
                # Asked first: a client that finds no scheduler complains on its own.
                socket.create_connection((host, port), CONNECT_S).close()
                self._client = self._distributed.Client(self._address, set_as_default=False, timeout=CONNECT_S)
                break
            except OSError as error:
                if not self._known:
                    raise UserError(
                        f"--cluster {self._address}: no Dask scheduler answers there ({error}); "
                        "start one: dask scheduler"
                    ) from None
                if time.monotonic() > until:
                    raise RunError(f"the scheduler at {self._address} has gone, and did not come back") from None
                if not told:
                    self.say(f"the scheduler at {self._address} has gone; waiting for it")
                    told = True
                time.sleep(RETRY_S)
        self._known = True
        if not self._client.scheduler_info()["workers"]:
            self.say(f"the scheduler at {self._address} has no workers yet; waiting for them")
        executor: Executor = self._client.get_executor(pure=False)
        return executor

    def _place(self) -> tuple[str, int]:
        example = f"--cluster {self._address}: expected an address such as tcp://10.0.0.1:8786"
        try:
            place = self._distributed.comm.get_address_host_port(self._address)
        except (ValueError, TypeError):
            raise UserError(example) from None
        if not place[1]:
            raise UserError(example)
        return str(place[0]), int(place[1])

    def close(self) -> None:
        """Leave the cluster; it drops what nobody waits for."""
        if self._client is not None:
            client, self._client = self._client, None
            # One whose scheduler has gone may be just trying to reach it again, and fails over being closed meanwhile.
            with contextlib.suppress(RuntimeError, OSError, TimeoutError):
                client.close(timeout=2)
