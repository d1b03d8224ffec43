"""Flow control between neighbours.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Bytes, Table, Time, table

__all__ = [
    "bfc",
    "cbfc",
    "credit",
    "none",
    "pfc",
    "ue_cbfc",
]

CounterWidth = Literal["wide", "12_bit"]
CreditGranularity = Literal["packet", "flit"]
CreditUnit = Literal["flit", "packet"]


def none() -> Table:
    """None: queues grow up to `switch.buffer`."""
    return table({"name": "none"})


def pfc(
    *,
    xoff: Bytes | None = None,
    xon: Bytes | None = None,
    alpha: float | None = None,
    alpha_by_rate: bool | None = None,
    resume_offset: Bytes | None = None,
    reserve: Bytes | None = None,
    headroom: Bytes | None = None,
    headroom_bdp: int | None = None,
    response_quanta: int | None = None,
    quanta: int | None = None,
    refresh: bool | None = None,
    expires: bool | None = None,
) -> Table:
    """Priority-based Flow Control.

    Parameters
    ----------
    xoff
        Static threshold: PAUSE when a port's ingress bytes of a priority exceed this. Default, unless `alpha` is
        given: what the port's link brings in 40 us, which is 500 KB at 100 Gb/s (FNCC, section 5.1) and grows with
        the rate as the ECN thresholds of HPCC's authors do, so that marks begin before PAUSE. With `switch.buffer`
        not more than the port's equal part of the memory beside all headrooms, (buffer - headrooms) / (ports times
        priorities), which is the bound of DCQCN's paper (SIGCOMM 2015, section 4), but at least two frames.
    xon
        Static threshold: RESUME when those bytes fall to this; without it, two frames below `xoff`.
    alpha
        Dynamic threshold: PAUSE when ingress bytes reach this share of the free shared memory. Needs `switch.buffer`;
        excludes `xoff`. Powers of two are what hardware offers (0.125 is common).
    alpha_by_rate
        Dynamic threshold: a port that is faster than the hosts' ports has twice the share for each started doubling
        of the rate, up to all free memory.
    resume_offset
        Dynamic threshold: RESUME this far below the threshold.
    reserve
        Dynamic threshold: memory reserved for each port and priority.
    headroom
        Memory of each port and priority above its threshold, for packets that arrive until the peer stops; without
        it, computed from the link: 2 t_p C + 3 MTU + a PAUSE frame of each priority + response time.
    headroom_bdp
        Headroom as a multiple, from 1 to 1000, of rate times propagation delay of the link's incoming direction,
        rounded down, in place of `headroom`. It ignores the size of frames: on short links the headroom may be too
        small.
    response_quanta
        How long a peer may take to obey a PAUSE, in quanta of 512 bit times; counts into the headroom and delays the
        stop.
    quanta
        Pause time of a PAUSE frame in quanta of 512 bit times at the port's rate.
    refresh
        Send PAUSE again at half its time while the threshold is still exceeded. Without it the peer goes on when the
        time is over, and the next packet above the threshold makes another PAUSE: the packets that arrive until that
        PAUSE works may exceed the rest of the headroom, which ends the run.
    expires
        A pause ends by itself after its quanta; otherwise only by a RESUME.
    """
    return table(
        {
            "name": "pfc",
            "xoff": xoff,
            "xon": xon,
            "alpha": alpha,
            "alpha_by_rate": alpha_by_rate,
            "resume_offset": resume_offset,
            "reserve": reserve,
            "headroom": headroom,
            "headroom_bdp": headroom_bdp,
            "response_quanta": response_quanta,
            "quanta": quanta,
            "refresh": refresh,
            "expires": expires,
        }
    )


def cbfc(
    *,
    buffer: Bytes | None = None,
    shared_buffer: Bytes | None = None,
    update_period: Time | None = None,
    update_size: Bytes | None = None,
    on_change: bool | None = None,
    counters: CounterWidth | None = None,
    undersized: bool | None = None,
) -> Table:
    """InfiniBand's credit-based flow control.

    Parameters
    ----------
    buffer
        Buffer of each ingress port and lane; without it, as much as keeps the link busy: the bytes that the link
        carries from one update to the next and in a round trip, see `undersized`.
    shared_buffer
        Memory of each ingress port that its lanes share, in whole blocks, beside the `buffer` that is reserved for
        each of them: a lane that uses more than its reserved part takes places from here. The sender counts what its
        lanes use together (as in Omni-Path; InfiniBand has counts by lane alone).
    update_period
        Time between two updates of a port (T_c). The specification asks for an update at least every 65,536 symbol
        times, 65.5 us at 4 x 10 Gbps; 4.096 us is the value in the InfiniBand simulator of TCD's authors.
    update_size
        Size of an update on the wire, 6 bytes and framing. Each lane has an update of its own.
    on_change
        Send an update also when a packet has left the buffer and no other packet waits for the wire to the sender.
    counters
        Width of the counters.
    undersized
        Allow a buffer that is so small that a link stalls although nothing is in its way.
    """
    return table(
        {
            "name": "cbfc",
            "buffer": buffer,
            "shared_buffer": shared_buffer,
            "update_period": update_period,
            "update_size": update_size,
            "on_change": on_change,
            "counters": counters,
            "undersized": undersized,
        }
    )


def ue_cbfc(
    *,
    cell: Bytes | None = None,
    buffer: Bytes | None = None,
    shared_buffer: Bytes | None = None,
    message: Bytes | None = None,
    repeat: Time | None = None,
    undersized: bool | None = None,
) -> Table:
    """Ultra Ethernet's credit-based flow control.

    Parameters
    ----------
    cell
        Bytes of a cell; a packet takes whole cells.
    buffer
        Buffer of each ingress port and VC, in whole cells; without it, as much as keeps the link busy during a round
        trip, see `undersized`.
    shared_buffer
        Memory of each ingress port that its lanes share, in whole cells, beside the `buffer` that is reserved for
        each of them: a lane that uses more than its reserved part takes places from here. The sender counts what its
        lanes use together.
    message
        Bytes of a message.
    repeat
        Time after which a receiver tells its count again, in case the message was lost.
    undersized
        Allow a buffer that is so small that a link stalls although nothing is in its way.
    """
    return table(
        {
            "name": "ue_cbfc",
            "cell": cell,
            "buffer": buffer,
            "shared_buffer": shared_buffer,
            "message": message,
            "repeat": repeat,
            "undersized": undersized,
        }
    )


def credit(
    *,
    unit: CreditUnit | None = None,
    granularity: CreditGranularity | None = None,
    flit: Bytes | None = None,
    credits: int | None = None,
    shared_credits: int | None = None,
    undersized: bool | None = None,
) -> Table:
    """Link credits of HPC fabrics.

    Parameters
    ----------
    unit
        What a credit stands for.
    granularity
        When a packet's credits are taken and given back: all at once (`packet`), or one by one as its flits leave
        (`flit`), so that a throttle sees every number in between. PFT takes a credit "each time the transmitter sends
        a packet" and compares the used ones with thresholds in every cycle (sections III.A and III.B). Either way a
        packet begins only when there are credits for all of it: virtual cut-through, not wormhole.
    flit
        Size of a flit. A link of 100 Gbps carries 16 B in a cycle of 700 MHz.
    credits
        Credits of each ingress port and priority, 4096 flits of 16 B being 64 KiB; without it, as many as keep the
        link busy during a round trip, see `undersized`.
    shared_credits
        Credits of each ingress port that its priorities share, beside the `credits` that are reserved for each of
        them (Omni-Path's dedicated and shared credits): a priority that uses more than its reserved credits takes
        them from here.
    undersized
        Allow so few credits that a link stalls although nothing is in its way.
    """
    return table(
        {
            "name": "credit",
            "unit": unit,
            "granularity": granularity,
            "flit": flit,
            "credits": credits,
            "shared_credits": shared_credits,
            "undersized": undersized,
        }
    )


def bfc(
    *,
    queues: int | None = None,
    virtual_flows: int | None = None,
    period: Time | None = None,
    resumes: int | None = None,
) -> Table:
    """Backpressure Flow Control, by flow.

    Parameters
    ----------
    queues
        Queues of a port and priority of a switch: flows have one each while there are free ones.
    virtual_flows
        Virtual flows: connections share one if their numbers are equal modulo this.
    period
        Time between two lists of paused flows; without it, half of the round-trip time of the slowest link.
    resumes
        Flows of a queue that may go on in a period.
    """
    return table(
        {
            "name": "bfc",
            "queues": queues,
            "virtual_flows": virtual_flows,
            "period": period,
            "resumes": resumes,
        }
    )
