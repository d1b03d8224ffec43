"""Schemes in Python for the tests: one made up, and two of xoff's own written again."""

from __future__ import annotations

from typing import ClassVar

import xoff


class Aimd(xoff.Scheme):
    """A window that grows by a step in a round trip without a mark, and shrinks to a share in one with a mark."""

    signals: ClassVar[xoff.Signals] = {"ecn": True}

    def __init__(self, flow: xoff.Flow, *, step: int = 1500, cut: float = 0.5) -> None:
        self.flow = flow
        self.step, self.cut = step, cut
        self.most = flow.line_rate_bps * flow.base_rtt_ps / 8e12
        self.bytes = self.most
        self.round_end = 0
        self.marked = False

    def on_ack(self, ack: xoff.Ack) -> None:
        """Change the window with the first ACK of a packet that was sent after the last change."""
        self.marked |= ack.marked_ce
        if ack.seq > self.round_end:
            grown = self.bytes * self.cut if self.marked else self.bytes + self.step
            self.bytes = min(max(grown, self.flow.payload_bytes), self.most)
            self.round_end, self.marked = ack.snd_nxt, False

    def window(self) -> float:
        """What AIMD steers."""
        return self.bytes


class Dctcp(xoff.Scheme):
    """The built-in `dctcp` in its window form, operation by operation."""

    signals: ClassVar[xoff.Signals] = {"ecn": True}

    def __init__(self, flow: xoff.Flow, *, g: float = 1 / 16) -> None:
        self.g = g
        self.payload = float(flow.payload_bytes)
        self.least = 2.0 * flow.payload_bytes
        bdp = flow.line_rate_bps * flow.base_rtt_ps // 8_000_000_000_000
        self.cwnd = max(float(bdp), self.least)
        self.threshold = float(bdp)
        self.alpha = 1.0
        self.observed_until = self.acked = self.marked = 0
        self.reduced_until: int | None = None

    def on_ack(self, ack: xoff.Ack) -> None:
        """RFC 8257, sections 3.2 to 3.4, and RFC 5681."""
        self.acked += ack.newly_acked_bytes
        self.marked += ack.newly_acked_bytes if ack.marked_ce else 0
        if ack.seq > self.observed_until and self.acked > 0:
            self.alpha = (1.0 - self.g) * self.alpha + self.g * (self.marked / self.acked)
            self.acked = self.marked = 0
            self.observed_until = ack.snd_nxt
        if self.reduced_until is not None:
            if ack.seq <= self.reduced_until:
                return
            self.reduced_until = None
        if ack.marked_ce:
            self.cwnd = max(self.cwnd * (1.0 - self.alpha / 2.0), self.least)
            self.threshold, self.reduced_until = self.cwnd, ack.snd_nxt
        elif ack.snd_nxt - ack.seq + ack.newly_acked_bytes + self.payload >= self.cwnd:
            if self.cwnd < self.threshold:
                self.cwnd = min(self.cwnd + ack.newly_acked_bytes, self.threshold)
            else:
                self.cwnd += self.payload * ack.newly_acked_bytes / self.cwnd

    def window(self) -> float:
        """The congestion window."""
        return self.cwnd


class Hpcc(xoff.Scheme):
    """The built-in `hpcc` in its window form, operation by operation (HPCC, Algorithm 1)."""

    signals: ClassVar[xoff.Signals] = {"int": "data"}

    def __init__(self, flow: xoff.Flow, *, eta: float = 0.95, w_ai_bytes: float = 80.0) -> None:
        self.flow, self.eta, self.w_ai = flow, eta, w_ai_bytes
        self.per_rtt = 1.0 / flow.base_rtt_ps
        self.least = max(100e6 / 8e12 * flow.base_rtt_ps, 1.0)
        self.most = max(flow.line_rate_bps / 8e12 * flow.base_rtt_ps, 1.0)
        self.bits = 8e12 / flow.base_rtt_ps
        self.current = self.reference = self.most
        self.before: tuple[xoff.Hop, ...] = ()
        self.loads: list[float] = []
        self.average = 1.0
        self.round_end = 0

    def on_ack(self, ack: xoff.Ack) -> None:
        """MeasureInflight and ComputeWind."""
        due = ack.seq > self.round_end
        hops = ack.hops
        if len(hops) == len(self.before):
            self.measure(hops)
            window = self.reference * (self.eta / self.average) + self.w_ai
            self.current = min(max(window, self.least), self.most)
            if due:
                self.reference = self.current
        else:
            self.loads = [0.0] * len(hops)
        self.before = hops
        if due:
            self.round_end = ack.snd_nxt

    def measure(self, hops: tuple[xoff.Hop, ...]) -> None:
        """Normalized bytes in flight at the most loaded hop, averaged over a round trip."""
        peak, tau = 0.0, 0
        for index, (now, before) in enumerate(zip(hops, self.before, strict=True)):
            change = now.since(before)
            capacity = change.elapsed_ps * (change.rate_bps / 8e12)
            if capacity > 0:
                rtts = change.elapsed_ps * self.per_rtt
                self.loads[index] = (change.queue_bytes * rtts + change.tx_bytes) / capacity
            if self.loads[index] > peak:
                peak, tau = self.loads[index], change.elapsed_ps
        weight = 1.0 if tau >= self.flow.base_rtt_ps else tau * self.per_rtt
        self.average = (1.0 - weight) * self.average + weight * peak

    def window(self) -> float:
        """W, to the nearest byte."""
        return int(self.current + 0.5)

    def rate(self) -> float:
        """W / T."""
        return max(int(self.current * self.bits + 0.5), 100_000_000)
