"""The ends that others ask for: SIGTERM and SIGHUP, as batch schedulers and terminals send them, act as Ctrl-C does."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

_ENDS = (signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def ends_as_ctrl_c() -> Iterator[list[int]]:
    """Raise `KeyboardInterrupt` at SIGTERM and SIGHUP; gives the list of those that came.

    A signal that is ignored, as `nohup` has it, stays so. Python takes signals in the main thread only.
    """
    came: list[int] = []

    def interrupt(number: int, _: FrameType | None) -> None:
        came.append(number)
        raise KeyboardInterrupt

    with _handled(interrupt, _ENDS):
        yield came


@contextlib.contextmanager
def held() -> Iterator[list[int]]:
    """Hold Ctrl-C and its like back while results are written; gives the list of those that came."""
    came: list[int] = []
    with _handled(lambda number, _: came.append(number), (signal.SIGINT, *_ENDS)):
        yield came


@contextlib.contextmanager
def _handled(handler: signal._HANDLER, numbers: tuple[signal.Signals, ...]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        for number, old in before.items():
            if old is not signal.SIG_IGN:
                signal.signal(number, handler)
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
