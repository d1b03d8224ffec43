"""What rules of jobs look at: a parallel program, its critical path, and what that path lost to the network."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import polars as pl

from xoff.analysis.explain.critical_path import Segment, critical_path
from xoff.analysis.explain.facts import Facts
from xoff.analysis.explain.program import Program

_LATER_COLUMNS = {"label", "kernel", "process", "iteration", "ideal_fct_ps"}
"""Columns of `flows` that an earlier version of xoff did not write."""

_ALONE = ("serialization", "propagation", "processing")
"""Parts of its time that a message has alone in the network, too."""


class Job:
    """A job of the manifest, with the tables of its run."""

    def __init__(self, facts: Facts, about: Mapping[str, Any]) -> None:
        self.facts = facts
        self.about = about
        self.label = str(about["label"])
        self.program = Program(facts, about)

    @cached_property
    def path(self) -> list[Segment]:
        """Its critical path; empty if the run did not record where flows' time went."""
        return critical_path(self.program)

    @cached_property
    def path_ps(self) -> int:
        """How long its critical path is."""
        return sum(each.time_ps for each in self.path)

    def spent_ps(self, kind: str) -> int:
        """How much of its critical path is of a kind."""
        return sum(each.time_ps for each in self.path if each.kind == kind)

    @cached_property
    def losses(self) -> pl.DataFrame:
        """What the messages of its critical path waited for, and not when alone, as in the table `breakdown`.

        The way of an ACK counts only where the path waited for the ACK. Alone a message may wait too, in front of a
        slower link or for its own window: if its waits sum to more than what it took longer than alone, each of them
        counts in proportion. `sure` says whether the path is known from the message to its end.
        """
        if not self.path:
            schema = {"flow": pl.Int64, "part": pl.String, "port": pl.String, "time_ps": pl.Int64, "sure": pl.Boolean}
            return pl.DataFrame(schema=schema)
        taken = [(each.flow, each.acked, each.sure) for each in self.path if each.flow is not None]
        flows = pl.DataFrame(taken, {"flow": pl.Int64, "acked": pl.Boolean, "sure": pl.Boolean}, orient="row")
        late = (pl.col("fct_ps") - pl.col("ideal_fct_ps")).clip(lower_bound=0)
        flows = flows.join(self.program.messages.select(flow="id", late=late), on="flow")
        found = self.facts.breakdown.with_columns(pl.col("flow", "time_ps").cast(pl.Int64))
        found = found.filter(~pl.col("part").is_in(_ALONE) & (pl.col("time_ps") > 0)).join(flows, on="flow")
        share = (pl.col("late") / pl.col("time_ps").sum().over("flow")).clip(upper_bound=1)
        counted = (pl.col("time_ps") * share).round().cast(pl.Int64)
        found = found.with_columns(time_ps=counted).filter(pl.col("time_ps") > 0)
        own = found.filter((pl.col("leg") != "ack") | pl.col("acked"))
        return own.drop("acked", "late").sort("flow", "port", "part")


def jobs_of(facts: Facts) -> list[Job]:
    """The jobs of a run; none if an earlier version of xoff wrote less of messages than the rules of jobs need."""
    about = facts.manifest.get("jobs", [])
    return [Job(facts, each) for each in about] if about and set(facts.flows.columns) >= _LATER_COLUMNS else []
