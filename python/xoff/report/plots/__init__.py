"""The report's interactive figures: each function takes runs with their labels and gives a `Plot`."""

from __future__ import annotations

from collections.abc import Sequence

from xoff.report.plots.breakdown import time_of_worst_flows
from xoff.report.plots.flows import fct_by_size, slowdown_distribution
from xoff.report.plots.jobs import jobs
from xoff.report.plots.ports import max_queue_by_port, paused_time_by_port, utilization_by_port
from xoff.report.plots.series import pauses_over_time, queues_over_time, rates_over_time, utilization_over_time
from xoff.report.plots.style import Labelled, Plot

__all__ = ["Labelled", "Plot", "sections"]


def sections(runs: Sequence[Labelled]) -> list[tuple[str, list[Plot]]]:
    """Every plot of the report, under the headings of its sections."""
    return [
        ("Parallel programs", jobs(runs)),
        ("Flow completion", [fct_by_size(runs), slowdown_distribution(runs), time_of_worst_flows(runs)]),
        ("Queues", [queues_over_time(runs), max_queue_by_port(runs)]),
        ("Rates", [rates_over_time(runs)]),
        ("PAUSE", [pauses_over_time(runs), paused_time_by_port(runs)]),
        ("Utilization", [utilization_over_time(runs), utilization_by_port(runs)]),
    ]
