"""Flow control between neighbours: `pfc`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Bytes, Table, table

__all__ = ["pfc"]


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
