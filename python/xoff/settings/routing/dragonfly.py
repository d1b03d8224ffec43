"""Routing: how packets find their path: `dragonfly`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Bytes, Table, Time, table

__all__ = ["dragonfly"]

DragonflyVariant = Literal["min", "valiant", "ugal_l", "ugal_g"]


def dragonfly(
    *,
    variant: DragonflyVariant | None = None,
    bias: Bytes | None = None,
    forget_after: Time | None = None,
) -> Table:
    """Dragonfly and dragonfly+: minimal, by an intermediate group, or adaptive.

    Parameters
    ----------
    variant
        Which paths packets take: `min` takes 2 virtual lanes for each priority of traffic, the others 3.
    bias
        `ugal_l` and `ugal_g`: bytes by which queue times links of the minimal path may exceed those of the other path
        before a packet takes the other path. Default 0.
    forget_after
        `ugal_g`: what a router knows of the queue of another one counts as empty after this time. Default 20 us.
    """
    return table(
        {
            "name": "dragonfly",
            "variant": variant,
            "bias": bias,
            "forget_after": forget_after,
        }
    )
