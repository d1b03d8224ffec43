"""Runs of parallel programs on four hosts, small enough to work out by hand.

Four hosts on a switch, links of 100 Gbps and 1 us, no congestion control. A frame has 1,000 B with 938 B of payload,
and takes 80 ns. A message of 93,800 B, 100 frames, leaves its host in 8 us; its last frame takes 1 us to the switch,
80 ns onto the next link, and 1 us to the receiver: alone the message has arrived after 10.08 us. An ACK has 66 B and
takes 5.28 ns: the last one is back after 10.08 us + 2 x (5.28 ns + 1 us) = 12.09056 us.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import xoff
from xoff.analysis.explain import Finding, explain
from xoff.analysis.explain.facts import Facts
from xoff.analysis.explain.job import Job, jobs_of
from xoff.runs.results import Run

US = 10**6
MESSAGE_PS = 10_080_000

NETWORK: dict[str, Any] = {
    "topology": {"name": "star", "hosts": 4, "rate": "100Gbps", "delay": "1us"},
    "scheme": {"name": "none"},
    "packets": {"payload": "938B"},
    "record": {"breakdown": True, "roots": True},
}

# Rank 0 computes for 10 us and sends; rank 1 computes for 5 us with what it got.
PAIR = """
num_ranks 2
rank 0 {
a: calc 10000
b: send 93800b to 1 tag 0
b requires a
}
rank 1 {
a: recv 93800b from 0 tag 0
b: calc 5000
b requires a
}
"""

# Rank 0 needs what rank 2 sends after 30 us; rank 1 has no part in that.
STRAGGLER = """
num_ranks 3
rank 0 {
a: calc 10000
b: recv 93800b from 2 tag 0
c: calc 5000
c requires a
c requires b
}
rank 1 {
a: calc 10000
}
rank 2 {
a: calc 30000
b: send 93800b to 0 tag 0
b requires a
}
"""


def goal(folder: Path, schedule: str, *background: dict[str, Any], **changes: Any) -> Run:
    """A run of a GOAL schedule, with other traffic."""
    (folder / "program.goal").write_text(schedule)
    pattern = {"pattern": "goal", "file": str(folder / "program.goal"), **changes.pop("pattern", {})}
    return xoff.run({**NETWORK, "traffic": [pattern, *background], **changes})


def flow(src: str, dst: str, start: str) -> dict[str, Any]:
    return {"pattern": "flow", "src": src, "dst": dst, "size": "93800B", "start": start}


def job_of(run: Run) -> Job:
    (job,) = jobs_of(Facts(run))
    return job


def finding(run: Run, rule: str) -> Finding | None:
    found = [each for each in explain(run, flows=0).findings if each.rule == rule]
    assert len(found) < 2
    return found[0] if found else None


def path_of(run: Run) -> list[tuple[str, int, int]]:
    """The kind, the rank and the time in ps of each part of the path."""
    return [(each.kind, each.rank.number, each.time_ps) for each in job_of(run).path]


def collective(**keys: Any) -> Run:
    pattern = {"pattern": "collective", "kind": "broadcast", "size": "93800B", "hosts": ["host0", "host1"], **keys}
    return xoff.run({**NETWORK, "traffic": [pattern]})
