"""Measurements of a run, taken in the process that made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from xoff.analysis.mismarking import mismarked_flows
from xoff.analysis.tables import frame, sampled_rates

if TYPE_CHECKING:
    import numpy.typing as npt

    from xoff.runs.results import Run

    Floats = npt.NDArray[np.float64]

PORTS = {"P0": "t0->l0", "P1": "t1->l0", "P2": "l0->t2", "P3": "t2->r1"}
"""The ports of Fig. 2 by their names in the paper."""
LARGEST_MPI_BYTES = 32_000
"""Largest MPI message; I/O messages are larger (5.2.2)."""
LINK_US = 4.0
"""Propagation of a link in the simulations, in us."""
GBPS = 40.0
"""Line rate there."""
PS_PER_US = 1e6


def longest_on_us(
    gbps: float, mtu_bytes: float, delay_us: float, epsilon: float = 0.05, band_bytes: float | None = None
) -> float:
    """max(T_on) by Equation 3 in us; `band_bytes` is B1 - B0, two MTU by default."""
    bits_per_us = gbps * 1e3
    tau = 2 * mtu_bytes * 8 / bits_per_us + 2 * delay_us
    band = 2 * mtu_bytes if band_bytes is None else band_bytes
    return (2 * band * 8 + tau * bits_per_us) / (2 * epsilon * bits_per_us) + tau


def on_period_us(epsilon: Floats, drain: Floats, tau_us: float, gbps: float, band_bytes: float) -> Floats:
    """T_on by Equation 2 in us for shares `epsilon` and `drain` (R_d / C) of the line rate."""
    bits_per_us = gbps * 1e3
    on: Floats = (band_bytes * 8 + tau_us * drain * bits_per_us) / (epsilon * bits_per_us) + tau_us
    return on


@dataclass(frozen=True)
class Chain:
    """A run of Fig. 2 in numbers; times in us from the beginning of the bursts."""

    time_us: Floats
    """End of each sample."""
    queue_kb: Mapping[str, Floats]
    """Most bytes queued in each sample, by port, in KB of 1,000 B."""
    sent_gbps: Mapping[str, Floats]
    """What each port sent."""
    f1_gbps: Floats
    """The rate of f1's scheme; NaN if it has no sample."""
    marks: Mapping[tuple[str, str, str], int]
    """Packets that a port marked, by (port, traffic, `ce` or `ue`)."""
    mark_us: Mapping[tuple[str, str], Floats]
    """When, by (port, `ce` or `ue`)."""
    states: Mapping[str, Sequence[tuple[float, str]]]
    """By port: since when it is in which state; empty without TCD."""
    stopped_us: Mapping[str, float]
    """By port: end of its last pause; NaN if it was never stopped."""
    pauses: Mapping[str, int]
    """By port: how often it was stopped."""


def measure_chain(run: Run, began_us: float) -> Chain:
    """Measure a run of Fig. 2 whose bursts begin at `began_us`."""
    names = {port: name for name, port in PORTS.items()}
    queues = frame(run, "queues").with_columns(pl.col("port").replace(names))
    sent = frame(run, "utilization").with_columns(pl.col("port").replace(names))
    rates = sampled_rates(run)
    marks = _marks_by_traffic(run).with_columns(pl.col("port").replace(names))
    states = frame(run, "states").with_columns(pl.col("port").replace(names))
    pauses = frame(run, "pauses").with_columns(pl.col("port").replace(names))

    def us(column: pl.Series) -> Floats:
        return np.asarray(column.to_numpy() / PS_PER_US - began_us, dtype=np.float64)

    def of(data: pl.DataFrame, name: str) -> pl.DataFrame:
        return data.filter(pl.col("port") == name)

    time = us(of(queues, "P2")["time_ps"])
    f1 = np.full(len(time), np.nan)
    f1[np.searchsorted(time, us(rates["time_ps"]) - 1e-6).clip(max=len(time) - 1)] = rates["rate_bps"].to_numpy() / 1e9
    counts = marks.group_by("port", "label", "mark").len()
    ends = {name: us((own := of(pauses, name))["start_ps"] + own["length_ps"]) for name in PORTS}
    return Chain(
        time_us=time,
        queue_kb={name: of(queues, name)["max_bytes"].to_numpy() / 1e3 for name in PORTS},
        sent_gbps={name: of(sent, name)["tx_bps"].to_numpy() / 1e9 for name in PORTS},
        f1_gbps=f1,
        marks={(port, label, mark): count for port, label, mark, count in counts.iter_rows()},
        mark_us={
            (name, mark): us(of(marks, name).filter(pl.col("mark") == mark)["time_ps"])
            for name in PORTS
            for mark in ("ce", "ue")
        },
        states={
            name: list(zip(us(of(states, name)["time_ps"]).tolist(), of(states, name)["state"].to_list(), strict=True))
            for name in PORTS
        },
        stopped_us={name: float(end.max()) if len(end) else float("nan") for name, end in ends.items()},
        pauses={name: len(end) for name, end in ends.items()},
    )


def _marks_by_traffic(run: Run) -> pl.DataFrame:
    labels = frame(run, "flows").select(pl.col("id").alias("flow"), "label")
    return frame(run, "marks").join(labels, on="flow", how="left", maintain_order="left")


@dataclass(frozen=True)
class Testbed:
    """The testbed's run; shares of the packets that arrive in each interval."""

    time_ms: Floats
    """End of each interval."""
    interval_ms: float
    """Its length."""
    share: Mapping[tuple[str, str], Floats]
    """By (flow, `ue` or `ce`): packets whose mark at their receiver is this, over the flow's packets."""
    sending_ms: tuple[float, float]
    """From when to when a0 sends."""


def measure_testbed(run: Run, interval_ms: float, sending_ms: tuple[float, float]) -> Testbed:
    """Measure a run of `testbed.toml` in intervals of `interval_ms`."""
    end_ms = run.manifest["sim_time_ps"] / 1e9
    edges = np.arange(0.0, end_ms + interval_ms / 2, interval_ms)
    marks = _marks_by_traffic(run)
    # The last mark of a packet is what its receiver sees.
    final = marks.group_by("flow", "offset_bytes", maintain_order=True).last()
    payload = run.manifest["wire"]["payload_bytes"]
    rates = frame(run, "rates").join(frame(run, "flows").select(pl.col("id").alias("flow"), "label"), on="flow")
    share = {}
    for label in ("f0", "f1"):
        own = rates.filter(pl.col("label") == label)
        acked = own["goodput_bps"].to_numpy() * own["interval_ps"].to_numpy() / 8e12
        packets, _ = np.histogram(own["time_ps"].to_numpy() / 1e9 - 1e-6, edges, weights=acked / payload)
        for mark in ("ue", "ce"):
            times = final.filter((pl.col("label") == label) & (pl.col("mark") == mark))["time_ps"].to_numpy() / 1e9
            count, _ = np.histogram(times, edges)
            share[label, mark] = count / np.maximum(packets, 1.0)
    return Testbed(edges[1:], interval_ms, share, sending_ms)


@dataclass(frozen=True)
class Victims:
    """The victims of a run."""

    flows: int
    """Victims that completed."""
    marked_ce: int
    """Those with at least one packet marked CE."""
    marked_ue: int
    """Those with at least one marked UE and none CE."""
    packets_ce: int
    """Their packets marked CE."""
    packets: int
    """Their packets."""
    mismarked: int
    """Those with a packet marked CE by a port that was no congestion root then."""
    packets_mismarked: int
    """Their packets marked so."""
    size_bytes: Floats
    """Size of each."""
    fct_us: Floats
    """FCT of each, at the sender."""


def measure_victims(run: Run) -> Victims:
    """Measure the flows labelled `victim`."""
    flows = frame(run, "flows").filter(pl.col("label") == "victim").drop_nulls("fct_ps")
    ce, ue = flows["marked_ce"].to_numpy(), flows["marked_ue"].to_numpy()
    wrongly = mismarked_flows(run, "victim").filter(pl.col("flow").is_in(flows["id"].implode()))["false_ce"].to_numpy()
    return Victims(
        flows=len(flows),
        marked_ce=int((ce > 0).sum()),
        marked_ue=int(((ue > 0) & (ce == 0)).sum()),
        packets_ce=int(ce.sum()),
        packets=int(flows["packets_sent"].sum()),
        mismarked=int((wrongly > 0).sum()),
        packets_mismarked=int(wrongly.sum()),
        size_bytes=flows["size_bytes"].to_numpy().astype(np.float64),
        fct_us=flows["fct_ps"].to_numpy() / PS_PER_US,
    )


@dataclass(frozen=True)
class Chained:
    """Packets of f0 and f2, which cause no congestion, in the scenario of one congestion point."""

    marked_ce: int
    """Packets marked CE."""
    marked_ue: int
    """Packets marked UE."""
    packets: int
    """Packets."""


def measure_innocent(run: Run) -> Chained:
    """Count the marks of f0 and f2."""
    flows = frame(run, "flows").filter(pl.col("label").is_in(["f0", "f2"]))
    return Chained(int(flows["marked_ce"].sum()), int(flows["marked_ue"].sum()), int(flows["packets_sent"].sum()))


@dataclass(frozen=True)
class Fct:
    """A fat-tree run."""

    flows: int
    """Flows that arrived."""
    incomplete: int
    """Those that did not complete."""
    size_bytes: npt.NDArray[np.int64]
    """Size of each completed flow."""
    slowdown: Floats
    """Completion at the receiver over the authors' time of the flow alone: size over line rate, and propagation."""
    pauses: int
    """PAUSE frames of all ports."""
    marked: tuple[int, int]
    """Flows with a packet marked CE, and others with one marked UE."""


def measure_fct(run: Run) -> Fct:
    """Slowdowns at the receivers: without the way back of the last ACK over idle links."""
    flows = frame(run, "flows")
    done = flows.drop_nulls("fct_ps")
    links = done["path"].str.count_matches(">").to_numpy()
    ack_us = run.manifest["wire"]["ack_bytes"] * 8 / (GBPS * 1e3)
    there = done["fct_ps"].to_numpy() / PS_PER_US - links * (LINK_US + ack_us)
    size = done["size_bytes"].to_numpy()
    alone = size * 8 / (GBPS * 1e3) + links * LINK_US
    ce, ue = done["marked_ce"].to_numpy() > 0, done["marked_ue"].to_numpy() > 0
    return Fct(
        flows=len(flows),
        incomplete=len(flows) - len(done),
        size_bytes=size.astype(np.int64),
        slowdown=there / alone,
        pauses=int(frame(run, "ports")["pause_frames_sent"].sum()),
        marked=(int(ce.sum()), int((ue & ~ce).sum())),
    )


@dataclass(frozen=True)
class Mct:
    """A fat-tree run with MPI and I/O jobs."""

    messages: int
    """Messages that were sent."""
    incomplete: int
    """Those that did not complete."""
    size_bytes: npt.NDArray[np.int64]
    """Size of each completed message."""
    mct_us: Floats
    """From its first packet's turn to its last ACK: without the wait for an earlier message of its connection."""
    io: npt.NDArray[np.bool_]
    """Whether it is of an I/O job."""
    marked: tuple[int, int]
    """Messages with a packet marked CE, and others with one marked UE."""
    paused_ms: float
    """Time in which ports lacked credits, over all of them."""


def measure_mct(run: Run) -> Mct:
    """Completion times of messages at the sender."""
    flows = frame(run, "flows")
    done = flows.drop_nulls("fct_ps")
    ce, ue = done["marked_ce"].to_numpy() > 0, done["marked_ue"].to_numpy() > 0
    return Mct(
        messages=len(flows),
        incomplete=len(flows) - len(done),
        size_bytes=done["size_bytes"].to_numpy().astype(np.int64),
        mct_us=done["fct_ps"].to_numpy() / PS_PER_US,
        io=done["size_bytes"].to_numpy() > LARGEST_MPI_BYTES,
        marked=(int(ce.sum()), int((ue & ~ce).sum())),
        paused_ms=float(frame(run, "ports")["paused_ps"].sum()) / 1e9,
    )


@dataclass(frozen=True)
class Fairness:
    """The five long flows through P2, and what P2 takes itself to be."""

    time_ms: Floats
    """End of each sample, from the beginning of the bursts."""
    goodput_gbps: Floats
    """Wire bits that b0 to b3 sent: a row a sample, a column a flow."""
    f1_gbps: Floats
    """The same of f1."""
    rate_gbps: Floats
    """What the scheme allows b0 to b3; NaN where a flow has no sample."""
    pauses: int
    """How often P2 was stopped."""
    states: Sequence[tuple[float, str]]
    """Since when, in ms, P2 is in which state."""
    marks: Mapping[str, int]
    """Packets of b0 to b3 that P2 marks, by `ce` and `ue`."""


def measure_fairness(run: Run, began_us: float) -> Fairness:
    """What the five long flows of `fairness.toml` send over time."""
    labels = frame(run, "flows").select(pl.col("id").alias("flow"), "label")
    rates = sampled_rates(run).join(labels, on="flow")
    times = rates["time_ps"].unique().sort().to_numpy()
    sent, allowed = {}, {}
    for label in ("b0", "b1", "b2", "b3", "f1"):
        own = rates.filter(pl.col("label") == label)
        places = np.searchsorted(times, own["time_ps"].to_numpy())
        sent[label], allowed[label] = np.zeros(len(times)), np.full(len(times), np.nan)
        sent[label][places] = own["sent_bps"].to_numpy() / 1e9
        allowed[label][places] = own["rate_bps"].cast(pl.Float64).fill_null(float("nan")).to_numpy() / 1e9
    port = PORTS["P2"]
    states = frame(run, "states").filter(pl.col("port") == port)
    marks = _marks_by_traffic(run).filter((pl.col("port") == port) & pl.col("label").str.starts_with("b"))
    marks = marks.filter(pl.col("label") != "burst")
    return Fairness(
        time_ms=times / 1e9 - began_us / 1e3,
        goodput_gbps=np.column_stack([sent[f"b{i}"] for i in range(4)]),
        f1_gbps=sent["f1"],
        rate_gbps=np.column_stack([allowed[f"b{i}"] for i in range(4)]),
        pauses=frame(run, "pauses").filter(pl.col("port") == port).height,
        states=list(
            zip((states["time_ps"].to_numpy() / 1e9 - began_us / 1e3).tolist(), states["state"].to_list(), strict=True)
        ),
        marks={mark: marks.filter(pl.col("mark") == mark).height for mark in ("ce", "ue")},
    )


def percentile(values: Floats, percent: float) -> float:
    """NaN if there are no values."""
    return float(np.percentile(values, percent)) if len(values) else float("nan")
