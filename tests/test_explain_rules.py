"""The rules of `xoff explain`, each with tables where it speaks and tables where it is silent, by hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from conftest import ROOT
from xoff.analysis.explain.facts import Facts
from xoff.analysis.explain.rules import JOB_RULES, RULES, congestion, credit, marking, outcome, pfc, sending, tcd
from xoff.runs.results import Run

US = 10**6
MS = 10**9
GBPS_100 = 100_000_000_000

# Two hosts on a switch, 100 Gbps and 1 us, PFC at 100 KB, as the manifest has it.
SCENARIO = {
    "lossy": False,
    "scheme": {"name": "none"},
    "host": {"retransmit_timeout": "1ms"},
    "switch": {"priorities": 1, "buffer": None},
    "flow_control": {
        "name": "pfc",
        "xoff": "100KB",
        "xon": None,
        "alpha": None,
        "reserve": "4.096KB",
        "headroom": None,
        "headroom_bdp": None,
        "quanta": 65535,
        "refresh": True,
        "expires": True,
    },
    "record": {"roots": True, "breakdown": True, "pauses": True},
}

FLOW = {
    "id": 0,
    "src": "h0",
    "dst": "h1",
    "size_bytes": 1000,
    "start_ps": 0,
    "fct_ps": 10 * US,
    "slowdown": 2.0,
    "path": "h0>s0>h1",
    "acked_bytes": 1000,
    "retransmitted_bytes": 0,
    "hol_blocked": False,
}

PORT = {
    "rate_bps": GBPS_100,
    "max_queue_bytes": 0,
    "pause_frames_sent": 0,
    "paused_ps": 0,
    "marked_ce": 0,
    "dropped": 0,
    "delay_ps": US,
    "xoff_bytes": None,
    "headroom_bytes": None,
    "needed_headroom_bytes": None,
    "max_headroom_bytes": None,
    "credits": None,
    "needed_credits": None,
}


def port(name: str, **columns: Any) -> dict[str, Any]:
    """A row of the ports' table; switches' ports have a headroom of 30 KB, which is what they need."""
    node, _, peer = name.partition("->")
    room = {"headroom_bytes": 30_000, "needed_headroom_bytes": 30_000, "max_headroom_bytes": 0}
    return {"port": name, "node": node, "peer": peer, **PORT, **(room if node.startswith("s") else {}), **columns}


LINKS = (port("h0->s0"), port("s0->h0"), port("h1->s0"), port("s0->h1"))


def facts(
    *,
    flows: Sequence[dict[str, Any]] = (FLOW,),
    ports: Sequence[dict[str, Any]] = LINKS,
    roots: Sequence[tuple[str, int, int, int]] = (),
    pauses: Sequence[tuple[str, str, int, int]] = (),
    parts: Sequence[tuple[int, str, str, int]] = (),
    manifest: dict[str, Any] | None = None,
    **sections: dict[str, Any],
) -> Facts:
    """Facts of a run of 1 ms with these rows.

    Roots are (port, start, length, most bytes), pauses (port, by, start, length), parts (flow, part, port, time);
    sections are put over those of the scenario.
    """
    known = dict(SCENARIO)
    for name, keys in sections.items():
        own = known.get(name)
        known[name] = (
            {**own, **keys} if isinstance(own, dict) and keys.get("name", own.get("name")) == own.get("name") else keys
        )
    nullable = {name: pa.uint64() for name, value in PORT.items() if value is None}
    stored = {
        "flows": pa.Table.from_pylist(
            list(flows),
            schema=pa.schema(
                [(name, pa.float64() if name == "slowdown" else pa.array([value]).type) for name, value in FLOW.items()]
            ),
        ),
        "ports": pa.Table.from_pylist(
            list(ports),
            schema=pa.schema([(name, nullable.get(name, pa.array([value]).type)) for name, value in LINKS[0].items()]),
        ),
        "roots": pa.table(
            {
                "port": pa.array([row[0] for row in roots], pa.string()),
                "priority": pa.array([0] * len(roots), pa.uint8()),
                "start_ps": pa.array([row[1] for row in roots], pa.uint64()),
                "length_ps": pa.array([row[2] for row in roots], pa.uint64()),
                "max_bytes": pa.array([row[3] for row in roots], pa.uint64()),
            }
        ),
        "pauses": pa.table(
            {
                "port": pa.array([row[0] for row in pauses], pa.string()),
                "by": pa.array([row[1] for row in pauses], pa.string()),
                "priority": pa.array([0] * len(pauses), pa.uint8()),
                "start_ps": pa.array([row[2] for row in pauses], pa.uint64()),
                "length_ps": pa.array([row[3] for row in pauses], pa.uint64()),
            }
        ),
        "breakdown": pa.table(
            {
                "flow": pa.array([row[0] for row in parts], pa.uint32()),
                "leg": pa.array(["sender"] * len(parts), pa.string()),
                "part": pa.array([row[1] for row in parts], pa.string()),
                "port": pa.array([row[2] for row in parts], pa.string()),
                "time_ps": pa.array([row[3] for row in parts], pa.uint64()),
            }
        ),
    }
    about = {
        "scenario": known,
        "fingerprint": "0",
        "sim_time_ps": MS,
        "base_rtt_ps": 5 * US,
        "wire": {"frame_bytes": 1500},
        "stop_reason": "the duration has passed",
        "deadlock": [],
        **(manifest or {}),
    }
    return Facts(Run(about, stored))


def test_a_calm_run_makes_no_rule_speak() -> None:
    assert [rule(facts()) for rule in RULES] == [None] * len(RULES)


def test_every_rule_is_documented() -> None:
    rules = (ROOT / "docs" / "explain.md").read_text("utf-8").partition("## The rules")[2]
    assert [rule.__name__ for rule in (*RULES, *JOB_RULES)] == re.findall(r"^\| `([a-z_]+)` \|", rules, re.MULTILINE)


def test_deadlock() -> None:
    # s2->s0 waits for the circle, and no port of the circle waits for it.
    found = outcome.deadlock(facts(manifest={"deadlock": ["s0->s1", "s1->s0", "s2->s0"]}))
    assert found is not None
    assert (found.severity, found.ports) == ("problem", ("s0->s1", "s1->s0", "s2->s0"))
    assert found.title == "a deadlock: 3 ports wait on each other for ever"
    assert found.evidence == (
        "stopped for ever, first the ports of a circle, each waiting for the next: s0->s1, s1->s0, s2->s0",
    )


def test_losses_name_the_ports_with_most() -> None:
    ports = [port("s0->h0", dropped=3), port("s0->h1", dropped=5), port("h0->s0")]
    flow = {**FLOW, "retransmitted_bytes": 250}
    found = outcome.losses(facts(ports=ports, flows=[flow], flow_control={"name": "none"}))
    assert found is not None
    assert (found.rule, found.severity, found.ports) == ("losses", "warning", ("s0->h1", "s0->h0"))
    assert "8 packets dropped" in found.evidence[0]
    assert "25 % of what was acknowledged" in found.evidence[1]
    over = outcome.losses(facts(ports=ports))
    assert over is not None
    assert over.severity == "problem"
    assert "over their headroom" in over.title


def test_unfinished_flows_are_those_with_a_size() -> None:
    open_ends = [{**FLOW, "id": 1, "size_bytes": None, "fct_ps": None, "slowdown": None}]
    assert outcome.unfinished(facts(flows=open_ends)) is None
    left = {**FLOW, "fct_ps": None, "slowdown": None}
    parts = [(0, "paused", "h0->s0", 750), (0, "serialization", "h0->s0", 250)]
    found = outcome.unfinished(facts(flows=[left], parts=parts))
    assert found is not None
    assert found.flows == (0,)
    assert "paused 75 %, serialization 25 %" in found.evidence[1]


def test_a_pause_storm_is_a_tenth_of_the_run() -> None:
    def stopped(time_ps: int, priorities: int = 1) -> Facts:
        ports = [port("h0->s0", paused_ps=time_ps), port("s0->h0", pause_frames_sent=4)]
        return facts(ports=ports, switch={"priorities": priorities})

    assert congestion.pause_storm(stopped(MS // 10 - 1)) is None
    found = congestion.pause_storm(stopped(MS // 10))
    assert found is not None
    assert found.ports == ("h0->s0",)
    assert "4 PAUSE frames, 4 a millisecond" in found.evidence[1]
    # Over two priorities the same is a twentieth.
    assert congestion.pause_storm(stopped(MS // 10, priorities=2)) is None


def test_a_storm_tells_how_far_it_reached() -> None:
    # The root at s1 stops s0, which stops h0: two links behind the root.
    ports = [port("h0->s0", paused_ps=MS // 2), port("s0->s1", paused_ps=MS // 2)]
    found = congestion.pause_storm(
        facts(
            ports=ports,
            roots=[("s1->h1", 0, MS, 50_000)],
            pauses=[("s0->s1", "s1->s0", 10, MS // 2), ("h0->s0", "s0->h0", 20, MS // 2)],
        )
    )
    assert found is not None
    assert "2 links behind the root" in found.evidence[2]


def test_roots_are_worst_by_time_and_count_their_flows() -> None:
    flows = [FLOW, {**FLOW, "id": 1, "src": "h2", "path": "h2>s0>h1"}, {**FLOW, "id": 2, "path": "h0>s0>h3"}]
    roots = [("s0->h1", 0, MS // 20, 40_000), ("s0->h1", MS // 2, MS // 20, 90_000), ("s0->h3", 0, 5, 31_000)]
    found = congestion.roots(facts(flows=flows, roots=roots))
    assert found is not None
    # Twice a twentieth of the run: a warning.
    assert (found.severity, found.ports) == ("warning", ("s0->h1", "s0->h3"))
    assert "a root 2 times for 100 us in all, up to 90 KB" in found.evidence[0]
    assert "2 flows from 2 hosts" in found.evidence[0]
    short = congestion.roots(facts(flows=flows, roots=roots[2:]))
    assert short is not None
    assert short.severity == "note"


def test_long_queues_count_where_roots_were_not_recorded() -> None:
    # 100 Gbps carry 62,500 B in the base RTT of 5 us.
    def queue(most: int, roots: bool = False) -> Facts:
        return facts(ports=[port("s0->h1", max_queue_bytes=most)], record={"roots": roots})

    assert congestion.long_queues(queue(62_500)) is None
    assert congestion.long_queues(queue(125_000, roots=True)) is None
    found = congestion.long_queues(queue(125_000))
    assert found is not None
    assert "125 KB queued, 2 times" in found.evidence[0]


def test_victims_tell_where_they_waited() -> None:
    flows = [FLOW, {**FLOW, "id": 1, "hol_blocked": True, "slowdown": 9.0}]
    parts = [(1, "paused", "h0->s0", 3 * US), (1, "paused", "s0->h1", US), (0, "paused", "h0->s0", 50 * US)]
    found = congestion.victims(facts(flows=flows, parts=parts))
    assert found is not None
    assert found.flows == (1,)
    assert found.evidence[1].endswith("paused at h0->s0 3 us, s0->h1 1 us")
    assert congestion.victims(facts(flows=[{**FLOW, "hol_blocked": None}])) is None


def test_short_headroom_is_a_problem_when_no_frame_is_left() -> None:
    def room(headroom: int, used: int) -> Facts:
        own = {"headroom_bytes": headroom, "needed_headroom_bytes": 30_000, "max_headroom_bytes": used}
        return facts(ports=[port("s0->h0", **own), port("h0->s0")])

    assert pfc.short_headroom(room(30_000, 30_000)) is None
    spare = pfc.short_headroom(room(20_000, 18_500))
    assert spare is not None
    assert spare.severity == "warning"
    close = pfc.short_headroom(room(20_000, 18_501))
    assert close is not None
    assert (close.severity, close.ports) == ("problem", ("s0->h0",))


def test_ample_headroom_counts_what_nothing_can_use() -> None:
    ports = [port("s0->h0", headroom_bytes=120_000), port("s0->h1", headroom_bytes=119_999)]
    given = facts(ports=ports, flow_control={"headroom": "120KB"})
    found = pfc.ample_headroom(given)
    assert found is not None
    assert found.ports == ("s0->h0",)
    assert "90 KB in all switches" in found.evidence[1]
    # Computed, it is what the link needs.
    assert pfc.ample_headroom(facts(ports=ports)) is None


def test_low_xon_lets_the_link_run_dry() -> None:
    # 100 Gbps and 1 us each way carry 25,000 B, and a frame: 26,500 B.
    def xon(text: str, frames: int = 0) -> Facts:
        ports = [port("h0->s0"), port("s0->h0", pause_frames_sent=frames)]
        return facts(ports=ports, flow_control={"xon": text})

    assert pfc.low_xon(xon("26.5KB")) is None
    idle, paused = pfc.low_xon(xon("26499B")), pfc.low_xon(xon("26499B", 1))
    assert idle is not None
    assert paused is not None
    assert (idle.severity, paused.severity, paused.ports) == ("note", "warning", ("s0->h0",))


def test_narrow_hysteresis_is_less_than_two_frames() -> None:
    assert pfc.narrow_hysteresis(facts(flow_control={"xon": "97KB"})) is None
    assert pfc.narrow_hysteresis(facts(flow_control={"xon": "97001B"})) is not None


def test_pauses_that_end_without_being_repeated() -> None:
    found = pfc.ending_pauses(facts(flow_control={"refresh": False}))
    assert found is not None
    # 65,535 x 512 bit at 100 Gbps.
    assert "335.5 us" in found.evidence[0]
    assert pfc.ending_pauses(facts(flow_control={"refresh": False, "expires": False})) is None


def test_marks_come_after_pause_where_kmax_is_above_xoff() -> None:
    def red(k_min: str | None, k_max: str | None, **more: Any) -> Facts:
        return facts(detector={"name": "red", "k_min": k_min, "k_max": k_max, **more})

    assert marking.marks_after_pause(red("20KB", "100KB")) is None
    late = marking.marks_after_pause(red("20KB", "101KB"))
    never = marking.marks_after_pause(red("100KB", "101KB"))
    assert late is not None
    assert never is not None
    assert (late.severity, never.severity) == ("note", "warning")
    # 101 KB are reached by one input with 100 KB each, and only by more than one where K_min is 100 KB.
    assert late.title == "Kmax is above Xoff: while one input fills a queue, PAUSE comes before marking is in full"
    assert never.title == "Kmin is above Xoff: while one input fills a queue, PAUSE comes before any mark"
    # By default 100 KB and 400 KB for each 25 Gbps: 400 KB and 1.6 MB at 100 Gbps.
    usual = marking.marks_after_pause(red(None, None))
    assert usual is not None
    assert "from 400 KB and in full from 1.6 MB" in usual.evidence[0]
    assert "while up to 4 inputs fill a queue, PAUSE" in usual.title
    # A step of 9 KB for each 10 Gbps is 90 KB.
    assert marking.marks_after_pause(red(None, None, step="9KB")) is None
    listed = [{"rate": "100Gbps", "k_min": "10KB", "k_max": "200KB"}]
    assert marking.marks_after_pause(red(None, None, rates=listed)) is not None
    within = facts(detector={"name": "tcd", "red": {"k_min": "10KB", "k_max": "50KB"}})
    assert marking.marks_after_pause(within) is None


def test_a_dynamic_threshold_is_taken_where_it_comes_to_rest() -> None:
    # A switch of two ports with 30,000 B of headroom and 4,096 B of reserve each, and 1,068,192 B in all: 1,000,000 B
    # are shared. With alpha 0.25 one input comes to rest at 0.25/1.25 of it, 200,000 B, and its reserve: 204,096 B.
    def dynamic(k_max: str) -> Facts:
        return facts(
            flow_control={"xoff": None, "alpha": 0.25},
            switch={"buffer": "1068192B"},
            detector={"name": "red", "k_min": "10KB", "k_max": k_max},
        )

    assert marking.marks_after_pause(dynamic("204096B")) is None
    assert marking.marks_after_pause(dynamic("204097B")) is not None


def test_default_thresholds_are_those_of_each_links_rate() -> None:
    # What comes in 40 us: 500 KB at 100 Gbps, 2 MB at 400 Gbps. Marks begin at 16 us of the rate and are in full from
    # 64 us, by default: 1.6 MB and 6.4 MB at 400 Gbps. A queue at 400 Gbps is filled by the other 400 Gbps input, which
    # is stopped at 2 MB, or by four of 100 Gbps, if there is no other: 4 x 500 KB.
    slow = [port(f"s0->h{number}", xoff_bytes=500_000) for number in range(4)]
    fast = [port(f"s0->s{number}", rate_bps=4 * GBPS_100, xoff_bytes=2_000_000) for number in (1, 2)]

    def late(ports: Sequence[dict[str, Any]], **red: Any) -> Any:
        default = {"xoff": None, "xon": None}
        return marking.marks_after_pause(
            facts(ports=[port("h0->s0"), *ports], flow_control=default, detector={"name": "red", **red})
        )

    usual = late([*slow, *fast])
    assert usual.severity == "note"
    assert usual.evidence[:2] == (
        "ports of 100 Gbps mark from 400 KB and in full from 1.6 MB; Xoff is 500 KB for each input",
        "ports of 400 Gbps mark from 1.6 MB and in full from 6.4 MB; Xoff is 2 MB for each input",
    )
    alone = late([*slow, fast[0]])
    assert "Xoff is 2 MB for the 4 inputs that bring as much, together" in alone.evidence[-2]
    # 6.4 MB are the Xoffs of 12.8 inputs of 100 Gbps.
    assert alone.title.startswith("Kmax is above Xoff: while up to 12 inputs fill a queue, PAUSE comes before")
    # 2 MB are reached by one input of 400 Gbps, at the 400 Gbps port by no fewer than four of 100 Gbps.
    slower = {"rate": "100Gbps", "k_min": "10KB", "k_max": "20KB"}
    listed = [slower, {"rate": "400Gbps", "k_min": "1MB", "k_max": "2MB"}]
    assert late([*slow, fast[0]], rates=listed) is None
    listed[1]["k_max"] = "2.1MB"
    assert late([*slow, fast[0]], rates=listed).severity == "note"
    assert late([*slow[:3], fast[0]], rates=listed) is None
    assert late([*slow, fast[0]], k_min="2MB", k_max="3MB").severity == "warning"
    # Xon is two frames of 1500 B below: RESUME at 497,000 B. A link of 100 Gbps with 19.9 us each way carries 497.5 KB.
    long = [port("h0->s0", delay_ps=19_900_000), port("s0->h0", delay_ps=19_900_000, xoff_bytes=500_000)]
    low = pfc.low_xon(facts(ports=long, flow_control={"xoff": None, "xon": None}))
    assert low is not None
    assert "RESUME is sent at 497 KB" in low.evidence[0]
    assert pfc.low_xon(facts(ports=[long[0], {**long[1], "xoff_bytes": 600_000}], flow_control={"xoff": None})) is None


def test_few_credits() -> None:
    def room(has: int) -> Facts:
        ports = [port("s0->h0", credits=has, needed_credits=400)]
        return facts(ports=ports, flow_control={"name": "cbfc", "update_period": "1us"})

    assert credit.few_credits(room(400)) is None
    found = credit.few_credits(room(100))
    assert found is not None
    assert "25 % of its rate" in found.evidence[0]


def test_a_long_update_period() -> None:
    # Two frames of 1500 B take 240 ns and propagation 2 us: a round trip of 2.24 us. 65,536 symbol times of 40 bit at
    # 100 Gbps are 26.2144 us.
    def period(text: str) -> Facts:
        return facts(flow_control={"name": "cbfc", "update_period": text})

    assert credit.long_update_period(period("8.9us")) is None
    long, beyond = credit.long_update_period(period("8.96us")), credit.long_update_period(period("26.3us"))
    assert long is not None
    assert beyond is not None
    assert (long.severity, beyond.severity) == ("note", "warning")
    assert "4 times as much" in long.evidence[0]


def test_max_on_against_the_equation() -> None:
    # TCD's example: 40 Gbps, 1 us, frames of 1,000 B, epsilon 0.05, two frames between the thresholds: tau = 2.4 us,
    # and (4,000 B + 12,000 B) / 500 B/us + 2.4 us = 34.4 us.
    def given(text: str | None) -> Facts:
        ports = [port("s0->h0", rate_bps=40 * 10**9)]
        detector = {"name": "tcd", "max_on": text, "epsilon": 0.05, "share": 1.0}
        return facts(ports=ports, detector=detector, manifest={"wire": {"frame_bytes": 1000}})

    assert tcd.max_on(given(None)) is None
    assert tcd.max_on(given("34.4us")) is None
    assert tcd.max_on(given("137.6us")) is None
    short, far = tcd.max_on(given("34.3us")), tcd.max_on(given("137.7us"))
    assert short is not None
    assert far is not None
    assert (short.severity, far.severity) == ("warning", "note")
    # Over credits it is T_c.
    cbfc = {"name": "cbfc", "update_period": "10us"}
    early = facts(detector={"name": "tcd", "max_on": "9us", "share": 1.0}, flow_control=cbfc)
    assert tcd.max_on(early) is not None


@pytest.mark.parametrize(
    ("part", "rule"),
    [("window", sending.window_limited), ("rate", sending.rate_limited), ("source", sending.slow_sources)],
)
def test_flows_that_are_held_though_the_network_is_free(part: str, rule: Any) -> None:
    def held(at_sender: int, queued: int) -> Facts:
        rest = 10 * US - at_sender - queued
        rows = [(0, part, "h0->s0", at_sender), (0, "queueing", "s0->h1", queued), (0, "propagation", "h0->s0", rest)]
        return facts(parts=rows)

    assert rule(held(5 * US - 1, 0)) is None
    assert rule(held(5 * US, US)) is None
    found = rule(held(5 * US, US - 1))
    assert found.flows == (0,)
    assert "flow 0 for 50 % of its 10 us" in found.evidence[0]


def test_dcqcn_timers_above_the_interval_of_cnps() -> None:
    def dcqcn(alpha: str, increase: str) -> Facts:
        timers = {"alpha_timer": alpha, "increase_timer": increase, "cnp_interval": "50us"}
        return facts(scheme={"name": "dcqcn", "variant": "paper", **timers})

    assert sending.dcqcn_timers(dcqcn("55us", "51us")) is None
    found = sending.dcqcn_timers(dcqcn("50us", "55us"))
    assert found is not None
    assert found.evidence == ("alpha_timer is 50 us, and CNPs of a flow come 50 us apart at the least",)


def test_a_retransmission_timer_out_of_range() -> None:
    # The base RTT is 5 us.
    def timer(text: str) -> Facts:
        run = facts(host={"retransmit_timeout": text})
        return Facts(Run({**run.manifest, "scenario": {**run.scenario, "lossy": True}}, run.run.tables))

    assert sending.retransmit_timeout(timer("10us")) is None
    assert sending.retransmit_timeout(timer("500us")) is None
    short, slow = sending.retransmit_timeout(timer("9.9us")), sending.retransmit_timeout(timer("501us"))
    assert short is not None
    assert slow is not None
    assert (short.severity, slow.severity) == ("warning", "note")
    assert sending.retransmit_timeout(facts(host={"retransmit_timeout": "1us"})) is None
