"""The fluid models: fixed points by hand, the solver against known solutions, and how the models move."""

from __future__ import annotations

import cmath
import math
import subprocess
import sys
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

import xoff
from xoff import fluid, plot
from xoff.fluid.dde import History, steps
from xoff.fluid.models import Model

mpl.use("Agg")

PACKET = 1000.0


# Fixed points


def test_patched_timely_rests_where_its_error_is_delta_n_over_beta_c() -> None:
    # N = 40: delta N / (beta C) = 10e6 * 40 / (0.008 * 10e9) = 5, so q* = (1 + 5) * C * 50 us = 300 us = 375 packets.
    printed = fluid.fixed_point(fluid.PatchedTimely(flows=40))
    assert printed.queue_bytes == pytest.approx(375 * PACKET)
    assert printed.rate_bps == 250e6
    assert printed.exists
    # Of the RTT: it is 300 us, of which 5 us are propagation and 0.8 us a packet: 294.2 us = 367.75 packets.
    whole = fluid.fixed_point(fluid.PatchedTimely(flows=40, thresholds="rtt"))
    assert whole.rtt_s == pytest.approx(300e-6)
    assert whole.queue_bytes == pytest.approx(367.75 * PACKET)


def test_patched_timely_has_no_fixed_point_from_80_flows_on() -> None:
    # Eq. 8: 450 us * 0.008 * 10e9 / (10e6 * 45 us) = 80; with q' = C T_low as printed 450 / 50 * 8 = 72.
    model = fluid.PatchedTimely(flows=2, thresholds="less_propagation")
    assert fluid.patched_timely_flow_limit(model) == pytest.approx(80)
    assert fluid.patched_timely_flow_limit(fluid.PatchedTimely(flows=2)) == pytest.approx(72)
    assert fluid.fixed_point(replace(model, flows=79)).exists
    assert not fluid.fixed_point(replace(model, flows=81)).exists


@pytest.mark.parametrize(
    ("model", "rtt_us", "packets"),
    [
        # low * high * (delta N + beta C) / (delta N low + beta C high), in us and Mbps with beta C = 80:
        # 50 * 500 * (5000 + 80) / (5000 * 50 + 80 * 500) = 437.93; less 5.8 us at 1.25 packets a us: 540.2
        (fluid.Sqcc(flows=500, adapt_delta=False, adapt_t_low=False, thresholds="rtt"), 437.931, 540.164),
        # delta = C / N^2 = 0.04: 50 * 500 * (20 + 80) / (20 * 50 + 80 * 500) = 60.98; 68.97 packets
        (fluid.Sqcc(flows=500, adapt_t_low=False, thresholds="rtt"), 60.9756, 68.9695),
        # k = 2: T_low = 100, delta = 0.08: 100 * 500 * (40 + 80) / (40 * 100 + 80 * 500) = 136.36; 163.2 packets
        (fluid.Sqcc(flows=500, thresholds="rtt"), 136.3636, 163.2045),
    ],
)
def test_sqcc_rests_at_equation_17(model: fluid.Sqcc, rtt_us: float, packets: float) -> None:
    at = fluid.fixed_point(model)
    assert at.rtt_s * 1e6 == pytest.approx(rtt_us, rel=1e-5)
    assert at.queue_bytes / PACKET == pytest.approx(packets, rel=1e-5)
    assert at.exists


def test_equation_18_is_the_distance_to_t_high_and_q_stays_between_the_thresholds() -> None:
    model = fluid.Sqcc(flows=60, adapt_delta=False, adapt_t_low=False)
    # delta N = 600 Mbps: 80 * 500 * 450 / (600 * 50 + 80 * 500) = 257.14 us
    assert fluid.sqcc_margin_s(model) == pytest.approx(257.142857e-6)
    assert fluid.sqcc_queue_s(model) == pytest.approx(500e-6 - 257.142857e-6)
    few = replace(model, flows=1, delta_bps=1.0)
    many = replace(model, flows=10**7)
    assert fluid.sqcc_queue_s(few) == pytest.approx(50e-6, rel=1e-6)
    assert fluid.sqcc_queue_s(many) == pytest.approx(500e-6, rel=1e-4)
    assert fluid.sqcc_queue_s(many) < 500e-6


def test_sqcc_is_below_patched_timely_by_what_the_paper_derives() -> None:
    # q_low^2 delta N (delta N + beta C) / (beta C (delta N q_low + beta C q_high)); N = 60, in us and Mbps:
    # 2500 * 600 * 680 / (80 * (600 * 50 + 80 * 500)) = 182.14 us
    model = fluid.PatchedTimely(flows=60)
    sqcc = fluid.Sqcc(flows=60, adapt_delta=False, adapt_t_low=False)
    difference = fluid.patched_timely_queue_s(model) - fluid.sqcc_queue_s(sqcc)
    assert difference == pytest.approx(182.142857e-6)


def test_sqcc_adapts_as_in_the_paper() -> None:
    # IV.B and Table II: delta = 6.25 and 2.7 (10e9 / 3600 = 2.78) Mbps at N = 40 and 60, 0.04 and 0.08 at 500.
    assert fluid.Sqcc(flows=40).increase_bps == 6.25e6
    assert fluid.Sqcc(flows=60).increase_bps == pytest.approx(2.7778e6, rel=1e-4)
    assert fluid.Sqcc(flows=500, adapt_t_low=False).increase_bps == pytest.approx(0.04e6)
    assert fluid.Sqcc(flows=500).increase_bps == pytest.approx(0.08e6)
    assert fluid.Sqcc(flows=500).low_s == pytest.approx(100e-6)
    assert fluid.Sqcc(flows=500, adapt_t_low=False).low_s == pytest.approx(50e-6)
    assert [fluid.sqcc_k(n) for n in (1, 9, 10, 99, 100, 999, 1000)] == [1, 1, 1, 1, 2, 2, 3]


def test_the_range_of_delta_solves_its_equation() -> None:
    # N = 40: 10e9 / 3200 * (40 - sqrt(40 * 36)) = 6.4127 Mbps; N = 60: 10e9 / 7200 * (60 - sqrt(60 * 56)) = 2.8269
    assert fluid.sqcc_delta_range_bps(40, 10e9, 1)[0] == pytest.approx(6.412e6, rel=1e-3)
    assert fluid.sqcc_delta_range_bps(60, 10e9, 1)[0] == pytest.approx(2.827e6, rel=1e-3)
    for delta in fluid.sqcc_delta_range_bps(500, 10e9, 2):
        # N^3 delta^2 - N^2 C delta + C^2 k = 0, each term divided by C^2
        scaled = delta / 10e9
        assert 500**3 * scaled**2 - 500**2 * scaled + 2 == pytest.approx(0, abs=1e-6)
    with pytest.raises(xoff.UserError, match="below 4 k = 8 flows"):
        fluid.sqcc_delta_range_bps(7, 10e9, 2)


# The right-hand side


def test_delays_and_weight() -> None:
    model = fluid.PatchedTimely(flows=40)
    # Eq. 4: 100 us of queue, 8000 bit at 10 Gbps, 5 us; Eq. 3: 128,000 bit at 250 Mbps, and 20 us at least
    assert model.feedback_delay_s(100e-6) == pytest.approx(105.8e-6)
    assert model.update_interval_s(np.array([250e6, 10e9])) == pytest.approx([512e-6, 20e-6])
    assert model.weight(np.array([-1, -0.25, -0.1, 0, 0.1, 0.25, 1])) == pytest.approx([0, 0, 0.3, 0.5, 0.7, 1, 1])


@pytest.mark.parametrize(
    ("model", "queue_us", "gradient", "step_mbps"),
    [
        # One flow of 1 Gbps, whose rate changes by `step_mbps` each 128 us.
        (fluid.PatchedTimely(flows=10), 49.9, 1.0, 10),  # below T_low: + delta, whatever the gradient
        (fluid.PatchedTimely(flows=10), 50.0, 1.0, 0),  # at q': the error is 0
        (fluid.PatchedTimely(flows=10), 100.0, -1.0, 10),  # weight 0
        (fluid.PatchedTimely(flows=10), 150.0, 1.0, -16),  # weight 1, error 2: 1000 * 0.008 * 2
        (fluid.PatchedTimely(flows=10), 150.0, 0.0, -3),  # weight 1/2: 5 - 8
        (fluid.PatchedTimely(flows=10), 1000.0, -1.0, -4),  # from T_high on 1000 * 0.008 * (1 - 500 / 1000)
        (fluid.PatchedTimely(flows=10), 500.0, -1.0, 0),  # T_high itself is of that branch
        (fluid.PatchedTimely(flows=10, thresholds="rtt"), 44.1, 1.0, 10),  # 49.9 us of RTT
        (fluid.PatchedTimely(flows=10, thresholds="less_propagation"), 90.0, 1.0, -8),  # q' = 45 us: error 1
        # error = 500 * (275 - 50) / (50 * (500 - 275)) = 10
        (fluid.Sqcc(flows=10, adapt_delta=False, adapt_t_low=False), 275.0, 1.0, -80),
        (fluid.Sqcc(flows=10), 40.0, 0.0, 100),  # delta = 10e9 / 100
        # error = 10 * 449 / 1 = 4490, hence a cut of 35 times the rate: no more than all of it
        (fluid.Sqcc(flows=10, adapt_delta=False, adapt_t_low=False), 499.0, 1.0, -1000),
        (fluid.PatchedTimely(flows=10, line_rate_bps=1e9), 0.0, 0.0, 0),  # at line rate no further
        (fluid.PatchedTimely(flows=10, line_rate_bps=1e9), 150.0, 1.0, -16),  # but down
    ],
)
def test_every_case_of_the_rate(model: Model, queue_us: float, gradient: float, step_mbps: float) -> None:
    change = model.rate_change(queue_us / 1e6, np.array([1e9]), np.array([gradient]))
    assert change * 128e-6 / 1e6 == pytest.approx([step_mbps], abs=1e-9)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"flows": 0}, "flows = 0: expected a whole number, 1 or more"),
        ({"flows": 2.5}, "flows = 2.5"),
        ({"beta": 0.0}, "beta = 0.0: expected a number above 0"),
        ({"capacity_bps": math.inf}, "capacity_bps = inf"),
        ({"alpha": 1.5}, "alpha = 1.5: expected a share"),
        ({"thresholds": "delay"}, "thresholds = delay: expected one of queue, less_propagation, rtt"),
        ({"t_low_s": 600e-6}, "expected 0 < low < high"),
        ({"t_low_s": 4e-6, "thresholds": "less_propagation"}, "expected 0 < low < high"),
    ],
)
def test_impossible_models_are_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(xoff.UserError, match=message):
        fluid.PatchedTimely(**{"flows": 2, **wrong})  # type: ignore[arg-type]


def test_impossible_runs_are_refused() -> None:
    model = fluid.PatchedTimely(flows=3)
    with pytest.raises(xoff.UserError, match="duration_s = 0"):
        fluid.simulate(model, 0)
    with pytest.raises(xoff.UserError, match="queue_bytes = -1"):
        fluid.simulate(model, 1e-3, queue_bytes=-1)
    with pytest.raises(xoff.UserError, match="has 2 rates: expected one, or 3"):
        fluid.simulate(model, 1e-3, rates_bps=[1e9, 2e9])
    with pytest.raises(xoff.UserError, match="rates above 0"):
        fluid.simulate(model, 1e-3, rates_bps=[1e9, 2e9, 0])


# The solver


def test_a_constant_delay() -> None:
    # y' = -y(t - 1) / 2 from y = 1: 1 - t/2 up to 1, then 1/2 - (t - 1)/2 + (t - 1)^2/8; 1/8 at 2.
    times, values = [0.0], [1.0]
    for _, end, state in steps(lambda t, y, past: np.array([-past(t - 1) / 2]), lambda y: 1.0, np.array([1.0]), 2.0):
        times.append(end)
        values.append(float(state(np.array([end]))[0, 0]))
    expected = [1 - t / 2 if t <= 1 else 0.5 - (t - 1) / 2 + (t - 1) ** 2 / 8 for t in times]
    assert times[-1] == 2.0
    assert values == pytest.approx(expected, abs=1e-9)


def test_a_delay_that_depends_on_the_state() -> None:
    # y = exp(-t) solves y' = -exp(-tau) y(t - tau) for any tau, here 1/10 + y, with that past.
    def derivative(t: float, y: object, past: object) -> object:
        tau = 0.1 + float(y[0])  # type: ignore[index]
        return np.array([-math.exp(-tau) * past(t - tau)])  # type: ignore[operator]

    found = list(
        steps(
            derivative,  # type: ignore[arg-type]
            lambda y: 0.1,
            np.array([1.0]),
            3.0,
            before=lambda t: math.exp(-t),
            rtol=1e-8,
        )
    )
    for begin, end, state in found:
        middle = np.array([begin, (begin + end) / 2, end])
        assert state(middle)[0] == pytest.approx(np.exp(-middle), rel=1e-6)
    assert found[-1][1] == 3.0


def test_a_level_stays_at_zero_until_it_gains() -> None:
    # y' = -cos t from 1/2: 1/2 - sin t is 0 at pi/6; it gains again from pi/2 on, as 1 - sin t, which is 1 at pi.
    pieces = list(
        steps(lambda t, y, past: np.array([-math.cos(t)]), lambda y: 0.05, np.array([0.5]), math.pi, atol=1e-10)
    )
    ends = [end for _, end, _ in pieces]
    assert min(abs(end - math.pi / 6) for end in ends) < 1e-9
    history = History(lambda _: 0.5)
    for begin, end, state in pieces:
        history.add(begin, end, state)
    assert history(-1.0) == 0.5
    assert history(0.3) == pytest.approx(0.5 - math.sin(0.3), abs=1e-8)
    assert [history(t) for t in (math.pi / 6 + 1e-6, 1.0, math.pi / 2 - 1e-3)] == [0, 0, 0]
    assert history(2.5) == pytest.approx(1 - math.sin(2.5), abs=1e-6)
    assert history(math.pi) == pytest.approx(1, abs=1e-6)
    assert history(10.0) == history(math.pi), "nothing is known of later times"


# How the models move


@pytest.mark.parametrize(
    "model",
    [
        fluid.PatchedTimely(flows=10),
        fluid.PatchedTimely(flows=10, thresholds="rtt"),
        fluid.Sqcc(flows=40, segment_bytes=PACKET),
        fluid.Sqcc(flows=500, segment_bytes=PACKET, thresholds="rtt"),
    ],
    ids=lambda model: f"{type(model).__name__}-{model.flows}-{model.thresholds}",
)
def test_the_steady_state_is_the_fixed_point(model: Model) -> None:
    rest = fluid.fixed_point(model)
    run = fluid.simulate(model, 30e-3, queue_bytes=0.8 * rest.queue_bytes)
    assert run.queue_bytes[0] == pytest.approx(0.8 * rest.queue_bytes)
    assert run.queue_bytes[-1] == pytest.approx(rest.queue_bytes, rel=2e-3)
    assert run.rates_bps[-1] == pytest.approx([rest.rate_bps], rel=2e-3)
    assert run.gradients[-1] == pytest.approx([0], abs=2e-3)


def test_the_fixed_point_is_not_left() -> None:
    # Stable or not: at rest nothing moves.
    model = fluid.PatchedTimely(flows=60)
    rest = fluid.fixed_point(model)
    run = fluid.simulate(model, 2e-3, queue_bytes=rest.queue_bytes)
    assert run.queue_bytes == pytest.approx(np.full(201, rest.queue_bytes), rel=1e-6)


def test_what_comes_in_and_does_not_leave_is_queued() -> None:
    # dq/dt = sum R - C while there is a queue; all 10 flows at 1.5 Gbps at first.
    run = fluid.simulate(fluid.PatchedTimely(flows=10), 2e-3, rates_bps=1.5e9, interval_s=1e-6)
    assert (run.queue_bytes[1:] > 0).all()
    surplus = (run.rates_bps @ run.group_sizes - 10e9) / 8
    gained = np.concatenate([[0], np.cumsum((surplus[1:] + surplus[:-1]) / 2 * 1e-6)])
    assert run.queue_bytes == pytest.approx(gained, abs=20)


def test_a_queue_is_never_negative_and_refills() -> None:
    # Below T_low rates rise by delta R / seg: by k = 10e6 / 128e3 = 78.125 a second. At 10 * 950 Mbps 80,000 bit of
    # queue last until 80e3 + 9.5e9 (e^(k t) - 1) / k - 10e9 t = 0, at 185.7 us; rates make up C at
    # ln(1/0.95) / k = 657 us.
    run = fluid.simulate(
        fluid.PatchedTimely(flows=10), 1.5e-3, rates_bps=950e6, queue_bytes=10 * PACKET, interval_s=1e-6
    )
    assert run.queue_bytes.min() == 0
    empty = run.time_s[run.queue_bytes == 0]
    assert (empty[0], empty[-1]) == (pytest.approx(186e-6), pytest.approx(656e-6, abs=1.1e-6))
    assert (run.queue_bytes[run.time_s > 660e-6] > 0).all()
    during = (run.time_s >= empty[0]) & (run.time_s <= empty[-1])
    assert during.sum() == len(empty)
    grown = np.polyfit(run.time_s[during], np.log(run.rates_bps[during, 0]), 1)[0]
    assert grown == pytest.approx(10e6 / 128e3, rel=1e-4)


def test_two_flows_come_together_as_their_authors_derived() -> None:
    # d(R1 - R2)/dt = -delta / (2 seg) (R1 - R2) near C/N for N = 2: 10e6 / 256e3 = 39.06 a second.
    model = fluid.PatchedTimely(flows=2)
    rest = fluid.fixed_point(model)
    run = fluid.simulate(model, 20e-3, rates_bps=[4.9e9, 5.1e9], queue_bytes=rest.queue_bytes)
    assert run.group_sizes.tolist() == [1, 1]
    apart = run.rates_bps[:, 1] - run.rates_bps[:, 0]
    late = run.time_s >= 2e-3
    assert -np.polyfit(run.time_s[late], np.log(apart[late]), 1)[0] == pytest.approx(10e6 / 256e3, rel=0.01)


def characteristic_root(model: fluid.PatchedTimely, guess: complex) -> complex:
    """The root near `guess` of the characteristic equation of the model linearized at its fixed point.

    With x = q/C, r = sum R/C - 1 and d = delta N / C, and since beta error C/N = delta there:
      s x = r,   tau* s r = -4 d g - d r / 2 - beta e^(-s tau') x / (2 low),
      tau* s g = alpha (-g + e^(-s tau') (1 - e^(-s tau*)) x / D_minRTT).
    """
    fair = model.capacity_bps / model.flows
    update = float(model.update_interval_s(np.array([fair]))[0])
    delay = fluid.fixed_point(model).rtt_s
    d = model.increase_bps / fair

    def equation(s: complex) -> complex:
        back = cmath.exp(-s * delay)
        gradient = model.alpha / (update * s + model.alpha) * back * (1 - cmath.exp(-s * update)) / model.min_rtt_s
        return s * (update * s + d / 2) + 4 * d * gradient + model.beta * back / (2 * model.low_s)

    root = guess
    for _ in range(50):  # Newton's method
        step = 1e-3 * (1 + 1j)
        slope = (equation(root + step) - equation(root - step)) / (2 * step)
        root -= equation(root) / slope
    assert abs(equation(root)) < 1e-9
    return root


@pytest.mark.parametrize(("flows", "guess"), [(10, -500 + 2000j), (16, -100 + 2500j), (24, 100 + 2500j)])
def test_small_disturbances_move_as_the_linearized_model(flows: int, guess: complex) -> None:
    # What is left after a while is an oscillation and a slow return: z(t + 3h) = a z(t + 2h) + b z(t + h) + c z(t),
    # whose characteristic roots are e^(s h).
    model = fluid.PatchedTimely(flows=flows)
    root, slow = characteristic_root(model, guess), characteristic_root(model, -50)
    assert (root.real > 0) == (flows == 24), "stable at 10 and 16 flows, not at 24"
    rest = fluid.fixed_point(model)
    run = fluid.simulate(model, 8e-3, queue_bytes=rest.queue_bytes * (1 + 1e-5), interval_s=100e-6, rtol=1e-9)
    z = run.queue_bytes[20:] - rest.queue_bytes
    recurrence = np.linalg.lstsq(np.column_stack([z[2:-1], z[1:-2], z[:-3]]), z[3:], rcond=None)[0]
    found = np.log(np.roots([1, *-recurrence]).astype(complex)) / 100e-6
    assert min(abs(found - root)) < 0.01 * abs(root)
    assert min(abs(found - slow)) < 0.1 * abs(slow)


def test_beyond_its_limit_patched_timely_goes_over_t_high() -> None:
    # 100 flows: Eq. 6 would be 675 us, more than T_high; 500 us are 625 packets.
    model = fluid.PatchedTimely(flows=100)
    assert not fluid.fixed_point(model).exists
    run = fluid.simulate(model, 20e-3, interval_s=100e-6)
    assert run.queue_bytes.max() > 625 * PACKET


# What comes out


def test_samples_are_those_of_a_run() -> None:
    model = fluid.PatchedTimely(flows=3)
    run = fluid.simulate(model, 50e-6, rates_bps=[2e9, 6e9, 2e9], queue_bytes=5000.4)
    queues, rates = run.queues(), run.rates()
    assert queues.column_names == ["time_ps", "port", "bytes"]
    assert queues["time_ps"].to_pylist() == [0, 10**7, 2 * 10**7, 3 * 10**7, 4 * 10**7, 5 * 10**7]
    assert set(queues["port"].to_pylist()) == {"bottleneck"}
    assert queues["bytes"][0].as_py() == 5000
    assert run.group_sizes.tolist() == [2, 1]
    assert rates.column_names == ["time_ps", "flow", "rate_bps"]
    assert rates.num_rows == 12
    assert rates["flow"].to_pylist()[:2] == [0, 2]
    assert rates["rate_bps"].to_pylist()[:2] == [2e9, 6e9]


def test_grouped_flows_move_as_single_ones() -> None:
    grouped = fluid.simulate(fluid.PatchedTimely(flows=4), 2e-3)
    # a hundredth of a bit a second apart: four groups of one
    single = fluid.simulate(fluid.PatchedTimely(flows=4), 2e-3, rates_bps=[2.5e9 + 0.01 * i for i in range(4)])
    assert single.rates_bps.shape == (201, 4)
    assert single.queue_bytes == pytest.approx(grouped.queue_bytes, rel=1e-4, abs=1)


def test_figures() -> None:
    run = fluid.simulate(fluid.PatchedTimely(flows=2), 30e-6, rates_bps=[4e9, 6e9], queue_bytes=80_000)
    ax = Figure().subplots()
    assert plot.fluid_queue(ax, {"patched TIMELY": run}) is ax
    assert [line.get_label() for line in ax.lines] == ["patched TIMELY"]
    assert np.asarray(ax.lines[0].get_xydata())[0].tolist() == [0.0, 80.0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time (us)", "queue (KB)")
    ax = Figure().subplots()
    plot.fluid_rates(ax, run)
    assert np.asarray([line.get_xydata() for line in ax.lines])[:, 0].tolist() == [[0.0, 4.0], [0.0, 6.0]]
    assert [line.get_label() for line in ax.lines] == ["1 flow", "1 flow"]
    assert ax.get_ylabel() == "rate (Gbps)"


def test_scipy_waits_until_a_model_is_solved() -> None:
    script = (
        "import sys; from xoff import fluid; fluid.fixed_point(fluid.Sqcc(flows=40)); "
        "sys.exit('scipy' in sys.modules or 'pyarrow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
