"""What the commands print: messages on stderr, a run's progress, and its summary."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from xoff.runs.iterations import iterations_text
from xoff.text import count_text, name_text, printable, shown, time_text

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from xoff.runs.execution import Progress
    from xoff.runs.results import Run
    from xoff.runs.summary import Summary

_STEPS = 1000

_WORD, _MESSAGE = 300, 10_000
"""Maximum length of a word and of a whole message; a word may be a path."""


def complain(kind: str, message: str) -> None:
    """One message on stderr; a message that begins with its kind is printed as it is."""
    text = shown(message, _WORD, _MESSAGE)
    print(text if text.startswith(f"{kind}: ") else f"{kind}: {text}", file=sys.stderr)


def echo(message: object) -> None:
    """A text on stdout, with nothing in it that a terminal obeys."""
    typer.echo(printable(str(message)))


@contextmanager
def progress_bar(title: str, *, quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """A bar on stderr with the time left, if stderr is a terminal; otherwise nothing.

    The first progress of the run creates the bar, so that a short run does not wait for it.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    bars: list[Bar] = []

    def show(progress: Progress) -> None:
        if not bars:
            bars.append(_bar(title))
            bars[0].start()
        done = f"{time_text(progress.sim_time_ps)} simulated, {progress.flows_done}/{progress.flows_total} flows"
        bars[0].update(bars[0].task_ids[0], completed=progress.fraction * _STEPS, done=done)

    try:
        yield show
    finally:
        for bar in bars:
            bar.stop()


def _bar(title: str) -> Bar:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[done]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    bar = Bar(*columns, console=Console(stderr=True), transient=True)
    bar.add_task(name_text(title), total=_STEPS, done="")
    return bar


@contextmanager
def status_line() -> Iterator[Callable[[str], None] | None]:
    """A line on stderr that says what is being done, if stderr is a terminal; otherwise nothing."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status("") as status:
        yield lambda text: status.update(Text(shown(text)))


def summary_text(run: Run, summary: Summary) -> str:
    """A run in a few lines."""
    lines = [
        ("run", f"{run.scheme}, seed {run.manifest.get('seed')}"),
        ("flows", f"{summary.flows_text} in {time_text(run.manifest.get('sim_time_ps', 0))} of simulated time"),
    ]
    if summary.endless is not None:
        lines.append(("goodput", summary.endless.goodput_text))
    if summary.slowdown:
        lines.append(("slowdown", "  ".join(f"{name} {value:.2f}" for name, value in summary.slowdown.items())))
    lines += [("job", _job_text(job)) for job in run.manifest.get("jobs", [])]
    lines.append(("PAUSE", count_text(summary.pause_frames, "frame")))
    if summary.hol_blocked is not None:
        lines.append(("blocked", f"{count_text(summary.hol_blocked, 'flow')} behind others' congestion"))
    if summary.dropped:
        lines.append(("drops", count_text(summary.dropped, "packet")))
    if (forward := run.manifest.get("fast_forward")) is not None:
        lines.append(("skipped", _skipped_text(forward)))
    speed = f"{summary.hops_per_s / 1e6:.2f} million packet-hops/s"
    lines.append(("speed", f"{speed} ({summary.packet_hops:,} in {summary.wall_s:.2f} s)"))
    return "\n".join(f"{name:<9} {shown(text, _WORD, _MESSAGE)}" for name, text in lines)


def _skipped_text(forward: dict[str, Any]) -> str:
    """What a fast-forwarded run skipped, how exactly, and what kept it most from skipping more."""
    jumps, approximate = int(forward["jumps"]), int(forward["approximate_jumps"])
    parts = int(forward.get("parts", 1))
    text = f"{time_text(int(forward['skipped_ps']))} in {count_text(jumps, 'jump')}"
    if parts > 1:
        text += f" of {parts} parts"
    if approximate:
        text += f", {approximate} of them approximate, error about {float(forward['estimated_error']):.2%}"
    elif jumps:
        text += ", all exact"
    if recalled := int(forward["recalled_messages"]):
        text += f"; {count_text(recalled, 'message')} recalled, error about {float(forward['estimated_error']):.2%}"
    held = max(forward["not_skipped"], key=lambda held: int(held["ps"]), default=None)
    return text if held is None else f"{text}; {time_text(int(held['ps']))} not, since {held['reason']}"


def _job_text(job: dict[str, Any]) -> str:
    completion, ideal = job.get("completion_ps"), job.get("ideal_completion_ps")
    if completion is None:
        text = f"{job['label']}: not ended"
    else:
        times = f", {completion / ideal:.3f} times the {time_text(ideal)} of an ideal network" if ideal else ""
        text = f"{job['label']}: {time_text(completion)}{times}"
    iterations = job.get("iterations")
    return f"{text}; {iterations_text(iterations)}" if iterations else text
