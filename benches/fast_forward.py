"""Fast-forwarded runs beside plain ones: errors of completion times and packet-hops, as a table and a figure.

    python benches/fast_forward.py [--random N] [--again N] [--failures N] [--megabytes M] [--processes P]
                                   [--write PAGE]

Every run is made twice, with every packet and with `run.fast_forward`: each scheme with each pattern and flow control
on a fat-tree of 16 hosts, the ready scenarios of `scenarios` without the records that need every packet, random
scenarios, random ones whose work comes again, and random ones in which something breaks. Messages for which the fast
run vouches are compared apart from those that it calls uncertain. It takes ten to fifteen minutes on two cores, and the
table is the same on any machine.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from page import MeasuredPage
from random_scenarios import breaking, repeating
from random_scenarios import scenario as random_scenario

import xoff
from xoff.runs.catalogue import catalogue

mpl.use("Agg")
from matplotlib import pyplot as plt

ROOT = Path(__file__).parent.parent
FIGURE = ROOT / "docs" / "figures" / "fast_forward_errors.svg"
TOLERANCE = 0.01
PLAIN = {"run.fast_forward.enabled": False}
"""Every packet is simulated, also where a scenario has `fast_forward`."""
MAX_EVENTS = 400_000_000
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

FLOW_CONTROLS = {"PFC": "pfc", "InfiniBand": "cbfc", "link credits": "credit", "BFC": "bfc"}
WITHOUT = {
    **dict.fromkeys(("breakdown", "reordering", "roots", "notifications", "marks", "throttles", "variables"), False),
    **dict.fromkeys(("packets", "states"), "none"),
}
"""Records that need every packet, switched off."""

READY, RANDOM, AGAIN = "ready scenarios", "random scenarios", "random work that comes again"
BREAKING = "random failures"


@dataclass(frozen=True)
class Case:
    """A scenario to be run, and the groups of the table that it counts for."""

    groups: tuple[str, ...]
    scenario: dict[str, Any] | Path


@dataclass
class Outcome:
    """A plain run beside a fast one.

    Errors are shares. That of a message is of its completion time or of its end, whichever is larger.
    """

    case: Case
    refused: str = ""
    """Why there is no such pair; empty if there is one."""
    failed: str = ""
    """Why the fast run failed, although the plain one did not; empty if it did not fail."""
    vouched: list[float] = field(default_factory=list)
    """Errors of the messages for which the fast run vouches."""
    doubtful: list[float] = field(default_factory=list)
    """Errors of the messages that the fast run calls uncertain."""
    whole: float = 0.0
    """Error of the run's end."""
    skips: bool = False
    """Whether the fast run skipped anything."""
    is_certain: bool = True
    """Whether the fast run vouches for all messages, and for its end."""
    hops: float = 1.0
    """Packet-hops of the plain run for each of the fast one."""

    @property
    def is_silent_error(self) -> bool:
        """Whether something is beyond the tolerance for which the fast run vouches."""
        beyond = max(self.vouched, default=0.0) > TOLERANCE or (self.is_certain and self.whole > TOLERANCE)
        return bool(self.failed) or beyond


def cases(megabytes: float, randoms: int, again: int, failures: int) -> Iterator[Case]:
    """Every scenario."""
    known = [name for name in (str(scheme["name"]) for scheme in catalogue()["schemes"]) if is_taken(name)]
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
    for number in range(again):
        yield Case((AGAIN,), repeating(number, known))
    for number in range(failures):
        yield Case((BREAKING,), breaking(number, known))


def is_taken(scheme: str) -> bool:
    """Whether a scheme can stand beside fast-forward in a plain network."""
    warnings.simplefilter("ignore")
    small = {
        "topology": {"name": "star", "hosts": 3},
        "scheme": {"name": scheme},
        "traffic": [{"pattern": "permutation"}],
    }
    try:
        xoff.check(small, sets={"traffic.0.size": "1KB", "run.fast_forward": {"tolerance": TOLERANCE}})
    except xoff.ScenarioError:
        return False
    return True


def compare(case: Case) -> Outcome:
    """Runs a scenario plain and fast."""
    warnings.simplefilter("ignore")
    sets: dict[str, Any] = {"run.max_events": MAX_EVENTS}
    if isinstance(case.scenario, Path):
        sets |= {f"record.{key}": value for key, value in WITHOUT.items()}
    forward = {"run.fast_forward": {"tolerance": TOLERANCE}}
    try:
        plain = xoff.run(case.scenario, sets=sets | PLAIN, threads=1)
        xoff.check(case.scenario, sets=sets | forward)
    except (xoff.ScenarioError, xoff.RunError) as error:
        return Outcome(case, refused=str(error))
    try:
        fast = xoff.run(case.scenario, sets=sets | forward, threads=1)
    except xoff.RunError as error:
        return Outcome(case, failed=str(error))
    said = fast.manifest["fast_forward"]
    limit = said["uncertain_from_ps"]
    ends = [run.manifest["sim_time_ps"] for run in (plain, fast)]
    outcome = Outcome(
        case,
        whole=abs(ends[1] / ends[0] - 1),
        skips=said["jumps"] + said["recalled_messages"] > 0,
        is_certain=limit is None,
        hops=plain.manifest["packet_hops"] / max(fast.manifest["packet_hops"], 1),
    )
    before, after = messages(plain), messages(fast)
    for number in before.keys() | after.keys():
        pair = before.get(number), after.get(number)
        # A message that has not begun in the fast run is as certain as the run.
        doubtful = pair[1]["uncertain"] if pair[1] else limit is not None
        (outcome.doubtful if doubtful else outcome.vouched).append(error_of(pair, min(ends)))
    return outcome


def messages(run: xoff.Run) -> dict[int, dict[str, Any]]:
    """The messages of a run by number."""
    kept = [name for name in ("id", "start_ps", "fct_ps", "uncertain") if name in run.flows.column_names]
    return {row["id"]: row for row in run.flows.select(kept).to_pylist()}


def error_of(pair: tuple[dict[str, Any] | None, ...], end: int) -> float:
    """The error of a message: 1 if it ended in one run alone, by more than the tolerance before `end`."""
    done = [each for each in pair if each is not None and each["fct_ps"] is not None]
    if len(done) < 2:
        return float(any(each["start_ps"] + each["fct_ps"] * (1 + TOLERANCE) < end for each in done))
    plain, fast = done
    plain_end, fast_end = (each["start_ps"] + each["fct_ps"] for each in done)
    return float(max(abs(fast["fct_ps"] / plain["fct_ps"] - 1), abs(fast_end / plain_end - 1)))


def share(errors: Iterable[float]) -> str:
    """The largest of some errors, for people; a dash if there are none."""
    found = max(errors, default=None)
    if found is None:
        return "\N{EN DASH}"
    return "0" if found == 0 else "< 0.001 %" if found < 1e-5 else f"{found * 100:.3f} %"


def gain(runs: Iterable[Outcome]) -> str:
    """Median and maximum of runs' gains in packet-hops, for people; a dash if there are no runs."""
    hops = [each.hops for each in runs]
    return f"{np.median(hops):.1f}, up to {max(hops):.1f}" if hops else "\N{EN DASH}"


HEADS = (
    "runs of",
    "runs",
    "skip something: certain + uncertain",
    "their messages: certain + uncertain",
    "wrong, not said",
    "largest error: certain message",
    "end of a certain run",
    "uncertain message",
    "packet-hops, plain for each of fast: certain runs",
    "uncertain runs",
)


def table(outcomes: list[Outcome]) -> str:
    """A row for each group and one for all, of runs that skip something, and what was left out."""
    lines = [f"| {' | '.join(HEADS)} |", f"|{' --- |' * len(HEADS)}"]
    kinds = ([each.case.groups[kind] for each in outcomes if len(each.case.groups) > kind] for kind in range(3))
    groups: dict[str, list[Outcome]] = {group: [] for kind in kinds for group in kind}
    for group in (READY, RANDOM, AGAIN, BREAKING, "all"):
        groups[group] = groups.pop(group, [])
    for outcome in outcomes:
        for group in (*outcome.case.groups, "all"):
            groups[group].append(outcome)
    for group, members in groups.items():
        runs = [each for each in members if not each.refused]
        if not runs:
            continue
        skipping = [each for each in runs if each.skips]
        certain, uncertain = ([each for each in skipping if each.is_certain == wanted] for wanted in (True, False))
        row = (
            group,
            str(len(runs)),
            f"{len(certain)} + {len(uncertain)}",
            f"{sum(len(each.vouched) for each in skipping):,} + {sum(len(each.doubtful) for each in skipping):,}",
            str(sum(each.is_silent_error for each in runs)),
            share(error for each in skipping for error in each.vouched),
            share(each.whole for each in certain),
            share(error for each in skipping for error in each.doubtful),
            gain(certain),
            gain(uncertain),
        )
        lines.append(f"| {' | '.join(row)} |")
    errors = np.array([error for each in outcomes if each.skips and each.is_certain for error in each.vouched])
    doubtful = np.array([error for each in outcomes if each.skips for error in each.doubtful])
    left_out = Counter(reason(each.refused) for each in outcomes if each.refused)
    listed = "; ".join(f"{what} ({count})" for what, count in left_out.most_common())
    return "\n".join(
        [
            *lines,
            "",
            f"Of the {errors.size:,} messages of runs that skip something and are certain of all, "
            f"{np.mean(errors > 0) * 100:.1f} % have any error; of the {doubtful.size:,} uncertain ones "
            f"{np.mean(doubtful > TOLERANCE) * 100:.1f} % are beyond the tolerance.",
            "",
            f"Left out, since the simulator refuses the scenario or its fast-forward: {listed}.",
        ]
    )


def reason(message: str) -> str:
    """The first line of an error, without the values in it."""
    return re.sub(r"is \S+,", "is another,", message.splitlines()[0].removeprefix("error: "))


def draw(outcomes: list[Outcome]) -> None:
    """Draws the distribution of errors, and each run's largest error beside its gain."""
    mpl.rcParams.update({"font.size": 9, "svg.fonttype": "none", "svg.hashsalt": "xoff", "font.family": "sans-serif"})
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.0), layout="constrained")
    groups = [*PATTERNS, READY, RANDOM, AGAIN, BREAKING]
    colours = {group: mpl.colormaps["tab10"](number) for number, group in enumerate(groups)}
    lowest, none, highest = 1e-7, 4e-8, 1.0
    runs = [each for each in outcomes if each.skips and not each.failed]
    for group, colour in colours.items():
        of_group = [each for each in runs if group in each.case.groups]
        errors = np.sort([error for each in of_group if each.is_certain for error in each.vouched])
        if errors.size:
            larger = 1 - np.arange(1, errors.size + 1) / errors.size
            places, shares = [lowest, *np.maximum(errors, lowest)], [np.mean(errors > lowest), *larger]
            left.step(places, shares, where="post", color=colour, lw=1.4)
        for certain, marker in ((True, "o"), (False, "x")):
            chosen = [each for each in of_group if each.is_certain == certain]
            largest = [min(max(none, *each.vouched, *each.doubtful), highest) for each in chosen]
            right.scatter(largest, [each.hops for each in chosen], 16, color=colour, marker=marker, lw=0.9, alpha=0.7)
        left.plot([], [], color=colour, label=group)
    for axes, most in ((left, 0.1), (right, highest * 1.5)):
        axes.axvline(TOLERANCE, color="#555555", ls="--", lw=1)
        axes.set(xscale="log", yscale="log", xlim=(none / 2, most))
        axes.spines[["top", "right"]].set_visible(False)
    left.set(xlabel="error of a message (left edge: less)", ylabel="share of messages with a larger error")
    left.annotate("tolerance", (TOLERANCE * 1.2, 0.97), xycoords=("data", "axes fraction"), color="#555555", va="top")
    right.set(xlabel="largest error of a run's messages", ylabel="packet-hops, plain for each of fast")
    powers = range(-6, 1)
    right.set_xticks([none, *(10.0**power for power in powers)], ["none", *(f"$10^{{{power}}}$" for power in powers)])
    right.scatter([], [], 16, color="#555555", marker="o", label="certain of all messages")
    right.scatter([], [], 16, color="#555555", marker="x", label="uncertain from some time on")
    left.set_title("Runs that are certain of all messages", fontsize=9)
    right.set_title("All runs that skip something", fontsize=9)
    handles = [each.get_legend_handles_labels() for each in (left, right)]
    figure.legend(*map(sum, zip(*handles, strict=True), ([], [])), frameon=False, loc="outside upper center", ncols=5)
    figure.savefig(FIGURE, metadata={"Date": None}, bbox_inches="tight")


def measured(found: Iterable[Outcome]) -> Iterator[Outcome]:
    """The outcomes, each told as it comes if something is wrong with it."""
    for outcome in found:
        if outcome.is_silent_error:
            what = outcome.failed or f"{max(outcome.vouched, default=0.0):.3%}, end {outcome.whole:.3%}"
            print(f"WRONG, not said: {what}: {outcome.case.scenario}", file=sys.stderr, flush=True)
        yield outcome


def main() -> None:
    """Measure, print the table, and put it and the figure into the documents."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", type=int, default=2000, help="number of random scenarios (2000)")
    parser.add_argument("--again", type=int, default=500, help="number of those whose work comes again (500)")
    parser.add_argument("--failures", type=int, default=500, help="number of those in which something breaks (500)")
    parser.add_argument("--megabytes", type=float, default=128.0, help="size of a collective (128)")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="runs at a time (one for each core)")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the table into this page, and draw its figure")
    given = parser.parse_args()
    try:
        page = MeasuredPage(given.write) if given.write else None
    except (OSError, ValueError) as error:
        parser.error(str(error))
    with ProcessPoolExecutor(given.processes) as pool:
        outcomes = list(measured(pool.map(compare, cases(given.megabytes, given.random, given.again, given.failures))))
    text = table(outcomes)
    print(text)
    if page:
        draw(outcomes)
        page.write(f"{text}\n")


if __name__ == "__main__":
    main()
