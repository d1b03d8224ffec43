"""Plain tables of a scenario, and tables inside others: `switch`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from xoff.settings.table import Bytes, Table, Time, table

__all__ = ["switch"]

Forwarding = Literal["store_and_forward", "cut_through"]
Queueing = Literal["output", "virtual_output"]
Scheduling = Literal["round_robin", "strict", "weighted"]
Victim = Literal["arriving", "either"]


def switch(
    *,
    priorities: int | None = None,
    scheduling: Scheduling | None = None,
    weights: Sequence[int] | None = None,
    high_priority: Sequence[int] | None = None,
    high_limit: int | None = None,
    vlarb_high: Sequence[Mapping[str, object]] | None = None,
    vlarb_low: Sequence[Mapping[str, object]] | None = None,
    buffer: Bytes | None = None,
    queue_limit: Bytes | None = None,
    queue_victim: Victim | None = None,
    trimming: Mapping[str, object] | None = None,
    queueing: Queueing | None = None,
    forwarding: Forwarding | None = None,
    cut_through_after: Bytes | None = None,
    pipeline_delay: Time | None = None,
    watchdog: Mapping[str, object] | None = None,
) -> Table:
    """Switches.

    Parameters
    ----------
    priorities
        Data priorities in use, numbered from 0; at most 8.
    scheduling
        How an egress port chooses among its data priorities.
    weights
        Weighted scheduling: what each priority may send in its turn, in units of 64 B, from 1 to 255. Priorities that
        are not listed have 1.
    high_priority
        Weighted scheduling: priorities that go before the others, up to `high_limit`.
    high_limit
        Weighted scheduling: once high priority has sent this many times 4096 B, a packet of low priority goes, if one
        waits; 0 for after each packet, 255 for never (InfiniBand's Limit of High-Priority).
    vlarb_high
        Weighted scheduling: the high-priority table of arbitration, up to 64 entries such as `{ vl = 0, weight = 4
        }`. A VL may stand in it several times, and in `vlarb_low` as well. In place of `weights` and `high_priority`.
    vlarb_low
        Weighted scheduling: the low-priority table, like `vlarb_high`. Each VL needs a weight above 0 in one of the
        two.
    buffer
        Packet memory of each switch; without it, only flow control's thresholds bound the queues. Excludes credits,
        whose buffers belong to links.
    queue_limit
        Bytes of data that each egress port may hold in a lossy network, the packet on its wire included; a port that
        is slower than the fastest has its share. Twice as many bytes of control packets may wait beside them. Without
        it, ports share the memory.
    queue_victim
        Which packet makes room where data finds none below `queue_limit`.
    trimming
        Data that finds no room below `queue_limit` is cut to its header, which goes on with control packets, so that
        its receiver can ask for it again at once; without it, such data is dropped.
    queueing
        Where packets wait. Without it, in virtual output queues if flow control is by credits (`cbfc`, `ue_cbfc`,
        `credit`), otherwise at the output.
    forwarding
        When a packet is sent on. Without it, by cut-through if flow control is `cbfc` or `credit`, otherwise after
        all of it has arrived (store-and-forward).
    cut_through_after
        Cut-through: bytes of a packet that must have arrived before it is sent on.
    pipeline_delay
        Time that everything which comes to a switch takes through its pipeline, beside the transmission. It counts as
        a longer link into the switch: in base RTTs and in what buffers must hold, and for frames of flow control as
        well.
    watchdog
        The PFC watchdog of all egress queues: `watchdog = {}` for SONiC's defaults, or `{ detection = "400ms",
        restoration = "2s", action = "drop" }`. Without it, no watchdog.
    """
    return table(
        {
            "priorities": priorities,
            "scheduling": scheduling,
            "weights": weights,
            "high_priority": high_priority,
            "high_limit": high_limit,
            "vlarb_high": vlarb_high,
            "vlarb_low": vlarb_low,
            "buffer": buffer,
            "queue_limit": queue_limit,
            "queue_victim": queue_victim,
            "trimming": trimming,
            "queueing": queueing,
            "forwarding": forwarding,
            "cut_through_after": cut_through_after,
            "pipeline_delay": pipeline_delay,
            "watchdog": watchdog,
        }
    )
