"""What rules look at: a run's manifest and tables, read when first asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from xoff.analysis.explain.quantities import quantity
from xoff.analysis.failures import has_events
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
    def events(self) -> pl.DataFrame:
        """The table of what broke; empty if nothing could."""
        needed = ("id", "kind", "target", "start_ps", "end_ps", "lost_packets", "lost_bytes", "flows")
        return self._read("events", needed) if has_events(self.run) else pl.DataFrame()

    @cached_property
    def drops(self) -> pl.DataFrame:
        """The table of lost packets; empty if nothing could break."""
        needed = ("cause", "id", "port", "flow", "data", "packets", "lost_bytes")
        return self._read("drops", needed) if has_events(self.run) else pl.DataFrame()

    @cached_property
    def watchdog(self) -> pl.DataFrame:
        """The table of storms that watchdogs found; empty if nothing could break."""
        needed = ("port", "by", "priority", "stopped_ps", "detected_ps", "restored_ps", "dropped_packets")
        return self._read("watchdog", needed) if has_events(self.run) else pl.DataFrame()

    @cached_property
    def retries(self) -> pl.DataFrame:
        """The table of link-level retry; empty without it."""
        needed = ("port", "frames", "corrupt", "discarded", "replayed", "replayed_bytes", "timeouts", "full_ps")
        return self._read("retries", needed) if self.manifest.get("link_retry") else pl.DataFrame()

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
    def operations(self) -> pl.DataFrame:
        """The table of operations of closed loops; may be empty."""
        needed = ("label", "kernel", "process", "host", "iteration", "bytes", "start_ps", "end_ps")
        return self._read("operations", needed)

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

    @cached_property
    def stops(self) -> pl.DataFrame:
        """Switches' ports with PFC's static thresholds for what comes in, `xoff` and `xon` in bytes; may be empty."""
        none = self.ports.clear().with_columns(xoff=pl.lit(0), xon=pl.lit(0))
        if self.flow_control != "pfc" or "headroom_bytes" not in self.ports.columns:
            return none
        switches = self.ports.filter(pl.col("headroom_bytes").is_not_null())
        xoff, xon = self.value("flow_control", "xoff"), self.value("flow_control", "xon")
        if xoff is not None:
            found = switches.with_columns(xoff=pl.lit(xoff, pl.Int64))
        elif "xoff_bytes" in self.ports.columns:
            # The default of each link's rate.
            found = switches.filter(pl.col("xoff_bytes").is_not_null()).with_columns(
                xoff=pl.col("xoff_bytes").cast(pl.Int64)
            )
        else:
            return none
        default = (pl.col("xoff") - 2 * self.frame_bytes).clip(0)
        return found.with_columns(xon=default if xon is None else pl.lit(xon, pl.Int64))
