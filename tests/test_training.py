"""Training jobs: the console, the report's bars and timeline, and what `xoff explain` says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import xoff
from conftest import Command
from xoff.analysis.explain.facts import Facts
from xoff.analysis.explain.job import jobs_of
from xoff.analysis.explain.rules import training
from xoff.analysis.explain.rules.jobs import slow_ranks
from xoff.report.plots.jobs import jobs
from xoff.report.plots.style import labelled
from xoff.runs.iterations import iterations_text

# Two replicas of one layer, a rank on each of two hosts: a forward pass of 2.44 ms and a backward pass of 4.88 ms.
SCENARIO: dict[str, Any] = {
    "topology": {"name": "star", "hosts": 2},
    "scheme": {"name": "none"},
    "job": [
        {
            "label": "small",
            "layers": 1,
            "hidden": 1000,
            "sequence": 100,
            "batch": 2,
            "data": 2,
            "ranks_per_host": 1,
            "tflops": 1.0,
            "stragglers": [{"rank": 1, "factor": 2.0}],
        }
    ],
    "record": {"breakdown": True},
}


@pytest.fixture(scope="module")
def run() -> xoff.Run:
    return xoff.run(SCENARIO)


def test_an_iteration_on_one_line() -> None:
    exposed = [{"waits_for": "gradients", "mean_ps": 1e9}, {"waits_for": "pipeline", "mean_ps": 2e9}]
    numbers = {"times_ps": [9 * 10**9, 11 * 10**9], "mean_ps": 1e10, "compute_ps": 7e9, "exposed_ps": 3e9}
    assert iterations_text({**numbers, "exposed": exposed}) == (
        "2 iterations of 10 ms on average; of its own time a rank computes 7 ms and waits 3 ms: 2 ms for the pipeline, "
        "1 ms for gradients"
    )


def test_the_report_has_bars_and_a_timeline(run: xoff.Run) -> None:
    completion, iterations, timeline = jobs(labelled([run], ["small"]))
    assert completion.title == "Completion time"
    assert iterations.figure is not None
    bars = {bar.name: bar.x[0] for bar in iterations.figure.data}
    # Rank 0 computes 7.32 ms, rank 1 twice as long: 10.98 ms on average, in ms or us.
    assert bars["computes"] in (pytest.approx(10.98), pytest.approx(10_980))
    assert set(bars) == {"computes", "waits for gradients"}
    assert timeline.figure is not None
    lanes = {trace.name: trace for trace in timeline.figure.data}
    assert {"computes", "sends", "waits"} <= set(lanes)


def test_the_console_says_how_long_an_iteration_is(command: Command, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(_toml())
    done = command("run", tmp_path / "small.toml", "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "job       small:" in done.stdout
    assert "1 iteration of" in done.stdout
    assert "for gradients" in done.stdout


def test_explain_names_the_straggler_and_what_is_waited_for(run: xoff.Run) -> None:
    (job,) = jobs_of(Facts(run))
    waits = training.iterations(job)
    assert waits is not None
    assert "job small: a rank does not compute for" in waits.title
    assert any("for gradients" in line for line in waits.evidence)
    # Gradients of 12 h^2 parameters at 100 Gbps take about 2 ms: rank 1's passes of 14.64 ms are most of the path.
    slow = slow_ranks(job)
    assert slow is not None
    # The median of 7.32 and 14.64 ms is 10.98 ms.
    assert slow.title == "job small: rank 1 on host1 computes 1.33 times as long as the median"
    assert slow.evidence[1].startswith("14.64 ms of it")


# Two layers on two hosts, with an iteration of few sequences: whatever ranks do together is much of it.
@pytest.mark.parametrize(
    ("keys", "advice"),
    [
        ({"data": 2}, "for gradients: more `buckets`"),
        ({"data": 2, "buckets": 2}, "for gradients: another `algorithm`"),
        ({"data": 2, "sharded": True}, "for parameters: a larger `batch`"),
        ({"pipeline": 2}, "for the pipeline: more micro-batches"),
        ({"tensor": 2}, "for tensor parallelism: ranks that share a layer on one host"),
        (
            {"tensor": 2, "data": 2, "ranks_per_host": 2, "local_rate": "10Gbps"},
            "for tensor parallelism: a smaller `tensor`",
        ),
        ({"data": 2, "expert": 2, "experts": 2}, "for experts: ranks that share experts near each other"),
    ],
)
def test_the_advice_is_on_what_is_waited_for(keys: dict[str, Any], advice: str) -> None:
    job = {"layers": 2, "hidden": 512, "sequence": 256, "batch": 2, "tflops": 100.0, "ranks_per_host": 1, **keys}
    (only,) = jobs_of(Facts(xoff.run({**SCENARIO, "job": [job]})))
    found = training.iterations(only)
    assert found is not None
    assert any(each.startswith(advice) for each in found.advice), found.advice


def _toml() -> str:
    from xoff.runs.scenario import of_mapping

    return of_mapping(SCENARIO).text
