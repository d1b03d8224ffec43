"""What runs did not record, and the settings that would: said once on a page, whatever parts of the page lack them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xoff.analysis.explain.missing import WANTED
from xoff.report.plots.style import Labelled, listed

if TYPE_CHECKING:
    from xoff.runs.results import Run


@dataclass(frozen=True)
class Lack:
    """A record that runs lack."""

    setting: str
    """What `--set` takes to have it."""
    shows: str
    """What the page would show with it."""
    runs: str
    """The runs that lack it; empty if all of a page do."""


def lacks(runs: Sequence[Labelled]) -> list[Lack]:
    """What `runs` did not record, the most useful first."""
    found: dict[tuple[str, str], list[str]] = {}
    for each in runs:
        for one in _lacks(each.run):
            found.setdefault(one, []).append(each.label)
    return [
        Lack(setting, shows, "" if len(labels) == len(runs) else listed(labels))
        for (setting, shows), labels in found.items()
    ]


def _lacks(run: Run) -> Iterator[tuple[str, str]]:
    """Settings, and what each would show."""
    scenario = run.manifest["scenario"]
    record = scenario.get("record", {})
    for name, setting, shows in WANTED:
        asked = record.get(name, name == "pauses")
        if asked in (None, False, "none", []):
            yield setting, shows
        elif name == "queues" and asked != "all" and (few := _few(run)):
            yield "record.queues=all", few
    if not record.get("utilization"):
        yield "record.utilization=true", "how busy ports are, and which ports of the congestion tree send"
    if (scenario.get("detector") or {}).get("name") == "tcd" and record.get("states", "none") == "none":
        yield "record.states=all", "which ports the detector takes for undetermined"


def _few(run: Run) -> str:
    """Of how many ports the queues were not sampled; empty if of none."""
    ports = run.table("ports").num_rows
    sampled = len(run.table("queues")["port"].unique()) if run.table("queues").num_rows else 0
    return f"queues and utilization of {ports - sampled:,} of {ports:,} ports" if sampled < ports else ""
