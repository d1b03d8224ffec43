"""The paper's equations for its variants: the fluid models of `xoff.fluid` with the packets' segments."""

from __future__ import annotations

from xoff import fluid
from xoff.fluid.models import Model
from xoff.papers.sqcc.experiments import DELTA, FRAME, PATCHED, SQCC, Point

SEGMENTS = {"patched": 16_000.0, "sqcc": 62_500.0}
"""seg of Eq. 3 under the default reading, in bytes; fixed points do not depend on it."""


def model(point: Point) -> Model:
    """The fluid model of a variant at N flows; thresholds are compared with the whole RTT, as packets do."""
    variant, n = point
    if variant == PATCHED:
        return fluid.PatchedTimely(flows=n, segment_bytes=SEGMENTS["patched"], thresholds="rtt")
    return fluid.Sqcc(
        flows=n,
        segment_bytes=SEGMENTS["sqcc"],
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
