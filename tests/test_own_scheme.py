"""A scheme in Python: that it gets what built-in ones get, and that what is wrong with it is said."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

import own_schemes
import xoff
from conftest import ROOT, Command
from own_schemes import Aimd
from xoff.runs.folder import TABLES

DUMBBELL, INCAST = ROOT / "scenarios" / "dumbbell.toml", ROOT / "scenarios" / "incast.toml"

SHORT: dict[str, object] = {"run.duration": "100us", "traffic.1.start": "20us"}
"""The dumbbell, with some 1,300 packets."""

STEP: dict[str, object] = {"detector.name": "red", "detector.k_min": "30KB", "detector.k_max": "30KB"}
"""DCTCP's marks, which a scheme of one's own does not get of its own accord."""


def flow() -> xoff.Flow:
    """100 Gbps with a base RTT of 8 us: the bandwidth-delay product is 100,000 B."""
    return xoff.Flow(line_rate_bps=100_000_000_000, base_rtt_ps=8_000_000)


def ack(seq: int, snd_nxt: int, *, marked: bool) -> xoff.Ack:
    return xoff.Ack(now_ps=0, seq=seq, newly_acked_bytes=1456, snd_nxt=snd_nxt, marked_ce=marked)


def test_a_marked_round_trip_halves_the_window_once_and_others_add_a_step() -> None:
    sender = Aimd(flow())
    assert sender.window() == 100_000
    # The first ACK ends a round trip of its own: halved.
    sender.on_ack(ack(1_456, 100_000, marked=True))
    assert sender.window() == 50_000
    # The next one ends with the ACK of a byte after 100,000; marks until then count into it.
    sender.on_ack(ack(50_000, 130_000, marked=True))
    sender.on_ack(ack(100_000, 150_000, marked=False))
    assert sender.window() == 50_000
    sender.on_ack(ack(101_456, 151_456, marked=False))
    assert sender.window() == 25_000
    # Without a mark 25,000 + 1,500.
    sender.on_ack(ack(152_912, 180_000, marked=False))
    assert sender.window() == 26_500


@pytest.mark.parametrize(
    ("name", "cls", "sets"),
    [
        ("dctcp", own_schemes.Dctcp, STEP),
        ("hpcc", own_schemes.Hpcc, {}),
        # In full precision, which is another record behind the same class.
        ("hpcc", own_schemes.Hpcc, {"packets.int_format": "exact"}),
    ],
)
@pytest.mark.parametrize(
    ("scenario", "shorter"),
    [(DUMBBELL, SHORT), (INCAST, {"traffic.0.size": "60KB", "topology.hosts": 9, "traffic.0.senders": 8})],
)
def test_a_built_in_scheme_written_again_gives_the_same_bytes(
    name: str, cls: type[xoff.Scheme], sets: dict[str, object], scenario: Path, shorter: dict[str, object]
) -> None:
    sets = {**shorter, **sets}
    theirs = xoff.run(scenario, sets={**sets, "scheme.name": name})
    ours = xoff.run(scenario, sets={**sets, "scheme.name": "again"}, schemes={"again": cls})
    assert theirs.flows.num_rows > 1
    assert max(theirs.rates["window_bytes"].to_pylist()) > min(theirs.rates["window_bytes"].to_pylist()), "it reacts"
    for table in TABLES:
        assert ours.table(table).equals(theirs.table(table)), table
    assert ours.manifest["fingerprint"] == theirs.manifest["fingerprint"]


class Cautious(xoff.Scheme):
    """Halves its rate at each CNP, and doubles it each 20 us."""

    signals: ClassVar[xoff.Signals] = {"cnps": True}
    seen: ClassVar[list[tuple[str, int]]] = []

    def __init__(self, flow: xoff.Flow) -> None:
        self.bps = self.most = flow.line_rate_bps
        self.next = flow.start_ps + 20_000_000

    def on_cnp(self, cnp: xoff.Cnp) -> None:
        """Half of it."""
        assert cnp.marked_ce
        self.bps //= 2
        self.seen.append(("cnp", cnp.now_ps))

    def on_timer(self, now_ps: int) -> None:
        """Twice as much."""
        assert now_ps == self.next
        self.bps = min(2 * self.bps, self.most)
        self.next += 20_000_000
        self.seen.append(("timer", now_ps))

    def rate(self) -> float:
        """In bit/s."""
        return self.bps

    def next_timer(self) -> float:
        """In 20 us."""
        return self.next


def test_cnps_and_timers_come_when_they_are_due() -> None:
    Cautious.seen.clear()
    run = xoff.run(
        INCAST, sets={"traffic.0.size": "100KB", "record.notifications": True}, schemes={"cautious": Cautious}
    )
    times = {what: [time for kind, time in Cautious.seen if kind == what] for what in ("cnp", "timer")}
    assert run.notifications.num_rows == len(times["cnp"]) == sum(run.flows["cnps"].to_pylist()) > 0
    assert sorted(times["cnp"]) == sorted(run.notifications["time_ps"].to_pylist())
    # All flows start at time zero, and so does the count of 20 us.
    assert times["timer"]
    assert all(time % 20_000_000 == 0 for time in times["timer"])


def test_what_a_flow_is_told_is_the_networks() -> None:
    told: list[xoff.Flow] = []
    rtts: list[int] = []
    counts: set[int] = set()

    class Watcher(xoff.Scheme):
        signals: ClassVar[xoff.Signals] = {"timestamp": True, "flow_count": True}

        def __init__(self, flow: xoff.Flow) -> None:
            told.append(flow)

        def on_ack(self, ack: xoff.Ack) -> None:
            rtts.append(ack.rtt_ps)
            counts.add(ack.flow_count)

        def window(self) -> float:
            return 1.0

    run = xoff.run(DUMBBELL, sets=SHORT, schemes={"watcher": Watcher})
    first, second = told
    assert (first.id, first.start_ps, second.id, second.start_ps) == (0, 0, 1, 20_000_000)
    assert (first.line_rate_bps, first.switches, first.base_rtt_ps) == (10**11, 3, run.manifest["base_rtt_ps"])
    assert first.seed != second.seed
    assert (first.payload_bytes, first.frame_bytes) == (
        run.manifest["wire"]["payload_bytes"],
        run.manifest["wire"]["frame_bytes"],
    )
    # One packet at a time: each round trip is that of an unloaded network, but for what the other flow's packet takes.
    assert min(rtts) == first.base_rtt_ps
    assert counts == {1, 2}


def test_losses_and_timeouts_are_told() -> None:
    lossy = ROOT / "scenarios" / "lossy.toml"
    seen: dict[str, int] = {"on_loss": 0, "on_timeout": 0, "on_send": 0}

    class Counter(xoff.Scheme):
        def on_send(self, sent: xoff.Sent) -> None:
            seen["on_send"] += sent.payload_bytes

        def on_loss(self, now_ps: int) -> None:
            seen["on_loss"] += 1

        def on_timeout(self, now_ps: int) -> None:
            seen["on_timeout"] += 1

        def rate(self) -> None:
            return None

    run = xoff.run(lossy, schemes={"counter": Counter})
    sent = sum(
        size + again
        for size, again in zip(*(run.flows[c].to_pylist() for c in ("size_bytes", "retransmitted_bytes")), strict=True)
    )
    assert seen["on_send"] == sent
    assert seen["on_loss"] > 0


def test_the_manifest_says_where_the_scheme_came_from(small: Path, command: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text((ROOT / "tests" / "own_schemes.py").read_text("utf-8"), "utf-8")
    done = command("run", small, "-o", "out", "--scheme", "mine.py:Aimd", "--set", "scheme.step=3000")
    assert (done.returncode, done.stderr) == (0, "")
    assert "aimd, seed 1" in done.stdout
    manifest = xoff.load(tmp_path / "out").manifest
    assert manifest["scenario"]["scheme"] == {"name": "aimd", "step": 3000, "cut": 0.5}
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert manifest["scheme_origin"] == {"language": "python", "class": "Aimd", "file": "mine.py", "sha256": digest}
    assert xoff.run(small).manifest["scheme_origin"] is None
    done = command("report", "out")
    assert done.returncode == 0
    assert "aimd" in (tmp_path / "out" / "report.html").read_text("utf-8")


def breaking(**methods: Callable[..., Any]) -> type[xoff.Scheme]:
    """A class called Mine that states a window of 10,000 B and has these methods."""
    usual: dict[str, Any] = {"signals": {}, "window": lambda self: 10_000.0}
    return type("Mine", (xoff.Scheme,), {**usual, **methods})


def boom(self: object, *_: object) -> None:
    raise ZeroDivisionError("no such thing")


def boom_at_start(self: object, flow: xoff.Flow) -> None:
    raise ZeroDivisionError("no such thing")


CNPS: dict[str, Any] = {"signals": {"cnps": True}, "window": lambda self: None}
CONGESTED: dict[str, object] = {"traffic.0.size": "200KB"}


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("__init__", {}),
        ("on_send", {}),
        ("on_ack", {}),
        ("on_cnp", CNPS),
        ("on_timer", {"next_timer": lambda self: 7_000_000}),
        ("rate", {}),
        ("window", {}),
        ("next_timer", {"on_timer": lambda self, now_ps: None}),
    ],
)
def test_an_exception_ends_the_run_with_its_traceback_and_the_time(method: str, more: dict[str, Any]) -> None:
    cls = breaking(**{**more, method: boom_at_start if method == "__init__" else boom})
    with pytest.raises(
        xoff.RunError, match=rf"the scheme `mine` broke at .*: Mine\.{method}\(\) of flow \d+ raised"
    ) as error:
        xoff.run(INCAST, sets=CONGESTED, schemes={"mine": cls})
    assert "ZeroDivisionError: no such thing" in str(error.value)
    cause = error.value.__cause__
    assert isinstance(cause, ZeroDivisionError)
    assert cause.__traceback__ is not None
    assert cause.__traceback__.tb_frame.f_code.co_name.startswith("boom")
    if method == "on_timer":
        assert "broke at 7us" in str(error.value)


@pytest.mark.parametrize("method", ["on_loss", "on_timeout"])
def test_an_exception_at_a_loss_ends_the_run(method: str) -> None:
    # Sixteen hosts at line rate into one port without flow control. Where the last packets of a flow are lost, a
    # timeout finds that, which is a loss like any other where the class says nothing else.
    cls = breaking(window=lambda self: None, **{method: boom})
    with pytest.raises(xoff.RunError, match=rf"Mine\.{method}\(\) of flow \d+ raised ZeroDivisionError"):
        xoff.run(ROOT / "scenarios" / "lossy.toml", schemes={"mine": cls})


@pytest.mark.parametrize("method", ["rate", "window", "next_timer"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1, "9", True, [1], object])
def test_a_senseless_answer_ends_the_run(method: str, value: object) -> None:
    methods: dict[str, Any] = {method: lambda self: value}
    if method == "next_timer":
        methods["on_timer"] = lambda self, now_ps: None
    shown = repr(value).replace("[", r"\[").replace("]", r"\]")
    with pytest.raises(xoff.RunError, match=rf"broke at 0ps: Mine\.{method}\(\) of flow 0 returned {shown}: expected"):
        xoff.run(INCAST, schemes={"mine": breaking(**methods)})


def test_a_rate_below_a_bit_a_second_and_a_timer_in_the_past_are_senseless() -> None:
    with pytest.raises(xoff.RunError, match=r"rate\(\) of flow 0 returned 0\.5: expected a number of bit/s from 1 up"):
        xoff.run(INCAST, schemes={"mine": breaking(rate=lambda self: 0.5)})
    # The first ACK comes after the base RTT, later than 1 ps; on_timer at 1 us may not ask for 1 us again.
    late = breaking(on_timer=lambda self, now_ps: None, next_timer=lambda self: 1_000_000)
    with pytest.raises(
        xoff.RunError, match=r"broke at 1us: .*next_timer\(\) of flow 0 returned 1000000 ps: expected a time after"
    ):
        xoff.run(INCAST, schemes={"mine": late})


def test_a_window_of_nothing_lets_one_packet_go_at_a_time(small: Path) -> None:
    run = xoff.run(small, schemes={"mine": breaking(window=lambda self: 0)})
    (flow,) = run.flows.to_pylist()
    # 1 MB in packets, each sent when the one before is acknowledged: each a round trip, the last one a little less.
    packets = -(-1_000_000 // run.manifest["wire"]["payload_bytes"])
    assert packets - 1 < flow["fct_ps"] / run.manifest["base_rtt_ps"] <= packets


def test_a_method_that_returns_what_nobody_takes_is_told(small: Path) -> None:
    cls = breaking(on_ack=lambda self, ack: 5)
    with pytest.raises(xoff.RunError, match=r"Mine\.on_ack\(\) of flow 0 returned 5: expected None"):
        xoff.run(small, schemes={"mine": cls})


def test_a_field_that_was_not_declared_is_not_there() -> None:
    bare = xoff.Ack(now_ps=1, seq=2, newly_acked_bytes=3, snd_nxt=4)
    for field, signal in [
        ("rtt_ps", "timestamp"),
        ("marked_ce", "ecn"),
        ("marked_ue", "ecn"),
        ("flow_count", "flow_count"),
        ("hops", "int"),
    ]:
        with pytest.raises(AttributeError, match=f'Ack.{field} is not there: it needs "{signal}"'):
            getattr(bare, field)


def test_hops_tell_what_happened_in_between() -> None:
    before = xoff.Hop(at_ps=1_000, tx_bytes=5_000, queue_bytes=300, rate_bps=10**11)
    now = xoff.Hop(at_ps=4_000, tx_bytes=5_030, queue_bytes=700, rate_bps=10**11)
    change = now.since(before)
    assert (change.elapsed_ps, change.tx_bytes, change.queue_bytes, change.rate_bps) == (3_000, 30, 300, 10**11)
    with pytest.raises(ValueError, match="earlier reading"):
        before.since(now)


class Base(xoff.Scheme):
    """What the mistakes below begin with."""

    def window(self) -> float:
        """A packet or two."""
        return 3_000.0


def wrong(**members: Any) -> type[xoff.Scheme]:
    return type("Mine", (Base,), members)


def takes(arguments: str) -> Callable[..., None]:
    """A constructor with these arguments."""
    scope: dict[str, Any] = {}
    exec(f"def __init__({arguments}):\n    pass", scope)
    return scope["__init__"]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("cls", "message"),
    [
        (5, "an object of int is not a class"),
        (int, "int: expected a class derived from xoff.Scheme"),
        (xoff.Scheme, "expected a class derived from xoff.Scheme"),
        (wrong(on_akc=lambda self, ack: None), "on_akc is never called: expected one of .*; did you mean `on_ack`"),
        (wrong(window=3), "window is 3: expected a method"),
        (wrong(signals=5), "signals is 5: expected a dict"),
        (wrong(signals={"enc": True}), "unknown key 'enc': expected one of ecn, .*; did you mean `ecn`"),
        (wrong(signals={"ecn": 1}), r'signals\["ecn"\] is 1: expected True or False'),
        (wrong(signals={"int": "both"}), r"""signals\["int"\] is 'both': expected "data" or "ack\""""),
        (wrong(signals={"ecn": True}), r'signals\["ecn"\] has no effect: expected a method on_ack'),
        (wrong(signals={"timestamp": True}), r'signals\["timestamp"\] has no effect'),
        (wrong(signals={"cnps": True}), r'signals\["cnps"\] has no effect: expected a method on_cnp'),
        (wrong(on_cnp=boom), "on_cnp is never called: expected signals"),
        (wrong(signals={"cnps": True, "ecn": False}, on_cnp=boom), r'signals\["ecn"\] is False'),
        (wrong(on_timer=boom), "on_timer has no effect without next_timer"),
        (wrong(next_timer=boom), "next_timer has no effect without on_timer"),
        (type("Mine", (xoff.Scheme,), {"on_ack": boom}), "neither a rate nor a window"),
        (wrong(__init__=takes("self")), "its constructor takes no flow"),
        (wrong(__init__=takes("self, flow, step")), "its constructor takes step: expected parameters by name"),
        (wrong(__init__=takes("self, flow, **more")), r"its constructor takes \*\*more"),
        (wrong(__init__=takes("self, flow, *more")), r"its constructor takes \*more"),
        (wrong(__init__=takes("self, flow, *, name=1")), "takes `name`, which"),
        (wrong(__init__=takes("self, flow, *, step={1}")), r"the default of step is \{1\}: expected what a scenario"),
    ],
)
def test_a_class_that_cannot_work_is_refused(small: Path, cls: type[xoff.Scheme], message: str) -> None:
    with pytest.raises(xoff.UserError, match=message):
        xoff.check(small, schemes={"mine": cls})


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ({"scheme.stepp": 1}, r"unknown key `stepp` in \[scheme\] with name = \"mine\"[^$]*did you mean `step`"),
        ({"scheme.step": "1500B"}, r'`step` in \[scheme\]: "1500B" in the scenario[^$]*expected a whole number'),
        ({"scheme.step": True}, r"`step` in \[scheme\]: true"),
        ({"scheme.cut": "half"}, r"`cut` in \[scheme\][^$]*expected a number"),
        ({"scheme.name": "mien"}, r'unknown scheme "mien"[^$]*mine[^$]*did you mean `mine`'),
    ],
)
def test_a_wrong_parameter_is_named_at_its_place(small: Path, sets: dict[str, object], message: str) -> None:
    with pytest.raises(xoff.ScenarioError, match=message):
        xoff.check(small, sets=sets, schemes={"mine": Aimd})


def test_a_parameter_without_a_default_must_be_given(small: Path) -> None:
    cls = wrong(__init__=takes("self, flow, *, step"))
    with pytest.raises(xoff.ScenarioError, match=r"\[scheme\] lacks the key `step`"):
        xoff.check(small, schemes={"mine": cls})
    assert xoff.check(small, sets={"scheme.step": [1, 2]}, schemes={"mine": cls})["scheme"]["step"] == [1, 2]


@pytest.mark.parametrize(
    ("name", "message"),
    [("hpcc", "there is a scheme `hpcc` already"), ("my scheme", "`my scheme` is no name"), ("", "`` is no name")],
)
def test_a_name_that_cannot_be_is_refused(small: Path, name: str, message: str) -> None:
    with pytest.raises(xoff.ScenarioError, match=message):
        xoff.check(small, schemes={name: Aimd})


def test_each_flow_has_lists_of_its_own(small: Path) -> None:
    class Greedy(Base):
        def __init__(self, flow: xoff.Flow, *, steps: list[int] | None = None) -> None:
            self.steps = steps or []
            assert self.steps == [1]
            self.steps.append(2)

    sets: dict[str, object] = {"scheme.steps": [1], "topology.hosts": 3}
    run = xoff.run(INCAST, sets={**sets, "traffic.0.senders": 2, "traffic.0.size": "3KB"}, schemes={"greedy": Greedy})
    assert run.flows.num_rows == 2
    assert run.manifest["scenario"]["scheme"]["steps"] == [1]


def test_an_attribute_that_hides_a_method_is_told(small: Path) -> None:
    class Hidden(Base):
        def __init__(self, flow: xoff.Flow) -> None:
            self.rate = 5.0  # type: ignore[assignment,method-assign]

    with pytest.raises(xoff.RunError, match=r"Hidden.__init__\(\) of flow 0 sets self.rate: expected a method"):
        xoff.run(small, schemes={"hidden": Hidden})


def test_several_threads_are_refused_by_name(small: Path) -> None:
    with pytest.raises(
        xoff.ScenarioError, match="2 threads: the scheme `mine` runs on one thread alone; expected 1, or"
    ):
        xoff.run(small, schemes={"mine": Aimd}, threads=2)
    assert xoff.run(small, schemes={"mine": Aimd}, threads="auto").manifest["threads"] == 1


def test_of_several_schemes_the_scenario_names_one(small: Path) -> None:
    schemes: dict[str, type[xoff.Scheme]] = {"one": Aimd, "other": Base}
    assert xoff.check(small, schemes=schemes)["scheme"]["name"] == "none"
    assert xoff.check(small, sets={"scheme.name": "other"}, schemes=schemes)["scheme"] == {"name": "other"}


def test_runs_of_one_scenario_break_each_for_itself(small: Path) -> None:
    from xoff.runs.scenario import read
    from xoff.scheme.load import classes

    calls = []

    class Once(Base):
        def __init__(self, flow: xoff.Flow) -> None:
            calls.append(flow.id)
            if len(calls) == 1:
                raise RuntimeError("only the first time")

    prepared = read(small, schemes=classes({"once": Once})).prepare()
    with pytest.raises(xoff.RunError, match="only the first time"):
        prepared.run(1, None)
    assert json.loads(prepared.run(1, None).manifest)["flows_done"] == 1


def test_a_class_without_a_name_is_refused() -> None:
    with pytest.raises(xoff.UserError, match=r"schemes: expected classes by name, such as \{'mine': Mine\}"):
        xoff.run(INCAST, schemes=Aimd)  # type: ignore[arg-type] # what a user may write
