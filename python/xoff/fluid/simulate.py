"""How a fluid model moves, and the result in the shape of a run's tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xoff.analysis.tables import Series
from xoff.errors import UserError
from xoff.fluid.dde import Past, steps
from xoff.fluid.models import Model

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

    Floats = npt.NDArray[np.float64]

PORT = "bottleneck"
"""The name of the one port in tables."""

_PS = 1e12


@dataclass(frozen=True)
class Trajectory:
    """A model over time, at regular moments.

    Flows with the same first rate move alike and are one *group*; groups come in the order of their first rates.
    """

    model: Model
    """What was solved."""
    time_s: Floats
    """Shape (samples,): moments in s, 0 first."""
    queue_bytes: Floats
    """Shape (samples,): the queue in bytes, without the packet on the wire."""
    rates_bps: Floats
    """Shape (samples, groups): the rate of each flow of a group, in bit/s."""
    gradients: Floats
    """Shape (samples, groups): the RTT gradient g, a ratio."""
    group_sizes: npt.NDArray[np.int64]
    """Shape (groups,): flows in each group; their sum is N."""

    def queues(self) -> pa.Table:
        """The queue as in a run's `queues`: `time_ps`, `port`, `bytes` (rounded)."""
        import pyarrow as pa

        ports = pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(self.time_s), np.int32)), [PORT])
        return pa.table(
            {"time_ps": pa.array(self._time_ps()), "port": ports, "bytes": pa.array(_whole(self.queue_bytes))}
        )

    def rates(self) -> pa.Table:
        """The rates as in a run's `rates`: `time_ps`, `flow`, `rate_bps`; of each group its first flow, from 0 on."""
        import pyarrow as pa

        groups = len(self.group_sizes)
        first = (np.cumsum(self.group_sizes) - self.group_sizes).astype(np.uint32)
        return pa.table(
            {
                "time_ps": pa.array(np.repeat(self._time_ps(), groups)),
                "flow": pa.array(np.tile(first, len(self.time_s))),
                "rate_bps": pa.array(self.rates_bps.reshape(-1)),
            }
        )

    def queue_series(self, name: str = PORT) -> Series:
        """The queue in bytes over time in ps, as the figures' functions take it."""
        return Series(name, self.time_s * _PS, self.queue_bytes)

    def rate_series(self) -> list[Series]:
        """Each group's rate in bit/s over time in ps."""
        return [
            Series(f"{size} flows" if size > 1 else "1 flow", self.time_s * _PS, self.rates_bps[:, group])
            for group, size in enumerate(self.group_sizes)
        ]

    def _time_ps(self) -> npt.NDArray[np.uint64]:
        return _whole(self.time_s * _PS)


def simulate(
    model: Model,
    duration_s: float,
    *,
    rates_bps: Sequence[float] | float | None = None,
    queue_bytes: float = 0.0,
    interval_s: float = 10e-6,
    rtol: float = 1e-6,
) -> Trajectory:
    """Solve `model` from time 0 on, before which the queue stood still and gradients were 0.

    Parameters
    ----------
    model
        Scheme, network and parameters.
    duration_s
        How long, in s.
    rates_bps
        First rate of every flow (a number) or of each (N numbers), in bit/s; without it C/N each.
    queue_bytes
        Queue up to time 0, in bytes.
    interval_s
        Time between samples, in s; the solver's steps are its own.
    rtol
        Relative error allowed in a step; the absolute one is this share of the bottleneck's rate and of T_low.

    Raises
    ------
    UserError
        A value is out of range, or `rates_bps` has another length than N.
    ArithmeticError
        The solver gave up.
    """
    for name, value in {"duration_s": duration_s, "interval_s": interval_s, "rtol": rtol}.items():
        if not (np.isfinite(value) and value > 0):
            raise UserError(f"{name} = {value}: expected a number above 0")
    if not (np.isfinite(queue_bytes) and queue_bytes >= 0):
        raise UserError(f"queue_bytes = {queue_bytes}: expected a number of bytes, 0 or more")
    first, sizes = _groups(model, rates_bps)
    groups = len(sizes)
    capacity = model.capacity_bps
    # In seconds of queue, shares of C and gradients all components are of a like size.
    start = np.concatenate([[queue_bytes * 8 / capacity], first / capacity, np.zeros(groups)])

    def derivative(time: float, state: Floats, past: Past) -> Floats:
        queue = max(float(state[0]), 0.0)
        rates, gradients = state[1 : 1 + groups] * capacity, state[1 + groups :]
        seen = time - model.feedback_delay_s(queue)
        delayed = past(seen)
        interval = model.update_interval_s(rates)
        earlier = np.array([past(seen - each) for each in interval.tolist()])
        change = np.empty_like(state)
        change[0] = rates @ sizes / capacity - 1.0
        change[1 : 1 + groups] = model.rate_change(delayed, rates, gradients) / capacity
        change[1 + groups :] = model.alpha / interval * ((delayed - earlier) / model.min_rtt_s - gradients)
        return change

    def window(state: Floats) -> float:
        # A queue drains no faster than time passes, so half of a delay is passed before that delay can be.
        return max(model.shortest_delay_s, model.feedback_delay_s(float(state[0])) / 2)

    samples: Floats = np.arange(int(duration_s / interval_s * (1 + 1e-12)) + 1, dtype=np.float64) * interval_s
    states = np.empty((len(samples), len(start)))
    states[0] = start
    tolerance = rtol * np.concatenate([[model.t_low_s], np.full(groups, 1.0 / model.flows), np.ones(groups)])
    done = 1
    for _, end, piece in steps(derivative, window, start, duration_s, rtol=rtol, atol=tolerance):
        upto = int(np.searchsorted(samples, end, side="right"))
        if upto > done:
            states[done:upto] = piece(samples[done:upto]).T
            done = upto
    return Trajectory(
        model=model,
        time_s=samples[:done],
        queue_bytes=np.maximum(states[:done, 0], 0.0) * capacity / 8,
        rates_bps=states[:done, 1 : 1 + groups] * capacity,
        gradients=states[:done, 1 + groups :],
        group_sizes=sizes,
    )


def _groups(model: Model, rates_bps: Sequence[float] | float | None) -> tuple[Floats, npt.NDArray[np.int64]]:
    """The different first rates, and how many flows have each."""
    if rates_bps is None:
        rates_bps = model.capacity_bps / model.flows
    each = np.atleast_1d(np.asarray(rates_bps, dtype=np.float64))
    if len(each) == 1:
        each = np.full(model.flows, each[0])
    if each.shape != (model.flows,):
        raise UserError(f"rates_bps has {each.size} rates: expected one, or {model.flows} for as many flows")
    if not (np.isfinite(each) & (each > 0)).all():
        raise UserError("rates_bps: expected rates above 0")
    first, sizes = np.unique(each, return_counts=True)
    return first, sizes.astype(np.int64)


def _whole(values: Floats) -> npt.NDArray[np.uint64]:
    return np.rint(values).astype(np.uint64)
