"""Plain tables of a scenario, and tables inside others: `link`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Mapping

from xoff.settings.table import Table, table

__all__ = ["link"]


def link(
    *,
    ber: float | None = None,
    frame_loss: float | None = None,
    llr: Mapping[str, object] | None = None,
) -> Table:
    """All links: errors on them, and their repair.

    Parameters
    ----------
    ber
        Probability that a bit is wrong, which spoils its frame: one of b bytes with probability 1 - (1 - ber)^(8 b).
        For all the run and in both directions; `[[event]]` has errors for a time, of one link.
    frame_loss
        Probability that a frame is lost, whatever its size; in place of `ber`.
    llr
        Link-level retry (LLR) of Ultra Ethernet: `llr = {}`, or `{ replay_buffer = "64KB", timeout = "10us" }`.
        Without it, a frame with an error is lost.
    """
    return table(
        {
            "ber": ber,
            "frame_loss": frame_loss,
            "llr": llr,
        }
    )
