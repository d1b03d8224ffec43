"""PFC's thresholds and headroom against what the links can bring."""

from __future__ import annotations

import polars as pl

from xoff.analysis.explain.facts import Facts
from xoff.analysis.explain.findings import Finding
from xoff.text import count_text, size_text, time_text

AMPLE = 4
"""Times the headroom that is needed from which it is called ample."""


def short_headroom(facts: Facts) -> Finding | None:
    """Headroom below what can arrive until the neighbour stops."""
    ports = _headrooms(facts)
    short = ports.filter(pl.col("headroom_bytes") < pl.col("needed_headroom_bytes"))
    if short.is_empty():
        return None
    spare = pl.col("headroom_bytes").cast(pl.Int64) - pl.col("max_headroom_bytes").cast(pl.Int64)
    left = short.with_columns(left=spare).sort("left", "port")
    port, headroom, needed, used = left.select(
        "port", "headroom_bytes", "needed_headroom_bytes", "max_headroom_bytes"
    ).row(0)
    close = int(left["left"][0]) < facts.frame_bytes
    return Finding(
        "short_headroom",
        "problem" if close else "warning",
        f"headroom below the formula at {count_text(len(short), 'port')}"
        + (", with less than a frame to spare" if close else ""),
        (
            f"what comes in by {port} has {size_text(headroom)} above Xoff, where {size_text(needed)} can arrive until "
            f"the neighbour stops; {size_text(used)} were used",
        ),
        "less than MTU + C (2 MTU/C + PAUSE/C + 2 t_p + response); a problem with less than a frame to spare",
        ("leave flow_control.headroom and headroom_bdp out: it is then computed from each link",),
        ports=tuple(left["port"]),
    )


def ample_headroom(facts: Facts) -> Finding | None:
    """Headroom of many times what can arrive: memory that queues could have."""
    given = facts.value("flow_control", "headroom") or facts.section("flow_control").get("headroom_bdp")
    ample = _headrooms(facts).filter(pl.col("headroom_bytes") >= AMPLE * pl.col("needed_headroom_bytes"))
    if given is None or ample.is_empty():
        return None
    spare = int((ample["headroom_bytes"].cast(pl.Int64) - ample["needed_headroom_bytes"].cast(pl.Int64)).sum())
    port, headroom, needed = ample.select("port", "headroom_bytes", "needed_headroom_bytes").row(0)
    return Finding(
        "ample_headroom",
        "note",
        f"headroom of {AMPLE} times the formula or more at {count_text(len(ample), 'port')}",
        (
            f"what comes in by {port} has {size_text(headroom)}, where {size_text(needed)} can arrive",
            f"{size_text(spare * facts.priorities)} in all switches that nothing can ever use",
        ),
        f"{AMPLE} times what can arrive until the neighbour stops",
        ("leave flow_control.headroom and headroom_bdp out: it is then computed from each link",),
        ports=tuple(ample["port"]),
    )


def _headrooms(facts: Facts) -> pl.DataFrame:
    """Ports with a headroom; empty for runs of versions that did not record headroom."""
    if "headroom_bytes" not in facts.ports.columns:
        return facts.ports.clear().with_columns(
            pl.lit(0, pl.UInt64).alias(name)
            for name in ("headroom_bytes", "needed_headroom_bytes", "max_headroom_bytes")
        )
    return facts.ports.filter(pl.col("headroom_bytes").is_not_null())


def low_xon(facts: Facts) -> Finding | None:
    """A link runs dry after a RESUME, before the first frame that it lets go has come."""
    if "delay_ps" not in facts.ports.columns:
        return None
    # Links side by side have names such as a->b#2.
    number = pl.col("port").str.strip_prefix(pl.format("{}->{}", "node", "peer"))
    name = pl.format("{}->{}{}", "peer", "node", number)
    other = facts.ports.select(name.alias("port"), in_bps="rate_bps", in_ps="delay_ps")
    ports = facts.stops.join(other, on="port", how="inner")
    carries = pl.col("in_bps").cast(pl.Float64) * (pl.col("delay_ps") + pl.col("in_ps")) / 8e12
    low = ports.with_columns(needed=carries + facts.frame_bytes).filter(pl.col("needed") > pl.col("xon"))
    low = low.sort(["needed", "port"], descending=[True, False])
    if low.is_empty():
        return None
    paused = int(facts.ports["pause_frames_sent"].sum()) > 0
    needed, xon = float(low["needed"][0]), int(low["xon"][0])
    return Finding(
        "low_xon",
        "warning" if paused else "note",
        f"Xon below what the link carries until traffic comes again, at {count_text(len(low), 'port')}",
        (
            f"RESUME is sent at {size_text(xon)}; until data comes again by {low['port'][0]}, its switch can send "
            f"{size_text(needed)} at that link's rate, and then waits",
            "PAUSE frames were sent" if paused else "no PAUSE frame was sent in this run",
        ),
        "Xon less than C (t_p there + t_p back) + a frame",
        (f"a higher flow_control.xon, from {size_text(needed)}, and flow_control.xoff two frames above it",),
        ports=tuple(low["port"]),
    )


def narrow_hysteresis(facts: Facts) -> Finding | None:
    """Xoff and Xon so close that single frames make PAUSE and RESUME."""
    narrow = facts.stops.filter(pl.col("xoff") - pl.col("xon") < 2 * facts.frame_bytes)
    if narrow.is_empty():
        return None
    xoff, xon = narrow.select("xoff", "xon").row(0)
    return Finding(
        "narrow_hysteresis",
        "warning",
        "Xoff and Xon are less than two frames apart",
        (
            f"Xoff {size_text(xoff)}, Xon {size_text(xon)}, a full frame {size_text(facts.frame_bytes)}",
            f"{count_text(int(facts.ports['pause_frames_sent'].sum()), 'PAUSE frame')} sent",
        ),
        "Xoff - Xon below 2 MTU: each frame or two make a PAUSE and a RESUME",
        ("leave flow_control.xon out: it is then two frames below Xoff",),
    )


def ending_pauses(facts: Facts) -> Finding | None:
    """Pauses that end by themselves although the threshold is still exceeded."""
    section = facts.section("flow_control")
    if facts.flow_control != "pfc" or section.get("refresh") is not False or section.get("expires") is False:
        return None
    quanta = int(section.get("quanta", 65535))
    rates = facts.ports["rate_bps"].to_list()
    shortest = quanta * 512 / max(rates) * 1e12 if rates else 0.0
    return Finding(
        "ending_pauses",
        "warning",
        "pauses end by themselves although the threshold is still exceeded",
        (f"{quanta:,} quanta of 512 bit times: {time_text(int(shortest))} at the fastest port",),
        "flow_control.refresh false while pauses expire",
        ("flow_control.refresh true, or expires false",),
    )
