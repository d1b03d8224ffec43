"""The flows of a congestion tree: the victims and the slowest, and where each may have waited."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xoff.analysis.columns import as_numpy
from xoff.analysis.tables import frame
from xoff.report.tree.changes import port_numbers
from xoff.report.tree.network import Network

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

    from xoff.runs.results import Run

    Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Hop:
    """An egress port on a flow's path, from the flow's start to its end."""

    port: int
    """Its number."""
    paused_ps: int
    """How long PAUSE stopped the port in the flow's priority: the maximum that the flow can have waited for it."""
    pauses: int
    """How often."""
    root: bool
    """Whether it was a congestion root in that time and priority."""
    queue_bytes: int | None
    """The longest queue sampled there; `None` if the port was not sampled."""


@dataclass(frozen=True)
class Track:
    """A flow with its path."""

    number: int
    """Its id."""
    label: str
    src: str
    dst: str
    priority: int
    size_bytes: int | None
    start_ps: int
    end_ps: int
    """The end of the run if the flow did not complete."""
    complete: bool
    slowdown: float | None
    blocked: bool | None
    """Whether it was a victim of head-of-line blocking; `None` if that was not recorded."""
    hops: list[list[Hop]]
    """By node of the path but the last: the port that it took, or every parallel port that it may have taken."""


def tracks(run: Run, network: Network, most: int) -> list[Track]:
    """The victims of head-of-line blocking, then all others; each the slowest first, and no more than `most`.

    Slowest are those that did not complete their size, then those with the greatest slowdown, then those without one.
    """
    import polars as pl

    data = frame(run, "flows")
    if data.is_empty():
        return []
    unfinished = pl.col("fct_ps").is_null() & pl.col("size_bytes").is_not_null()
    ranked = data.sort(
        pl.col("hol_blocked").fill_null(False),
        unfinished,
        pl.col("slowdown").fill_null(0.0),
        pl.col("paused_ps"),
        pl.col("id"),
        descending=[True, True, True, True, False],
    ).head(most)
    ports = _Ports(run, network)
    end = int(run.manifest["sim_time_ps"])
    return [_track(row, network, ports, end) for row in ranked.iter_rows(named=True)]


def _track(row: dict[str, object], network: Network, ports: _Ports, sim_time_ps: int) -> Track:
    def number(name: str) -> int:
        return int(row[name])  # type: ignore[call-overload, no-any-return]

    complete = row["fct_ps"] is not None
    start = number("start_ps")
    end = start + number("fct_ps") if complete else sim_time_ps
    priority = number("priority")
    path = [] if row["path"] is None else network.path(str(row["path"]))
    hops = [[ports.hop(port, priority, start, end) for port in hop] for hop in network.hops(path)]
    return Track(
        number=number("id"),
        label=str(row["label"]),
        src=str(row["src"]),
        dst=str(row["dst"]),
        priority=priority,
        size_bytes=None if row["size_bytes"] is None else number("size_bytes"),
        start_ps=start,
        end_ps=end,
        complete=complete,
        slowdown=row["slowdown"],  # type: ignore[arg-type]
        blocked=row["hol_blocked"],  # type: ignore[arg-type]
        hops=hops,
    )


class _Ports:
    """What the tables say of each port, in the order of time."""

    def __init__(self, run: Run, network: Network) -> None:
        numbers = network.port_number
        self._pauses = _spans(run, "pauses", numbers)
        self._roots = _spans(run, "roots", numbers)
        self._queues = samples(run, "max_bytes", numbers)

    def hop(self, port: int, priority: int, start: int, end: int) -> Hop:
        began, ended = self._pauses.get((port, priority), _NO_SPANS)
        # Pauses of a queue follow each other, and so do its times as a root.
        first, last = int(np.searchsorted(ended, start, "right")), int(np.searchsorted(began, end, "left"))
        inside = slice(first, max(first, last))
        length = np.minimum(ended[inside], end) - np.maximum(began[inside], start)
        grew, shrank = self._roots.get((port, priority), _NO_SPANS)
        root = np.searchsorted(shrank, start, "right") < np.searchsorted(grew, end, "left")
        return Hop(port, int(length.sum()), len(length), bool(root), self._longest(port, start, end))

    def _longest(self, port: int, start: int, end: int) -> int | None:
        if port not in self._queues:
            return None
        time, most = self._queues[port]
        # The first sample after the flow's end covers its last moments.
        first, last = int(np.searchsorted(time, start, "right")), int(np.searchsorted(time, end, "left"))
        return int(most[first : last + 1].max(initial=0))


_NO_SPANS = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


def _spans(run: Run, table: str, numbers: dict[str, int]) -> dict[tuple[int, int], tuple[Numbers, Numbers]]:
    """Starts and ends of a table's rows, by port and priority."""
    if not run.table(table).num_rows:
        return {}
    data = frame(run, table).sort("start_ps")
    port = np.array([numbers[name] for name in data["port"]], dtype=np.int64)
    start = _whole(data, "start_ps")
    return _split(port, _whole(data, "priority"), start, start + _whole(data, "length_ps"))


def samples(run: Run, column: str, numbers: dict[str, int]) -> dict[int, tuple[Numbers, Numbers]]:
    """Times of samples of queues and what `column` says then, by port."""
    table = run.table("queues")
    if not table.num_rows:
        return {}
    port = port_numbers(run, "queues", numbers)
    if "priority" in table.column_names:
        # Rows of all of a port, not of single priorities.
        whole = table["priority"].is_null()
        table, port = table.filter(whole), port[as_numpy(whole)]
    time = as_numpy(table["time_ps"]).astype(np.int64)
    value = as_numpy(table[column]).astype(np.int64)
    order = np.argsort(time, kind="stable")
    port = port[order]
    found = _split(port, np.zeros(len(port), dtype=np.int64), time[order], value[order])
    return {port: each for (port, _), each in found.items()}


def _split(port: Numbers, priority: Numbers, *columns: Numbers) -> dict[tuple[int, int], tuple[Numbers, Numbers]]:
    """Columns by port and priority, in the order in which they come."""
    order = np.lexsort((priority, port))  # It is stable.
    port, priority = port[order], priority[order]
    begins = np.ones(len(port), dtype=bool)
    begins[1:] = (port[1:] != port[:-1]) | (priority[1:] != priority[:-1])
    first = np.flatnonzero(begins)
    parts = [np.split(column[order], first[1:]) for column in columns]
    keys = zip(port[first].tolist(), priority[first].tolist(), strict=True)
    return {key: (parts[0][place], parts[1][place]) for place, key in enumerate(keys)}


def _whole(data: pl.DataFrame, name: str) -> Numbers:
    return data[name].to_numpy().astype(np.int64)
