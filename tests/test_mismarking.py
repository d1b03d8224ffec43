"""Marks against the ground truth, by numbers worked out by hand and in a run."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from xoff.analysis.mismarking import checked_marks, mismarked_flows
from xoff.runs.results import Run


def run_of(
    marks: Sequence[tuple[int, str, int, str]],
    roots: Sequence[tuple[str, int, int, int]] = (),
    flows: Sequence[tuple[int, str, int]] = ((0, "victim", 0), (1, "victim", 0), (2, "other", 1)),
    *,
    recorded: bool = True,
) -> Run:
    """Marks as (ps, port, flow, mark), roots as (port, priority, first ps, last ps), flows as (id, label, priority)."""
    tables = {
        "flows": pl.DataFrame(
            {
                "id": [number for number, _, _ in flows],
                "label": [label for _, label, _ in flows],
                "priority": [priority for _, _, priority in flows],
                "hol_blocked": [False if recorded else None for _ in flows],
            },
            schema_overrides={"hol_blocked": pl.Boolean},
        ),
        "marks": pl.DataFrame(
            marks, schema={"time_ps": pl.UInt64, "port": pl.String, "flow": pl.UInt32, "mark": pl.String}, orient="row"
        ),
        "roots": pl.DataFrame(
            {
                "port": [port for port, _, _, _ in roots],
                "priority": [priority for _, priority, _, _ in roots],
                "start_ps": [first for _, _, first, _ in roots],
                "length_ps": [last - first for _, _, first, last in roots],
            },
            schema_overrides={"port": pl.String, "priority": pl.Int64, "start_ps": pl.UInt64, "length_ps": pl.UInt64},
        ),
    }
    return Run({}, {name: table.to_arrow() for name, table in tables.items()})


def test_a_mark_is_false_where_its_queue_is_no_root_at_that_moment() -> None:
    # a->b is a root from 100 to 200 and from 300 to 400 ps. Its first and last moment count; UE marks do not.
    times = (99, 100, 150, 200, 201, 299, 300, 401)
    run = run_of(
        [*((time, "a->b", 0, "ce") for time in times), (150, "c->d", 0, "ce"), (250, "a->b", 0, "ue")],
        roots=[("a->b", 0, 100, 200), ("a->b", 0, 300, 400)],
    )
    found = checked_marks(run)
    assert found["false"].to_list() == [True, False, False, False, True, True, False, True, True]


def test_a_root_of_one_priority_does_not_excuse_another() -> None:
    run = run_of(
        [(150, "a->b", 0, "ce"), (150, "a->b", 2, "ce")],  # of priority 0 and 1
        roots=[("a->b", 1, 100, 200)],
    )
    assert checked_marks(run)["false"].to_list() == [True, False]


def test_flows_are_counted_by_label() -> None:
    run = run_of(
        [(150, "a->b", 1, "ce"), (250, "a->b", 1, "ce"), (251, "a->b", 2, "ce"), (10, "a->b", 0, "ue")],
        roots=[("a->b", 0, 100, 200)],
    )
    assert mismarked_flows(run).rows() == [(0, "victim", 0, 0), (1, "victim", 2, 1), (2, "other", 1, 1)]
    assert mismarked_flows(run, "victim").rows() == [(0, "victim", 0, 0), (1, "victim", 2, 1)]
    assert mismarked_flows(run_of([]), "nobody").is_empty()


def test_without_recorded_roots_nothing_is_called_false() -> None:
    run = run_of([(150, "a->b", 1, "ce")], recorded=False)
    assert checked_marks(run)["false"].to_list() == [None]
    assert mismarked_flows(run, "victim").rows() == [(0, "victim", 0, None), (1, "victim", 1, None)]


def test_an_overrun_port_is_a_root_before_it_marks() -> None:
    # Two hosts at line rate overrun the port of a third. It marks from 60 KB on, and is a root from 30 KB on: no mark
    # is false. One host alone overruns nothing and is not marked.
    import xoff

    sets: dict[str, object] = {
        "scheme.name": "dcqcn",
        "detector": {"name": "red", "k_min": "60KB", "k_max": "60KB"},
        "traffic.0.size": "200KB",
        "record.marks": True,
        "record.roots": True,
    }
    two, one = (xoff.run("scenarios/incast.toml", sets={**sets, "traffic.0.senders": count}) for count in (2, 1))
    marks = checked_marks(two)
    assert len(marks) > 50
    assert not marks["false"].any()
    found = mismarked_flows(two)
    assert (found["ce"].to_list(), found["false_ce"].to_list()) == (two.flows["marked_ce"].to_pylist(), [0, 0])
    assert checked_marks(one).is_empty()
