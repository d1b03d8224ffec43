"""Plain tables of a scenario, and tables inside others: `record`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from xoff.settings.table import Bytes, Table, Time, table

__all__ = ["record"]


def record(
    *,
    interval: Time | None = None,
    queues: Literal["none", "switches", "all"] | Sequence[str] | None = None,
    rates: bool | Literal["all"] | Sequence[str] | None = None,
    variables: bool | Literal["all"] | Sequence[str] | None = None,
    utilization: bool | None = None,
    pauses: bool | None = None,
    notifications: bool | None = None,
    roots: bool | None = None,
    root_growth: Bytes | None = None,
    marks: bool | None = None,
    states: Literal["none", "all"] | Sequence[str] | None = None,
    throttles: bool | None = None,
    breakdown: bool | None = None,
    reordering: bool | None = None,
    packets: Literal["none", "switches", "all"] | Sequence[str] | None = None,
    packets_from: Time | None = None,
    packets_until: Time | None = None,
) -> Table:
    """What a run records beside its flows. Sampled series cost time and space and are off unless asked for.

    Parameters
    ----------
    interval
        Time between two samples of queues, rates and utilization.
    queues
        Egress queues whose length is sampled: `"none"`, those of `"switches"`, `"all"` (with host NICs), or a list of
        ports, each as `"node->neighbour"`.
    rates
        Flows whose sending rate is sampled: `false`, `true` or `"all"`, or a list of traffic labels.
    variables
        Flows of which the scheme's own variables, such as DCQCN's alpha, are sampled: `false`, `true` or `"all"`, or
        a list of traffic labels. Which variables there are the scheme says; a reaction point that a service level
        shares has none.
    utilization
        Whether the share of each interval in which a port sent is recorded, for each of the ports in `queues`.
    pauses
        Whether each PAUSE is recorded, with its port, start and length.
    notifications
        Whether each CNP and CNM is recorded.
    roots
        Whether congestion roots are recorded: egress queues of switches to which more is offered than their link
        carries; and which flows head-of-line blocking held up (`hol_blocked` in flows).
    root_growth
        Backlog that makes an egress queue a congestion root: what would have waited for its link had no link been
        stopped.
    marks
        Whether each mark of a packet is recorded, with port, flow and code point. A packet marked UE and later CE has
        two.
    states
        Egress queues of switches whose changes of state are recorded: `"none"`, `"all"`, or a list of ports, each as
        `"node->neighbour"`. This needs a detector that tells states apart, such as `tcd`.
    throttles
        Whether each change of the state of a host's throttle (`[throttle]`) is recorded.
    breakdown
        Whether the causes of each flow's completion time are recorded: serialization, propagation, queueing and
        pauses by port, window, rate and so on. Their times sum to the completion time exactly.
    reordering
        Whether the order in which each connection's packets come is recorded: how many are overtaken, how far, and
        the buffer that puts them in order.
    packets
        Ports at which each packet is recorded as it leaves and as it arrives: `"none"`, those of `"switches"`,
        `"all"` (with host NICs), or a list of ports, each as `"node->neighbour"`. These rows fill the record fast.
    packets_from
        Packets are recorded from this time on.
    packets_until
        Packets are recorded before this time; without it, until the end of the run.
    """
    return table(
        {
            "interval": interval,
            "queues": queues,
            "rates": rates,
            "variables": variables,
            "utilization": utilization,
            "pauses": pauses,
            "notifications": notifications,
            "roots": roots,
            "root_growth": root_growth,
            "marks": marks,
            "states": states,
            "throttles": throttles,
            "breakdown": breakdown,
            "reordering": reordering,
            "packets": packets,
            "packets_from": packets_from,
            "packets_until": packets_until,
        }
    )
