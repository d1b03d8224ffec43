"""TCD's experiments on Ethernet, and the list of all: their runs, and what is measured in each.

If the paper and the simulator that its authors released differ, both sets of rules and numbers are run: `paper` and
`code`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from xoff.papers.tcd import infiniband
from xoff.papers.tcd.common import BEGAN_US, HERE, P3_LOADS, PAPERS_LOAD, Results, Scale, Settings, together
from xoff.papers.tcd.measures import (
    Fct,
    Victims,
    measure_chain,
    measure_fairness,
    measure_fct,
    measure_innocent,
    measure_testbed,
    measure_victims,
)
from xoff.runs.jobs import Job

SETS = ("paper", "code")
"""Sets of rules and numbers."""
EDGES_KB = (10, 100, 1_000, 10_000)
"""Largest victim of each size bin of Fig. 15a and 18a, in KB."""
BURSTS_KB = (32, 64, 128, 250, 500)
"""Burst sizes of Fig. 15b and 18b."""
EPSILONS = (0.02, 0.04, 0.05, 0.08, 0.1, 0.15, 0.2, 0.3, 0.5)
"""Fig. 14's, whose axis the paper's text does not give."""

BURSTS: dict[str, dict[str, object]] = {
    "at once": {"traffic.1.every": "1ns", "traffic.1.count": 16},
    "back to back": {"traffic.1.every": "13.04us", "traffic.1.count": 16},
    "each 187.5 us": {"traffic.1.every": "187.5us", "traffic.1.count": 16},
    "each 200 us": {"traffic.1.every": "200us", "traffic.1.count": 15},
}
"""How the messages of 64 KB of 3.1.1 come for about 3 ms, which the paper leaves open; `chain.toml` has the first. A
message takes 13.04 us at line rate, and 187.5 us are a sixteenth of 3 ms."""

RISES_B = (0, 1, 900, 2_000)
"""How much longer a queue must be at the end of a period than at its beginning to have grown.

"Increases" (4.2) is 1 B, and the released simulator has 900 B. 0 is 4.1: not congested if the queue decreases,
"otherwise" congested.
"""

RED: dict[str, Settings] = {
    "paper": {"name": "red", "k_min": "5KB", "k_max": "200KB", "p_max": 0.01},
    # Its KB are cells of 1,030 B.
    "code": {"name": "red", "k_min": "5150B", "k_max": "206KB", "p_max": 0.01},
}
"""Marking by queue length alone."""


def _wrapped(which: str) -> Settings:
    return {key: value for key, value in RED[which].items() if key != "name"}


TCD: dict[str, Settings] = {
    "paper": {"name": "tcd", "red": _wrapped("paper")},
    "code": {
        "name": "tcd",
        "rules": "code",
        "max_on": "97us",
        "low": "2060B",
        "rise": "900B",
        "red": _wrapped("code"),
    },
}
"""TCD."""

FABRIC: dict[str, Settings] = {
    "paper": {},
    # 320 cells in the shared memory, above the two that each port has to itself; packets of 1,000 B beside headers.
    "code": {
        "packets.mtu": "1018B",
        "flow_control.xoff": "331660B",
        "flow_control.xon": "329600B",
        "scheme.np": "periodic",
    },
}
"""Further differences under DCQCN."""


FLOWS_PER_MS = {"hadoop": 250 * 0.6 * 40e6 / (120_421 * 8), "websearch": 250 * 0.6 * 40e6 / (1_711_250 * 8)}
"""Flows that arrive in the fat-tree in a ms."""
WORKLOADS = {"hadoop": "fb_hadoop", "websearch": "websearch"}


def dcqcn(which: str, tcd: bool, alpha: float | None = None) -> Settings:
    """DCQCN with and without TCD: alpha starts at 0.5, and in the paper at 1.2 with TCD (5.2.1)."""
    fabric = dict(FABRIC[which])
    start = 1.2 if tcd and which == "paper" else 0.5
    return {
        **fabric,
        "scheme.initial_alpha": start if alpha is None else alpha,
        "detector": (TCD if tcd else RED)[which],
    }


def timely(which: str, tcd: bool) -> Settings:
    """TIMELY with and without TCD: beta 0.8, and with TCD 1.6 and a rate that stays on UE (5.2.3).

    Without TCD its ports have RED, whose CE marks TIMELY does not read.
    """
    fabric = {key: value for key, value in FABRIC[which].items() if not key.startswith("scheme.")}
    return {
        **fabric,
        "scheme": {"name": "timely", "beta": 1.6 if tcd else 0.8, "undetermined": "hold"},
        "detector": (TCD if tcd else RED)[which],
    }


SCHEMES: dict[str, Callable[[str, bool], Settings]] = {"dcqcn": dcqcn, "timely": timely}


def group_jobs(group: str, scale: Scale) -> list[Job]:
    """All runs of an experiment."""
    return _GROUPS[group](scale)


def _chain(group: str, scale: Scale) -> list[Job]:
    del scale
    apart = {"single": {}, "multi": {"traffic.2.every": "0.32us", "traffic.3.every": "0.32us"}}[group]
    return [
        Job(
            key=(group, "tcd" if tcd else "red", which),
            scenario=HERE / "chain.toml",
            measure=partial(measure_chain, began_us=BEGAN_US),
            # The changed alpha comes with the case study (5.2), not with detection (5.1).
            sets={**dcqcn(which, tcd, alpha=0.5), **apart, **({"record.states": "all"} if tcd else {})},
            cost=0.5 if group == "single" else 1.5,
        )
        for which in SETS
        for tcd in (False, True)
    ]


def _readings(scale: Scale) -> list[Job]:
    """One and several congestion points with the bursts read otherwise, paper's rules."""
    del scale
    return [
        Job(
            key=("readings", kind, bursts, every),
            scenario=HERE / "chain.toml",
            measure=partial(measure_chain, began_us=BEGAN_US),
            sets={
                **dcqcn("paper", tcd=kind == "tcd", alpha=0.5),
                **BURSTS[bursts],
                "traffic.2.every": f"{every}us",
                "traffic.3.every": f"{every}us",
                **({"record.states": "all"} if kind == "tcd" else {}),
            },
            cost=1.0,
        )
        for kind in ("red", "tcd")
        for bursts in BURSTS
        for every in (1.6, 0.32)
    ]


def _growth(scale: Scale) -> list[Job]:
    """One and several congestion points with other ideas of a queue that has grown, paper's rules."""
    del scale
    return [
        Job(
            key=("growth", "tcd", rise, every),
            scenario=HERE / "chain.toml",
            measure=partial(measure_chain, began_us=BEGAN_US),
            sets={
                **dcqcn("paper", tcd=True, alpha=0.5),
                "detector": {**TCD["paper"], "rise": f"{rise}B"},
                "traffic.2.every": f"{every}us",
                "traffic.3.every": f"{every}us",
                "record.states": "all",
            },
            cost=1.0,
        )
        for rise in RISES_B
        for every in (1.6, 0.32)
    ]


def _testbed(scale: Scale) -> list[Job]:
    step = scale.testbed_ms
    rules = {"paper": {}, "code": {"detector.rules": "code"}}
    return [
        Job(
            key=("testbed", "tcd", which),
            scenario=HERE / "testbed.toml",
            measure=partial(measure_testbed, interval_ms=step, sending_ms=(3 * step, 7 * step)),
            sets={
                "run.duration": f"{10 * step}ms",
                "traffic.2.start": f"{3 * step}ms",
                "traffic.2.stop": f"{7 * step}ms",
                **rules[which],
            },
            cost=step * 0.06,
        )
        for which in SETS
    ]


def victim_settings(window_ms: float, load: float = PAPERS_LOAD) -> Settings:
    """Arrivals for `window_ms` with a share `load` of P3, 30 % of it s1's."""
    # 15 messages of 120,421 B each time are this share of 40 Gbps.
    every_us = 15 * 120_421 * 8 / ((load - 0.3) * 40e3)
    return {
        **{f"traffic.{index}.stop": f"{window_ms}ms" for index in range(3)},
        "traffic.2.every": f"{every_us:.2f}us",
    }


def _victims(scheme: str, scale: Scale) -> list[Job]:
    return [
        Job(
            key=(f"{scheme}-victims", "tcd" if tcd else "red", which, seed),
            scenario=HERE / "victims.toml",
            measure=measure_victims,
            sets={**SCHEMES[scheme](which, tcd), **victim_settings(scale.window_ms)},
            seed=seed,
            cost=scale.window_ms * 0.03,
        )
        for which in SETS
        for tcd in (False, True)
        for seed in range(1, scale.seeds + 1)
    ]


def _table3(scale: Scale) -> list[Job]:
    """The victims with TCD where alpha is not yet changed (5.1.3); without TCD they are those of Fig. 15a."""
    return [
        Job(
            key=("table3", "tcd", which, seed),
            scenario=HERE / "victims.toml",
            measure=measure_victims,
            sets={**dcqcn(which, tcd=True, alpha=0.5), **victim_settings(scale.window_ms)},
            seed=seed,
            cost=scale.window_ms * 0.03,
        )
        for which in SETS
        for seed in range(1, scale.seeds + 1)
    ]


def _bursts(scheme: str, scale: Scale) -> list[Job]:
    """Bursts of one size at the moments of a Poisson process (Fig. 15b, 18b): 30 % of P3 on average at 64 KB."""
    return [
        Job(
            key=(f"{scheme}-bursts", "tcd" if tcd else "red", which, kilobytes),
            scenario=HERE / "victims.toml",
            measure=measure_victims,
            sets={
                **SCHEMES[scheme](which, tcd),
                **{f"traffic.{index}.stop": f"{scale.bursts_ms}ms" for index in range(2)},
                "traffic.2": {
                    "pattern": "burst",
                    "label": "burst",
                    "senders": "a0..a14",
                    "receivers": "r1",
                    "size": f"{kilobytes}KB",
                    "every": "640us",
                    "poisson": True,
                    "stop": f"{scale.bursts_ms}ms",
                },
            },
            cost=scale.bursts_ms * (0.02 + kilobytes * 2e-4),
        )
        for which in SETS
        for tcd in (False, True)
        for kilobytes in BURSTS_KB
    ]


def _epsilon(scale: Scale) -> list[Job]:
    """TCD by Equation 3 under both sets of rules, on the concurrent bursts and on the victims."""
    jobs = []
    for which in SETS:
        for epsilon in EPSILONS:
            given = {key: value for key, value in TCD[which].items() if key != "max_on"}
            sets = {**dcqcn(which, tcd=True, alpha=0.5), "detector": {**given, "epsilon": epsilon}}
            jobs.append(
                Job(("epsilon", "bursts", which, epsilon), HERE / "chain.toml", measure_innocent, sets, cost=0.5)
            )
            further = {**sets, **victim_settings(scale.bursts_ms)}
            jobs.append(
                Job(
                    ("epsilon", "victims", which, epsilon),
                    HERE / "victims.toml",
                    measure_victims,
                    further,
                    cost=scale.bursts_ms * 0.03,
                )
            )
    return jobs


def _loads(scale: Scale) -> list[Job]:
    """The victims at other loads of P3, which the paper does not give."""
    return [
        Job(
            key=("loads", "tcd" if tcd else "red", which, load),
            scenario=HERE / "victims.toml",
            measure=measure_victims,
            sets={**dcqcn(which, tcd, alpha=0.5), **victim_settings(scale.bursts_ms, load)},
            cost=scale.bursts_ms * 0.03,
        )
        for which in SETS
        for tcd in (False, True)
        for load in P3_LOADS
    ]


def _fat_tree(scheme: str, workload: str, scale: Scale) -> list[Job]:
    window_ms = scale.flows[workload] / FLOWS_PER_MS[workload]
    return [
        Job(
            key=(f"{scheme}-{workload}", "tcd" if tcd else "red", which),
            scenario=HERE / "fat_tree.toml",
            measure=measure_fct,
            sets={
                **SCHEMES[scheme](which, tcd),
                "traffic.0.workload": WORKLOADS[workload],
                "traffic.0.stop": f"{window_ms:.3f}ms",
            },
            cost=scale.flows[workload] * (1e-3 if workload == "hadoop" else 1e-2),
        )
        for which in SETS
        for tcd in (False, True)
    ]


def _fairness(scale: Scale) -> list[Job]:
    del scale
    return [
        Job(
            key=("fairness", scheme, which),
            scenario=HERE / "fairness.toml",
            measure=partial(measure_fairness, began_us=BEGAN_US),
            sets=make(which, True),
            cost=3.0,
        )
        for which in SETS
        for scheme, make in SCHEMES.items()
    ]


_GROUPS: dict[str, Callable[[Scale], list[Job]]] = {
    "single": partial(_chain, "single"),
    "multi": partial(_chain, "multi"),
    "readings": _readings,
    "growth": _growth,
    "testbed": _testbed,
    "table3": _table3,
    "dcqcn-victims": partial(_victims, "dcqcn"),
    "timely-victims": partial(_victims, "timely"),
    "dcqcn-bursts": partial(_bursts, "dcqcn"),
    "timely-bursts": partial(_bursts, "timely"),
    "epsilon": _epsilon,
    "loads": _loads,
    "dcqcn-hadoop": partial(_fat_tree, "dcqcn", "hadoop"),
    "dcqcn-websearch": partial(_fat_tree, "dcqcn", "websearch"),
    "timely-hadoop": partial(_fat_tree, "timely", "hadoop"),
    "timely-websearch": partial(_fat_tree, "timely", "websearch"),
    "fairness": _fairness,
    **infiniband.GROUP_JOBS,
}


def victims(results: Results, group: str, kind: str, which: str, further: object = None) -> Victims:
    """The victims of all seeds of a group, or of one run of a sweep, together."""
    runs = [
        each
        for key, each in results.items()
        if key[:3] == (group, kind, which) and (further is None or key[3] == further)
    ]
    return together(runs)


def by_size(found: Victims) -> tuple[list[float], list[int]]:
    """Mean FCT in us, and number, of the victims in each bin of `EDGES_KB`; NaN if a bin is empty."""
    place = np.searchsorted(np.array(EDGES_KB) * 1e3, found.size_bytes, side="left")
    inside = [found.fct_us[place == index] for index in range(len(EDGES_KB))]
    return [float(each.mean()) if len(each) else float("nan") for each in inside], [len(each) for each in inside]


def slowdowns(found: Fct, low_kb: float, high_kb: float) -> Any:
    """Slowdowns of flows of more than `low_kb` up to `high_kb`."""
    return found.slowdown[(found.size_bytes > low_kb * 1e3) & (found.size_bytes <= high_kb * 1e3)]
