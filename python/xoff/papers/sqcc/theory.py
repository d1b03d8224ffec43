"""The paper's equations for its variants: the fluid models of `xoff.fluid` with the packets' segment and thresholds."""

from __future__ import annotations

from xoff import fluid
from xoff.fluid.models import Model
from xoff.papers.sqcc.experiments import DELTA, FRAME, PATCHED, SQCC, Point


def model(point: Point) -> Model:
    """The fluid model of a variant at N flows; thresholds are compared with the whole RTT, as packets do."""
    variant, n = point
    if variant == PATCHED:
        return fluid.PatchedTimely(flows=n, segment_bytes=float(FRAME), thresholds="rtt")
    return fluid.Sqcc(
        flows=n,
        segment_bytes=float(FRAME),
        thresholds="rtt",
        adapt_delta=variant in (DELTA, SQCC),
        adapt_t_low=variant == SQCC,
    )


def fixed_packets(point: Point) -> float:
    """The queue at the fixed point, in packets: Eq. 6 for patched TIMELY, else Eq. 17."""
    return fluid.fixed_point(model(point)).queue_bytes / FRAME


def ceiling_packets() -> float:
    """The queue at T_high, in packets."""
    one = model((PATCHED, 1))
    return one.queue_bytes_at(one.high_s) / FRAME


def max_flows() -> float:
    """N at which patched TIMELY's fixed point reaches T_high (Eq. 8)."""
    return fluid.patched_timely_flow_limit(fluid.PatchedTimely(flows=1, thresholds="less_propagation"))
