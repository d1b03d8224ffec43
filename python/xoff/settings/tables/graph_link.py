"""Plain tables of a scenario, and tables inside others: `graph_link`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Rate, Table, Time, table

__all__ = ["graph_link"]


def graph_link(
    *,
    a: str,
    b: str,
    rate: Rate,
    delay: Time,
    rate_back: Rate | None = None,
    delay_back: Time | None = None,
) -> Table:
    """A listed link.

    Parameters
    ----------
    a
        Name of the node at one end.
    b
        Name of the node at the other end.
    rate
        Rate from `a` to `b`, in bits a second.
    delay
        Propagation delay from `a` to `b`.
    rate_back
        Rate from `b` to `a`, in bits a second; without it, `rate`.
    delay_back
        Propagation delay from `b` to `a`; without it, `delay`.
    """
    return table(
        {
            "a": a,
            "b": b,
            "rate": rate,
            "delay": delay,
            "rate_back": rate_back,
            "delay_back": delay_back,
        }
    )
