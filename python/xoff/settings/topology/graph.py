"""Topologies: hosts, switches and links: `graph`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xoff.settings.table import Table, table

__all__ = ["graph"]


def graph(
    *,
    file: str | None = None,
    nodes: Sequence[Mapping[str, object]] | None = None,
    hosts: Sequence[str] | None = None,
    switches: Sequence[str] | None = None,
    links: Sequence[Mapping[str, object]] | None = None,
) -> Table:
    """Any nodes and links.

    Parameters
    ----------
    file
        A file of TOML or JSON with the lists below, instead of them; relative to the scenario.
    nodes
        Nodes with their kinds.
    hosts
        Names of hosts, beside those in `nodes`.
    switches
        Names of switches, beside those in `nodes`.
    links
        Links.
    """
    return table(
        {
            "name": "graph",
            "file": file,
            "nodes": nodes,
            "hosts": hosts,
            "switches": switches,
            "links": links,
        }
    )
