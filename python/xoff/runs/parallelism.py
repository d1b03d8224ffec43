"""The parallelism of scenarios: how many times as fast each can be on several threads, whatever machine there is.

In each window of simulated time the threads wait for the one that has the most to do. The sum of that over a run's
windows is its critical path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from xoff.runs.bench import Benchmark, Result, check, work
from xoff.text import shown

if TYPE_CHECKING:
    from rich.console import RenderableType

THREADS = (2, 4, 8, 16, 32, 64)
"""The numbers of threads."""


def parallelism(benchmarks: Sequence[Benchmark], *, progress: Callable[[str], None] | None = None) -> list[Result]:
    """Find the critical paths of `benchmarks` on 2 to 64 threads, each from runs on one thread.

    A result has

    - `name`, `scenario` (the resolved one), `events`,
    - `event_s`, the wall time that an event takes on one thread, and `barrier_s`, that of two threads at a barrier,
    - `curve`, for each number of `threads`: the `partitions` that have work, the `windows`, the packets that cross
      between partitions (`crossings`), the sum over windows of the busiest partition's work in events
      (`busiest_events`), and the best `speedup`, and `speedup_without_barriers`.

    `progress` gets the name of what runs next.

    Raises
    ------
    ScenarioError
        A scenario is wrong; found before anything is measured.
    UserError
        A scenario has schemes in Python.
    RunError
        A run broke, or can only be simulated on one thread.
    """
    results = []
    for benchmark, resolved in zip(benchmarks, check(benchmarks), strict=True):
        if progress is not None:
            progress(f"{benchmark.name}, on 1 to {max(THREADS)} threads")
        found, _ = work(benchmark, parallelism=THREADS)
        results.append({"name": benchmark.name, **found, "scenario": resolved})
    return results


def render(results: Sequence[Result]) -> RenderableType:
    """The best speed-ups as a table."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("scenario", style="bold cyan")
    for threads in THREADS:
        table.add_column(f"{threads} threads", justify="right")
    table.add_column("ns/event", justify="right")
    table.add_column("ns/barrier", justify="right")
    for result in results:
        row = [f"{on['speedup']:.2f}" for on in result["curve"]]
        clocks = [f"{result[key] * 1e9:.0f}" for key in ("event_s", "barrier_s")]
        table.add_row(Text(shown(result["name"])), *row, *clocks)
    return table
