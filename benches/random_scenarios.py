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
