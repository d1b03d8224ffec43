"""What the page of a congestion tree shows of a run, as plain lists, bounded in size with a note on each bound."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from xoff.analysis.blocking import pause_spread
from xoff.analysis.tables import frame, thin
from xoff.report.tree.changes import (
    IDLE,
    PAUSED,
    ROOT,
    STATES,
    UNDETERMINED,
    Changes,
    changes_within,
    ports_by_state,
    spans,
)
from xoff.report.tree.drawing import draw
from xoff.report.tree.flows import samples, tracks
from xoff.report.tree.network import Network, network_of
from xoff.text import name_text, name_texts, time_text

if TYPE_CHECKING:
    import polars as pl

    from xoff.runs.results import Run


_NAME = 40
"""Maximum length of a name of the picture."""


@dataclass(frozen=True)
class Limits:
    """Bounds on how much of a run a page holds."""

    ports: int = 16_384
    """Maximum ports of a network that is drawn."""
    changes: int = 400_000
    """Change points of all ports; with more, time goes in steps."""
    flows: int = 2_000
    """The victims and the slowest."""
    pauses: int = 20_000
    """The longest, as rows; totals count all."""
    queues: int = 200
    """Ports with the longest queues."""
    samples: int = 400
    """Points of each queue."""

    def shared(self, runs: int) -> Limits:
        """For each of several runs on a page."""
        parts = {name: value // runs for name, value in asdict(self).items() if name not in ("ports", "samples")}
        return Limits(ports=self.ports, samples=self.samples, **parts)


def tree_data(run: Run, limits: Limits) -> dict[str, Any] | str:
    """The congestion tree of `run`, or, as HTML, why there is none to draw."""
    count = run.table("ports").num_rows
    if count == 0:
        return "The run has no ports to draw."
    if count > limits.ports:
        return (
            f"The network has {count:,} ports; up to {limits.ports:,} are drawn. "
            "<code>xoff.analysis.blocking</code> has the same in numbers."
        )
    network = network_of(run)
    made = changes_within(spans(run, network.port_number), limits.changes)
    spread = pause_spread(run)
    notes: list[str] = []
    if made.step_ps:
        notes.append(
            f"Times are in steps of {time_text(made.step_ps)}, for the page to stay small: in each step a port shows "
            "the strongest state that it had in it. Totals are exact."
        )
    return {
        "states": list(STATES),
        "end_ps": _end(run, made),
        "open_ps": _opening(made),
        "step_ps": made.step_ps,
        "network": _network(network),
        "changes": _changes(made, len(network.ports)),
        "counts": _counts(made),
        "pauses": _pauses(spread, network, limits, notes),
        "roots": _roots(run, spread, network),
        "queues": _queues(run, network, limits, notes),
        "flows": _flows(run, network, limits, notes),
        "recorded": {
            "pauses": run.manifest["scenario"].get("record", {}).get("pauses", True),
            "roots": bool(run.manifest["scenario"].get("record", {}).get("roots")),
        },
        "notes": notes,
    }


def _network(network: Network) -> dict[str, Any]:
    drawing = draw(network)
    return {
        "nodes": name_texts(network.nodes, _NAME),
        "tiers": network.tiers,
        "at": [[round(x, 1), round(y, 1)] for x, y in drawing.nodes],
        "ports": name_texts(network.ports, 2 * _NAME),
        "node": network.node,
        "peer": network.peer,
        "lines": [[round(each, 1) for each in line] for line in drawing.ports],
        "in_block": [int(each) for each in drawing.in_block],
        "still": [[round(each, 1) for each in line] for line in drawing.still],
        "crowded": drawing.crowded,
        "rows": [
            {"words": words, "at": [round(each, 1) for each in row.beside], "left": row.leftwards, "nodes": row.nodes}
            for row, words in drawing.rows
        ],
    }


def _changes(made: Changes, ports: int) -> dict[str, list[int]]:
    """By port the number of its changes; then of each the time since the port's last one, and the state."""
    since = np.diff(made.time_ps, prepend=0)
    first = np.diff(made.port, prepend=-1) != 0
    since[first] = made.time_ps[first]
    count = np.bincount(made.port, minlength=ports)
    return {"count": count.tolist(), "since_ps": since.tolist(), "state": made.state.tolist()}


def _counts(made: Changes) -> list[dict[str, Any]]:
    """How many ports are in each state of congestion, over time."""
    found = []
    for state in (PAUSED, ROOT, UNDETERMINED):
        time, count = ports_by_state(made, state)
        if len(time):
            most = int(np.argmax(count))
            summit = {"most": int(count[most]), "most_ps": int(time[most])}
            time, count = thin(time, count, 1500)  # type: ignore[arg-type, assignment]
            found.append({"state": state, **summit, "time_ps": time.tolist(), "count": count.tolist()})
    return found


def _end(run: Run, made: Changes) -> int:
    """The last moment at which a port ceases to be more than idle, or the end of the run if no port ever is."""
    sim = int(run.manifest["sim_time_ps"])
    ceases = np.flatnonzero(made.state[:-1] > IDLE) + 1
    return min(int(made.time_ps[ceases].max(initial=0)), sim) or max(sim, 1)


def _opening(made: Changes) -> int:
    """When most ports are paused, or else when most are roots: what the page shows first."""
    for state in (PAUSED, ROOT, UNDETERMINED):
        time, count = ports_by_state(made, state)
        if len(time):
            return int(time[np.argmax(count)])
    return 0


def _pauses(spread: pl.DataFrame, network: Network, limits: Limits, notes: list[str]) -> dict[str, Any]:
    """Totals of each port that was stopped, and the longest pauses."""
    import polars as pl

    if spread.is_empty():
        return {"ports": [], "rows": []}
    numbers = network.port_number
    totals = (
        spread.group_by("port")
        .agg(
            pl.len().alias("times"),
            pl.col("length_ps").sum().alias("total_ps"),
            pl.col("length_ps").max().alias("longest_ps"),
            pl.col("start_ps").min().alias("first_ps"),
            pl.col("depth").min(),
        )
        .sort("port")
    )
    longest = spread.sort(["length_ps", "start_ps", "port"], descending=[True, False, False]).head(limits.pauses)
    if len(longest) < len(spread):
        notes.append(f"Single pauses are listed for the {len(longest):,} longest of {len(spread):,}.")
    columns = ("port", "start_ps", "length_ps", "priority", "depth", "root")
    rows = longest.sort("start_ps", "port").select(columns).iter_rows()
    return {
        "ports": [[numbers[port], *rest] for port, *rest in totals.iter_rows()],
        "rows": [[numbers[port], *rest, numbers.get(root)] for port, *rest, root in rows],
    }


def _roots(run: Run, spread: pl.DataFrame, network: Network) -> list[dict[str, Any]]:
    """Each port that was a congestion root, with the ports that stopped because of it; most ports first."""
    import polars as pl

    if not run.table("roots").num_rows:
        return []
    numbers = network.port_number
    found = (
        frame(run, "roots")
        .group_by("port")
        .agg(
            pl.col("start_ps").min().alias("first_ps"),
            pl.len().alias("times"),
            pl.col("length_ps").sum().alias("total_ps"),
            pl.col("max_bytes").max(),
        )
        .sort("first_ps", "port")
    )
    stopped: dict[str, list[list[int]]] = {}
    trees = (
        spread.filter(pl.col("root").is_not_null())
        .group_by("root", "port")
        .agg(pl.col("depth").min(), pl.col("start_ps").min().alias("first_ps"), pl.col("length_ps").sum())
        .sort("depth", "first_ps", "port")
    )
    for root, port, depth, first, total in trees.iter_rows():
        stopped.setdefault(root, []).append([numbers[port], depth, first, total])
    listed = [
        {
            "port": numbers[port],
            "first_ps": first,
            "times": times,
            "total_ps": total,
            "max_bytes": most,
            "tree": stopped.get(port, []),
        }
        for port, first, times, total, most in found.iter_rows()
    ]
    return sorted(listed, key=lambda root: -len(root["tree"]))


def _queues(run: Run, network: Network, limits: Limits, notes: list[str]) -> dict[int, dict[str, list[int]]]:
    """Samples of the longest queues."""
    sampled = samples(run, "bytes", network.port_number)
    busy = {port: int(length.max()) for port, (_, length) in sampled.items() if length.any()}
    shown = sorted(busy, key=lambda port: (-busy[port], port))[: limits.queues]
    if len(shown) < len(busy):
        notes.append(f"Queues over time are shown for the {len(shown):,} longest of {len(busy):,} that were sampled.")
    found = {}
    for port in shown:
        time, length = thin(*sampled[port], limits.samples)  # type: ignore[arg-type]
        found[port] = {"time_ps": time.tolist(), "bytes": length.tolist()}
    return found


def _flows(run: Run, network: Network, limits: Limits, notes: list[str]) -> list[dict[str, Any]]:
    every = run.table("flows").num_rows
    shown = tracks(run, network, limits.flows)
    if len(shown) < every:
        notes.append(f"Flows are listed for {len(shown):,} of {every:,}: victims first, then the slowest.")
    return [
        {
            "id": each.number,
            "label": name_text(each.label, _NAME),
            "src": name_text(each.src, _NAME),
            "dst": name_text(each.dst, _NAME),
            "priority": each.priority,
            "size_bytes": each.size_bytes,
            "start_ps": each.start_ps,
            "end_ps": each.end_ps,
            "complete": each.complete,
            "slowdown": each.slowdown,
            "blocked": each.blocked,
            "hops": [
                [[hop.port, hop.paused_ps, hop.pauses, int(hop.root), hop.queue_bytes] for hop in hops]
                for hops in each.hops
            ],
        }
        for each in shown
    ]
