"""Plain tables of a scenario, and tables inside others: `llr`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Bytes, Table, Time, table

__all__ = ["llr"]


def llr(
    *,
    replay_buffer: Bytes | None = None,
    timeout: Time | None = None,
    control: Bytes | None = None,
) -> Table:
    """Link-level retry (LLR) of Ultra Ethernet 1.0, between the two ends of each link: frames are numbered, the ...

    Link-level retry (LLR) of Ultra Ethernet 1.0, between the two ends of each link: frames are numbered, the sender
    keeps each one until it is acknowledged, and sends again from the first one that did not arrive.

    Parameters
    ----------
    replay_buffer
        Memory of each port for frames that are not acknowledged. A port sends nothing new while a largest frame finds
        no room in it. Without it, as much as keeps the port's link busy.
    timeout
        Time without progress after which a port sends again all that is not acknowledged, since an ACK or NACK may be
        lost. Without it, twice the longest that the link needs to acknowledge a full replay buffer.
    control
        Bytes of an ACK or NACK, a control ordered set between the frames of the other direction, where it delays
        nothing.
    """
    return table(
        {
            "replay_buffer": replay_buffer,
            "timeout": timeout,
            "control": control,
        }
    )
