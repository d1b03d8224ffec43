"""Executors of runs: processes of this machine, or a Dask cluster; and the loop that gives them their tasks.

Sweeps, tuning, the papers' experiments and the comparison of schemes all make their runs here. Both executors start an
executor of `concurrent.futures`.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from xoff.errors import RunError, UserError, extra

CONNECT_S = 5.0
"""Longest time for a connection to a scheduler, in seconds."""

RETRY_S = 1.0
"""Time between two looks for a cluster's scheduler, in seconds."""

POLL_S = 0.2
"""How often the waiting thread looks for Ctrl-C, in seconds: a signal may reach another thread and not wake it."""

_DIED = "its process died: it was killed, or there was no memory left"

Task = TypeVar("Task")
Result = TypeVar("Result")


class RunExecutor(Protocol):
    """Makes runs."""

    at_once: int
    """Runs handed over before one is finished."""
    here: bool
    """Whether runs write into this machine's folders themselves; otherwise they send their results back."""
    blames: bool
    """Whether one of the runs that were being made is the cause if the executor breaks."""

    def start(self) -> Executor:
        """An executor, a new one after each break."""

    def close(self) -> None:
        """Stop what still runs."""


@dataclass(frozen=True)
class Outcome(Generic[Result]):
    """What came of a task."""

    result: Result | None = None
    """What its function returned."""
    error: Exception | None = None
    """What its function raised, or `ProcessDiedError`."""


class ProcessDiedError(RunError):
    """The process of a run died, when that run was the only one."""


def execute_tasks(
    tasks: Iterable[Task],
    call: Callable[[Task], Callable[[], Result]],
    executor: RunExecutor,
    finished: Callable[[Task, Outcome[Result]], None],
) -> None:
    """Execute every task, and tell `finished` of each what came of it.

    If a process dies, the tasks that may be the cause are executed again, one at a time; if one dies again while it is
    alone, its outcome is `ProcessDiedError`. An exception of `finished` ends everything.

    Parameters
    ----------
    tasks
        In the order in which they start.
    call
        What the executor calls for a task; it travels to another process.
    executor
        Executes them, and is closed at the end.
    finished
        Called in this thread.
    """
    waiting = deque(tasks)
    suspects: deque[Task] = deque()
    running: dict[Future[Result], Task] = {}
    if not waiting:
        return
    try:
        pool = executor.start()
        while waiting or suspects or running:
            queue, at_once = (suspects, 1) if suspects else (waiting, executor.at_once)
            alone = bool(suspects) or at_once == 1
            try:
                while queue and len(running) < at_once:
                    running[pool.submit(call(queue[0]))] = queue[0]
                    queue.popleft()
            except BrokenExecutor:
                if not running:
                    pool = executor.start()
                    continue
            lost = _collect(running, finished)
            if not lost:
                continue
            lost += running.values()
            running.clear()
            pool = executor.start()
            if not executor.blames:
                waiting.extendleft(reversed(lost))
            elif alone:
                finished(lost[0], Outcome(error=ProcessDiedError(_DIED)))
            else:
                suspects.extend(lost)
    finally:
        executor.close()


def _collect(running: dict[Future[Result], Task], finished: Callable[[Task, Outcome[Result]], None]) -> list[Task]:
    """Take finished tasks out of `running`; return those that were lost with their process."""
    lost = []
    for future in wait(running, POLL_S, return_when=FIRST_COMPLETED).done:
        task = running.pop(future)
        try:
            outcome = Outcome(future.result())
        except (BrokenExecutor, CancelledError):
            lost.append(task)
            continue
        except Exception as error:  # the task's own, or that of a cluster that gave the task up
            outcome = Outcome(error=error)
        finished(task, outcome)
    return lost


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
        # A process that is spawned inherits no threads of its parent.
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
    # The parent answers Ctrl-C, and a worker whose parent was killed has no purpose.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_leave_with, args=(parent.join,), daemon=True).start()


def _leave_with(gone: Callable[[], None]) -> None:
    gone()
    os._exit(1)


class Cluster:
    """The workers of a running Dask scheduler, which may be restarted meanwhile."""

    here = False
    blames = False
    at_once = 1_000

    def __init__(self, address: str, *, patience_s: float = 600.0, say: Callable[[str], None] | None = None) -> None:
        self._distributed = extra("distributed", "--cluster")
        self._address, self._patience_s = address, patience_s
        self.say = say or (lambda _: None)
        self._client: Any = None
        self._known = False

    def start(self) -> Executor:
        """Connect; wait for a scheduler that has been there before."""
        self.close()
        host, port = self._place()
        until = time.monotonic() + self._patience_s
        told = False
        while True:
            try:
                # Probe first: a client that finds no scheduler prints messages of its own.
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
        """Leave the cluster, which drops tasks that nobody waits for."""
        if self._client is not None:
            client, self._client = self._client, None
            # A client whose scheduler has gone may be reconnecting, and then fails when it is closed.
            with contextlib.suppress(RuntimeError, OSError, TimeoutError):
                client.close(timeout=2)
