"""PAUSE, its spread and its victims, against numbers worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl
import pytest

from made_up import made_up_run
from xoff.analysis import blocking
from xoff.analysis.tables import hol_blocked
from xoff.runs.results import Run

Span = tuple[str, int, int]


def run_of(
    pauses: Sequence[Span] = (),
    roots: Sequence[Span] = (),
    queues: Sequence[tuple[int, int]] = (),
    blocked: Sequence[bool | None] = (),
) -> Run:
    """Pauses as (port, start, end) in ps, with two frames each, made by the port's peer; samples of port a->b."""
    base = made_up_run([1000] * len(blocked), [1.0] * len(blocked), sim_time_ps=1000)
    tables = {
        "pauses": pl.DataFrame(
            {
                "port": [port for port, _, _ in pauses],
                "by": ["->".join(reversed(port.split("->"))) for port, _, _ in pauses],
                "priority": [0] * len(pauses),
                "start_ps": [start for _, start, _ in pauses],
                "length_ps": [end - start for _, start, end in pauses],
                "frames": [2] * len(pauses),
            },
            schema_overrides={"port": pl.String, "by": pl.String},
        ),
        "roots": pl.DataFrame(
            {
                "port": [port for port, _, _ in roots],
                "priority": [0] * len(roots),
                "start_ps": [start for _, start, _ in roots],
                "length_ps": [end - start for _, start, end in roots],
            },
            schema_overrides={"port": pl.String},
        ),
        "queues": pl.DataFrame(
            {
                "time_ps": [time for time, _ in queues],
                "port": ["a->b"] * len(queues),
                "max_bytes": [size for _, size in queues],
            },
            schema_overrides={"port": pl.String},
        ),
        "ports": pl.DataFrame({"port": ["a->b", "b->a", "c->b", "b->c"]}),
        "flows": base.flows.drop_columns("hol_blocked").append_column("hol_blocked", [list(blocked)]),
    }
    made = {name: table.to_arrow() if isinstance(table, pl.DataFrame) else table for name, table in tables.items()}
    return Run(base.manifest, made)


def test_pause_totals_are_over_time_and_ports() -> None:
    # 100 and 300 ps of 1000 ps at two of four ports: 400 of 4000. Four frames in 1 ns.
    run = run_of([("a->b", 100, 200), ("c->b", 500, 800)])
    totals = blocking.pause_totals(run)
    assert totals.frames_per_s == pytest.approx(4e9)
    assert totals.paused_share == pytest.approx(0.1)
    assert (totals.ports, totals.last_ps) == (2, 800.0)
    # Up to 600 ps: 100 and 100 ps of 2400.
    half = blocking.pause_totals(run, until_ps=600)
    assert half.paused_share == pytest.approx(200 / 2400)
    assert half.ports == 2
    # Up to 400 ps the second has not begun.
    early = blocking.pause_totals(run, until_ps=400)
    assert early.frames_per_s == pytest.approx(2 / 400e-12)
    assert early.ports == 1
    assert blocking.pause_totals(run_of()) == blocking.PauseTotals(0.0, 0.0, 0, 0.0)


def test_blocked_flows_are_counted_where_they_are_known() -> None:
    run = run_of(blocked=[True, False, True, False])
    assert (hol_blocked(run), blocking.blocked_share(run)) == (2, 0.5)
    unknown = run_of(blocked=[None, None])
    assert hol_blocked(unknown) is None
    assert math.isnan(blocking.blocked_share(unknown))


def test_a_pause_is_as_deep_as_its_way_to_the_root() -> None:
    # d->e is the root; c->d stops for it, b->c for that, a->b for that. x->d stops before anything, y->z for nothing.
    run = run_of(
        pauses=[("x->d", 0, 5), ("c->d", 20, 60), ("b->c", 30, 60), ("a->b", 40, 60), ("y->z", 40, 60)],
        roots=[("d->e", 10, 50)],
    )
    found = dict(blocking.pause_spread(run).select("port", "depth").iter_rows())
    assert found == {"x->d": None, "c->d": 1, "b->c": 2, "a->b": 3, "y->z": None}
    # A pause at whose time the other is over does not rest on it.
    late = run_of(pauses=[("c->d", 20, 30), ("b->c", 31, 60)], roots=[("d->e", 10, 25)])
    assert blocking.pause_spread(late)["depth"].to_list() == [1, None]
    assert blocking.pause_spread(run_of()).is_empty()


def test_a_queue_settles_when_it_stays_short() -> None:
    # PAUSE at 100. Short at 300 for one sample only, and from 500 on.
    samples = [(100, 9), (200, 90), (300, 5), (400, 80), (500, 5), (600, 5), (700, 5), (900, 90)]
    run = run_of([("a->b", 100, 200)], queues=samples)
    assert blocking.settling_ps(run, "a->b", below_bytes=10, quiet_ps=300) == 400
    # For 100 ps it was short at 300 already; for 500 ps never before the end, but after 900 nothing was sampled.
    assert blocking.settling_ps(run, "a->b", below_bytes=10, quiet_ps=100) == 200
    assert blocking.settling_ps(run, "a->b", below_bytes=10, quiet_ps=500) == math.inf
    # Counted from 450 on, the second PAUSE, at 550, triggers it: back at 600.
    twice = run_of([("a->b", 100, 200), ("a->b", 550, 560)], queues=samples)
    assert blocking.settling_ps(twice, "a->b", below_bytes=10, quiet_ps=300, since_ps=450) == 50
    assert math.isnan(blocking.settling_ps(run, "a->b", below_bytes=10, quiet_ps=300, since_ps=450))
    # Nobody looked at that queue, or none did after the PAUSE.
    assert math.isnan(blocking.settling_ps(run, "b->a", below_bytes=10, quiet_ps=300))
    unseen = run_of([("a->b", 100, 200)], queues=[(100, 90)])
    assert math.isnan(blocking.settling_ps(unseen, "a->b", below_bytes=10, quiet_ps=300))
    # It never was high, and it is so to the end.
    calm = run_of([("a->b", 100, 200)], queues=[(100, 1), (200, 1), (300, 1)])
    assert blocking.settling_ps(calm, "a->b", below_bytes=10, quiet_ps=1000) == 100
    assert math.isnan(blocking.settling_ps(run_of(queues=samples), "a->b", below_bytes=10, quiet_ps=1))


def test_goodput_is_what_all_flows_of_a_label_delivered_until_the_last() -> None:
    # 1000 B and 3000 B from 0 to 400 ps: 32,000 bit in 0.4 ns.
    flows = {
        "label": ["incast", "incast", "other"],
        "start_ps": [0, 100, 0],
        "fct_ps": [200, 300, None],
        "acked_bytes": [1000, 3000, 7],
    }
    run = Run({}, {"flows": pl.DataFrame(flows).to_arrow()})
    assert blocking.goodput_bps(run, "incast") == pytest.approx(32_000 / 400e-12)
    assert math.isnan(blocking.goodput_bps(run, "other"))
    assert math.isnan(blocking.goodput_bps(run, "nobody"))
