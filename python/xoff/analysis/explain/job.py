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
        """What the messages of its critical path waited for, as in the table `breakdown`.

        The way of an ACK counts only where the path waited for the ACK.
        """
        if not self.path:
            return pl.DataFrame(schema={"flow": pl.Int64, "part": pl.String, "port": pl.String, "time_ps": pl.Int64})
        taken = [(each.flow, each.acked) for each in self.path if each.flow is not None]
        flows = pl.DataFrame(taken, {"flow": pl.Int64, "acked": pl.Boolean}, orient="row")
        found = self.facts.breakdown.with_columns(pl.col("flow", "time_ps").cast(pl.Int64))
        found = found.filter(~pl.col("part").is_in(_ALONE) & (pl.col("time_ps") > 0)).join(flows, on="flow")
        return found.filter((pl.col("leg") != "ack") | pl.col("acked")).drop("acked").sort("flow", "port", "part")


def jobs_of(facts: Facts) -> list[Job]:
    """The jobs of a run; none if an earlier version of xoff wrote less of messages than the rules of jobs need."""
    about = facts.manifest.get("jobs", [])
    return [Job(facts, each) for each in about] if about and set(facts.flows.columns) >= _LATER_COLUMNS else []
