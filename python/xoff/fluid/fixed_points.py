"""Where the models rest: Eq. 6, 8, 17 and 18 of the SQCC paper, and the range of delta of its Eq. 24.

Queues are given in seconds at the bottleneck's rate, as what the thresholds are compared with (`Thresholds`); times
C / 8 they are bytes. `fixed_point` gives bytes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from xoff.errors import UserError
from xoff.fluid.models import Model, PatchedTimely, Sqcc


@dataclass(frozen=True)
class FixedPoint:
    """Where a model rests."""

    queue_bytes: float
    """The queue, in bytes."""
    rate_bps: float
    """Each flow's rate, C/N, in bit/s."""
    rtt_s: float
    """RTT there: queue, one packet's serialization and propagation, in s."""
    exists: bool
    """Whether the point lies between the thresholds. If not, nothing rests, and the queue passes T_high."""


def fixed_point(model: Model) -> FixedPoint:
    """Where `model` rests: the gradient is 0, hence the weight a half, hence delta = beta * error * C/N."""
    if isinstance(model, Sqcc):
        reading = sqcc_queue_s(model)
    elif isinstance(model, PatchedTimely):
        reading = patched_timely_queue_s(model)
    else:
        raise UserError(f"{type(model).__name__}: no fixed point known")
    queue = model.queue_bytes_at(reading)
    return FixedPoint(
        queue_bytes=queue,
        rate_bps=model.capacity_bps / model.flows,
        rtt_s=model.feedback_delay_s(queue * 8 / model.capacity_bps),
        exists=model.low_s <= reading < model.high_s and queue >= 0,
    )


def patched_timely_queue_s(model: PatchedTimely) -> float:
    """Eq. 6: q*/C, in s. It may exceed the upper threshold: see `FixedPoint.exists`."""
    return model.low_s * (1 + model.flows * model.increase_bps / (model.beta * model.capacity_bps))


def patched_timely_flow_limit(model: PatchedTimely) -> float:
    """Eq. 8: the number of flows from which Eq. 6 reaches the upper threshold; `model.flows` does not matter.

    80 with the paper's parameters, for which `thresholds` is `less_propagation`; 72 by Eq. 6 as printed.
    """
    return (model.high_s - model.low_s) * model.beta * model.capacity_bps / (model.increase_bps * model.low_s)


def sqcc_queue_s(model: Sqcc) -> float:
    """Eq. 17: q*/C, in s."""
    up, down = _up_and_down(model)
    return model.low_s * model.high_s * (up + down) / (up * model.low_s + down * model.high_s)


def sqcc_margin_s(model: Sqcc) -> float:
    """Eq. 18: by how much q*/C stays below the upper threshold, in s."""
    up, down = _up_and_down(model)
    return down * model.high_s * (model.high_s - model.low_s) / (up * model.low_s + down * model.high_s)


def sqcc_delta_range_bps(flows: int, capacity_bps: float, k: int) -> tuple[float, float]:
    """The smallest and the largest delta that Eq. 24 allows (Eq. 21 for k = 1), in bit/s.

    Raises
    ------
    UserError
        No delta is allowed: N < 4k.
    """
    if flows < 4 * k:
        raise UserError(f"flows = {flows}: Eq. 24 has no solution below 4 k = {4 * k} flows")
    root = math.sqrt(flows * (flows - 4 * k))
    fair = capacity_bps / (2 * flows**2)
    return fair * (flows - root), fair * (flows + root)


def _up_and_down(model: Sqcc) -> tuple[float, float]:
    """Delta N and beta C, which pull the queue up and down, in bit/s."""
    return model.increase_bps * model.flows, model.beta * model.capacity_bps
