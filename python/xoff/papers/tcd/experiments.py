"""TCD's experiments on Ethernet, and the list of all: their runs under a reading, and what is measured in each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from xoff.papers.space import Reading
from xoff.papers.tcd import infiniband
from xoff.papers.tcd.common import BEGAN_US, CHAIN_TIME, HERE, UNCONTROLLED, Scale, Settings
from xoff.papers.tcd.measures import (
    measure_chain,
    measure_fairness,
    measure_fct,
    measure_innocent,
    measure_testbed,
    measure_victims,
)
from xoff.runs.jobs import Job

EDGES_KB = (10, 100, 1_000, 10_000)
"""Largest victim of each size bin of Fig. 15a and 18a, in KB."""
BURSTS_KB = (32, 64, 128, 250, 500)
"""Burst sizes of Fig. 15b and 18b."""
EPSILONS = (0.02, 0.04, 0.05, 0.08, 0.1, 0.15, 0.2, 0.3, 0.5)
"""Fig. 14's, whose axis the paper's text does not give."""

RED: dict[str, Settings] = {
    "paper": {"name": "red", "k_min": "5KB", "k_max": "200KB", "p_max": 0.01},
    # Its KB are cells of 1,030 B.
    "code": {"name": "red", "k_min": "5150B", "k_max": "206KB", "p_max": 0.01},
}
"""Marking by queue length alone, by the paper and by the released simulator."""

MEAN_BYTES = {"fb_hadoop": 120_421, "websearch": 1_711_250, "tcd_hadoop": 2_832_395}
"""Mean size of a flow, by the workload's name."""


def detector(tcd: bool) -> Settings:
    """RED, or TCD with RED's thresholds."""
    if not tcd:
        return dict(RED["paper"])
    return {"name": "tcd", "red": {key: value for key, value in RED["paper"].items() if key != "name"}}


def dcqcn(reading: Reading, tcd: bool, *scopes: str, case_study: bool = False) -> Settings:
    """DCQCN with and without TCD: alpha starts at 0.5, and with TCD at 1.2 in the case study (5.2.1)."""
    case = tcd and case_study
    base = {"scheme.initial_alpha": 1.2 if case else 0.5, "detector": detector(tcd)}
    own = ["dcqcn-tcd-case"] if case else []
    return reading.on(base, "ethernet", "dcqcn", "tcd" if tcd else "red", *own, *scopes)


def timely(reading: Reading, tcd: bool, *scopes: str, case_study: bool = True) -> Settings:
    """TIMELY with and without TCD: beta 0.8, and with TCD 1.6 and a rate that stays on UE (5.2.3).

    Without TCD its ports have RED, whose CE marks TIMELY does not read.
    """
    del case_study
    base = {
        "scheme": {"name": "timely", "beta": 1.6 if tcd else 0.8, "undetermined": "hold"},
        "detector": detector(tcd),
    }
    own = ["timely-tcd"] if tcd else []
    return reading.on(base, "ethernet", "timely", "tcd" if tcd else "red", *own, *scopes)


SCHEMES: dict[str, Callable[..., Settings]] = {"dcqcn": dcqcn, "timely": timely}


def flows_per_ms(mean_bytes: int) -> float:
    """Flows of this mean size that arrive in the fat-tree in a ms: 250 hosts, 60 % of 40 Gbps."""
    return 250 * 0.6 * 40e6 / (mean_bytes * 8)


def group_jobs(group: str, scale: Scale, reading: Reading) -> list[Job]:
    """All runs of an experiment."""
    return _GROUPS[group](scale, reading)


def _kind(tcd: bool) -> str:
    return "tcd" if tcd else "red"


def _seeds(count: int) -> Iterable[int]:
    return range(1, count + 1)


def _chain(group: str, scale: Scale, reading: Reading) -> list[Job]:
    """One or several congestion points; the changed alpha comes with the case study (5.2), not with detection."""
    apart = {"single": {}, "multi": {"traffic.2.every": "0.32us", "traffic.3.every": "0.32us"}}[group]
    return [
        Job(
            key=(group, _kind(tcd), seed),
            scenario=HERE / "chain.toml",
            measure=partial(measure_chain, began_us=BEGAN_US),
            sets={
                **CHAIN_TIME,
                **dcqcn(reading, tcd, "bursts"),
                **apart,
                **({"record.states": "all"} if tcd else {}),
            },
            seed=seed,
            cost=0.3,
            expected=UNCONTROLLED,
        )
        for tcd in (False, True)
        for seed in _seeds(scale.chain_seeds)
    ]


def _testbed(scale: Scale, reading: Reading) -> list[Job]:
    step = scale.testbed_ms
    base = {"run.duration": f"{10 * step}ms", "traffic.2.start": f"{3 * step}ms", "traffic.2.stop": f"{7 * step}ms"}
    return [
        Job(
            key=("testbed", "tcd", seed),
            scenario=HERE / "testbed.toml",
            measure=partial(measure_testbed, interval_ms=step, sending_ms=(3 * step, 7 * step)),
            sets=reading.on(base, "testbed"),
            seed=seed,
            cost=step * 0.02,
        )
        for seed in _seeds(scale.chain_seeds)
    ]


def _stops(window_ms: float, patterns: int = 3) -> Settings:
    return {f"traffic.{index}.stop": f"{window_ms}ms" for index in range(patterns)}


def _victims(group: str, scheme: str, kinds: tuple[bool, ...], case_study: bool) -> Callable[..., list[Job]]:
    """The victims of Fig. 15a or 18a; or with TCD where alpha is not yet changed (5.1.3)."""

    def jobs(scale: Scale, reading: Reading) -> list[Job]:
        return [
            Job(
                key=(group, _kind(tcd), seed),
                scenario=HERE / "victims.toml",
                measure=measure_victims,
                sets={
                    **_stops(scale.window_ms),
                    **SCHEMES[scheme](reading, tcd, "victims", case_study=case_study),
                },
                seed=seed,
                cost=scale.window_ms * 0.01,
            )
            for tcd in kinds
            for seed in _seeds(scale.seeds)
        ]

    return jobs


def _bursts(scheme: str, scale: Scale, reading: Reading) -> list[Job]:
    """Bursts of one size at the moments of a Poisson process (Fig. 15b, 18b): 30 % of P3 on average at 64 KB."""

    def bursts(kilobytes: int) -> Settings:
        return {
            "pattern": "burst",
            "label": "burst",
            "senders": "a0..a14",
            "receivers": "r1",
            "size": f"{kilobytes}KB",
            "every": "640us",
            "poisson": True,
            "stop": f"{scale.bursts_ms}ms",
        }

    return [
        Job(
            key=(f"{scheme}-bursts", _kind(tcd), kilobytes, seed),
            scenario=HERE / "victims.toml",
            measure=measure_victims,
            sets={
                **SCHEMES[scheme](reading, tcd, case_study=True),
                **_stops(scale.bursts_ms, 2),
                "traffic.2": bursts(kilobytes),
            },
            seed=seed,
            cost=scale.bursts_ms * (0.007 + kilobytes * 7e-5),
        )
        for tcd in (False, True)
        for kilobytes in BURSTS_KB
        for seed in _seeds(scale.bursts_seeds)
    ]


def _epsilon(scale: Scale, reading: Reading) -> list[Job]:
    """TCD by Equation 3 on the concurrent bursts, with one congestion point."""
    # Where max(T_on) is given, epsilon would have no effect.
    sets = {key: value for key, value in dcqcn(reading, True, "bursts").items() if key != "detector.max_on"}
    return [
        Job(
            key=("epsilon", "tcd", epsilon, seed),
            scenario=HERE / "chain.toml",
            measure=measure_innocent,
            sets={**CHAIN_TIME, **sets, "detector.epsilon": epsilon},
            seed=seed,
            cost=0.3,
            expected=UNCONTROLLED,
        )
        for epsilon in EPSILONS
        for seed in _seeds(scale.chain_seeds)
    ]


def _fat_tree(scheme: str, workload: str, scale: Scale, reading: Reading) -> list[Job]:
    sizes = str(reading.sets("hadoop")["sizes"]) if workload == "hadoop" else workload
    mean = MEAN_BYTES[sizes]
    window_ms = scale.flows[workload] / flows_per_ms(mean)
    base = {"traffic.0.workload": sizes, "traffic.0.stop": f"{window_ms:.3f}ms"}
    return [
        Job(
            key=(f"{scheme}-{workload}", _kind(tcd), seed),
            scenario=HERE / "fat_tree.toml",
            measure=measure_fct,
            sets={**base, **SCHEMES[scheme](reading, tcd, "fat-tree", case_study=True)},
            seed=seed,
            cost=scale.flows[workload] * mean * 1e-9,
        )
        for tcd in (False, True)
        for seed in _seeds(scale.fat_tree_seeds)
    ]


def _fairness(scale: Scale, reading: Reading) -> list[Job]:
    return [
        Job(
            key=("fairness", scheme, seed),
            scenario=HERE / "fairness.toml",
            measure=partial(measure_fairness, began_us=BEGAN_US),
            sets={
                **make(reading, True, "bursts", case_study=True),
                "run.duration": "60ms",
                "record.states": "all",
                "record.marks": True,
            },
            seed=seed,
            cost=1.0,
        )
        for scheme, make in SCHEMES.items()
        for seed in _seeds(scale.chain_seeds)
    ]


_GROUPS: dict[str, Callable[[Scale, Reading], list[Job]]] = {
    "single": partial(_chain, "single"),
    "multi": partial(_chain, "multi"),
    "testbed": _testbed,
    "table3": _victims("table3", "dcqcn", (True,), case_study=False),
    "dcqcn-victims": _victims("dcqcn-victims", "dcqcn", (False, True), case_study=True),
    "timely-victims": _victims("timely-victims", "timely", (False, True), case_study=True),
    "dcqcn-bursts": partial(_bursts, "dcqcn"),
    "timely-bursts": partial(_bursts, "timely"),
    "epsilon": _epsilon,
    "dcqcn-hadoop": partial(_fat_tree, "dcqcn", "hadoop"),
    "dcqcn-websearch": partial(_fat_tree, "dcqcn", "websearch"),
    "timely-hadoop": partial(_fat_tree, "timely", "hadoop"),
    "timely-websearch": partial(_fat_tree, "timely", "websearch"),
    "fairness": _fairness,
    **infiniband.GROUP_JOBS,
}
