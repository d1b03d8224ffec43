"""The bottleneck's queue and each flow's rate over time, in that simulator's decoded packet trace and in xoff.

Its lines read `TIME_NS n:NODE PORT:QUEUE QUEUE_BYTES EVENT ecn:E SRC_IP DST_IP SRC_PORT DST_PORT ...  FRAME(PAYLOAD)`.
"""

from __future__ import annotations

import gzip
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from xoff.analysis.tables import frame
from xoff.errors import UserError
from xoff.formats.ns3_hpcc.config import Config
from xoff.formats.ns3_hpcc.topology import read_topology
from xoff.studies.agreement.comparison import MARK, imported_run

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
    """Draw the figure of a folder to `out` (PNG); `False` if the folder has no decoded trace."""
    file = folder / TRACE
    if not file.exists():
        return False
    config = Config(folder / "config.txt")
    topology = read_topology(folder / Path(str(config.get("TOPOLOGY_FILE"))).name, lambda _: None)
    switch, interface = _bottleneck(file, set(topology.switches))
    ends = [(link.src, link.dst) for link in topology.links if switch in (link.src, link.dst)]
    if not 1 <= interface <= len(ends):
        raise UserError(f"{file}: has port {interface} of node {switch}: expected one from 1 to {len(ends)}")
    src, dst = ends[interface - 1]
    port = f"{topology.name(switch)}->{topology.name(dst if src == switch else src)}"
    trace = _read(file, switch, interface, set(topology.hosts))
    if not trace.queue or not trace.sent:
        lacks = "packet that a host sends" if trace.queue else f"packet that leaves node {switch} by port {interface}"
        raise UserError(f"{file}: has no {lacks}: expected the trace of a run")
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
        queue = frame(run, "queues").filter(pl.col("time_ps") >= first * 10**6)
        at, held = (queue[name].to_numpy() for name in ("time_ps", "bytes"))
        above.plot(at / 10**6 - first, held / 1000, color=color, linestyle=style, label=f"xoff, {mode}")
    above.set_ylabel(f"queue of {port} (KB)")
    above.set_title(f"{folder.name}: queue and rates, ns-3 and xoff")
    above.legend()
    sampled = {mode: (frame(run, "flows"), frame(run, "rates")) for mode, run in runs.items()}
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
        for mode, (flows, rates) in sampled.items():
            color, style = styles[mode]
            own = flows.filter(pl.col("src") == topology.name(host)).select(flow="id")
            rows = rates.join(own, on="flow", how="semi", maintain_order="left")
            at, sent = (rows[name].to_numpy() for name in ("time_ps", "sent_bps"))
            below.plot(
                at / 10**6 - first, sent / 10**9, color=color, linestyle=style, label=f"xoff, {mode}, from {host}"
            )
    below.set_ylabel("sent (Gbps)")
    below.set_xlabel("time since the first packet (us)")
    below.legend(ncols=2, fontsize="small")
    try:
        figure.savefig(out, dpi=110, metadata={"Software": MARK})
    except OSError as error:
        raise UserError(f"{out}: cannot be written: {error.strerror or error}") from None
    return True


@dataclass(frozen=True)
class Event:
    """A line of a decoded trace."""

    time: int
    """ns."""
    node: int
    port: int
    queued: int
    """Bytes."""
    sends: bool
    """Whether a packet leaves the queue; otherwise, it enters."""
    frame: int | None
    """Bytes on the wire, of a frame of data."""


def _bottleneck(file: Path, switches: set[int]) -> tuple[int, int]:
    """The switch and interface with the longest queue."""
    longest: tuple[int, int, int] = (-1, 0, 0)
    for event in _events(file):
        if event.node in switches:
            longest = max(longest, (event.queued, event.node, event.port))
    if longest[0] < 0:
        raise UserError(f"{file}: has no event of a switch")
    return longest[1:]


def _read(file: Path, switch: int, interface: int, hosts: set[int]) -> Trace:
    trace = Trace()
    for event in _events(file):
        if not event.sends:
            continue
        if (event.node, event.port) == (switch, interface):
            trace.queue.append((event.time, event.queued))
        elif event.node in hosts and event.frame is not None:
            trace.sent[event.node][event.time // (STEP_US * 1000)] += event.frame
    return trace


def _events(file: Path) -> Iterator[Event]:
    if not file.is_file():
        raise UserError(f"{file}: not a regular file; expected a decoded trace")
    try:
        with gzip.open(file, "rt", encoding="ascii") as lines:
            for number, line in enumerate(lines, 1):
                words = line.split()
                # What has fewer words is no packet of a flow.
                if len(words) >= 12:
                    yield _event(file, number, words)
    except UnicodeError:
        raise UserError(f"{file}: not text; expected a decoded trace") from None
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"{file}: not a trace compressed by gzip: {error}") from None


def _event(file: Path, number: int, words: list[str]) -> Event:
    try:
        time, node, port, queued = int(words[0]), int(words[1][2:]), int(words[2].split(":")[0]), int(words[3])
        sends, data = words[4] == "Dequ", words[10] == "U"
        return Event(time, node, port, queued, sends, int(words[-1].split("(")[0]) if data else None)
    except ValueError:
        expected = "`TIME_NS n:NODE PORT:QUEUE QUEUE_BYTES EVENT ... FRAME(PAYLOAD)`"
        raise UserError(f"{file}:{number}: not an event of a decoded trace: expected {expected}") from None
