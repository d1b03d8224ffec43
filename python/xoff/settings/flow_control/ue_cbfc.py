"""Flow control between neighbours: `ue_cbfc`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Bytes, Table, Time, table

__all__ = ["ue_cbfc"]


def ue_cbfc(
    *,
    cell: Bytes | None = None,
    buffer: Bytes | None = None,
    shared_buffer: Bytes | None = None,
    message: Bytes | None = None,
    repeat: Time | None = None,
    undersized: bool | None = None,
) -> Table:
    """Ultra Ethernet's credit-based flow control.

    Parameters
    ----------
    cell
        Bytes of a cell; a packet takes whole cells.
    buffer
        Buffer of each ingress port and VC, in whole cells; without it, as much as keeps the link busy during a round
        trip, see `undersized`.
    shared_buffer
        Memory of each ingress port that its lanes share, in whole cells, beside the `buffer` that is reserved for
        each of them: a lane that uses more than its reserved part takes places from here. The sender counts what its
        lanes use together.
    message
        Bytes of a message.
    repeat
        Time after which a receiver tells its count again, in case the message was lost.
    undersized
        Allow a buffer that is so small that a link stalls although nothing is in its way.
    """
    return table(
        {
            "name": "ue_cbfc",
            "cell": cell,
            "buffer": buffer,
            "shared_buffer": shared_buffer,
            "message": message,
            "repeat": repeat,
            "undersized": undersized,
        }
    )
