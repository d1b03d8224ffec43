"""TCD's experiments on InfiniBand: CBFC, InfiniBand's congestion control, FECN and TCD.

Which packets FECN takes for delayed by a lack of credits is read in two ways, and both are run. By the paper's words
(3.1.2) it errs on packets that arrive after new credits, so that those which were queued before count as delayed
(`queued`): verdicts rest on that. In the other reading only the packet for which credits came was delayed (`head`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from xoff.papers.tcd.common import BEGAN_US, FULL, HERE, P3_LOADS, PAPERS_LOAD, Results, Scale, Settings, together
from xoff.papers.tcd.measures import Victims, measure_chain, measure_mct, measure_testbed, measure_victims
from xoff.runs.jobs import Job

MARKINGS = {"fecn": "FECN", "fecn-head": "FECN, `head`", "tcd": "TCD"}
"""Kinds of marking, with their names in figures."""

BURSTS: dict[str, Settings] = {
    "at once": {"traffic.1.every": "1ns", "traffic.1.count": 16},
    "back to back": {"traffic.1.every": "12.97us", "traffic.1.count": 16},
    "each 187.5 us": {"traffic.1.every": "187.5us", "traffic.1.count": 16},
    "each 200 us": {"traffic.1.every": "200us", "traffic.1.count": 15},
}
"""How the messages of 64 KB of 3.1.1 come for about 3 ms; a message takes 12.97 us with its headers."""

POINTS = {"single": "3318.4ns", "multi": "663.68ns"}
"""Time between the packets of f0, and of f2: 2,074 B at 5 and at 25 Gbps."""

MEAN_BYTES = 194_865
"""Of a message of `mpi_io.txt`."""

VARIANTS: dict[str, Settings] = {
    "T_c 40 us": {},
    "T_c 20 us": {"flow_control.update_period": "20us"},
    "T_c 10 us": {"flow_control.update_period": "10us"},
    "T_c 4.096 us": {"flow_control.update_period": "4.096us"},
    "marking rate 2": {"marking_rate": 2},
    "timer 90 us": {"scheme.ccti_timer": "90us"},
    "UE holds": {"scheme.undetermined": "hold"},
    "rules: code": {"rules": "code"},
}
"""What the paper leaves open.

The first is what verdicts rest on: with 280 KB T_c must be below 48 us. The authors' model of InfiniBand has 4.096 us,
90 us, and one packet in three marked, which is a marking rate of 2 here. It has no TCD, whose last rules are those of
their simulator of Ethernet.
"""

FAT_TREE_VARIANTS: dict[str, tuple[float, Settings]] = {
    "60 %": (1.0, {}),
    "30 %": (2.0, {}),
    "120 %": (0.5, {}),
    "240 %": (0.25, {}),
    "timer 90 us": (1.0, {"scheme.ccti_timer": "90us"}),
    "step 1": (1.0, {"scheme.ccti_increase": 1}),
    "index by SL": (1.0, {"scheme.scope": "sl"}),
}
"""What is open in the fat-tree.

Loads of I/O on its clients' links, each with its time in which the messages come, over that of 60 %; and settings. The
last keeps a client's index from one message of its connection to the next, as a client sends nothing else.
"""


def ib_cc(marking: str, case_study: bool = False, marking_rate: int = 0, rules: str = "paper") -> Settings:
    """InfiniBand's congestion control under a kind of marking; in the case study (5.2.2) with TCD by steps of 2."""
    fecn: Settings = {"threshold": "50KB", "delayed": "head" if marking == "fecn-head" else "queued"}
    if marking_rate:
        fecn["marking_rate"] = marking_rate
    return {
        "scheme.ccti_increase": 2 if marking == "tcd" and case_study else 1,
        "detector": {"name": "tcd", "rules": rules, "fecn": fecn} if marking == "tcd" else {"name": "fecn", **fecn},
    }


def _varied(marking: str, variant: str, case_study: bool = False) -> Settings:
    """`ib_cc` with a variant's settings."""
    settings = dict(VARIANTS[variant])
    rate, rules = settings.pop("marking_rate", 0), settings.pop("rules", "paper")
    assert isinstance(rate, int)
    return {**ib_cc(marking, case_study, rate, str(rules)), **settings}


def _chain(key: tuple[str, ...], marking: str, points: str, further: Settings) -> Job:
    return Job(
        key=key,
        scenario=HERE / "infiniband_chain.toml",
        measure=partial(measure_chain, began_us=BEGAN_US),
        sets={
            "traffic.2.every": POINTS[points],
            "traffic.3.every": POINTS[points],
            **further,
            **({"record.states": "all"} if marking == "tcd" else {}),
        },
        cost=0.5 if points == "single" else 0.8,
    )


def _points(points: str, scale: Scale) -> list[Job]:
    del scale
    return [_chain((f"ib-{points}", marking), marking, points, ib_cc(marking)) for marking in MARKINGS]


def _readings(scale: Scale) -> list[Job]:
    """One and several congestion points with the bursts read otherwise."""
    del scale
    return [
        _chain(("ib-readings", marking, bursts, points), marking, points, {**ib_cc(marking), **BURSTS[bursts]})
        for marking in ("fecn", "tcd")
        for bursts in BURSTS
        for points in POINTS
    ]


def _variants(scale: Scale) -> list[Job]:
    """One and several congestion points with other settings."""
    del scale
    return [
        _chain(("ib-variants", marking, variant, points), marking, points, _varied(marking, variant))
        for marking in ("fecn", "tcd")
        for variant in VARIANTS
        for points in POINTS
    ]


def _testbed(scale: Scale) -> list[Job]:
    step = scale.testbed_ms
    return [
        Job(
            key=("ib-testbed", "tcd"),
            scenario=HERE / "infiniband_testbed.toml",
            measure=partial(measure_testbed, interval_ms=step, sending_ms=(3 * step, 7 * step)),
            sets={
                "run.duration": f"{10 * step}ms",
                "traffic.2.start": f"{3 * step}ms",
                "traffic.2.stop": f"{7 * step}ms",
            },
            cost=step * 0.03,
        )
    ]


def victim_settings(window_ms: float, load: float = PAPERS_LOAD) -> Settings:
    """Arrivals for `window_ms` with a share `load` of P3, 30 % of it s1's."""
    every_us = 15 * MEAN_BYTES * 8 / ((load - 0.3) * 40e3)
    return {
        **{f"traffic.{index}.stop": f"{window_ms}ms" for index in range(3)},
        "traffic.2.every": f"{every_us:.2f}us",
    }


def _victim_runs(key: tuple[object, ...], settings: Settings, window_ms: float, load: float, seed: int) -> Job:
    return Job(
        key=(*key, seed),
        scenario=HERE / "infiniband_victims.toml",
        measure=measure_victims,
        sets={**settings, **victim_settings(window_ms, load)},
        seed=seed,
        cost=window_ms * 0.01,
    )


def _victims(scale: Scale, case_study: bool) -> list[Job]:
    """The victims of Table 3, or of Fig. 17a; they differ in the step with TCD."""
    return [
        _victim_runs(
            ("ib-mct" if case_study else "ib-victims", marking),
            ib_cc(marking, case_study),
            scale.window_ms,
            PAPERS_LOAD,
            seed,
        )
        for marking in (("tcd",) if case_study else MARKINGS)
        for seed in range(1, scale.seeds + 1)
    ]


def _victim_variants(scale: Scale) -> list[Job]:
    """The victims with other settings; with TCD by steps of 2."""
    return [
        _victim_runs(
            ("ib-victim-variants", marking, variant),
            _varied(marking, variant, case_study=True),
            scale.window_ms,
            PAPERS_LOAD,
            seed,
        )
        for marking in MARKINGS
        for variant in VARIANTS
        for seed in range(1, scale.seeds + 1)
    ]


def _loads(scale: Scale) -> list[Job]:
    """The victims at other loads of P3, which the paper does not give."""
    return [
        _victim_runs(("ib-loads", marking, load), ib_cc(marking), scale.window_ms, load, seed)
        for marking in MARKINGS
        for load in P3_LOADS
        for seed in range(1, scale.seeds + 1)
    ]


def duration_ms(messages: int) -> float:
    """Time in which this many messages arrive if I/O uses 60 % of its clients' links.

    A tenth of them are of 1.878 MB on average, and 256 clients have 40 Gbps each.
    """
    return messages * 0.1 * 1.878e6 * 8 / (0.6 * 256 * 40e6)


def _fat_tree(scale: Scale) -> list[Job]:
    runs = [(marking, variant) for marking in ("fecn", "tcd") for variant in scale.fat_tree_variants]
    # Without TCD steps are of 1 anyway; one run of the other reading of FECN is enough.
    runs = [run for run in runs if run != ("fecn", "step 1")]
    runs += [("fecn-head", "60 %")] if scale == FULL else []
    return [
        Job(
            key=("ib-fat-tree", marking, variant),
            scenario=HERE / "infiniband_fat_tree.toml",
            measure=measure_mct,
            sets={
                **ib_cc(marking, case_study=True),
                **FAT_TREE_VARIANTS[variant][1],
                "traffic.0.messages": scale.messages,
                "traffic.0.duration": f"{duration_ms(scale.messages) * FAT_TREE_VARIANTS[variant][0]:.4f}ms",
            },
            cost=5.0 + scale.messages * 5e-4,
        )
        for marking, variant in runs
    ]


GROUP_JOBS: dict[str, Callable[[Scale], list[Job]]] = {
    "ib-single": partial(_points, "single"),
    "ib-multi": partial(_points, "multi"),
    "ib-readings": _readings,
    "ib-variants": _variants,
    "ib-testbed": _testbed,
    "ib-victims": partial(_victims, case_study=False),
    "ib-mct": partial(_victims, case_study=True),
    "ib-victim-variants": _victim_variants,
    "ib-loads": _loads,
    "ib-fat-tree": _fat_tree,
}
"""All runs of each experiment."""


def victims(results: Results, group: str, marking: str, *further: object) -> Victims:
    """The victims of all seeds of a group, or of one setting of a sweep, together."""
    wanted = (group, marking, *further)
    return together([run for key, run in results.items() if key[:-1] == wanted])
