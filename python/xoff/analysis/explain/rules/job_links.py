"""Where the messages of a job's critical path waited, and what was congested on their paths in that time."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from xoff.analysis.explain.job import Job
from xoff.text import share_text, time_text

NAMED_SHARE = 0.05
"""Share of what messages lost from which a port is named."""

_PLACES = {
    "sender": "behind others at their own NICs",
    "held": "held at their senders",
    "stopped": "stopped at switches' ports",
    "last": "on the links to their receivers",
    "inner": "between switches",
    "ack": "as ACKs",
}
_ADVICE = {
    "sender": "fewer messages of one host at a time, or more NICs: these waited behind others of their own host",
    "held": "what holds a sender back: see the findings on PAUSE, credits, windows, rates and losses",
    "stopped": "what stops those ports, which is further on: see the findings on PAUSE, credits and congestion roots",
    "last": "fewer senders to that host at a time, or a placement apart from the other traffic",
    "inner": "another placement or routing.choice: links between switches carry too many at a time",
    "ack": "less waiting for last ACKs: acknowledged = false of a collective, eager of a schedule or a trace",
}
"""What to try, by where messages waited longest."""


@dataclass(frozen=True)
class Links:
    """What the messages of a path lost, and where."""

    lost_ps: int
    """How much longer than alone they took, all together."""
    held: bool
    """Whether some were held at their senders or stopped at ports, which says nothing of where the congestion was."""
    sure_ps: int
    """What those lost from which the path is known to its end."""
    evidence: tuple[str, ...]
    ports: tuple[str, ...]
    """Ports at which they waited, and congested ones of their paths, the one that cost most first."""
    flows: tuple[int, ...]
    """Those that lost time, the one that lost most first."""
    advice: str | None


def links_of(job: Job) -> Links:
    """What the messages of a job's critical path lost, and where."""
    losses = job.losses
    lost = int(losses["time_ps"].sum())
    if not lost:
        return Links(0, False, 0, (), (), (), None)
    kinds = losses.join(job.program.messages.select("src", "dst", flow="id"), on="flow").with_columns(where=_where())
    by_port = _sums(kinds, "where", "leg", "part", "port")
    names = [
        f"{_at(leg, part, port)} {time_text(ps)} ({share_text(ps / job.path_ps)})"
        for where, leg, part, port, ps in by_port.head(3).iter_rows()
    ]
    rest = len(by_port) - 3
    more = f", and {rest} more" if rest > 0 else ""
    roots = _roots(job)
    evidence = [f"the path's messages were longer than alone by {time_text(lost)}: {', '.join(names)}{more}"]
    places = _sums(kinds, "where")
    if rest > 0:
        shares = (
            f"{_PLACES[where]} {time_text(ps)} ({share_text(ps / job.path_ps)})" for where, ps in places.iter_rows()
        )
        evidence.append(f"by place: {', '.join(shares)}")
    if roots:
        named = ", ".join(f"{port} for {time_text(ps)}" for port, ps in roots[:3])
        evidence.append(f"congestion roots on their paths, while they were under way: {named}")
    elsewhere = pl.col("where").is_in(["held", "stopped"])
    at_ports = _sums(kinds.filter(~elsewhere), "port").filter(pl.col("time_ps") >= NAMED_SHARE * lost)
    ports = [*at_ports["port"], *(port for port, ps in roots if ps >= NAMED_SHARE * lost)]
    return Links(
        lost_ps=lost,
        held=bool(kinds.select(elsewhere.any()).item()),
        sure_ps=int(losses.filter("sure")["time_ps"].sum()),
        evidence=tuple(evidence),
        ports=tuple(dict.fromkeys(ports)),
        flows=tuple(_sums(kinds, "flow")["flow"]),
        advice=_ADVICE[places["where"][0]],
    )


def _sums(losses: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """The time by these keys, longest first."""
    sums = losses.group_by(keys).agg(pl.col("time_ps").sum())
    return sums.sort("time_ps", *keys, descending=[True, *(False for _ in keys)])


def _where() -> pl.Expr:
    """At which kind of place a message waited."""
    at_sender = pl.col("leg") == "sender"
    return (
        pl.when(at_sender & (pl.col("part") != "queueing"))
        .then(pl.lit("held"))
        .when(at_sender)
        .then(pl.lit("sender"))
        .when(pl.col("leg") == "ack")
        .then(pl.lit("ack"))
        .when(pl.col("port").str.starts_with(pl.col("src") + "->"))
        .then(pl.lit("sender"))
        .when(pl.col("part") == "paused")
        .then(pl.lit("stopped"))
        # Of several links between two nodes, all but the first have a number.
        .when(pl.col("port").str.replace(r"#\d+$", "").str.ends_with("->" + pl.col("dst")))
        .then(pl.lit("last"))
        .otherwise(pl.lit("inner"))
    )


def _at(leg: str, part: str, port: str) -> str:
    if leg == "sender" and part != "queueing":
        return f"{part} at its sender, {port}"
    return f"{part} at {port}" + {"sender": ", its own NIC", "ack": " (its ACK)"}.get(leg, "")


def _roots(job: Job) -> list[tuple[str, int]]:
    """Congested ports on the paths of messages that lost time, with the time for which both went on."""
    roots = job.facts.roots
    late = set(job.losses["flow"])
    spans = [(each.flow, each.start_ps, each.end_ps) for each in job.path if each.flow in late]
    if roots.is_empty() or not spans:
        return []
    hops = job.facts.breakdown.filter(pl.col("leg") != "ack").select(pl.col("flow").cast(pl.Int64), "port").unique()
    begin = pl.max_horizontal("start_ps", pl.col("root_ps"))
    end = pl.min_horizontal("end_ps", pl.col("root_ps") + pl.col("length_ps"))
    both = (
        pl.DataFrame(spans, {"flow": pl.Int64, "start_ps": pl.Int64, "end_ps": pl.Int64}, orient="row")
        .join(hops, on="flow")
        .join(
            roots.select(
                "port", root_ps=pl.col("start_ps").cast(pl.Int64), length_ps=pl.col("length_ps").cast(pl.Int64)
            ),
            on="port",
        )
        .with_columns(time_ps=end - begin)
        .filter(pl.col("time_ps") > 0)
    )
    return [(str(port), int(ps)) for port, ps in _sums(both, "port").iter_rows()]
