"""Small random scenarios, each made from its number and the schemes to choose from."""

from __future__ import annotations

import math
import random
from typing import Any

Scenario = dict[str, Any]


def scenario(number: int, schemes: list[str]) -> Scenario:
    """The random scenario with this number, of one of these schemes."""
    draw = random.Random(number)
    topology, hosts = _topology(draw)
    made: Scenario = {
        "seed": draw.randint(1, 9),
        "topology": topology,
        "scheme": {"name": draw.choice(schemes)},
        "flow_control": draw.choice(
            [
                {"name": "pfc"},
                {"name": "pfc", "xoff": draw.choice(["60KB", "200KB", "500KB"])},
                {"name": "cbfc"},
                {"name": "credit"},
                {"name": "bfc"},
            ]
        ),
        "traffic": [pattern for _ in range(draw.choice([1, 1, 2, 3])) for pattern in _traffic(draw, hosts)],
    }
    if draw.random() < 0.2:
        made["host"] = {"ack_every": draw.randint(2, 6)}
    if draw.random() < 0.2:
        made["routing"] = {"name": draw.choice(["d_mod_k", "ecmp"])}
    if draw.random() < 0.2:
        made["record"] = {"interval": f"{draw.randint(20, 300)}us", "queues": "all", "rates": "all"}
    return made


def _topology(draw: random.Random) -> tuple[Scenario, list[str]]:
    """A topology, and the names of its hosts."""
    links = {"rate": draw.choice(["40Gbps", "100Gbps", "400Gbps"]), "delay": draw.choice(["200ns", "500ns", "2us"])}
    star, leaves, each = draw.randint(3, 12), draw.randint(2, 3), draw.randint(2, 4)
    kinds: list[tuple[Scenario, int]] = [
        ({"name": "star", "hosts": star}, star),
        ({"name": "fat_tree", "k": 4}, 16),
        (
            {"name": "leaf_spine", "leaves": leaves, "spines": draw.randint(1, 3), "hosts_per_leaf": each},
            leaves * each,
        ),
    ]
    made, count = draw.choice(kinds)
    return made | links, [f"host{number}" for number in range(count)]


def _traffic(draw: random.Random, hosts: list[str]) -> list[Scenario]:
    """Patterns of one kind."""

    def size(low: float, high: float) -> str:
        return f"{int(math.exp(draw.uniform(math.log(low), math.log(high))))}B"

    a, b, *others = draw.sample(hosts, min(len(hosts), draw.randint(3, 6)))
    start = f"{draw.randint(0, 300)}us"
    kinds: dict[str, Scenario] = {
        "flow": {"src": a, "dst": b, "size": size(2e4, 3e7), "start": start},
        "incast": {"senders": [b, *others], "receiver": a, "size": size(2e4, 3e6), "start": start},
        "permutation": {"size": size(5e4, 5e6)},
        "allreduce": {
            "algorithm": draw.choice(["ring", "halving_doubling"]) if len(hosts) in (4, 8, 16) else "ring",
            "size": size(1e5, 2e7),
            "repetitions": draw.randint(1, 4),
        },
        "all_to_all": {"size": size(1e4, 1e6)},
        "poisson": {"workload": "websearch", "load": draw.uniform(0.02, 0.3), "stop": f"{draw.randint(50, 400)}us"},
    }
    name = draw.choice([*kinds, "again"])
    if name == "again":
        often = {"every": f"{draw.randint(50, 500)}us", "repeat": draw.randint(2, 20)}
        return [{"pattern": "incast", "senders": [b], "receiver": a, "size": size(2e3, 1e6), **often}]
    return [{"pattern": name, **kinds[name]}]


def repeating(number: int, schemes: list[str]) -> Scenario:
    """The random scenario with this number whose work comes again: iterations, incasts at regular times, congestors."""
    draw = random.Random(f"again {number}")
    topology, hosts = _topology(draw)
    made: Scenario = {
        "seed": draw.randint(1, 9),
        "topology": topology,
        # Half of the scenarios have schemes under which a run can vouch for what it recalls.
        "scheme": {"name": draw.choice(schemes if draw.random() < 0.5 else ["none", "dcqcn"])},
        "flow_control": {"name": "pfc", "xoff": draw.choice(["30KB", "60KB", "200KB", "500KB"])},
        "record": {"pauses": True},
    }
    work = draw.choice(["job", "job", "job", "incast", "gpcnet"])
    if work == "job":
        made["job"] = [_job(draw, len(hosts))]
    elif work == "incast":
        senders = draw.randint(2, min(4, len(hosts) - 1))
        often = {"every": f"{draw.randint(100, 900)}us", "repeat": draw.randint(5, 40), "connection": "per_pair"}
        size = f"{draw.randint(20, 400)}KB"
        made["traffic"] = [{"pattern": "incast", "senders": senders, "receiver": hosts[-1], "size": size, **often}]
    else:
        congestors = {"congestor_iterations": draw.randint(10, 60), "congestor_size": f"{draw.randint(1, 40)}KB"}
        made["traffic"] = [{"pattern": "gpcnet", **congestors}]
    if draw.random() < 0.3:
        alone = {"pattern": "flow", "src": hosts[0], "dst": hosts[-1], "size": f"{draw.randint(1, 3000)}KB"}
        made.setdefault("traffic", []).append(alone | {"start": f"{draw.randint(0, 9000)}us"})
    if draw.random() < 0.2:
        made["host"] = {"ack_every": draw.randint(2, 6)}
    if draw.random() < 0.2:
        made["run"] = {"duration": f"{draw.randint(500, 20_000)}us"}
    return made


def breaking(number: int, schemes: list[str]) -> Scenario:
    """The random scenario with this number in which something breaks: work of another one, and events."""
    draw = random.Random(f"breaking {number}")
    chosen = schemes if draw.random() < 0.4 else ["none", "dcqcn"]
    made = repeating(number, chosen) if draw.random() < 0.4 else scenario(number, chosen)
    if draw.random() < 0.5:
        # Messages that are long enough to be steady between two events.
        size = f"{draw.randint(10, 150)}MB"
        ring = {"pattern": "allreduce", "algorithm": "ring"}
        made["traffic"] = [draw.choice([{"pattern": "permutation"}, {"pattern": "permutation"}, ring]) | {"size": size}]
        made.pop("job", None)
    if draw.random() < 0.7:
        made["routing"] = {"convergence": draw.choice(["20us", "200us", "1ms"])}
    made["host"] = made.get("host", {}) | {"retransmit_timeout": draw.choice(["100us", "300us", "1ms"])}
    made["run"] = {"duration": f"{draw.randint(3, 20)}ms", "expect": "unfinished"}
    if made["flow_control"]["name"] == "bfc":
        made["flow_control"] = {"name": "pfc"}
    has_trunks, has_pause = made["topology"]["name"] != "star", made["flow_control"]["name"] == "pfc"
    links = ["random", "random_trunk"] if has_trunks else ["random"]
    made["event"] = [_event(draw, links, has_pause=has_pause) for _ in range(draw.choice([1, 1, 1, 2, 3]))]
    return made


def _event(draw: random.Random, links: list[str], *, has_pause: bool) -> Scenario:
    """An event of one of these links or of another thing, once or again and again."""
    link = {"link": draw.choice(links)}
    rate = {"rate": draw.choice(["10Gbps", "25Gbps", "50Gbps"])}
    kinds: list[Scenario] = [
        {"kind": "link_down"} | link,
        {"kind": "degrade"} | link | rate,
        {"kind": "bit_errors", "loss": draw.choice([1e-3, 1e-2])} | link,
        {"kind": "switch_reboot", "switch": "random"},
        {"kind": "receiver_stop", "host": "random"},
        {"kind": "receiver_slow", "host": "random"} | rate,
        *([{"kind": "pause_storm", "host": "random"}] if has_pause else []),
    ]
    event = draw.choice([*kinds[:2], *kinds]) | {"for": f"{draw.choice([50, 300, 2000])}us"}
    when: list[Scenario] = [
        {"at": f"{draw.randint(50, 8000)}us"},
        {"at": f"{draw.randint(50, 3000)}us", "every": f"{draw.randint(3000, 6000)}us"},
        {"mean_time_between": f"{draw.randint(1000, 5000)}us"},
    ]
    return event | draw.choice([when[0], *when])


def _job(draw: random.Random, hosts: int) -> Scenario:
    """A training job on some of so many hosts, one rank or two on each."""
    each = draw.choice([1, 2])
    tensor, pipeline, data = draw.choice([(1, 1, 4), (1, 2, 2), (2, 1, 2), (2, 2, 1), (1, 4, 1), (2, 2, 2), (1, 2, 4)])
    if tensor * pipeline * data > hosts * each:
        tensor, pipeline, data, each = 1, 1, 2, 1
    job: Scenario = {
        "layers": pipeline * draw.choice([1, 2]),
        "hidden": draw.choice([128, 256, 512]),
        "sequence": draw.choice([128, 256]),
        "batch": data * draw.choice([1, 2, 4]),
        "tensor": tensor,
        "pipeline": pipeline,
        "data": data,
        "tflops": draw.choice([3.0, 30.0, 300.0]),
        "ranks_per_host": each,
        "placement": draw.choice(["packed", "random"]),
        "local_rate": "900Gbps",
        "iterations": draw.randint(6, 40),
    }
    options = [{}, {"buckets": draw.randint(2, 4)}, {"sharded": True}, {"jitter": 0.1}, {"channels": 2}]
    return job | draw.choice(options)
