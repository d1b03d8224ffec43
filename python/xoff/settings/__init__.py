"""A scenario's tables as functions with typed parameters: `settings.scheme.hpcc(eta=0.9)`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.

May import nothing but its own modules.
"""

from xoff.settings import detector, event, flow_control, routing, scheme, tables, throttle, topology, traffic
from xoff.settings.tables import (
    chakra_algorithms,
    collective_settings,
    fast_forward,
    graph_link,
    graph_node,
    host,
    job,
    link,
    llr,
    packets,
    quirks,
    record,
    red_at_rate,
    run,
    static_route,
    straggler,
    switch,
    trimming,
    tune,
    uet,
    vl_weight,
    watchdog,
)

__all__ = [
    "chakra_algorithms",
    "collective_settings",
    "detector",
    "event",
    "fast_forward",
    "flow_control",
    "graph_link",
    "graph_node",
    "host",
    "job",
    "link",
    "llr",
    "packets",
    "quirks",
    "record",
    "red_at_rate",
    "routing",
    "run",
    "scheme",
    "static_route",
    "straggler",
    "switch",
    "tables",
    "throttle",
    "topology",
    "traffic",
    "trimming",
    "tune",
    "uet",
    "vl_weight",
    "watchdog",
]
