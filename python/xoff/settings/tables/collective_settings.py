"""Plain tables of a scenario, and tables inside others: `collective_settings`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Bytes, Rate, Table, Time, table

__all__ = ["collective_settings"]

CollectiveAlgorithm = Literal[
    "ring",
    "double_binary_tree",
    "tree",
    "halving_doubling",
    "recursive_doubling",
    "bruck",
    "pairwise",
    "spread",
    "direct",
    "hierarchical",
]
Protocol = Literal["none", "simple", "ll", "ll128"]


def collective_settings(
    *,
    channels: int | None = None,
    chunk: Bytes | None = None,
    protocol: Protocol | None = None,
    step_latency: Time | None = None,
    nics: int | None = None,
    local_rate: Rate | None = None,
    local_delay: Time | None = None,
    local_step_latency: Time | None = None,
    across: CollectiveAlgorithm | None = None,
) -> Table:
    """How a collective is carried out.

    Parameters
    ----------
    channels
        Channels: parallel rings or trees, each for an equal part of the data and with connections of its own, from 1
        to 64.
    chunk
        Maximum bytes of a message: a rank forwards a chunk when that chunk has arrived. Without it, a message is not
        divided.
    protocol
        How data go over the wire: NCCL's protocols add bytes and a latency.
    step_latency
        Time between the arrival of a message from another host and what its receiver does next; without it, the
        protocol's.
    nics
        NICs of a host: channel c of the rank with place p on its host sends by NIC (p + c) modulo this number.
        Without it, as the pattern or `host.nic` says.
    local_rate
        Rate at which a rank sends to ranks of its host (NVLink), without the network; without it, such messages take
        only `local_delay`.
    local_delay
        Delay of messages among ranks of one host.
    local_step_latency
        Time between the arrival of a message from a rank of the same host and what its receiver does next; without
        it, the protocol's.
    across
        The algorithm between hosts if the collective's algorithm is `hierarchical`; without it, the operation's
        default.
    """
    return table(
        {
            "channels": channels,
            "chunk": chunk,
            "protocol": protocol,
            "step_latency": step_latency,
            "nics": nics,
            "local_rate": local_rate,
            "local_delay": local_delay,
            "local_step_latency": local_step_latency,
            "across": across,
        }
    )
