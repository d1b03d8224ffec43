"""Where congestion began, how PAUSE spread, and whom it hit."""

from __future__ import annotations

import polars as pl

from xoff.analysis.blocking import pause_spread
from xoff.analysis.explain.facts import Facts
from xoff.analysis.explain.findings import Finding
from xoff.text import count_text, share_text, size_text, time_text

STORM_SHARE = 0.1
"""Share of the run for which a port is stopped in a storm."""
ROOT_SHARE = 0.1
"""Share of the run for which a root makes a warning."""
_MAX_PAUSES = 20_000
"""Maximum number of pauses whose spread is computed: the time grows with the square of the number."""


def pause_storm(facts: Facts) -> Finding | None:
    """A port stood still for a good part of the run, by PAUSE or for lack of credits."""
    if facts.sim_time_ps == 0:
        return None
    whole = facts.sim_time_ps * facts.priorities
    stopped = facts.ports.filter(pl.col("paused_ps") > 0).sort(["paused_ps", "port"], descending=[True, False])
    if stopped.is_empty() or int(stopped["paused_ps"][0]) < STORM_SHARE * whole:
        return None
    worst = [f"{port} {share_text(ps / whole)}" for port, ps in stopped.select("port", "paused_ps").head(3).iter_rows()]
    by_credits = facts.flow_control in ("cbfc", "ue_cbfc", "credit")
    by_frames = not by_credits and facts.flow_control != "bfc"
    frames = int(facts.ports["pause_frames_sent"].sum())
    evidence = [
        f"of {len(facts.ports)} ports {len(stopped)} were stopped, for the longest {', '.join(worst)} of the run"
    ]
    if by_frames:
        evidence.append(f"{count_text(frames, 'PAUSE frame')}, {frames / (facts.sim_time_ps / 1e9):,.3g} a millisecond")
    depth = _depth(facts)
    if depth is not None and depth > 1:
        evidence.append(f"it reached ports {depth} links behind the root of its congestion")
    advice = (
        "a scheme that keeps queues below the threshold (scheme.name), or earlier marks",
        "fewer senders to one receiver at a time",
        *(() if not by_frames else ("a higher flow_control.xoff, if the memory is there",)),
    )
    kind = "credits stalled ports" if by_credits else "a PAUSE storm"
    if facts.flow_control == "bfc":
        kind = "all flows of a port were held back"
    return Finding(
        "pause_storm",
        "warning",
        f"{kind}: {stopped['port'][0]} stood still for {share_text(stopped['paused_ps'][0] / whole)} of the run",
        tuple(evidence),
        f"a port stopped for {share_text(STORM_SHARE)} of the run, on average over its priorities",
        advice,
        ports=tuple(stopped["port"]),
    )


def _depth(facts: Facts) -> int | None:
    if facts.roots.is_empty() or not 0 < len(facts.pauses) <= _MAX_PAUSES:
        return None
    deepest = pause_spread(facts.run)["depth"].max()
    return int(deepest) if isinstance(deepest, int) else None


def roots(facts: Facts) -> Finding | None:
    """Egress queues to whose link more was offered than the link carries."""
    if facts.roots.is_empty() or facts.sim_time_ps == 0:
        return None
    by_port = (
        facts.roots.group_by("port")
        .agg(pl.col("length_ps").sum(), pl.col("max_bytes").max(), pl.len().alias("times"))
        .sort(["length_ps", "port"], descending=[True, False])
    )
    share = int(by_port["length_ps"][0]) / (facts.sim_time_ps * facts.priorities)
    evidence = []
    for port, length, most, times in by_port.head(3).iter_rows():
        flows, hosts = _through(facts.flows, port)
        evidence.append(
            f"{port}: a root {count_text(times, 'time')} for {time_text(length)} in all, up to {size_text(most)}, on "
            f"the path of {count_text(flows, 'flow')} from {count_text(hosts, 'host')}"
        )
    return Finding(
        "roots",
        "warning" if share >= ROOT_SHARE else "note",
        f"congestion began at {by_port['port'][0]}"
        + (f" and {count_text(len(by_port) - 1, 'other port')}" if len(by_port) > 1 else ""),
        tuple(evidence),
        f"record.root_growth offered beyond what the link carries; a warning from {share_text(ROOT_SHARE)} of the run",
        (
            "at a host's link: fewer senders at a time, or a scheme that divides it (hpcc, fncc)",
            "between switches: more links, or routing that spreads flows better",
        ),
        ports=tuple(by_port["port"]),
    )


def _through(flows: pl.DataFrame, port: str) -> tuple[int, int]:
    """Flows whose data passes a port, and their hosts."""
    # Paths name nodes; links side by side have numbers.
    link = f">{port.partition('#')[0].replace('->', '>')}>"
    # Polars refuses to look for very long names.
    paths = [path for path in flows["path"].unique() if path is not None and link in f">{path}>"]
    passing = flows.filter(pl.col("path").is_in(paths))
    return len(passing), passing["src"].n_unique()


def long_queues(facts: Facts) -> Finding | None:
    """Long queues, if a run did not record congestion roots."""
    if facts.recorded("roots") or facts.base_rtt_ps == 0:
        return None
    limit = pl.col("rate_bps").cast(pl.Float64) * facts.base_rtt_ps / 8e12
    long = facts.ports.with_columns(bdp=limit).filter(pl.col("max_queue_bytes") > pl.col("bdp"))
    long = long.sort(["max_queue_bytes", "port"], descending=[True, False])
    if long.is_empty():
        return None
    evidence = [
        f"{port}: up to {size_text(most)} queued, {most / bdp:,.3g} times what its link carries in a base RTT"
        for port, most, bdp in long.select("port", "max_queue_bytes", "bdp").head(3).iter_rows()
    ]
    return Finding(
        "long_queues",
        "note",
        f"the longest queue was at {long['port'][0]}, {size_text(long['max_queue_bytes'][0])}",
        tuple(evidence),
        f"more than the link carries in a base RTT, {time_text(facts.base_rtt_ps)}",
        ("record.roots=true tells queues that began congestion from those that PAUSE filled",),
        ports=tuple(long["port"]),
    )


def victims(facts: Facts) -> Finding | None:
    """Flows that head-of-line blocking held up though none of their own hops was congested."""
    flows = facts.flows
    if "hol_blocked" not in flows.columns or flows["hol_blocked"].null_count() == len(flows):
        return None
    blocked = flows.filter(pl.col("hol_blocked")).sort(["slowdown", "id"], descending=[True, False], nulls_last=True)
    if blocked.is_empty():
        return None
    worst = blocked.head(3).select("id", "src", "dst", "slowdown").iter_rows()
    names = [
        f"flow {flow} {src}->{dst}" + ("" if slow is None else f" (slowdown {slow:.3g})")
        for flow, src, dst, slow in worst
    ]
    evidence = [f"{len(blocked):,} of {count_text(len(flows), 'flow')}, the slowest {', '.join(names)}"]
    if not facts.breakdown.is_empty():
        ids = blocked["id"].to_list()
        stopped = facts.breakdown.filter(pl.col("flow").is_in(ids) & (pl.col("part") == "paused"))
        ports = stopped.group_by("port").agg(pl.col("time_ps").sum())
        ports = ports.sort(["time_ps", "port"], descending=[True, False]).head(3)
        at = [f"{port} {time_text(ps)}" for port, ps in ports.iter_rows()]
        evidence += [f"together they were paused at {', '.join(at)}"] if at else []
    return Finding(
        "victims",
        "warning",
        f"{count_text(len(blocked), 'victim flow')} of head-of-line blocking",
        tuple(evidence),
        "a packet that waited behind a PAUSE while no hop of its flow was a congestion root",
        (
            "another priority (switch.priorities, traffic.N.priority) for what must not wait",
            "a scheme that holds the culprits back at their senders",
        ),
        flows=tuple(blocked["id"]),
    )
