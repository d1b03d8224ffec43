"""TCD's experiments on InfiniBand: CBFC, InfiniBand's congestion control, FECN and TCD."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from random import Random

from xoff.papers.space import Reading
from xoff.papers.tcd.common import (
    BEGAN_US,
    CHAIN_TIME,
    HERE,
    UNCONTROLLED,
    Results,
    Scale,
    Settings,
    seeded,
    together,
)
from xoff.papers.tcd.measures import Victims, measure_chain, measure_mct, measure_testbed, measure_victims
from xoff.runs.jobs import Job

MARKINGS = {"fecn": "FECN", "tcd": "TCD"}
"""Kinds of marking, with their names in figures."""

POINTS = {"single": "3318.4ns", "multi": "663.68ns"}
"""Time between the packets of f0, and of f2: 2,074 B at 5 and at 25 Gbps."""

HOSTS, RACK = 1024, 8
"""Hosts of the fat-tree (k = 16), and of a rack."""
SERVERS, CLIENTS = 4, 256
"""I/O servers of a rack, and I/O clients (5.2.2)."""
MPI_BYTES, IO_BYTES = 7_850, 1.878e6
"""Mean sizes of messages, those of `mpi.txt` and `io.txt`."""


def ib_cc(reading: Reading, marking: str, *scopes: str, case_study: bool = False) -> Settings:
    """InfiniBand's congestion control under a kind of marking; in the case study (5.2.2) with TCD by steps of 2."""
    fecn: Settings = {"threshold": "50KB"}
    case = marking == "tcd" and case_study
    base: Settings = {
        "scheme.ccti_increase": 2 if case else 1,
        "detector": {"name": "tcd", "fecn": fecn} if marking == "tcd" else {"name": "fecn", **fecn},
    }
    own = ["ib-tcd-case"] if case else []
    return reading.on(base, "infiniband", "ib-tcd" if marking == "tcd" else "fecn", *own, *scopes)


def _points(points: str, scale: Scale, reading: Reading) -> list[Job]:
    """One or several congestion points."""
    return [
        Job(
            key=(f"ib-{points}", marking, seed),
            scenario=HERE / "infiniband_chain.toml",
            measure=partial(measure_chain, began_us=BEGAN_US),
            sets={
                **CHAIN_TIME,
                **ib_cc(reading, marking, "ib-bursts"),
                "traffic.2.every": POINTS[points],
                "traffic.3.every": POINTS[points],
                **({"record.states": "all"} if marking == "tcd" else {}),
            },
            seed=seed,
            cost=0.3,
            expected=UNCONTROLLED,
        )
        for marking in MARKINGS
        for seed in range(1, scale.chain_seeds + 1)
    ]


def _testbed(scale: Scale, reading: Reading) -> list[Job]:
    del reading
    step = scale.testbed_ms
    return [
        Job(
            key=("ib-testbed", "tcd", seed),
            scenario=HERE / "infiniband_testbed.toml",
            measure=partial(measure_testbed, interval_ms=step, sending_ms=(3 * step, 7 * step)),
            sets={
                "run.duration": f"{10 * step}ms",
                "traffic.2.start": f"{3 * step}ms",
                "traffic.2.stop": f"{7 * step}ms",
            },
            seed=seed,
            cost=step * 0.01,
        )
        for seed in range(1, scale.chain_seeds + 1)
    ]


def _victims(group: str, markings: tuple[str, ...], case_study: bool) -> Callable[[Scale, Reading], list[Job]]:
    """The victims of Table 3, or of Fig. 17a; they differ in the step with TCD."""

    def jobs(scale: Scale, reading: Reading) -> list[Job]:
        return [
            Job(
                key=(group, marking, seed),
                scenario=HERE / "infiniband_victims.toml",
                measure=measure_victims,
                sets={
                    **{f"traffic.{index}.stop": f"{scale.window_ms}ms" for index in range(3)},
                    **ib_cc(reading, marking, "ib-victims", case_study=case_study),
                },
                seed=seed,
                cost=scale.window_ms * 0.01,
            )
            for marking in markings
            for seed in range(1, scale.seeds + 1)
        ]

    return jobs


def duration_ms(messages: int) -> float:
    """Time in which this many messages arrive if I/O uses 60 % of its clients' links.

    A tenth of them are of 1.878 MB on average, and 256 clients have 40 Gbps each.
    """
    return messages * 0.1 * IO_BYTES * 8 / (0.6 * CLIENTS * 40e6)


def mpi_io(messages: int, time_ms: float, connection: object) -> list[Settings]:
    """MPI and I/O jobs, in which an I/O client always sends to one server."""
    return [
        {"pattern": "mpi_io", "connection": connection, "duration": f"{time_ms:.4f}ms", "messages": messages},
    ]


def random_servers(messages: int, time_ms: float, connection: object, seed: int) -> list[Settings]:
    """The same with messages that each go to a receiver drawn anew.

    As the pattern `mpi_io` has it otherwise: 4 servers in a rack, 256 clients among the other hosts, MPI on the rest.
    """
    draw = Random(seed)
    servers = [host for rack in range(0, HOSTS, RACK) for host in draw.sample(range(rack, rack + RACK), SERVERS)]
    taken = set(servers)
    others = [host for host in range(HOSTS) if host not in taken]
    clients = draw.sample(others, CLIENTS)
    rest = set(others) - set(clients)

    def arrivals(label: str, hosts: Iterable[int], receivers: Iterable[int], count: int, mean: float) -> Settings:
        senders = _names(hosts)
        return {
            "pattern": "poisson",
            "label": label,
            "connection": "per_message" if connection == "per_message" else "per_pair",
            "hosts": senders,
            "destinations": _names(receivers),
            "cdf": f"{label}.txt",
            # Of the senders' 40 Gbps, so that `count` messages of this mean size come in the time.
            "load": count * mean * 8 / (len(senders) * 40e6 * time_ms),
            "stop": f"{time_ms:.4f}ms",
        }

    io = messages // 10
    return [
        arrivals("mpi", rest, rest, messages - io, MPI_BYTES),
        arrivals("io", clients, servers, io, IO_BYTES),
    ]


def _names(hosts: Iterable[int]) -> list[str]:
    return [f"host{host}" for host in sorted(hosts)]


def _fat_tree(scale: Scale, reading: Reading) -> list[Job]:
    jobs = []
    for marking in MARKINGS:
        sets = ib_cc(reading, marking, "ib-fat-tree", case_study=True)
        time, io, connection = (sets.pop(key) for key in ("time", "io", "connection"))
        assert isinstance(time, float)
        time_ms = duration_ms(scale.messages) * time
        for seed in range(1, scale.fat_tree_seeds + 1):
            if io == "random":
                traffic = random_servers(scale.messages, time_ms, connection, seed)
            else:
                traffic = mpi_io(scale.messages, time_ms, connection)
            jobs.append(
                Job(
                    key=("ib-fat-tree", marking, seed),
                    scenario=HERE / "infiniband_fat_tree.toml",
                    measure=measure_mct,
                    sets={**sets, "traffic": traffic},
                    seed=seed,
                    cost=1.0 + scale.messages * 1e-4,
                )
            )
    return jobs


GROUP_JOBS: dict[str, Callable[[Scale, Reading], list[Job]]] = {
    "ib-single": partial(_points, "single"),
    "ib-multi": partial(_points, "multi"),
    "ib-testbed": _testbed,
    "ib-victims": _victims("ib-victims", ("fecn", "tcd"), case_study=False),
    "ib-mct": _victims("ib-mct", ("tcd",), case_study=True),
    "ib-fat-tree": _fat_tree,
}
"""All runs of each experiment."""


def victims(results: Results, group: str, marking: str) -> Victims:
    """The victims of all seeds of a group."""
    return together(seeded(results, group, marking).values())
