"""Routing: how packets find their path: `ecmp`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Table, Time, table

__all__ = ["ecmp"]

EcmpHash = Literal["own", "ns3_hpcc"]
PathChoice = Literal["per_connection", "per_packet", "flowlet", "adaptive", "entropy"]


def ecmp(
    *,
    hash: EcmpHash | None = None,
    symmetric: bool | None = None,
    dst_port: int | None = None,
    choice: PathChoice | None = None,
    flowlet_gap: Time | None = None,
    weighted: bool | None = None,
    convergence: Literal["none"] | Time | None = None,
) -> Table:
    """Each flow takes one of the shortest paths, by a hash.

    Parameters
    ----------
    hash
        The hash by which a switch picks: xoff's `own`, from the scenario's seed, or `ns3_hpcc`, that of the ns-3 HPCC
        simulator, for the same paths as in that simulator. `ns3_hpcc` needs a unique number, the id in that
        simulator, at the end of each node's name.
    symmetric
        `own` only, `per_connection` only: ACKs take their data's path backwards (FNCC, Fig. 5); otherwise they hash
        their own swapped addresses. Default true.
    dst_port
        `ns3_hpcc` only: UDP destination port of every flow. Source ports count up from 10000 for each pair of hosts,
        in the order of flows. Default 100.
    choice
        Who chooses among equal-cost paths, and when: the hash once a connection, the sender for each packet, or each
        switch for each packet. `host.transport` says what becomes of packets that overtake others.
    flowlet_gap
        `choice = "flowlet"` only: the connection's next packet begins a flowlet if its last one left longer ago than
        this. Default 50 us, some round trips (LetFlow, NSDI 2017, has 500 us at 10 Gbps).
    weighted
        `own` with `per_connection` only: the hash picks links in proportion to the capacity behind them (WCMP: Zhou
        et al., EuroSys 2014), which is the lower one of the link's rate and the sum of what lies behind; otherwise
        all links alike. Default false.
    convergence
        `own` only: when routing knows of a link that an `[[event]]` has taken down or brought up, so long after the
        event, or `none` for never. Connections whose path is dead then get another one. Without it, never.
    """
    return table(
        {
            "name": "ecmp",
            "hash": hash,
            "symmetric": symmetric,
            "dst_port": dst_port,
            "choice": choice,
            "flowlet_gap": flowlet_gap,
            "weighted": weighted,
            "convergence": convergence,
        }
    )
