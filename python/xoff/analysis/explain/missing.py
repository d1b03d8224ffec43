"""What a run did not record, and what it would tell."""

from __future__ import annotations

from xoff.analysis.explain.facts import Facts
from xoff.analysis.explain.findings import Missing

WANTED = (
    (
        "breakdown",
        "record.breakdown=true",
        "where each flow's time went, who is held by window, rate or source, and the critical paths of jobs",
    ),
    ("roots", "record.roots=true", "where congestion began, and which flows are victims"),
    ("pauses", "record.pauses=true", "each PAUSE, and how far it spread"),
    ("rates", "record.rates=all", "flows' rates and windows over time"),
    ("queues", "record.queues=switches", "queues over time"),
)
"""Records by their key of `[record]`: the setting that asks for them, and what they tell, the most useful first."""


NEED_PACKETS = ("breakdown", "roots")
"""Records that need every packet, which a run that is fast-forwarded does not have."""


def missing(facts: Facts) -> tuple[Missing, ...]:
    """What was not recorded, the most useful first."""
    skips = bool((facts.scenario.get("run") or {}).get("fast_forward"))
    found = ((name, key, tells) for name, key, tells in WANTED if not facts.recorded(name))
    return tuple(
        Missing(key, f"{tells}; only in a run without run.fast_forward" if skips and name in NEED_PACKETS else tells)
        for name, key, tells in found
    )
