"""Measurements of a run, taken in the process that made it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from xoff.analysis import gpcnet
from xoff.analysis.tables import frame

if TYPE_CHECKING:
    import numpy.typing as npt

    from xoff.runs.results import Run

    Floats = npt.NDArray[np.float64]

_PS_PER_S = 1e12
_LABEL = "gpcnet"
_TESTS = ("latency", "bandwidth", "allreduce", "barrier")


@dataclass(frozen=True)
class Victims:
    """What GPCNeT's victims measured beside congestors, and what the throttles did meanwhile."""

    delay: Floats
    """Latency of each process, us: D of a process."""
    bandwidth: Floats
    """Bandwidth of each process, MiB/s: B of a process."""
    congestors_gbps: float
    """Payload that the congestors' messages delivered while the tests ran, in Gbps for each of their hosts."""
    congested: float
    """Share of the time in which a congestor host's throttle was Congested."""
    victims_congested: float
    """The same for the hosts of the tests."""
    delay_99: float
    """GPCNeT's 99 % latency over all iterations, us."""
    bandwidth_99: float
    """GPCNeT's 99 % bandwidth over all iterations, MiB/s."""

    def of(self, average: str) -> tuple[float, float]:
        """D in us and B in MiB/s: `mean` or `median` over the processes, or `p99` over all iterations."""
        if average == "p99":
            return self.delay_99, self.bandwidth_99
        over = np.mean if average == "mean" else np.median
        return float(over(self.delay)), float(over(self.bandwidth))


def measure(run: Run) -> Victims:
    """Measure a run."""
    flows = frame(run, "flows").select("src", "kernel", "size_bytes", "start_ps", "fct_ps")
    tests = flows.filter(pl.col("kernel").is_in(_TESTS))
    others = flows.filter(~pl.col("kernel").is_in(_TESTS))
    victims = set(tests["src"].unique())
    begin, end = _span(run)
    done = pl.col("start_ps") + pl.col("fct_ps")
    delivered = others.filter(pl.col("fct_ps").is_not_null() & (done > begin) & (done <= end))["size_bytes"].sum()
    busy = set(others["src"].unique())
    hosts = max(len(busy), 1)
    congested = _congested(frame(run, "throttles"), begin, end)
    table = {row.test: row for row in gpcnet.results(run)}
    return Victims(
        gpcnet.processes(run, "latency").value,
        gpcnet.processes(run, "bandwidth").value,
        float(delivered) * 8 / ((end - begin) / _PS_PER_S) / hosts / 1e9,
        sum(share for host, share in congested.items() if host in busy) / hosts,
        sum(share for host, share in congested.items() if host in victims) / max(len(victims), 1),
        table["latency"].p99,
        table["bandwidth"].p99,
    )


def _span(run: Run) -> tuple[int, int]:
    """From the first operation of the tests to the last one's end, ps."""
    operations = frame(run, "operations").filter(pl.col("kernel").is_in(_TESTS))
    return int(operations["start_ps"].min()), int(operations["end_ps"].max())  # type: ignore[arg-type]


def _congested(throttles: pl.DataFrame, begin: int, end: int) -> dict[str, float]:
    """By host: the share of the time from `begin` to `end` in which its throttle was Congested."""
    shares: dict[str, float] = {}
    hosts = throttles.with_columns(host=pl.col("port").str.split("->").list.first())
    for (host,), rows in hosts.group_by(["host"], maintain_order=True):
        since = np.concatenate([[0], rows["time_ps"].to_numpy(), [end]])
        until = np.clip(since, begin, end)
        on = np.concatenate([[False], (rows["state"] == "congested").to_numpy()])
        shares[str(host)] = float(np.diff(until)[on].sum()) / (end - begin)
    return shares
