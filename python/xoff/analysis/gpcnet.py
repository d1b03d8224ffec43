"""GPCNeT's own table from runs of the traffic pattern `gpcnet`, and what PFT's paper makes of it.

>>> import xoff
>>> from xoff import gpcnet
>>> alone = xoff.run("scenarios/gpcnet.toml", sets={"traffic.0.congestors": False})  # doctest: +SKIP
>>> beside = xoff.run("scenarios/gpcnet.toml")  # doctest: +SKIP
>>> print(gpcnet.text(alone, beside))  # doctest: +SKIP

A test's values are computed as the benchmark computes them (its version 1.3): the average is over rings, of the mean
over processes, of a process's result over all iterations on the ring. Percentiles are over all iterations of all
processes, from a histogram of 100,000 buckets between the smallest and the largest; they count from the good side: 99 %
of the latencies are at or below the 99 % latency, and 99 % of the bandwidths at or above the 99 % bandwidth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from xoff.analysis.columns import as_numpy, rows_of
from xoff.errors import UserError

if TYPE_CHECKING:
    import numpy.typing as npt

    from xoff.runs.results import Run

    Floats = npt.NDArray[np.float64]

TESTS = ("latency", "bandwidth", "allreduce")
"""The tests, in the order of GPCNeT's table."""

BUCKETS = 100_000
"""Buckets of the histogram that percentiles are taken from."""

_TITLES = {
    "latency": "RR Two-sided Lat",
    "bandwidth": "RR Two-sided BW+Sync",
    "allreduce": "Multiple Allreduce",
}
_PS_PER_US = 1e6
_PS_PER_S = 1e12
_MIB = 1024.0**2


@dataclass(frozen=True)
class Result:
    """A row of the table of a run: what a test measured."""

    test: str
    """`latency`, `bandwidth` or `allreduce`."""
    name: str
    """What GPCNeT calls it, with the size of its messages."""
    unit: str
    """`usec` or `MiB/s/rank`."""
    minimum: float
    """Smallest result of a process on a ring."""
    maximum: float
    """Largest result of a process on a ring."""
    average: float
    """Mean over rings and processes."""
    worst: float
    """Mean over rings of the worst process: the slowest, or that with the lowest bandwidth."""
    p99: float
    """99 % of all iterations are no worse."""
    p999: float
    """99.9 % are no worse."""


@dataclass(frozen=True)
class Impact:
    """Congestion impact factors of a test: how many times worse it is beside congestors."""

    test: str
    """`latency`, `bandwidth` or `allreduce`."""
    name: str
    """What GPCNeT calls it."""
    average: float
    """The ratio of the averages."""
    p99: float
    """The ratio of the 99 % values."""


@dataclass(frozen=True)
class Processes:
    """A test's result of each process, its mean over rings."""

    test: str
    """`latency`, `bandwidth` or `allreduce`."""
    unit: str
    """`usec` or `MiB/s/rank`."""
    process: npt.NDArray[np.int64]
    """The process's number in the run."""
    value: Floats
    """Its result."""


def results(run: Run, *, label: str = "gpcnet", skip: int = 0) -> list[Result]:
    """What each test of `run` measured, in the order of GPCNeT's table.

    Parameters
    ----------
    run
        A run with the traffic pattern `gpcnet`.
    label
        The pattern's label.
    skip
        Iterations at the beginning of each ring that are left out, as the benchmark leaves some out for warming up.

    Raises
    ------
    UserError
        The run has no such tests, or ended before they were over.
    """
    rows = [_result(test, _iterations(run, test, label, skip)) for test in TESTS if _has(run, test, label)]
    if not rows:
        raise UserError(f'the run has no tests of GPCNeT labelled `{label}`: its traffic needs `pattern = "gpcnet"`')
    return rows


def impacts(isolated: Run, congested: Run, *, label: str = "gpcnet", skip: int = 0) -> list[Impact]:
    """The congestion impact factors of the tests that both runs have.

    Congested over isolated for times, and the other way round for bandwidth, so that above 1 is worse. Parameters and
    errors as of `results`.
    """
    before = {row.test: row for row in results(isolated, label=label, skip=skip)}
    found = []
    for row in results(congested, label=label, skip=skip):
        if row.test in before:
            alone = before[row.test]
            average, p99 = row.average / alone.average, row.p99 / alone.p99
            worse = (1 / average, 1 / p99) if row.test == "bandwidth" else (average, p99)
            found.append(Impact(row.test, row.name, *worse))
    return found


def processes(run: Run, test: str, *, label: str = "gpcnet", skip: int = 0) -> Processes:
    """A test's result of each process, for a histogram as in figures 3 and 4 of the PFT paper.

    Parameters and errors as of `results`.
    """
    if test not in TESTS:
        raise UserError(f"`{test}` is not a test of GPCNeT: expected one of {', '.join(TESTS)}")
    measured = _iterations(run, test, label, skip)
    number = np.unique(measured.process)
    mean = [float(np.mean(measured.value[measured.process == one])) for one in number]
    return Processes(test, measured.unit, number, np.array(mean))


def control_factor(without: Run, controlled: Run, *, label: str = "gpcnet", skip: int = 0) -> float:
    """PFT's control factor F_C = (B_C / D_C) / (B_0 / D_0) (Eq. 2 of the paper).

    It is bandwidth over latency with congestion control, relative to the same without. B and D are the means over the
    victims' processes of the bandwidth and the latency test, both beside congestors.
    """

    def ratio(run: Run) -> float:
        bandwidth = processes(run, "bandwidth", label=label, skip=skip).value.mean()
        latency = processes(run, "latency", label=label, skip=skip).value.mean()
        return float(bandwidth / latency)

    return ratio(controlled) / ratio(without)


def text(
    isolated: Run, congested: Run | None = None, *, verbose: bool = False, label: str = "gpcnet", skip: int = 0
) -> str:
    """GPCNeT's tables: of the run without congestors, of the one with, and the congestion impact factors.

    `verbose` adds the columns that GPCNeT has when it is built so. Other parameters and errors as of `results`.
    """
    parts = [_table("Isolated Network Tests", results(isolated, label=label, skip=skip), verbose)]
    if congested is not None:
        parts.append(
            _table("Network Tests running with Congestion Tests", results(congested, label=label, skip=skip), verbose)
        )
        rows = [
            (row.name, f"{row.average:.1f}X", f"{row.p99:.1f}X")
            for row in impacts(isolated, congested, label=label, skip=skip)
        ]
        title = "Network Tests running with Congestion Tests - Key Results (Congestion Impact Factor)"
        parts.append(_drawn(title, ("Name", "Avg", "99%"), rows))
    return "\n\n".join(parts) + "\n"


@dataclass(frozen=True)
class _Iterations:
    """All iterations of a test, and what GPCNeT averages over them."""

    name: str
    unit: str
    each: Floats
    """The result of each iteration of each process."""
    ring: npt.NDArray[np.int64]
    process: npt.NDArray[np.int64]
    value: Floats
    """By ring and process: the result over all iterations."""


def _rows(table: Any, test: str, label: str) -> Any:
    """The rows of a test in a table that names kernels and labels."""
    return rows_of(rows_of(table, "kernel", test), "label", label) if table.num_rows else table


def _pattern(run: Run, label: str) -> dict[str, Any] | None:
    for pattern in run.manifest.get("scenario", {}).get("traffic", []):
        if pattern.get("pattern") == "gpcnet" and (pattern.get("label") or "gpcnet") == label:
            return dict(pattern)
    return None


def _has(run: Run, test: str, label: str) -> bool:
    pattern = _pattern(run, label)
    return pattern is not None and test in pattern["tests"]


def _iterations(run: Run, test: str, label: str, skip: int) -> _Iterations:
    pattern = _pattern(run, label)
    if pattern is None or test not in pattern["tests"]:
        raise UserError(f"the run has no GPCNeT test `{test}` labelled `{label}`")
    table = _rows(run.operations, test, label)
    rings = 1 if test == "allreduce" else int(pattern["rings"])
    wanted = int(pattern[f"{test}_iterations"])
    if not 0 <= skip < wanted:
        raise UserError(
            f"`skip` is {skip}: the test `{test}` has {wanted} iterations a ring, of which one must be left"
        )
    iteration = as_numpy(table["iteration"])
    several = table.num_rows > 0 and len(np.unique(as_numpy(table["ring"]))) == rings
    if not several or table["end_ps"].null_count or int(iteration.max()) + 1 < wanted:
        raise UserError(f"the run ended before the test `{test}` was over: give a longer `run.duration`, or none")
    kept = iteration >= skip
    time = (as_numpy(table["end_ps"]) - as_numpy(table["start_ps"])).astype(np.float64)[kept]
    size = as_numpy(table["bytes"]).astype(np.float64)[kept]
    who = np.stack([as_numpy(table["ring"]), as_numpy(table["process"])])[:, kept].astype(np.int64)
    pairs, place = np.unique(who, axis=1, return_inverse=True)
    place = place.reshape(-1)
    total = np.bincount(place, weights=time)
    if test == "bandwidth":
        each = size / time * _PS_PER_S / _MIB
        value = np.bincount(place, weights=size) / total * _PS_PER_S / _MIB
    else:
        # An exchange with two neighbours counts as two latencies.
        part = 2.0 if test == "latency" else 1.0
        each = time / part / _PS_PER_US
        value = total / np.bincount(place) / part / _PS_PER_US
    unit = "MiB/s/rank" if test == "bandwidth" else "usec"
    name = f"{_TITLES[test]} ({_message_bytes(run, test, label)} B)"
    return _Iterations(name, unit, each, pairs[0], pairs[1], value)


def _message_bytes(run: Run, test: str, label: str) -> int:
    """The size of a test's messages; those of its barrier come after the others."""
    return int(_rows(run.flows, test, label)["size_bytes"][0].as_py())


def _result(test: str, measured: _Iterations) -> Result:
    rings = [measured.value[measured.ring == ring] for ring in np.unique(measured.ring)]
    low = test == "bandwidth"
    return Result(
        test=test,
        name=measured.name,
        unit=measured.unit,
        minimum=float(measured.value.min()),
        maximum=float(measured.value.max()),
        average=float(np.mean([ring.mean() for ring in rings])),
        worst=float(np.mean([ring.min() if low else ring.max() for ring in rings])),
        p99=percentile(measured.each, 0.99, low=low),
        p999=percentile(measured.each, 0.999, low=low),
    )


def percentile(values: Floats, share: float, *, low: bool) -> float:
    """The value that a `share` of the values is not above or, with `low`, not below, as GPCNeT reads it.

    That is the far edge of the first bucket of its histogram at which enough have been counted.
    """
    least, greatest = float(values.min()), float(values.max())
    width = (greatest - least) / (BUCKETS - 1)
    if width == 0.0:
        return least
    counts = np.bincount(((values - least) / width).astype(np.int64), minlength=BUCKETS)
    enough = int(share * len(values))
    if low:
        bucket = BUCKETS - 1 - int(np.argmax(np.cumsum(counts[::-1]) >= enough))
        return least + bucket * width
    return least + (int(np.argmax(np.cumsum(counts) >= enough)) + 1) * width


def _table(title: str, rows: Sequence[Result], verbose: bool) -> str:
    def number(value: float) -> str:
        return f"{value:.1f}"

    if not verbose:
        short = [(row.name, number(row.average), number(row.p99), row.unit) for row in rows]
        return _drawn(title, ("Name", "Avg", "99%", "Units"), short)
    head = ("Name", "Min", "Max", "Avg", "Avg(Worst)", "99%", "99.9%", "Units")
    columns = ("minimum", "maximum", "average", "worst", "p99", "p999")
    long = [(row.name, *(number(getattr(row, column)) for column in columns), row.unit) for row in rows]
    return _drawn(title, head, long)


def _drawn(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(line[i]) for line in (head, *rows)) for i in range(len(head))]
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    lines = [
        "| " + " | ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in (head, *rows)
    ]
    return "\n".join([title, rule, lines[0], rule, *lines[1:], rule])
