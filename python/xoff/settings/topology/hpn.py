"""Topologies: hosts, switches and links: `hpn`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Rate, Table, Time, table

__all__ = ["hpn"]


def hpn(
    *,
    rails: int | None = None,
    segments: int | None = None,
    hosts_per_segment: int | None = None,
    dual_plane: bool | None = None,
    aggs: int | None = None,
    rate: Rate | None = None,
    host_rate: Rate | None = None,
    agg_rate: Rate | None = None,
    delay: Time | None = None,
    host_delay: Time | None = None,
    agg_delay: Time | None = None,
) -> Table:
    """Two top-of-rack switches for each NIC.

    Parameters
    ----------
    rails
        Rails, and NICs of two ports of each host; from 1 to 32. The paper has 8.
    segments
        Segments, each with two switches for each rail; at least 1. The paper has 15.
    hosts_per_segment
        Hosts of each segment; at least 1. The paper has 128, with 8 GPUs each.
    dual_plane
        The two ports of a NIC lead to planes of their own; otherwise all switches have the same aggregation switches.
    aggs
        Aggregation switches of each plane, or of all if there is one plane; at least 1. The paper has 60.
    rate
        Rate of the links that have no rate of their own below, in bits a second.
    host_rate
        Rate of each port of a NIC, in bits a second; without it, `rate`.
    agg_rate
        Rate between top-of-rack and aggregation switches, in bits a second; without it, `rate`.
    delay
        Propagation delay of the links that have no delay of their own below.
    host_delay
        Propagation delay between hosts and their switches; without it, `delay`.
    agg_delay
        Propagation delay between top-of-rack and aggregation switches; without it, `delay`.
    """
    return table(
        {
            "name": "hpn",
            "rails": rails,
            "segments": segments,
            "hosts_per_segment": hosts_per_segment,
            "dual_plane": dual_plane,
            "aggs": aggs,
            "rate": rate,
            "host_rate": host_rate,
            "agg_rate": agg_rate,
            "delay": delay,
            "host_delay": host_delay,
            "agg_delay": agg_delay,
        }
    )
