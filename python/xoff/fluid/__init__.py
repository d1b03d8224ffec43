"""Fluid models of delay-based congestion control: flows as continuous rates, one bottleneck as a level of bytes.

Patched TIMELY (Zhu et al., CoNEXT 2016, section 4.3; SQCC's Eq. 1 to 5) and SQCC (Tang et al., Eq. 16, 17 and 25)
as delay differential equations, their fixed points, and how they move.

>>> from xoff import fluid
>>> fluid.patched_timely_flow_limit(fluid.PatchedTimely(flows=2, thresholds="less_propagation"))
80.0
>>> run = fluid.simulate(fluid.Sqcc(flows=40), duration_s=0.02)  # doctest: +SKIP
>>> run.queues()  # columns of a run's sampled queues, as a pyarrow.Table  # doctest: +SKIP

scipy is imported when a model is first solved. The room may import `xoff.analysis` and what that may import.
"""

from __future__ import annotations

from xoff.fluid.fixed_points import (
    FixedPoint,
    fixed_point,
    patched_timely_flow_limit,
    patched_timely_queue_s,
    sqcc_delta_range_bps,
    sqcc_margin_s,
    sqcc_queue_s,
)
from xoff.fluid.models import PatchedTimely, Sqcc, Thresholds, sqcc_k
from xoff.fluid.simulate import Trajectory, simulate

__all__ = [
    "FixedPoint",
    "PatchedTimely",
    "Sqcc",
    "Thresholds",
    "Trajectory",
    "fixed_point",
    "patched_timely_flow_limit",
    "patched_timely_queue_s",
    "simulate",
    "sqcc_delta_range_bps",
    "sqcc_k",
    "sqcc_margin_s",
    "sqcc_queue_s",
]
