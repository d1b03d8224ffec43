"""Congestion control: `nscc`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Table, Time, table

__all__ = ["nscc"]

Trigger = Literal["period", "kept"]


def nscc(
    *,
    target_delay: Time | None = None,
    initial_window: int | None = None,
    fair_increase: float | None = None,
    alpha: float | None = None,
    eta: float | None = None,
    fast_increase: float | None = None,
    gamma: float | None = None,
    max_cut: float | None = None,
    delay_gain: float | None = None,
    qa_gate: int | None = None,
    qa_trigger: Trigger | None = None,
) -> Table:
    """NSCC: Ultra Ethernet's window from marks and delay.

    Parameters
    ----------
    target_delay
        Target queueing delay D; without it, three quarters of the network's base RTT if switches trim, otherwise the
        base RTT.
    initial_window
        Window at the start, in full packets; without it, the maximum window, 1.5 bandwidth-delay products.
    fair_increase
        Fast increase, fair increase and so on are scaled to the network; this many packets for each acknowledged
        window are the fair increase.
    alpha
        Gain of the proportional increase.
    eta
        Packets that the window grows by in each round trip, whatever the signals.
    fast_increase
        Share of an acknowledged byte by which fast increase lets the window grow.
    gamma
        Gain of the multiplicative decrease.
    max_cut
        Maximum share of the window that one decrease takes away.
    delay_gain
        Gain of the mean delay.
    qa_gate
        Quick adapt acts if less than the maximum window / 2^this came back in a round trip.
    qa_trigger
        When a NACK's trigger of quick adapt ends.
    """
    return table(
        {
            "name": "nscc",
            "target_delay": target_delay,
            "initial_window": initial_window,
            "fair_increase": fair_increase,
            "alpha": alpha,
            "eta": eta,
            "fast_increase": fast_increase,
            "gamma": gamma,
            "max_cut": max_cut,
            "delay_gain": delay_gain,
            "qa_gate": qa_gate,
            "qa_trigger": qa_trigger,
        }
    )
