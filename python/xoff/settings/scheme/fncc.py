"""Congestion control: `fncc`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Bytes, Rate, Table, table

__all__ = ["fncc"]


def fncc(
    *,
    eta: float | None = None,
    max_stage: int | None = None,
    w_ai: Bytes | None = None,
    min_rate: Rate | None = None,
    fast_react: bool | None = None,
    lhcs: bool | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    lhcs_bypass: bool | None = None,
) -> Table:
    """FNCC: window from telemetry on ACKs.

    Parameters
    ----------
    eta
        Target utilization η, without unit, above 0 and at most 1. Default 0.95 (FNCC, section 3.2.2).
    max_stage
        Additive steps, one a round trip, before the next multiplicative one: maxStage, without unit. Default 0, which
        the simulations of HPCC's authors used; HPCC's paper prints 5.
    w_ai
        Additive increase W_AI, in bytes. Default 80 B (HPCC, section 5.1), which is 50 Mb/s at a base RTT of 12.8 us.
    min_rate
        The minimum rate, in bits a second. Default 100 Mb/s (the simulator of HPCC's authors).
    fast_react
        Reacts to each ACK, from a reference window that is updated once a round trip (FNCC, section 3.2.2). Without
        it only the first ACK of each round trip counts. Default true.
    lhcs
        Last-hop congestion speedup (FNCC, Algorithm 2). Default true.
    alpha
        u' above which the last hop counts as congested: α, without unit, above 0 and at most 10. Default 1.05 (FNCC,
        section 3.2.2).
    beta
        Part of the fair share that LHCS grants, so that the queue drains: β, without unit, above 0 and at most 1.
        Default 0.9 (FNCC, section 3.2.2).
    lhcs_bypass
        When LHCS fires, the window is the share itself. False is the order of Algorithm 3 as printed: the share
        becomes the reference window, and the same ACK divides it by U/η once more, so that flows start from half of
        what section 5.4.2 reports. Default true.
    """
    return table(
        {
            "name": "fncc",
            "eta": eta,
            "max_stage": max_stage,
            "w_ai": w_ai,
            "min_rate": min_rate,
            "fast_react": fast_react,
            "lhcs": lhcs,
            "alpha": alpha,
            "beta": beta,
            "lhcs_bypass": lhcs_bypass,
        }
    )
