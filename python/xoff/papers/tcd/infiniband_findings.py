"""Findings for the InfiniBand halves of TCD's claims, and for its case study on InfiniBand."""

from __future__ import annotations

import numpy as np

from xoff.papers.tcd.checks import (
    PERSISTENT_KB,
    Ruled,
    after_pauses,
    marked_by,
    marks_of,
    said,
    testbed_checks,
    time_in,
    transition_checks,
)
from xoff.papers.tcd.common import P3_LOADS, PAPERS_LOAD, Results
from xoff.papers.tcd.infiniband import BURSTS, FAT_TREE_VARIANTS, VARIANTS, victims
from xoff.papers.tcd.measures import Chain, Mct

SIZES_KB = (2, 4, 8, 16, 32, 512, 1_000, 2_000, 4_000)
"""Sizes of MPI and I/O messages."""
READINGS = {"fecn": "CBFC: ", "fecn-head": "CBFC, `head`: "}


def single(results: Results) -> Ruled:
    """Fig. 3b: what FECN marks at P2, which is not congested."""
    checks, measured = [], dict[str, float | None]()
    for marking, prefix in READINGS.items():
        found: Chain = results["ib-single", marking]
        measured[f"{prefix}P2's longest queue, KB"] = float(found.queue_kb["P2"].max())
        for traffic in ("f0", "f1", "f2"):
            measured[f"{prefix}{traffic}'s packets marked at P2"] = float(marks_of(found, "P2", traffic))
        measured[f"{prefix}f2's packets marked at P1"] = float(marks_of(found, "P1", "f2"))
        if marking == "fecn":
            checks = [
                said(
                    f"CBFC: {name}'s packets marked at P2", marks_of(found, "P2", name) > 0, marks_of(found, "P2", name)
                )
                for name in ("f0", "f2")
            ]
    varied = "; ".join(f"{name} {_counts(results['ib-variants', 'fecn', name, 'single'])}" for name in _telling())
    read = "; ".join(f"{bursts} {_counts(results['ib-readings', 'fecn', bursts, 'single'])}" for bursts in BURSTS)
    note = (
        "CBFC: the verdict rests on FECN that takes packets for delayed which were queued when credits came, as the "
        "paper's words have it; a packet that carries a mark is not counted again. P2's marks on f0 and f2 with the "
        f"bursts read as {read}; with other settings {varied}."
    )
    return checks, measured, note


def _counts(found: Chain) -> str:
    return f"{marks_of(found, 'P2', 'f0'):,} and {marks_of(found, 'P2', 'f2'):,}"


def _telling() -> list[str]:
    """Settings that FECN depends on."""
    return [name for name in list(VARIANTS)[1:] if name not in ("UE holds", "rules: code")]


def multi(results: Results) -> Ruled:
    """Fig. 4b and 4d: P2's ON-OFF, and its queue and rate after that."""
    found: Chain = results["ib-multi", "fecn"]
    end = found.stopped_us["P2"]
    queue, rate = after_pauses(found)
    measured: dict[str, float | None] = {
        "CBFC: P2 last lacks credits, ms": end / 1e3,
        "CBFC: P2's queue in the 0.5 ms after it, KB": queue,
        "CBFC: P2's rate then, Gbps": rate,
    }
    checks = [
        said("CBFC: P2's ON-OFF ends, ms", bool(end > 0), end / 1e3, 4.0),
        said("CBFC: then a persistent queue, KB", queue > PERSISTENT_KB, queue),
        said("CBFC: then at full rate, Gbps", rate > 0.97 * 40, rate),
    ]
    ends = [
        *(f"{name} {_end(results['ib-readings', 'fecn', name, 'multi'])}" for name in BURSTS),
        *(f"{name} {_end(results['ib-variants', 'fecn', name, 'multi'])}" for name in _telling()),
    ]
    return checks, measured, f"CBFC: P2's ON-OFF ends with other readings and settings: {', '.join(ends)}."


def _end(found: Chain) -> str:
    return f"{found.stopped_us['P2'] / 1e3:.2f} ms"


def testbed(results: Results) -> Ruled:
    """Fig. 11, CBFC."""
    checks, measured = testbed_checks(results["ib-testbed", "tcd"], "CBFC: ")
    return checks, measured, "CBFC: max(T_on) is T_c, into which the testbed's tau does not enter."


def transitions(results: Results) -> Ruled:
    """Fig. 12 and 13, CBFC."""
    checks, measured = transition_checks(results["ib-single", "tcd"], results["ib-multi", "tcd"], "CBFC: ")
    parts = [
        *(f"{name}: {_decided(results, 'ib-readings', name)}" for name in BURSTS),
        *(f"{name}: {_decided(results, 'ib-variants', name)}" for name in list(VARIANTS)[1:]),
    ]
    note = (
        "CBFC, other readings and settings; CE marks of P2 with one and with several points, and us of P2 in "
        f"congestion: {'; '.join(parts)}."
    )
    return checks, measured, note


def _decided(results: Results, group: str, name: str) -> str:
    one, several = (results[group, "tcd", name, points] for points in ("single", "multi"))
    congested = time_in(one, "P2", "congestion"), time_in(several, "P2", "congestion")
    return f"{marked_by(one, 'P2'):,} and {marked_by(several, 'P2'):,}, {congested[0]:.0f} and {congested[1]:.0f} us"


def table3(results: Results) -> Ruled:
    """Table 3, InfiniBand."""
    measured = dict[str, float | None]()
    share = {}
    for marking, name in (("fecn", "FECN"), ("fecn-head", "FECN, `head`"), ("tcd", "TCD")):
        found = victims(results, "ib-victims", marking)
        share[marking] = found.marked_ce / found.flows
        measured[f"InfiniBand: victims marked CE with {name}"] = share[marking]
        measured[f"InfiniBand: with {name}, by a port that was no root"] = found.mismarked / found.flows
        measured[f"InfiniBand: with {name}, packets"] = float(found.packets_ce)
        measured[f"InfiniBand: with {name}, packets by a port that was no root"] = float(found.packets_mismarked)
    checks = [
        said("InfiniBand: share with FECN", share["fecn"] > 0, share["fecn"], 0.135),
        said("InfiniBand: share with TCD: none", share["tcd"] == 0, share["tcd"]),
    ]
    loads = ", ".join(
        f"{load:.0%}: " + " and ".join(_share(results, "ib-loads", marking, load) for marking in ("fecn", "tcd"))
        for load in P3_LOADS
    )
    varied = ", ".join(
        f"{name}: " + " and ".join(_share(results, "ib-victim-variants", marking, name) for marking in ("fecn", "tcd"))
        for name in list(VARIANTS)[1:]
    )
    note = (
        f"InfiniBand: likewise {PAPERS_LOAD:.0%}; with FECN and TCD at other loads of P3: {loads}; with other "
        f"settings, TCD by steps of 2: {varied}."
    )
    return checks, measured, note


def _share(results: Results, group: str, marking: str, which: object) -> str:
    found = victims(results, group, marking, which)
    return f"{found.marked_ce / found.flows:.1%}"


def mean_us(found: Mct, kilobytes: float | None = None) -> float:
    """Mean completion time, of messages of one size or of all; NaN if there are none."""
    chosen = found.mct_us if kilobytes is None else found.mct_us[found.size_bytes == kilobytes * 1_000]
    return float(np.mean(chosen)) if len(chosen) else float("nan")


def case_study(results: Results) -> Ruled:
    """Fig. 17: mean message completion time, of the victims and in the fat-tree."""
    measured = dict[str, float | None]()
    victim = {
        "fecn": victims(results, "ib-victims", "fecn").fct_us.mean(),
        "tcd": victims(results, "ib-mct", "tcd").fct_us.mean(),
    }
    tree: dict[str, Mct] = {marking: results["ib-fat-tree", marking, "60 %"] for marking in ("fecn", "tcd")}
    for marking, name in (("fecn", "FECN"), ("tcd", "TCD")):
        found = tree[marking]
        measured[f"victims: mean MCT with {name}, us"] = float(victim[marking])
        measured[f"fat-tree: mean MCT with {name}, us"] = mean_us(found)
        measured[f"fat-tree: of 512 KB with {name}, us"] = mean_us(found, 512)
        measured[f"fat-tree: messages marked CE with {name}"] = float(found.marked[0])
        measured[f"fat-tree: ports without credits with {name}, ms"] = found.paused_ms
    measured["fat-tree: messages marked UE with TCD"] = float(tree["tcd"].marked[1])
    overall = mean_us(tree["fecn"]) / mean_us(tree["tcd"])
    smallest = mean_us(tree["fecn"], 512) / mean_us(tree["tcd"], 512)
    gain = float(victim["fecn"] / victim["tcd"])
    checks = [
        said("victims: times better", gain > 1, gain),
        said("fat-tree: times better", overall > 1, overall, 1.22),
        said("fat-tree: 512 KB, times better", smallest > 1, smallest, 1.5),
    ]
    varied = []
    for name in FAT_TREE_VARIANTS:
        # Steps are FECN's own without TCD.
        without = results.get(("ib-fat-tree", "fecn", "60 %" if name == "step 1" else name))
        ternary = results.get(("ib-fat-tree", "tcd", name))
        if without is not None and ternary is not None:
            ratios = mean_us(without) / mean_us(ternary), mean_us(without, 512) / mean_us(ternary, 512)
            varied.append(f"{name} {ratios[0]:.3f} and {ratios[1]:.3f}")
    incomplete = sum(found.incomplete for found in tree.values())
    note = (
        f"{tree['fecn'].messages:,} messages, {incomplete} incomplete. At the sender, from a message's turn on its "
        "connection. Times better overall and for 512 KB, by I/O's share of its clients' links and other settings: "
        f"{'; '.join(varied)}."
    )
    return checks, measured, note
