"""Plain tables of a scenario, and tables inside others: `packets`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Bytes, Table, Time, table

__all__ = ["packets"]

IntFormat = Literal["hardware", "exact"]


def packets(
    *,
    mtu: Bytes | None = None,
    payload: Bytes | None = None,
    header: Bytes | None = None,
    ack: Bytes | None = None,
    cnp: Bytes | None = None,
    pfc: Bytes | None = None,
    gap: Bytes | None = None,
    int_format: IntFormat | None = None,
    int_multi: int | None = None,
    int_hops: int | None = None,
    int_refresh: Time | None = None,
) -> Table:
    """Sizes on the wire.

    Parameters
    ----------
    mtu
        A full data frame on the wire, with every header and the scheme's signals. The payload of a full packet is
        what remains.
    payload
        Payload of a full data packet. If it is given, headers and signals are added to it and `mtu` follows.
    header
        Headers of a data packet without signals: Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4.
    ack
        An ACK without signals: a data packet's headers and AETH 4.
    cnp
        A CNP (from a receiver) or CNM (from a switch).
    pfc
        A PAUSE or RESUME frame (IEEE 802.1Qbb: the minimum Ethernet frame).
    gap
        Bytes for which the wire stays taken after each frame: 20 B for Ethernet's preamble and minimum gap, or 0, as
        in most published simulations.
    int_format
        Width of INT's counters.
    int_multi
        Multiplier of INT's units: sent bytes count in units of 128 B times this, queued bytes in units of 80 B times
        this. A power of two, at most 128.
    int_hops
        Maximum number of hops whose telemetry fits into INT.
    int_refresh
        Period at which a switch refreshes the table that FNCC's ACKs read (FNCC, section 4.1, which gives no value);
        0 reads live counters. Live, the records of different hops cover different moments of a packet or two, and the
        largest of several such noisy rates is too high: flows settle 5 to 10 % below eta. A table of 1 us averages
        over some packets at all hops.
    """
    return table(
        {
            "mtu": mtu,
            "payload": payload,
            "header": header,
            "ack": ack,
            "cnp": cnp,
            "pfc": pfc,
            "gap": gap,
            "int_format": int_format,
            "int_multi": int_multi,
            "int_hops": int_hops,
            "int_refresh": int_refresh,
        }
    )
