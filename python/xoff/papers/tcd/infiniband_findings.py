"""Findings for the InfiniBand halves of TCD's claims, and for its case study on InfiniBand."""

from __future__ import annotations

from functools import partial

from xoff.papers.rules import estimate, none, some, times
from xoff.papers.tcd.checks import (
    Numbers,
    Ruled,
    mismarking_checks,
    of,
    on_off_checks,
    paired,
    testbed_checks,
    transition_checks,
)
from xoff.papers.tcd.common import Results, mean_us, seeded

SIZES_KB = (2, 4, 8, 16, 32, 512, 1_000, 2_000, 4_000)
"""Sizes of MPI and I/O messages."""
IO_KB = (512, 1_000, 2_000, 4_000)
"""Sizes of I/O messages."""


def single(results: Results) -> Ruled:
    """Fig. 3b: what FECN marks at P2, which is not congested, and of f2 at P1 (3.1.2)."""
    checks, measured, _ = mismarking_checks(
        seeded(results, "ib-single", "fecn"), (("P2", "f0"), ("P2", "f2"), ("P1", "f2")), ""
    )
    return checks, measured, "A packet that carries a mark is not counted again."


def multi(results: Results) -> Ruled:
    """Fig. 4b and 4d: P2's ON-OFF, and its queue and rate after that."""
    return on_off_checks(seeded(results, "ib-multi", "fecn"), 4.0, "")


def testbed(results: Results) -> Ruled:
    """Fig. 11, CBFC."""
    checks, measured, _ = testbed_checks(seeded(results, "ib-testbed", "tcd"), "")
    return checks, measured, "max(T_on) is T_c, into which the testbed's tau does not enter."


def transitions(results: Results) -> Ruled:
    """Fig. 12 and 13, CBFC."""
    return transition_checks(seeded(results, "ib-single", "tcd"), seeded(results, "ib-multi", "tcd"), "")


def table3(results: Results) -> Ruled:
    """Table 3, InfiniBand."""
    measured: Numbers = {}
    share = {}
    for marking, name in (("fecn", "FECN"), ("tcd", "TCD")):
        runs = seeded(results, "ib-victims", marking)
        share[marking] = of(runs, lambda run: run.marked_ce / run.flows)
        measured[f"victims marked CE with {name}"] = estimate(share[marking])
        measured[f"packets marked CE with {name}"] = estimate(of(runs, lambda run: run.packets_ce))
    checks = [
        some("share with FECN", share["fecn"], 0.135),
        none("share with TCD: none", share["tcd"]),
    ]
    return checks, measured, ""


def case_study(results: Results) -> Ruled:
    """Fig. 17b: mean message completion time in the fat-tree."""
    trees = {marking: seeded(results, "ib-fat-tree", marking) for marking in ("fecn", "tcd")}
    measured: Numbers = {}
    for marking, name in (("fecn", "FECN"), ("tcd", "TCD")):
        runs = trees[marking]
        measured[f"mean MCT with {name}, us"] = estimate(of(runs, mean_us))
        measured[f"of 512 KB with {name}, us"] = estimate(of(runs, lambda run: mean_us(run, 512)))
        measured[f"messages marked CE with {name}"] = estimate(of(runs, lambda run: run.marked[0]))
        measured[f"ports without credits with {name}, ms"] = estimate(of(runs, lambda run: run.paused_ms))
    measured["messages marked UE with TCD"] = estimate(of(trees["tcd"], lambda run: run.marked[1]))
    overall = {marking: of(runs, mean_us) for marking, runs in trees.items()}
    smallest = {marking: of(runs, lambda run: mean_us(run, 512)) for marking, runs in trees.items()}
    checks = [
        times("times better", overall["fecn"], overall["tcd"], 1.22),
        times("512 KB, times better", smallest["fecn"], smallest["tcd"], 1.5),
    ]
    every = [run for runs in trees.values() for run in runs.values()]
    note = (
        f"{every[0].messages:,} messages a seed, {sum(run.incomplete for run in every)} incomplete. At the sender, "
        "from a message's turn on its connection."
    )
    return checks, measured, note


def victims(results: Results) -> Ruled:
    """Fig. 17a: mean message completion time of the victims, over all and by the sizes of I/O messages."""
    runs = {"fecn": seeded(results, "ib-victims", "fecn"), "tcd": seeded(results, "ib-mct", "tcd")}
    fecn, tcd = (of(runs[marking], mean_us) for marking in ("fecn", "tcd"))
    checks = [times("all messages: times better", fecn, tcd)]
    for size in IO_KB:
        own = [of(runs[marking], partial(mean_us, kilobytes=size)) for marking in ("fecn", "tcd")]
        checks.append(times(f"{size:,} KB: times better", *paired(own[0], own[1])))
    measured: Numbers = {
        f"mean MCT with {name}, us": estimate(values) for name, values in (("FECN", fecn), ("TCD", tcd))
    }
    return checks, measured, "Over all is on the whole; the I/O messages are those that utilize the bandwidth (5.2.2)."
