"""Ctrl-C at the moments of a run that a test of the command cannot hit on purpose."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import pytest

import xoff
from xoff.runs.execution import execute
from xoff.runs.scenario import read


class _InterruptedAtStart(threading.Thread):
    """A thread during whose start a signal comes `times` times."""

    times = 1

    def start(self) -> None:
        super().start()
        for _ in range(self.times):
            signal.raise_signal(signal.SIGINT)


@pytest.fixture
def thread(monkeypatch: pytest.MonkeyPatch) -> type[_InterruptedAtStart]:
    monkeypatch.setattr(threading, "Thread", _InterruptedAtStart)
    return _InterruptedAtStart


def test_a_ctrl_c_while_the_thread_starts_stops_the_run_cleanly(small: Path, thread: object) -> None:
    with pytest.raises(KeyboardInterrupt):
        xoff.run(small)
    outcome = execute(read(small).prepare())
    assert outcome.interrupted


def test_a_second_one_ends_at_once(
    small: Path, thread: type[_InterruptedAtStart], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thread, "times", 2)
    with pytest.raises(KeyboardInterrupt):
        execute(read(small).prepare())


def test_the_signal_does_afterwards_what_it_did_before(small: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    execute(read(small).prepare())
    assert signal.getsignal(signal.SIGINT) is before
