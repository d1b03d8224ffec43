"""Patched TIMELY and SQCC as fluid models: parameters, and the right-hand side of their equations.

The equations are those of the SQCC paper: Eq. 1 (rate), 2 (queue), 3 (time between updates), 4 (feedback delay) and 5
(weight), with Eq. 16 for the error in place of patched TIMELY's. The gradient that Eq. 5 takes is not in that paper; it
is that of the fluid model by patched TIMELY's authors (Zhu et al., CoNEXT 2016):

    dg/dt = alpha / tau* * (-g + (q(t - tau') - q(t - tau' - tau*)) / (C * D_minRTT))
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from xoff.errors import UserError

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

Thresholds = Literal["queue", "less_propagation", "rtt"]
"""What T_low and T_high are compared with.

- `queue`: the queue alone, q with C * T (Eq. 1, 6 and 17 as printed).
- `less_propagation`: q with C * (T - D), which Eq. 7 and 8 come to by Eq. 10.
- `rtt`: the whole RTT, q/C + packet/C + D, with T (Algorithms 2 and 3, and packets).
"""


@dataclass(frozen=True, kw_only=True)
class Model(ABC):
    """What both schemes share: the network, the time between updates and the bounds."""

    flows: int
    """N, flows at the bottleneck, 1 or more."""
    capacity_bps: float = 10e9
    """C, the bottleneck's rate in bit/s (SQCC, section IV: 10 Gbps)."""
    propagation_s: float = 5e-6
    """D or D_prop, the RTT without queue and serialization, in s (SQCC, section II: 5 us)."""
    packet_bytes: float = 1000.0
    """MTU of Eq. 4, in bytes (1 KB in the model of patched TIMELY's authors)."""
    delta_bps: float = 10e6
    """Rate increase step, in bit/s (10 Mbps)."""
    alpha: float = 0.875
    """Weight of a new sample in the gradient (0.875)."""
    beta: float = 0.008
    """Rate decrease factor (0.008)."""
    t_low_s: float = 50e-6
    """T_low, in s: below it rates rise (50 us). Also RTT_ref, hence q'."""
    t_high_s: float = 500e-6
    """T_high, in s: from it on the cut grows no more with the gradient (500 us)."""
    segment_bytes: float = 16000.0
    """seg of Eq. 3: bytes between two updates of a rate (16 KB; CoNEXT 2016)."""
    min_rtt_s: float = 20e-6
    """D_minRTT, in s: the minimum time between updates, and what the gradient is divided by (20 us)."""
    band: float = 0.25
    """The gradient at which the weight of the decrease becomes 1, and at whose negative it becomes 0 (Eq. 5: 0.25)."""
    line_rate_bps: float | None = None
    """Where a rate stops rising, in bit/s: without bound in Eq. 1, at C in the code of patched TIMELY's authors."""
    thresholds: Thresholds = "queue"
    """What T_low and T_high are compared with; see `Thresholds`."""

    def __post_init__(self) -> None:
        if isinstance(self.flows, bool) or not isinstance(self.flows, int) or self.flows < 1:
            raise UserError(f"flows = {self.flows}: expected a whole number, 1 or more")
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, float) and not (np.isfinite(value) and value > 0):
                raise UserError(f"{field.name} = {value}: expected a number above 0")
        if self.alpha > 1:
            raise UserError(f"alpha = {self.alpha}: expected a share, at most 1")
        if self.thresholds not in get_args(Thresholds):
            raise UserError(f"thresholds = {self.thresholds}: expected one of {', '.join(get_args(Thresholds))}")
        if not 0 < self.low_s < self.high_s:
            raise UserError(
                f"t_low_s = {self.t_low_s:g}, t_high_s = {self.t_high_s:g}: the thresholds come to {self.low_s:g} s "
                f"and {self.high_s:g} s; expected 0 < low < high"
            )

    @property
    def low_s(self) -> float:
        """The lower threshold on `reading_s`, in s."""
        return self.t_low_s - self._threshold_offset_s

    @property
    def high_s(self) -> float:
        """The upper threshold on `reading_s`, in s."""
        return self.t_high_s - self._threshold_offset_s

    @property
    def increase_bps(self) -> float:
        """Delta in force, in bit/s."""
        return self.delta_bps

    @property
    def _threshold_offset_s(self) -> float:
        return self.propagation_s if self.thresholds == "less_propagation" else 0.0

    @property
    def reading_of_empty_s(self) -> float:
        """What an empty queue reads, in s: 0 except with `rtt`."""
        return self.shortest_delay_s if self.thresholds == "rtt" else 0.0

    @property
    def shortest_delay_s(self) -> float:
        """Tau' with an empty queue (Eq. 4), in s."""
        return self.packet_bytes * 8 / self.capacity_bps + self.propagation_s

    def queue_bytes_at(self, reading_s: float) -> float:
        """The queue that reads `reading_s`, in bytes; below 0 where even an empty one reads more."""
        return (reading_s - self.reading_of_empty_s) * self.capacity_bps / 8

    @abstractmethod
    def error(self, reading_s: float) -> float:
        """How far `reading_s`, between the thresholds, is above the lower one: what the decrease is proportional to."""

    def feedback_delay_s(self, queue_s: float) -> float:
        """Tau' of Eq. 4 for a queue of `queue_s` seconds at rate C, in s."""
        return queue_s + self.shortest_delay_s

    def update_interval_s(self, rates_bps: Floats) -> Floats:
        """Tau* of Eq. 3 for each rate, in s."""
        return np.maximum(self.segment_bytes * 8 / rates_bps, self.min_rtt_s)

    def weight(self, gradient: Floats) -> Floats:
        """Weight of the decrease for each gradient (Eq. 5)."""
        return np.minimum(np.maximum(0.5 + gradient / (2 * self.band), 0.0), 1.0)

    def rate_change(self, delayed_queue_s: float, rates_bps: Floats, gradient: Floats) -> Floats:
        """dR/dt of each rate (Eq. 1), in bit/s per s.

        `delayed_queue_s` is the queue a feedback delay ago, in seconds at rate C. A cut is at most the whole rate in
        one update, as in the algorithm for packets: SQCC's error grows without bound towards T_high.
        """
        reading = delayed_queue_s + self.reading_of_empty_s
        if reading < self.low_s:
            step = np.full_like(rates_bps, self.increase_bps)
        elif reading >= self.high_s:
            step = -self.beta * (1 - self.high_s / reading) * rates_bps
        else:
            weight = self.weight(gradient)
            cut = np.minimum(weight * self.beta * self.error(reading), 1.0)
            step = (1 - weight) * self.increase_bps - cut * rates_bps
        if self.line_rate_bps is not None:
            step = np.where((rates_bps >= self.line_rate_bps) & (step > 0), 0.0, step)
        return step / self.update_interval_s(rates_bps)


@dataclass(frozen=True, kw_only=True)
class PatchedTimely(Model):
    """Patched TIMELY (SQCC's Algorithm 2 and Eq. 1 to 5)."""

    def error(self, reading_s: float) -> float:
        """(reading - low) / low: Eq. 1 and 9."""
        return (reading_s - self.low_s) / self.low_s


@dataclass(frozen=True, kw_only=True)
class Sqcc(Model):
    """SQCC (Algorithm 3). Its three parts are the error function, delta and T_low; the last two can be left out.

    With both left out (`adapt_delta=False, adapt_t_low=False`) only the error function differs from patched TIMELY;
    `delta_bps` and `t_low_s` then hold.
    """

    adapt_delta: bool = True
    """Delta is C/N * k/N instead of `delta_bps` (Eq. 25)."""
    adapt_t_low: bool = True
    """T_low is k times `t_low_s`, which is seg/C of Eq. 25 (62.5 KB at 10 Gbps)."""

    @property
    def k(self) -> int:
        """The factor of Eq. 25: 1 unless T_low adapts."""
        return sqcc_k(self.flows) if self.adapt_t_low else 1

    @property
    def low_s(self) -> float:
        """The lower threshold on `reading_s`, in s."""
        return self.k * self.t_low_s - self._threshold_offset_s

    @property
    def increase_bps(self) -> float:
        """Delta in force, in bit/s."""
        return self.capacity_bps * self.k / self.flows**2 if self.adapt_delta else self.delta_bps

    def error(self, reading_s: float) -> float:
        """Eq. 16: none at the lower threshold, without bound at the upper one."""
        low, high = self.low_s, self.high_s
        return high * (reading_s - low) / (low * (high - reading_s))


def sqcc_k(flows: int) -> int:
    """The factor of Eq. 25: the whole part of the decimal logarithm of N, and 1 below 10 flows.

    Only base 10 gives the paper's values (500 flows: T_low of 100 us, delta of 0.08 Mbps), and with fewer than 10 flows
    the formula itself would give 0 for both.
    """
    return max(1, len(str(flows)) - 1)
