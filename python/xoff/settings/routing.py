"""Routing: how packets find their path.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from xoff.settings.table import Bytes, Table, Time, table

__all__ = [
    "d_mod_k",
    "dimension_order",
    "dragonfly",
    "ecmp",
    "k_shortest",
    "spanning_trees",
    "static_routes",
]

DragonflyVariant = Literal["min", "valiant", "ugal_l", "ugal_g"]
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


def spanning_trees(
    *,
    trees: int | None = None,
    roots: Sequence[str] | None = None,
) -> Table:
    """Each flow takes the only path in one of several spanning trees, by a hash.

    Parameters
    ----------
    trees
        Number of trees; at least 1. The default gives each core switch of FNCC's fat-tree with k = 8 a tree of its
        own.
    roots
        Names of the switches at which the trees are rooted, in turn; without them, the switches of the highest tier,
        evenly chosen.
    """
    return table(
        {
            "name": "spanning_trees",
            "trees": trees,
            "roots": roots,
        }
    )


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


def d_mod_k() -> Table:
    """Fat-trees: the destination's number decides on each link upwards."""
    return table({"name": "d_mod_k"})


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


def dimension_order() -> Table:
    """Torus and HyperX: one dimension after the other."""
    return table({"name": "dimension_order"})


def k_shortest(
    *,
    k: int | None = None,
    lanes: int | None = None,
) -> Table:
    """Each flow takes one of the k shortest paths, by a hash.

    Parameters
    ----------
    k
        Paths between two switches, at most; from 1 to 64.
    lanes
        Virtual lanes for each priority of traffic, one for each link between switches, so that paths never deadlock;
        paths with more links are left out. From 1 to 8; 1 takes paths of any length, which may deadlock.
    """
    return table(
        {
            "name": "k_shortest",
            "k": k,
            "lanes": lanes,
        }
    )
