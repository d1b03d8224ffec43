"""Fast-forwarded runs beside plain ones: errors of completion times and packet-hops, as a table and a figure.

    python benches/fast_forward.py [--random N] [--megabytes M] [--processes P] [--write docs/fast-forward.md]

Every run is made twice, with every packet and with `run.fast_forward`: each scheme with each pattern and flow control
on a fat-tree of 16 hosts, the ready scenarios of `scenarios` without the records that need every packet, and random
scenarios. Messages are compared that end before the time from which on the fast run says that it is uncertain. It takes
a quarter of an hour on two cores; the table and the figure are the same on any machine.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from random_scenarios import scenario as random_scenario

import xoff
from xoff.runs.catalogue import catalogue

mpl.use("Agg")
from matplotlib import pyplot as plt

ROOT = Path(__file__).parent.parent
FIGURE = ROOT / "docs" / "figures" / "fast_forward_errors.svg"
BEGIN, END = "<!-- measured -->\n", "<!-- end -->\n"
"""Between these lines of a page stands the table."""

TOLERANCE = 0.01
MAX_EVENTS = 100_000_000
"""A plain run of more events is left out."""

PATTERNS: dict[str, dict[str, Any]] = {
    "ring all-reduce": {"pattern": "allreduce", "algorithm": "ring"},
    "halving-doubling all-reduce": {"pattern": "allreduce", "algorithm": "halving_doubling"},
    "all-to-all": {"pattern": "all_to_all"},
    "permutation": {"pattern": "permutation"},
    "incast of 4": {"pattern": "incast", "senders": 4, "receiver": "host0"},
}
SHARE = {"all-to-all": 1 / 16, "incast of 4": 1 / 4}
"""The size of a pattern's messages, in sizes of the benchmark; that of others is the whole size."""

FLOW_CONTROLS = {"PFC": "pfc", "InfiniBand": "cbfc", "link credits": "credit"}
WITHOUT = {
    **dict.fromkeys(("breakdown", "reordering", "roots", "notifications", "marks", "throttles", "variables"), False),
    **dict.fromkeys(("packets", "states"), "none"),
}
"""Records that need every packet, switched off."""

REFUSED = ("expresspass", "nscc", "rccc", "nscc_rccc")
"""Schemes that `run.fast_forward` does not take."""

READY, RANDOM = "ready scenarios", "random scenarios"


@dataclass(frozen=True)
class Case:
    """A scenario to be run, and the groups of the table that it counts for."""

    groups: tuple[str, ...]
    scenario: dict[str, Any] | Path


@dataclass
class Outcome:
    """A plain run beside a fast one."""

    case: Case
    refused: str = ""
    """Why there is no such run; empty if there is one."""
    messages: list[float] = field(default_factory=list)
    """Errors of the completion times of messages for which the fast run vouches, as shares."""
    whole: float = 0.0
    """Error of the run's end, as a share."""
    skips: bool = False
    """Whether the fast run skipped anything."""
    is_certain: bool = True
    """Whether the fast run vouches for all messages."""
    hops: float = 1.0
    """Packet-hops of the plain run for each of the fast one."""

    @property
    def is_silent_error(self) -> bool:
        """Whether something is beyond the tolerance for which the fast run vouches."""
        return max(self.messages, default=0.0) > TOLERANCE or (self.is_certain and self.whole > TOLERANCE)


def cases(megabytes: float, randoms: int) -> Iterator[Case]:
    """Every scenario."""
    known = [str(scheme["name"]) for scheme in catalogue()["schemes"] if scheme["name"] not in REFUSED]
    for scheme in known:
        for pattern, traffic in PATTERNS.items():
            for flow_control, name in FLOW_CONTROLS.items():
                size = f"{int(megabytes * 1e6 * SHARE.get(pattern, 1.0))}B"
                made = {
                    "topology": {"name": "fat_tree", "k": 4, "rate": "100Gbps", "delay": "500ns"},
                    "scheme": {"name": scheme},
                    "flow_control": {"name": name},
                    "traffic": [traffic | {"size": size}],
                }
                yield Case((f"`{scheme}`", pattern, flow_control), made)
    for file in sorted((ROOT / "scenarios").rglob("*.toml")):
        yield Case((READY,), file)
    for number in range(randoms):
        yield Case((RANDOM,), random_scenario(number, known))


def compare(case: Case) -> Outcome:
    """Runs a scenario plain and fast."""
    warnings.simplefilter("ignore")
    sets: dict[str, Any] = {"run.max_events": MAX_EVENTS}
    if isinstance(case.scenario, Path):
        sets |= {f"record.{key}": value for key, value in WITHOUT.items()}
    try:
        plain = xoff.run(case.scenario, sets=sets, threads=1)
        fast = xoff.run(case.scenario, sets=sets | {"run.fast_forward": {"tolerance": TOLERANCE}}, threads=1)
    except (xoff.ScenarioError, xoff.RunError) as error:
        return Outcome(case, refused=str(error))
    forward = fast.manifest["fast_forward"]
    limit = forward["uncertain_from_ps"]
    times = {row["id"]: row for row in fast.table("flows").select(["id", "start_ps", "fct_ps"]).to_pylist()}
    ends = [run.manifest["sim_time_ps"] for run in (plain, fast)]
    errors: list[float] = []
    for row in plain.table("flows").select(["id", "start_ps", "fct_ps"]).to_pylist():
        other = times.get(row["id"])
        if other is None or row["fct_ps"] is None or other["fct_ps"] is None:
            errors += missed(row, other, ends, limit)
            continue
        if limit is None or max(each["start_ps"] + each["fct_ps"] for each in (row, other)) < limit:
            errors.append(abs(other["fct_ps"] / row["fct_ps"] - 1))
    return Outcome(
        case,
        messages=errors,
        whole=abs(ends[1] / ends[0] - 1),
        skips=fast.manifest["packet_hops"] < plain.manifest["packet_hops"],
        is_certain=limit is None,
        hops=plain.manifest["packet_hops"] / max(fast.manifest["packet_hops"], 1),
    )


def missed(row: dict[str, Any], other: dict[str, Any] | None, ends: list[int], limit: int | None) -> list[float]:
    """The error of a message that ended in one run alone, by more than the tolerance before both runs' ends."""
    done = [each for each in (row, other) if each is not None and each["fct_ps"] is not None]
    if not done or limit is not None:
        return []
    return [1.0] if done[0]["start_ps"] + done[0]["fct_ps"] * (1 + TOLERANCE) < min(ends) else []


def share(error: float) -> str:
    """An error for people."""
    return "0" if error == 0 else "< 0.001 %" if error < 1e-5 else f"{error * 100:.3f} %"


def table(outcomes: list[Outcome]) -> str:
    """A row for each group, and one for all."""
    heads = [
        "runs of",
        "runs",
        "skip something",
        "uncertain from some time on",
        "beyond the tolerance, not said",
        "largest error of a message",
        "of the run's end",
        "packet-hops, plain for each of fast",
    ]
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    kinds = ([each.case.groups[kind] for each in outcomes if len(each.case.groups) > kind] for kind in range(3))
    groups: dict[str, list[Outcome]] = {group: [] for kind in kinds for group in kind}
    for group in (READY, RANDOM, "all"):
        groups[group] = groups.pop(group, [])
    for outcome in outcomes:
        for group in (*outcome.case.groups, "all"):
            groups[group].append(outcome)
    for group, members in groups.items():
        runs = [each for each in members if not each.refused]
        if not runs:
            continue
        vouched = [each for each in runs if each.is_certain]
        hops = [each.hops for each in runs if each.skips]
        row = (
            group,
            str(len(runs)),
            str(len(hops)),
            str(len(runs) - len(vouched)),
            str(sum(each.is_silent_error for each in runs)),
            share(max((error for each in runs for error in each.messages), default=0.0)),
            share(max((each.whole for each in vouched), default=0.0)),
            f"{np.median(hops):.1f}, up to {max(hops):.0f}" if hops else "",
        )
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def draw(outcomes: list[Outcome]) -> None:
    """Draws the distribution of errors, and each run's largest error beside its gain."""
    mpl.rcParams.update({"font.size": 9, "svg.fonttype": "none", "svg.hashsalt": "xoff", "font.family": "sans-serif"})
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.0), layout="constrained")
    groups = [*PATTERNS, READY, RANDOM]
    colours = {group: mpl.colormaps["tab10"](number) for number, group in enumerate(groups)}
    lowest, none = 1e-7, 4e-8
    runs = [each for each in outcomes if each.skips and not each.refused and each.messages]
    for group, colour in colours.items():
        of_group = [each for each in runs if group in each.case.groups]
        errors = np.sort([error for each in of_group for error in each.messages])
        if not errors.size:
            continue
        larger = 1 - np.arange(1, errors.size + 1) / errors.size
        places, shares = [lowest, *np.maximum(errors, lowest)], [np.mean(errors > lowest), *larger]
        left.step(places, shares, where="post", color=colour, lw=1.4, label=group)
        for certain, marker in ((True, "o"), (False, "x")):
            chosen = [each for each in of_group if each.is_certain == certain]
            largest = [max(*each.messages, none) for each in chosen]
            right.scatter(largest, [each.hops for each in chosen], 16, color=colour, marker=marker, lw=0.9, alpha=0.7)
    for axes in (left, right):
        axes.axvline(TOLERANCE, color="#555555", ls="--", lw=1)
        axes.set(xscale="log", yscale="log", xlim=(none / 2, 0.1))
        axes.spines[["top", "right"]].set_visible(False)
    left.set(
        xlabel="error of a message's completion time (left edge: less)", ylabel="share of messages with a larger error"
    )
    left.annotate("tolerance", (TOLERANCE * 1.2, 0.97), xycoords=("data", "axes fraction"), color="#555555", va="top")
    right.set(xlabel="largest such error of a run", ylabel="packet-hops, plain for each of fast")
    right.set_xticks(
        [none, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1], ["none", *(f"$10^{{{power}}}$" for power in range(-6, 0))]
    )
    right.scatter([], [], 16, color="#555555", marker="o", label="vouches for all messages")
    right.scatter([], [], 16, color="#555555", marker="x", label="uncertain from some time on")
    right.legend(frameon=False, loc="lower right", bbox_to_anchor=(0.86, 0))
    figure.legend(*left.get_legend_handles_labels(), frameon=False, loc="outside upper center", ncols=4)
    figure.savefig(FIGURE, metadata={"Date": None})


def measured(found: Iterable[Outcome]) -> Iterator[Outcome]:
    """The outcomes, each told as it comes if something is wrong with it."""
    for outcome in found:
        if outcome.is_silent_error:
            worst = max(outcome.messages, default=0.0)
            print(f"SILENT: {worst:.3%}, end {outcome.whole:.3%}: {outcome.case.scenario}", file=sys.stderr, flush=True)
        if outcome.refused:
            print(f"{outcome.case.groups}: {outcome.refused.splitlines()[0]}", file=sys.stderr, flush=True)
        yield outcome


def main() -> None:
    """Measure, print the table, and put it and the figure into the documents."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", type=int, default=2000, help="number of random scenarios (2000)")
    parser.add_argument("--megabytes", type=float, default=128.0, help="size of a collective (128)")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="runs at a time (one for each core)")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the table into this page, and draw its figure")
    given = parser.parse_args()
    page = given.write.read_text(encoding="utf-8") if given.write else f"{BEGIN}{END}"
    if page.find(BEGIN) < 0 or page.find(END) < page.find(BEGIN):
        parser.error(f"{given.write}: expected the lines {BEGIN.strip()} and {END.strip()}")
    with ProcessPoolExecutor(given.processes) as pool:
        outcomes = list(measured(pool.map(compare, cases(given.megabytes, given.random))))
    text = table(outcomes)
    print(text)
    if given.write:
        draw(outcomes)
        before, _, rest = page.partition(BEGIN)
        given.write.write_text(f"{before}{BEGIN}\n{text}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
