"""Congestion control: `hpcc`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Bytes, Rate, Table, table

__all__ = ["hpcc"]

Form = Literal["window", "rate"]


def hpcc(
    *,
    eta: float | None = None,
    max_stage: int | None = None,
    form: Form | None = None,
    r_ai: Rate | None = None,
    w_ai: Bytes | None = None,
    min_rate: Rate | None = None,
    fast_react: bool | None = None,
) -> Table:
    """HPCC: window from telemetry on data packets.

    Parameters
    ----------
    eta
        Target utilization η, without unit, above 0 and at most 1. Default 0.95 (HPCC, section 5.1).
    max_stage
        Additive steps, one a round trip, before the next multiplicative one: maxStage, without unit. Default 0, which
        the authors' simulations used; the paper prints 5.
    form
        What is steered. Default `window`, as in the paper.
    r_ai
        Additive increase as a rate, in bits a second, in place of `w_ai`, which is this rate times T. Default: none.
    w_ai
        Additive increase W_AI, in bytes. Default 80 B (HPCC, section 5.1), which is 50 Mb/s at a base RTT of 12.8 us.
    min_rate
        The minimum rate, in bits a second. Default 100 Mb/s (the authors' simulator).
    fast_react
        Reacts to each ACK, from a reference window that is updated once a round trip (HPCC, section 3.2). Otherwise
        only the first ACK of each round trip counts, and loads are measured over the time between those. Default
        true.
    """
    return table(
        {
            "name": "hpcc",
            "eta": eta,
            "max_stage": max_stage,
            "form": form,
            "r_ai": r_ai,
            "w_ai": w_ai,
            "min_rate": min_rate,
            "fast_react": fast_react,
        }
    )
