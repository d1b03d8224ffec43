"""The ends that others ask for: SIGTERM and SIGHUP, as batch schedulers and terminals send them, act as Ctrl-C does."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
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
def first_held() -> Iterator[list[int]]:
    """Hold the first `KeyboardInterrupt` of a signal back, so that it comes nowhere by chance, but let a second pass.

    Gives the list of the signals that were held back. Each signal's own handler runs, and only that exception is held.
    """
    came: list[int] = []
    with contextlib.ExitStack() as stack:
        for number in (signal.SIGINT, *_ENDS):
            usual = signal.getsignal(number)
            if callable(usual):
                stack.enter_context(_handled(_first_held(usual, came), (number,)))
        yield came


def _first_held(usual: Callable[[int, FrameType | None], object], came: list[int]) -> signal._HANDLER:
    def handler(number: int, frame: FrameType | None) -> None:
        try:
            usual(number, frame)
        except KeyboardInterrupt:
            if came:
                raise
            came.append(number)

    return handler


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
