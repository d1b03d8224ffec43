"""The bottleneck's queue and each flow's rate over time, there and here, from a decoded packet trace of that simulator.

Its lines read `TIME_NS n:NODE PORT:QUEUE QUEUE_BYTES EVENT ecn:E SRC_IP DST_IP SRC_PORT DST_PORT ...  FRAME(PAYLOAD)`.
"""

from __future__ import annotations

import gzip
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from xoff.errors import UserError
from xoff.ns3_hpcc.agreement import imported_run
from xoff.ns3_hpcc.config import Config
from xoff.ns3_hpcc.topology import read_topology

TRACE = "trace-decoded.txt.gz"

STEP_US = 5
"""Width of the intervals of rates, and distance of samples."""


@dataclass
class Trace:
    """What a decoded trace says of one port and of all flows."""

    queue: list[tuple[int, int]] = field(default_factory=list)
    """Moment in ns, bytes."""
    sent: dict[int, dict[int, int]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(int)))
    """By sending host, then by interval: bytes on its wire."""


def draw(folder: Path, out: Path) -> bool:
    """Draw the figure of a folder to `out` (PNG); False where the folder has no decoded trace."""
    file = folder / TRACE
    if not file.exists():
        return False
    config = Config(folder / "config.txt")
    topology = read_topology(folder / Path(str(config.get("TOPOLOGY_FILE"))).name, lambda _: None)
    switch, interface = _bottleneck(file, set(topology.switches))
    ends = [(link.src, link.dst) for link in topology.links if switch in (link.src, link.dst)]
    src, dst = ends[interface - 1]
    port = f"{topology.name(switch)}->{topology.name(dst if src == switch else src)}"
    trace = _read(file, switch, interface, set(topology.hosts))
    first = min(min(bins) for bins in trace.sent.values()) * STEP_US
    sets: dict[str, object] = {"record.queues": [port], "record.rates": "all", "record.interval": f"{STEP_US}us"}
    runs = {mode: imported_run(folder, mode, sets=sets) for mode in ("quirks", "clean")}

    figure = Figure(figsize=(9, 7), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    times, queued = np.array(trace.queue).T
    above.plot(times / 1000 - first, queued / 1000, color="black", linewidth=0.8, label="ns-3")
    styles = {"quirks": ("tab:blue", "--"), "clean": ("tab:orange", ":")}
    for mode, run in runs.items():
        color, style = styles[mode]
        rows = [(r["time_ps"], r["bytes"]) for r in run.queues.to_pylist() if r["time_ps"] >= first * 10**6]
        at, held = np.array(rows).T
        above.plot(at / 10**6 - first, held / 1000, color=color, linestyle=style, label=f"xoff, {mode}")
    above.set_ylabel(f"queue of {port} (KB)")
    above.set_title(f"{folder.name}: queue and rates, ns-3 and xoff")
    above.legend()
    for number, (host, bins) in enumerate(sorted(trace.sent.items())):
        edges = np.array(sorted(bins))
        rate = np.array([bins[edge] * 8 / (STEP_US * 1000) for edge in edges])
        below.plot(
            edges * STEP_US + STEP_US - first,
            rate,
            color="black",
            linewidth=1 + number,
            alpha=0.6,
            label=f"ns-3, from {host}",
        )
        for mode, run in runs.items():
            color, style = styles[mode]
            flows = {row["id"] for row in run.flows.to_pylist() if row["src"] == topology.name(host)}
            rows = [(r["time_ps"], r["sent_bps"]) for r in run.rates.to_pylist() if r["flow"] in flows]
            at, sent = np.array(rows).T
            below.plot(
                at / 10**6 - first, sent / 10**9, color=color, linestyle=style, label=f"xoff, {mode}, from {host}"
            )
    below.set_ylabel("sent (Gbps)")
    below.set_xlabel("time since the first packet (us)")
    below.legend(ncols=2, fontsize="small")
    figure.savefig(out, dpi=110)
    return True


def _bottleneck(file: Path, switches: set[int]) -> tuple[int, int]:
    """The switch and interface with the longest queue."""
    longest: tuple[int, int, int] = (-1, 0, 0)
    for words in _lines(file):
        node = int(words[1][2:])
        if node in switches:
            longest = max(longest, (int(words[3]), node, int(words[2].split(":")[0])))
    if longest[0] < 0:
        raise UserError(f"{file}: has no event of a switch")
    return longest[1:]


def _read(file: Path, switch: int, interface: int, hosts: set[int]) -> Trace:
    trace = Trace()
    for words in _lines(file):
        node, at = int(words[1][2:]), int(words[0])
        port = int(words[2].split(":")[0])
        if (node, port) == (switch, interface) and words[4] == "Dequ":
            trace.queue.append((at, int(words[3])))
        elif node in hosts and words[4] == "Dequ" and words[10] == "U":
            trace.sent[node][at // (STEP_US * 1000)] += int(words[-1].split("(")[0])
    return trace


def _lines(file: Path) -> list[list[str]]:
    with gzip.open(file, "rt", encoding="ascii") as lines:
        return [words for line in lines if len(words := line.split()) >= 12]
