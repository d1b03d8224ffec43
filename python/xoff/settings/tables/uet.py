"""Plain tables of a scenario, and tables inside others: `uet`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Bytes, Table, Time, table

__all__ = ["uet"]

EntropyChoice = Literal["oblivious", "bitmap", "reps", "reps_legacy", "mixed"]


def uet(
    *,
    ack_bytes: Bytes | None = None,
    ack_delay: Time | None = None,
    entropy: EntropyChoice | None = None,
    paths: int | None = None,
    network_rtt: Time | None = None,
    base_rtt_from_nacks: bool | None = None,
) -> Table:
    """Ultra Ethernet's transport.

    Parameters
    ----------
    ack_bytes
        A receiver sends an ACK after this many bytes on the wire.
    ack_delay
        A receiver holds back an ACK for at most this time; 0 for no limit, with which a sender whose window has
        shrunk may wait for its retransmission timer.
    entropy
        Path choice `entropy`: how senders choose entropy values.
    paths
        Path choice `entropy`: number of a connection's entropy values, a power of two.
    network_rtt
        The base RTT of the network, which flows start with; without it, the maximum over all pairs of hosts, or the
        flow's own under `base_rtt = "per_pair"`. Constants of `nscc` follow from the network's in either case.
    base_rtt_from_nacks
        Under `uet = "htsim"` in [quirks]: NACKs lower the base RTT too.
    """
    return table(
        {
            "ack_bytes": ack_bytes,
            "ack_delay": ack_delay,
            "entropy": entropy,
            "paths": paths,
            "network_rtt": network_rtt,
            "base_rtt_from_nacks": base_rtt_from_nacks,
        }
    )
