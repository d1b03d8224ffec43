"""Detectors: what marks packets: `tcd`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from xoff.settings.table import Bytes, Table, Time, table

__all__ = ["tcd"]

Rules = Literal["paper", "code"]


def tcd(
    *,
    rules: Rules | None = None,
    max_on: Time | None = None,
    epsilon: float | None = None,
    tau: Time | None = None,
    hysteresis: Bytes | None = None,
    share: float | None = None,
    period: Time | None = None,
    low: Bytes | None = None,
    high: Bytes | None = None,
    rise: Bytes | None = None,
    red: Mapping[str, object] | None = None,
    fecn: Mapping[str, object] | None = None,
) -> Table:
    """Ternary detection: congestion, no congestion, undetermined.

    Parameters
    ----------
    rules
        Whose rules: the paper's, or those of the simulator that its authors released. Default `paper`.
    max_on
        max(T_on): an egress that was stopped within this time is undetermined. Default by Equation 3 from the link
        and its flow control; if credits are updated in periods, the period over `share` (section 4.4).
    epsilon
        Equation 3: the minimum congestion degree epsilon of a flow that TCD is to detect, as a share of the link's
        rate, above 0 and at most 1. Default 0.05 (section 4.2).
    tau
        Equation 3: response time tau until a stop or a go takes effect. Default 2 MTU/C + 2 t_p of the link (section
        4.3).
    hysteresis
        Equation 3: B_1 - B_0, the distance between the lengths that pause and resume the sender, in bytes. Default
        that of PFC: Xoff less Xon, or `resume_offset` with dynamic thresholds.
    share
        Equation 3: the share of the link's rate that the priority may expect, above 0 and at most 1; max(T_on) is
        divided by it. Default 1 (section 4.5: "according to the expected proportion").
    period
        Period T at which the length of a queue is examined after it was undetermined. Default max(T_on) (section
        4.3).
    low
        Queue length up to which a queue that was undetermined is not congested, in bytes. Default RED's K_min with
        the paper's rules, two frames with FECN or with the rules of the released simulator.
    high
        `paper` only: queue length above which growth means congestion, in bytes. Default RED's K_min or FECN's
        threshold: the paper says "the threshold", and up to there nothing is marked.
    rise
        The minimum growth of the queue in a period that counts as growth, in bytes; with 0 a queue that has not
        fallen counts (section 4.1: "otherwise, the port transits to the congestion state"). Default 1 B with the
        paper's rules (section 4.2: "if the queue length increases"), 0.9 of a frame's payload with those of the
        released simulator.
    red
        RED, if TCD wraps RED: it decides on CE while the port is not undetermined. Default: the scheme's own marking,
        RED or FECN.
    fecn
        FECN, if TCD wraps FECN in place of RED.
    """
    return table(
        {
            "name": "tcd",
            "rules": rules,
            "max_on": max_on,
            "epsilon": epsilon,
            "tau": tau,
            "hysteresis": hysteresis,
            "share": share,
            "period": period,
            "low": low,
            "high": high,
            "rise": rise,
            "red": red,
            "fecn": fecn,
        }
    )
