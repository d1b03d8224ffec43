"""What rules look at: a run's manifest and tables, read when first asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from xoff.analysis.explain.quantities import quantity
from xoff.analysis.tables import frame
from xoff.errors import UserError

if TYPE_CHECKING:
    from xoff.runs.results import Run

WAITING = ("queueing", "paused")
"""Parts of a flow's time that the network causes."""


class Facts:
    """A run as rules see it."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.manifest = run.manifest
        self.scenario: Mapping[str, Any] = run.manifest["scenario"]

    def section(self, name: str) -> Mapping[str, Any]:
        """A table of the resolved scenario; empty if it has none."""
        found = self.scenario.get(name)
        return found if isinstance(found, Mapping) else {}

    def value(self, section: str, key: str) -> int | None:
        """A quantity of the scenario in ps, B or bit/s; `None` if it is not set."""
        return quantity(self.section(section).get(key))

    def recorded(self, key: str) -> bool:
        """Whether `[record]` asked for `key`. An earlier version of xoff does not know every key."""
        return self.section("record").get(key) not in (None, False, "none", [])

    @cached_property
    def flows(self) -> pl.DataFrame:
        """The table of flows."""
        return self._read("flows", ("id", "src", "dst", "size_bytes", "fct_ps", "slowdown", "acked_bytes", "path"))

    @cached_property
    def ports(self) -> pl.DataFrame:
        """The table of ports."""
        needed = ("node", "peer", "rate_bps", "max_queue_bytes", "pause_frames_sent", "paused_ps", "dropped")
        return self._read("ports", ("port", *needed))

    @cached_property
    def _ports_by_node(self) -> Mapping[str, int]:
        return dict(self.ports.group_by("node").len().iter_rows())

    def has_several_nics(self, host: str) -> bool:
        """Whether a host has more than one NIC."""
        return self._ports_by_node.get(host, 0) > 1

    @cached_property
    def pauses(self) -> pl.DataFrame:
        """The table of pauses; may be empty."""
        return self._read("pauses", ("port", "by", "priority", "start_ps", "length_ps"))

    @cached_property
    def roots(self) -> pl.DataFrame:
        """The table of congestion roots; empty if they were not recorded."""
        needed = ("port", "priority", "start_ps", "length_ps", "max_bytes")
        return self._read("roots", needed) if self.recorded("roots") else pl.DataFrame()

    @cached_property
    def breakdown(self) -> pl.DataFrame:
        """Where flows' time went; without columns where that was not recorded."""
        needed = ("flow", "leg", "part", "port", "time_ps")
        return self._read("breakdown", needed) if self.recorded("breakdown") else pl.DataFrame()

    @cached_property
    def parts(self) -> pl.DataFrame:
        """A row a complete flow with `flow`, `fct_ps` and a column in ps for each part; empty if not recorded."""
        done = self.flows.filter(pl.col("fct_ps").is_not_null()).select(pl.col("id").alias("flow"), "fct_ps")
        if self.breakdown.is_empty() or done.is_empty():
            return pl.DataFrame()
        sums = self.breakdown.group_by("flow", "part").agg(pl.col("time_ps").sum())
        wide = sums.pivot("part", index="flow", values="time_ps").fill_null(0)
        return done.join(wide, on="flow").sort("flow")

    @property
    def sim_time_ps(self) -> int:
        """Simulated time."""
        return int(self.manifest.get("sim_time_ps", 0))

    @property
    def base_rtt_ps(self) -> int:
        """The base RTT that schemes were given; 0 if the manifest has none."""
        return int(self.manifest.get("base_rtt_ps", 0))

    @property
    def frame_bytes(self) -> int:
        """A full data packet on the wire; 0 if the manifest has none."""
        wire = self.manifest.get("wire")
        return int(wire.get("frame_bytes", 0)) if isinstance(wire, Mapping) else 0

    @property
    def flow_control(self) -> str:
        """`pfc`, `cbfc`, `credit` or `none`."""
        return str(self.section("flow_control").get("name", "none"))

    @property
    def priorities(self) -> int:
        """Data priorities in use."""
        return int(self.section("switch").get("priorities", 1))

    def _read(self, table: str, needed: Sequence[str]) -> pl.DataFrame:
        found = frame(self.run, table)
        lacking = next((column for column in needed if column not in found.columns), None)
        if lacking is not None:
            place = "" if self.run.folder is None else f"{self.run.folder}: "
            raise UserError(
                f"{place}the table {table}.parquet has no column `{lacking}`, so this version of xoff did not write it"
            )
        return found

    def thresholds(self) -> tuple[int, int] | None:
        """PFC's static Xoff and Xon in bytes; `None` without."""
        xoff = self.value("flow_control", "xoff") if self.flow_control == "pfc" else None
        if xoff is None:
            return None
        xon = self.value("flow_control", "xon")
        return xoff, max(xoff - 2 * self.frame_bytes, 0) if xon is None else xon
