"""The rules, each a function that looks at a run's facts, or at a job of it, and says what it found, or nothing."""

from __future__ import annotations

from collections.abc import Callable

from xoff.analysis.explain.facts import Facts
from xoff.analysis.explain.findings import Finding
from xoff.analysis.explain.job import Job
from xoff.analysis.explain.rules import (
    congestion,
    credit,
    failures,
    jobs,
    links,
    marking,
    outcome,
    pfc,
    sending,
    tcd,
    training,
)

Rule = Callable[[Facts], Finding | None]

RULES: tuple[Rule, ...] = (
    outcome.deadlock,
    failures.broken,
    failures.storms,
    links.link_errors,
    links.link_retries,
    outcome.losses,
    outcome.unfinished,
    congestion.pause_storm,
    congestion.roots,
    congestion.long_queues,
    congestion.victims,
    pfc.short_headroom,
    pfc.ample_headroom,
    pfc.low_xon,
    pfc.narrow_hysteresis,
    pfc.ending_pauses,
    marking.marks_after_pause,
    credit.few_credits,
    credit.long_update_period,
    tcd.max_on,
    sending.window_limited,
    sending.rate_limited,
    sending.slow_sources,
    sending.dcqcn_timers,
    sending.retransmit_timeout,
)
"""Every rule of a run. Among equally severe findings, those of earlier rules come first."""

JOB_RULES: tuple[Callable[[Job], Finding | None], ...] = (
    training.iterations,
    jobs.critical_path,
    jobs.slow_ranks,
)
"""Every rule of a job, which is asked for each job of a run; their findings come after those of the run."""
