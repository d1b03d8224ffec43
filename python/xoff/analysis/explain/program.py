"""A parallel program as its run's tables show it: its ranks, what each computes, and its messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from xoff.analysis.explain.facts import Facts
from xoff.analysis.explain.quantities import quantity
from xoff.analysis.intervals import Intervals
from xoff.analysis.operations import COMPUTES, ITERATION, word

_STEP_LATENCIES_PS = {"simple": (14_000_000,), "ll": (2_700_000, 5_000_000), "ll128": (4_000_000, 8_500_000)}
"""What a protocol adds between the arrival of a message from another host and the next step: in a ring, in a tree.

The resolved scenario has a protocol's name, and a latency only where the scenario sets one.
"""

_SPAN = ("process", "host", "kernel", "start_ps", "end_ps")


@dataclass(frozen=True, order=True)
class Rank:
    """A process of a program."""

    number: int
    host: str

    def __str__(self) -> str:
        return f"rank {self.number} on {self.host}"


class Program:
    """The operations and messages of a job, by its label."""

    def __init__(self, facts: Facts, job: Mapping[str, Any]) -> None:
        self.facts = facts
        self.label = str(job["label"])
        traffic = facts.scenario.get("traffic") or []
        self.patterns = [each for each in traffic if (each.get("label") or each.get("pattern")) == self.label]

    @cached_property
    def operations(self) -> pl.DataFrame:
        """Its operations that have ended, each with the `word` of its kernel; whole iterations are left out."""
        own = self.facts.operations.filter((pl.col("label") == self.label) & pl.col("end_ps").is_not_null())
        own = own.with_columns(pl.col("process", "iteration", "start_ps", "end_ps").cast(pl.Int64))
        kernels = own["kernel"].unique().cast(pl.String)
        words = pl.Series("word", [word(each) for each in kernels], pl.String)
        own = own.join(pl.DataFrame([kernels, words]), on="kernel", how="left")
        return own.filter(pl.col("word") != ITERATION).sort("start_ps", "end_ps", "process", "host")

    @cached_property
    def computations(self) -> pl.DataFrame:
        """Its operations that compute, and the pauses in which a rank computes between two repetitions."""
        found = self.operations.filter(pl.col("word").is_in(COMPUTES)).select(_SPAN)
        pauses = [pause for each in self.patterns if (pause := quantity(each.get("compute")))]
        if not pauses:
            return found
        next_start = pl.col("start_ps").shift(-1).over("process", "host")
        between = self.operations.select(
            "process", "host", kernel=pl.lit("compute"), start_ps="end_ps", end_ps=next_start
        )
        return pl.concat([found, between.filter((pl.col("end_ps") - pl.col("start_ps")).is_in(pauses))])

    @cached_property
    def messages(self) -> pl.DataFrame:
        """Its complete messages between hosts, by number.

        `acked_ps` is when the last ACK came, and `arrived_ps` when the message had arrived: null if the run did not
        record where flows' time went.
        """
        flows = self.facts.flows
        times = pl.col("id", "process", "iteration", "start_ps", "fct_ps", "ideal_fct_ps").cast(pl.Int64)
        own = flows.filter((pl.col("label") == self.label) & pl.col("fct_ps").is_not_null()).with_columns(times)
        own = own.join(self.operations, left_on=["process", "src"], right_on=["process", "host"], how="semi")
        own = own.with_columns(acked_ps=pl.col("start_ps") + pl.col("fct_ps")).sort("id")
        if self.facts.breakdown.is_empty():
            return own.with_columns(arrived_ps=pl.lit(None, pl.Int64))
        way = self.facts.breakdown.filter(pl.col("leg") != "ack").group_by(id=pl.col("flow").cast(pl.Int64))
        way_ps = way.agg(way_ps=pl.col("time_ps").sum().cast(pl.Int64))
        arrived = (pl.col("start_ps") + pl.col("way_ps")).alias("arrived_ps")
        return own.join(way_ps, on="id", how="left", maintain_order="left").with_columns(arrived).drop("way_ps")

    @cached_property
    def sums_within_hosts(self) -> pl.DataFrame:
        """A training job's sums over ranks of one host, each from its last rank's begin, the `starter`'s."""
        found = self.operations.filter((pl.col("word") == "tensor") & (pl.col("bytes") == 0))
        last = pl.struct("start_ps", starter="process").sort_by("start_ps").last().over("host", "kernel", "end_ps")
        return found.with_columns(last=last).drop("start_ps").unnest("last")

    @cached_property
    def ranks(self) -> tuple[Rank, ...]:
        """Its ranks that have ended an operation, by number."""
        found = self.operations.select("process", "host").unique()
        return tuple(sorted(Rank(number, host) for number, host in found.iter_rows()))

    @cached_property
    def places(self) -> pl.DataFrame:
        """Each rank's `process`, `host` and `place` among the ranks of its host."""
        by_host: dict[str, int] = defaultdict(int)
        rows = []
        for rank in self.ranks:
            rows.append((rank.number, rank.host, by_host[rank.host]))
            by_host[rank.host] += 1
        return pl.DataFrame(rows, {"process": pl.Int64, "host": pl.String, "place": pl.Int64}, orient="row")

    @property
    def delays_ps(self) -> tuple[int, ...]:
        """Times that may lie between what happens at a rank and what the rank does then, the shortest first."""
        found = {0}
        for each in self.patterns:
            overhead = quantity(each.get("overhead")) or 0
            found.add(overhead)
            for table in (each, each.get("collectives") or {}):
                own = quantity(table.get("step_latency"))
                latencies = _STEP_LATENCIES_PS.get(str(table.get("protocol")), ()) if own is None else (own,)
                found |= {overhead + latency for latency in latencies}
        return tuple(sorted(found))

    @cached_property
    def computes_ps(self) -> Mapping[Rank, int]:
        """For how long each rank that computes does so, on one processor or several."""
        found = {}
        for (number, host), own in self.computations.partition_by("process", "host", as_dict=True).items():
            spans = Intervals(own["start_ps"].to_numpy(), own["end_ps"].to_numpy())
            if total := spans.total:
                found[Rank(number, host)] = total
        return found

    @cached_property
    def waits_ps(self) -> Mapping[Rank, int]:
        """For how long each rank neither computed nor sent, from the job's start to its own end.

        A rank sends while a message of its own is under way, or a sum over ranks of its host that all have begun.
        """
        sent = self.messages.select("process", "start_ps", host="src", end_ps="acked_ps")
        parts = [self.computations, sent, self.sums_within_hosts.select(sent.columns)]
        busy = pl.concat(parts, how="diagonal").partition_by("process", "host", as_dict=True)
        start = self.operations["start_ps"].min()
        found = {}
        for number, host, end in self.operations.group_by("process", "host").agg(pl.col("end_ps").max()).iter_rows():
            waits = end - start
            if (own := busy.get((number, host))) is not None:
                spans = Intervals(own["start_ps"].to_numpy(), own["end_ps"].clip(upper_bound=end).to_numpy())
                waits -= spans.total
            found[Rank(number, host)] = waits
        return found
