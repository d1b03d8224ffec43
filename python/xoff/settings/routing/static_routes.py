"""Routing: how packets find their path: `static_routes`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xoff.settings.table import Table, table

__all__ = ["static_routes"]


def static_routes(
    *,
    routes: Sequence[Mapping[str, object]] | None = None,
    fallback: Mapping[str, object] | None = None,
) -> Table:
    """Listed paths, and ECMP for all other pairs.

    Parameters
    ----------
    routes
        The listed paths.
    fallback
        Routing of the pairs that are not listed.
    """
    return table(
        {
            "name": "static_routes",
            "routes": routes,
            "fallback": fallback,
        }
    )
