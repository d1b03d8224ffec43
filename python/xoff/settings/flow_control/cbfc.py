"""Flow control between neighbours: `cbfc`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Bytes, Table, Time, table

__all__ = ["cbfc"]

CounterWidth = Literal["wide", "12_bit"]


def cbfc(
    *,
    buffer: Bytes | None = None,
    shared_buffer: Bytes | None = None,
    update_period: Time | None = None,
    update_size: Bytes | None = None,
    on_change: bool | None = None,
    counters: CounterWidth | None = None,
    undersized: bool | None = None,
) -> Table:
    """InfiniBand's credit-based flow control.

    Parameters
    ----------
    buffer
        Buffer of each ingress port and lane; without it, as much as keeps the link busy: the bytes that the link
        carries from one update to the next and in a round trip, see `undersized`.
    shared_buffer
        Memory of each ingress port that its lanes share, in whole blocks, beside the `buffer` that is reserved for
        each of them: a lane that uses more than its reserved part takes places from here. The sender counts what its
        lanes use together (as in Omni-Path; InfiniBand has counts by lane alone).
    update_period
        Time between two updates of a port (T_c). The specification asks for an update at least every 65,536 symbol
        times, 65.5 us at 4 x 10 Gbps; 4.096 us is the value in the InfiniBand simulator of TCD's authors.
    update_size
        Size of an update on the wire, 6 bytes and framing. Each lane has an update of its own.
    on_change
        Send an update also when a packet has left the buffer and no other packet waits for the wire to the sender.
    counters
        Width of the counters.
    undersized
        Allow a buffer that is so small that a link stalls although nothing is in its way.
    """
    return table(
        {
            "name": "cbfc",
            "buffer": buffer,
            "shared_buffer": shared_buffer,
            "update_period": update_period,
            "update_size": update_size,
            "on_change": on_change,
            "counters": counters,
            "undersized": undersized,
        }
    )
