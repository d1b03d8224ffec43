"""Plain tables of a scenario, and tables inside others: `quirks`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Table, table

__all__ = ["quirks"]

Clock = Literal["exact", "ns3"]
NicTimer = Literal["next_to_send", "ns3"]
Order = Literal["by_port", "scheduled"]
PacingGap = Literal["rate_in_force", "rate_when_sent"]
RttOf = Literal["frame_and_ack", "payload"]
UetOf = Literal["specification", "htsim"]


def quirks(
    *,
    clock: Clock | None = None,
    order: Order | None = None,
    nic: NicTimer | None = None,
    gap: PacingGap | None = None,
    base_rtt: RttOf | None = None,
    uet: UetOf | None = None,
    marking_stream: int | None = None,
) -> Table:
    """What other simulators do differently, for comparison with them; the defaults are xoff's own behaviour.

    Parameters
    ----------
    clock
        How transmission times are calculated.
    order
        The order of simultaneous events.
    nic
        When a NIC with nothing to send checks its flows again.
    gap
        Which rate sets the gap after a packet.
    base_rtt
        What the base RTT is made of.
    uet
        Whose transport of Ultra Ethernet runs.
    marking_stream
        RED draws from ns-3's random streams (seed 1, run 1), beginning with this stream: a new stream for each
        number, also for ACKs in data queues. Each PAUSE and RESUME that a switch makes takes a stream too, for a
        number in its header. Without it each queue has a stream of its own.
    """
    return table(
        {
            "clock": clock,
            "order": order,
            "nic": nic,
            "gap": gap,
            "base_rtt": base_rtt,
            "uet": uet,
            "marking_stream": marking_stream,
        }
    )
