"""Which settings of `[record]` would show more of a congestion tree than a run has."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xoff.runs.results import Run


def advice(run: Run) -> Iterator[str]:
    """What the run did not record, as HTML, each with the setting that would."""
    scenario = run.manifest["scenario"]
    record = scenario.get("record", {})
    ports = run.table("ports").num_rows
    if not record.get("pauses", True):
        yield _lacks("which ports are paused", "pauses=true")
    if not record.get("roots"):
        yield _lacks("congestion roots, what spread from them, and which flows were victims", "roots=true")
    if not run.table("utilization").num_rows:
        yield _lacks("which ports send and which are idle", "utilization=true", "queues=all")
    elif record.get("queues") != "all":
        sampled = len(run.table("utilization")["port"].unique())
        if sampled < ports:
            yield _lacks(f"queues of {ports - sampled:,} of {ports:,} ports, and whether those send", "queues=all")
    detector = scenario.get("detector") or {}
    if record.get("states", "none") == "none":
        if detector.get("name") == "tcd":
            yield _lacks("which ports the detector takes for undetermined", "states=all")
        else:
            yield (
                "The state <i>undetermined</i> is told by the detector <code>tcd</code>, which this run did not have."
            )


def _lacks(what: str, *settings: str) -> str:
    sets = " ".join(f"--set record.{setting}" for setting in settings)
    return f"Not recorded: {what}. Run it again with <code>{sets}</code> to see that."
