"""What nccl-tests says of a collective, from a run's operations.

Source: nccl-tests, doc/PERFORMANCE.md. algbw is the size divided by the time; busbw is algbw times a factor that makes
it comparable with the rate of the links whatever the number of ranks: 2 (n - 1) / n for an all-reduce, (n - 1) / n for
all-gather, reduce-scatter, all-to-all, gather and scatter, 1 for broadcast and reduce.

The ideal is a lower bound of the time: no host can send or receive what the operation demands of it faster than its
NICs' line rate, without headers and without latency. With one rank on each host, its busbw is the line rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from xoff.analysis.columns import rows_of
from xoff.errors import UserError

if TYPE_CHECKING:
    from xoff.runs.results import Run

TYPE_BYTES = {"int8": 1, "uint8": 1, "half": 2, "bfloat16": 2, "int32": 4, "float": 4, "int64": 8, "double": 8}
"""The types of elements by nccl-tests' names, with their bytes."""

_DATA = {"ll": 1 / 2, "ll128": 120 / 128}
"""The share of data in what a protocol sends: the rest are flags."""

_REDUCING = ("all_reduce", "reduce_scatter", "reduce")
_ROOTED = ("broadcast", "reduce", "scatter", "gather")
_OF_ALL = ("all_reduce", "broadcast", "reduce")


@dataclass(frozen=True)
class Measured:
    """A row of nccl-tests' table."""

    size: int
    """Bytes, as nccl-tests counts them for the operation."""
    count: int
    """Elements that a rank has before or after, as nccl-tests counts them."""
    type: str
    """Type of the elements."""
    redop: str
    """The reduction, or `none`."""
    root: int
    """The root's number, or -1."""
    time_us: float
    """Mean time of an operation: from the beginning of the first to the end of the last, divided by their number."""
    algbw: float
    """Algorithm bandwidth, GB/s."""
    busbw: float
    """Bus bandwidth, GB/s."""
    ideal_time_us: float
    """Lower bound of the time, by the line rate."""
    ideal_busbw: float
    """The bus bandwidth of the lower bound, GB/s."""
    of_ideal: float
    """busbw divided by the ideal one."""
    ranks: int
    """Number of ranks."""
    complete: bool
    """Whether all flows of the run are complete."""


COLUMNS = tuple(field.name for field in fields(Measured))
"""The names of a row's columns."""


def factor(kind: str, ranks: int) -> float:
    """The bus bandwidth divided by the algorithm bandwidth."""
    if kind == "all_reduce":
        return 2 * (ranks - 1) / ranks
    return 1.0 if kind in ("broadcast", "reduce") else (ranks - 1) / ranks


def least_bytes(kind: str, size: int, ranks: int, per_host: int, most: int) -> float:
    """The bytes that the busiest host must send or receive, however the operation is carried out.

    `most` is what the busiest host sends or receives in fact: the minimum for an all-to-all with sizes of its own.
    """
    hosts = ranks / per_host
    if kind == "all_reduce":
        return 2 * (hosts - 1) / hosts * size
    if kind in ("all_gather", "reduce_scatter"):
        return (hosts - 1) / hosts * size
    if kind == "all_to_all":
        return per_host * size * (ranks - per_host) / ranks
    if kind in ("gather", "scatter"):
        return size * (ranks - per_host) / ranks
    return float(most) if kind == "all_to_all_v" else float(size)


def measure(run: Run, place: int, element: str) -> Measured:
    """The row of the collective at `place` among the run's traffic.

    Raises
    ------
    UserError
        The run ended before the operation was over.
    """
    import pyarrow.compute as pc

    pattern = run.manifest["scenario"]["traffic"][place]
    kind, label = str(pattern["kind"]), str(pattern.get("label") or "collective")
    table = run.operations
    if table.num_rows:
        table = rows_of(rows_of(table, "label", label), "kernel", kind)
    if table.num_rows == 0 or table["end_ps"].null_count:
        raise UserError("the run ended before the collective was over: expected a longer `run.duration`, or none")
    repetitions = int(pattern["repetitions"])
    ranks = int(pc.max(table["process"]).as_py()) + 1
    first, last = int(pc.min(table["start_ps"]).as_py()), int(pc.max(table["end_ps"]).as_py())
    pause_ps = (repetitions - 1) * _compute_ps(pattern)
    time_us = (last - first - pause_ps) / repetitions / 1e6
    # Flows and operations count the protocol's flags too.
    data = _DATA.get(str(pattern.get("protocol")), 1.0)
    size = _size(pattern, table, ranks, repetitions, data)
    rate_bps, most = _busiest(run, label, repetitions)
    most = round(most * data)
    least = least_bytes(kind, size, ranks, int(pattern["ranks_per_host"]), most)
    ideal_us = least * 8 / rate_bps * 1e6
    # A matrix's size leaves out what a rank has for itself.
    bus = 1.0 if pattern.get("size") is None else factor(kind, ranks)
    algbw = size / time_us / 1e3
    count = size // TYPE_BYTES[element]
    return Measured(
        size=size,
        count=count if kind in _OF_ALL else count // ranks,
        type=element,
        redop="sum" if kind in _REDUCING else "none",
        root=int(pattern["root"]) if kind in _ROOTED else -1,
        time_us=time_us,
        algbw=algbw,
        busbw=algbw * bus,
        ideal_time_us=ideal_us,
        ideal_busbw=size * bus / ideal_us / 1e3,
        of_ideal=ideal_us / time_us,
        ranks=ranks,
        complete=run.complete,
    )


def _compute_ps(pattern: Mapping[str, Any]) -> int:
    from xoff import _xoff

    return _xoff.read_time(str(pattern["compute"])) or 0


def _size(pattern: Mapping[str, Any], table: Any, ranks: int, repetitions: int, data: float) -> int:
    """The size in bytes; that of a matrix is what a rank sends on average, of which `data` is the share of data."""
    from xoff import _xoff

    if pattern.get("size") is not None:
        return _xoff.read_size(str(pattern["size"])) or 1
    import pyarrow.compute as pc

    return max(round(int(pc.sum(table["bytes"]).as_py()) * data) // ranks // repetitions, 1)


def _busiest(run: Run, label: str, repetitions: int) -> tuple[int, int]:
    """The line rate of the slowest host, in bit/s, and the bytes that the busiest host sends or receives."""
    import pyarrow.compute as pc

    flows = rows_of(run.flows, "label", label)
    hosts, most = set(), 0
    for end in ("src", "dst"):
        sums = flows.select([end, "size_bytes"])
        sums = sums.set_column(0, end, pc.cast(sums[end], "string")).group_by(end).aggregate([("size_bytes", "sum")])
        hosts |= set(sums[end].to_pylist())
        most = max(most, int(pc.max(sums["size_bytes_sum"]).as_py() or 0))
    rates: dict[str, int] = {}
    ports = run.ports
    for node, rate in zip(pc.cast(ports["node"], "string").to_pylist(), ports["rate_bps"].to_pylist(), strict=True):
        if node in hosts:
            rates[node] = rates.get(node, 0) + int(rate)
    return min(rates.values()), most // repetitions
