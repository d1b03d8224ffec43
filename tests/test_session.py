"""`xoff.Session`: a program gives a network messages while simulated time passes."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import xoff

STAR: dict[str, Any] = {
    "topology": {"name": "star", "hosts": 3, "rate": "100Gbps", "delay": "1us"},
    "scheme": {"name": "none"},
    "packets": {"mtu": "1000B", "header": "48B", "ack": "50B", "gap": "0B"},
}

# One packet of 952 B takes twice 80 ns on a wire, over two links of 1 us; its ACK of 50 B twice 4 ns and the links.
THERE = 2_160_000
BACK = THERE + 2_008_000


def described(events: list[xoff.SessionEvent]) -> list[tuple[str, int]]:
    return [(event.kind, event.at_ps) for event in events]


def test_events_come_at_their_times() -> None:
    with xoff.Session(STAR) as session:
        assert session.hosts == ("host0", "host1", "host2")
        assert session.host_bps("host1") == 10**11
        number = session.send("host0", 1, "952B", tag=5)
        receive = session.recv(0, "host1", 5)
        session.schedule("3us", token=9)
        found = session.advance_to_next()
        assert described(found) == [("delivered", THERE), ("received", THERE)]
        assert (found[0].message, found[0].src, found[0].dst, found[0].bytes, found[0].tag) == (number, 0, 1, 952, 5)
        assert (found[1].receive, found[0].receive, found[0].token, found[0].start_ps) == (receive, None, None, 0)
        assert session.now_ps == THERE
        assert "delivered at 2.16us" in repr(found[0])
        assert repr(session) == "Session(3 hosts, at 2.16us)"
        assert described(session.advance_until("4us")) == [("timer", 3_000_000)]
        assert described(list(session.events())) == [("sent", BACK)]
        assert session.stats["fct_sum_ps"] == BACK
        run = session.close()
    assert run.flows.column("fct_ps").to_pylist() == [BACK]
    assert run.flows.column("label").to_pylist() == ["session"]
    assert run.manifest["session"]["messages"] == 1
    assert repr(session) == "Session(closed)"
    with pytest.raises(RuntimeError, match="closed"):
        session.send(0, 1, 8)


def test_a_program_answers_without_delay() -> None:
    # Host 1 answers three questions: every turn takes the way there, and an ACK of 4 ns goes ahead of an answer's data.
    session = xoff.Session(STAR)
    session.send(0, 1, 952)
    ends = []
    for event in session.events():
        if event.kind == "delivered":
            ends.append(event.at_ps)
            if len(ends) < 6:
                assert event.src is not None
                assert event.dst is not None
                session.send(event.dst, event.src, 952)
    assert ends == [THERE + turn * (THERE + 4_000) for turn in range(6)]


def test_a_session_is_stored_and_reported(tmp_path: Path) -> None:
    session = xoff.Session("scenarios/incast.toml", sets={"scheme.name": "hpcc", "record.queues": "all"})
    background = session.stats["messages"]
    session.send(session.hosts[0], session.hosts[1], "100KB", at="1us")
    for _ in session.events():
        pass
    run = session.close()
    run.write(tmp_path / "session")
    again = xoff.load(tmp_path / "session")
    assert background == 0
    assert set(again.flows.column("label").to_pylist()) > {"session"}
    again.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_a_scenario_without_traffic_is_stored_and_read(tmp_path: Path) -> None:
    session = xoff.Session(STAR)
    session.send(0, 1, "1MB")
    list(session.events())
    run = session.close()
    run.write(tmp_path / "first")
    # No run can be made of it, and the message says why.
    with pytest.raises(xoff.UserError, match="of a session, to which a program gave its messages"):
        xoff.run(tmp_path / "first")
    # The run's folder stands for its scenario, which has no traffic.
    again = xoff.Session(tmp_path / "first")
    again.send(0, 1, "1MB")
    list(again.events())
    assert again.close().flows.equals(run.flows)


def test_sessions_in_threads_do_not_know_of_each_other() -> None:
    def one() -> list[tuple[str, int, int | None]]:
        session = xoff.Session({**STAR, "scheme": {"name": "dcqcn"}})
        for turn in range(40):
            session.send(turn % 2, 2, 20_000, at=turn * 777_777)
        return [(event.kind, event.at_ps, event.message) for event in session.events()]

    expected = one()
    assert len(expected) == 80
    results: list[list[tuple[str, int, int | None]]] = []
    threads = [threading.Thread(target=lambda: results.append(one())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


def test_a_scheme_in_python_runs_in_a_session() -> None:
    from own_schemes import Aimd  # type: ignore[import-not-found, unused-ignore]

    session = xoff.Session({**STAR, "scheme": {"name": "mine"}}, schemes={"mine": Aimd})
    session.send(0, 1, "100KB")
    assert [event.kind for event in session.events()] == ["delivered", "sent"]


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda s: s.send("hots2", 1, 8), "unknown host `hots2`.*did you mean `host2`"),
        (lambda s: s.send(0, 3, 8), "`dst` is host 3, and the network has 3 hosts"),
        (lambda s: s.send(-1, 1, 8), "`src` is -1: expected a host's name, or a number from 0 to 2"),
        (lambda s: s.send(0, -1, 8), "`dst` is -1"),
        (lambda s: s.send(0, 1, 0), "the message has 0 B: expected at least 1 B"),
        (lambda s: s.send(0, 1, 2**45), "the message has 35184372088832 B: expected at most"),
        (lambda s: s.send(0, 1, 8, processes=5), "`processes` is 5: expected the sending and the receiving process"),
        (lambda s: s.send(0, 1, 8, processes=(1,)), r"`processes` is \(1,\)"),
        (lambda s: s.send(0, 1, "8 apples"), '`size` is "8 apples": expected a size such as "64KB"'),
        (lambda s: s.send(0, 1, 8, at="1us"), "`at` of the message is 1us, and the session has reached 5us"),
        (lambda s: s.send(0, 1, 8, at="2ms"), "the session ends at 1ms, by `duration`"),
        (lambda s: s.send(0, 1, 8, tag=-1), "`tag` is -1: expected a number from 0 to"),
        (lambda s: s.send(0, 1, 8, tag=1.5), "`tag` is 1.5: expected a whole number"),
        (lambda s: s.send(0, 1, 8, priority=4), "`priority` is 4, and switches have 1"),
        (lambda s: s.send(0, 1, 8, processes=(1, 1)), "`per_process_pair`"),
        (lambda s: s.advance_until("soon"), '`time` is "soon": expected a time such as "10us"'),
        (lambda s: s.advance_until(4_000_000), "`time` to advance to is 4us"),
        (lambda s: s.schedule(0), "`at` of the timer is 0"),
    ],
)
def test_a_mistake_is_named(mistake: Any, message: str) -> None:
    session = xoff.Session({**STAR, "run": {"duration": "1ms"}})
    session.advance_until("5us")
    with pytest.raises((xoff.UserError, xoff.ScenarioError), match=message):
        mistake(session)
    assert session.stats["messages"] == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"connection": "per_pear"}, "did you mean `per_pair`"),
        ({"connection": 0}, "`connection`: .*a number of connections from 1 to 4294967295$"),
        ({"connection": 1.5}, "`connection` is 1.5"),
        ({"label": 5}, "`label` is 5: expected a name"),
        ({"label": "\ud800"}, "`label` is .*: expected a name"),
        ({"seed": -1}, "`seed` is -1: expected a number from 0 to"),
        ({"local_rate": "fast"}, '`local_rate` is "fast": expected a rate such as "400Gbps"'),
        ({"local_rate": 0}, "`local_rate` of the session is 0"),
        ({"label": ""}, "`label` of the session is empty"),
        ({"sets": {"run.fast_forward": {"tolerance": 0.01}}}, "fast_forward"),
        ({"sets": {"scheme.name": "hpc"}}, "hpcc"),
    ],
)
def test_a_setting_that_cannot_be_is_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises((xoff.UserError, xoff.ScenarioError), match=message):
        xoff.Session(STAR, **settings)


def test_an_exception_in_the_block_leaves_no_results() -> None:
    session = xoff.Session(STAR)

    def broken() -> None:
        with session:
            session.send(0, 1, 8)
            raise KeyError

    with pytest.raises(KeyError):
        broken()
    assert session.stats["messages"] == 1  # the session is open, and may be looked at


def test_a_loop_that_is_left_early_loses_no_event() -> None:
    session = xoff.Session({"topology": {"name": "star", "hosts": 3}, "scheme": {"name": "none"}})
    session.send(0, 0, 100, tag=1)
    session.recv(0, 0, 1)
    # A host's message to itself is delivered, received and sent at one time.
    for event in session.events():
        first = event.kind
        break
    # A call that is refused loses none either.
    with pytest.raises(xoff.UserError, match="`time`"):
        session.advance_until("soon")
    with pytest.raises(xoff.ScenarioError, match="time"):
        session.advance_until(10**19)
    rest = [event.kind for event in session.advance_until("1us")]
    assert sorted([first, *rest]) == ["delivered", "received", "sent"]
    assert session.advance_to_next() == []


def test_copies_that_never_end_are_refused() -> None:
    star = {"topology": {"name": "star", "hosts": 3}, "scheme": {"name": "none"}}
    with pytest.raises(xoff.ScenarioError, match="local_delay"):
        xoff.Session(star, local_delay=2**63)
    session = xoff.Session(star, local_rate=1)
    with pytest.raises(xoff.ScenarioError, match="local_rate"):
        session.send(0, 0, 2**40)
