"""Detectors: what marks packets: `fecn`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Bytes, Table, table

__all__ = ["fecn"]

Delayed = Literal["head", "queued"]
VictimMask = Literal["hosts", "none", "all"]


def fecn(
    *,
    threshold: Bytes | None = None,
    marking_rate: int | None = None,
    packet_size: Bytes | None = None,
    victim_mask: VictimMask | None = None,
    delayed: Delayed | None = None,
) -> Table:
    """InfiniBand's marking, by queue length and credits.

    Parameters
    ----------
    threshold
        Queue length above which packets may be marked, in bytes; with 0 any backlog is enough. Default 50 KB (TCD,
        section 3.1.1); the specification's scale from 0 to 15 means what a switch's maker defines.
    marking_rate
        Packets between two marks that may be marked and are not, without unit; 0 marks each packet. The specification
        speaks of their mean number; here the number is the same each time. Default 0.
    packet_size
        The minimum packet that may be marked, in bytes on the wire, at most 16,320 B (255 units of 64 B). Default 0.
    victim_mask
        Ports that mark as victims too. Default `hosts`.
    delayed
        Which packets count as delayed for lack of credits once there are some: the one at the `head` of the queue, as
        a port is a root while it has credits, or all that were `queued` then (in TCD, section 3.1.1, FECN errs on
        "packets arriving after the arrival of new credits"). Default `head`.
    """
    return table(
        {
            "name": "fecn",
            "threshold": threshold,
            "marking_rate": marking_rate,
            "packet_size": packet_size,
            "victim_mask": victim_mask,
            "delayed": delayed,
        }
    )
