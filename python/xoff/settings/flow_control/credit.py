"""Flow control between neighbours: `credit`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Bytes, Table, table

__all__ = ["credit"]

CreditGranularity = Literal["packet", "flit"]
CreditUnit = Literal["flit", "packet"]


def credit(
    *,
    unit: CreditUnit | None = None,
    granularity: CreditGranularity | None = None,
    flit: Bytes | None = None,
    credits: int | None = None,
    shared_credits: int | None = None,
    undersized: bool | None = None,
) -> Table:
    """Link credits of HPC fabrics.

    Parameters
    ----------
    unit
        What a credit stands for.
    granularity
        When a packet's credits are taken and given back: all at once (`packet`), or one by one as its flits leave
        (`flit`), so that a throttle sees every number in between. PFT takes a credit "each time the transmitter sends
        a packet" and compares the used ones with thresholds in every cycle (sections III.A and III.B). Either way a
        packet begins only when there are credits for all of it: virtual cut-through, not wormhole.
    flit
        Size of a flit. A link of 100 Gbps carries 16 B in a cycle of 700 MHz.
    credits
        Credits of each ingress port and priority, 4096 flits of 16 B being 64 KiB; without it, as many as keep the
        link busy during a round trip, see `undersized`.
    shared_credits
        Credits of each ingress port that its priorities share, beside the `credits` that are reserved for each of
        them (Omni-Path's dedicated and shared credits): a priority that uses more than its reserved credits takes
        them from here.
    undersized
        Allow so few credits that a link stalls although nothing is in its way.
    """
    return table(
        {
            "name": "credit",
            "unit": unit,
            "granularity": granularity,
            "flit": flit,
            "credits": credits,
            "shared_credits": shared_credits,
            "undersized": undersized,
        }
    )
