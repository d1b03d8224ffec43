"""TCD's experiments on InfiniBand: numbers by hand, and short runs through the simulator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tcd_runs import SHORT, measured
from xoff.papers.tcd import infiniband
from xoff.papers.tcd.checks import marked_by, time_in
from xoff.papers.tcd.common import HERE, mean_us
from xoff.papers.tcd.experiments import group_jobs
from xoff.papers.tcd.measures import Chain, Mct
from xoff.papers.tcd.space import MESSAGE_BYTES, SPACE


def test_messages_of_the_victims_are_those_of_the_fat_tree() -> None:
    points = [line.split() for line in (HERE / "mpi_io.txt").read_text().splitlines() if not line.startswith("#")]
    steps = [(int(low[0]), float(high[1]) - float(low[1])) for low, high in zip(points[::2], points[1::2], strict=True)]
    # A tenth of 512 KB, 1, 2 or 4 MB; of the rest 55 % of 2 KB, the others of 4, 8, 16 or 32 KB.
    assert steps[0][0] == 2_000
    assert steps[0][1] == pytest.approx(0.9 * 0.55)
    assert [size for size, share in steps if share == pytest.approx(0.9 * 0.45 / 4)] == [4_000, 8_000, 16_000, 32_000]
    assert sum(share for size, share in steps if size >= 512_000) == pytest.approx(0.1)
    # 0.1 x 1,878,000 B + 0.9 x (0.55 x 2,000 + 0.45 x 15,000 B).
    assert sum(size * share for size, share in steps) == pytest.approx(MESSAGE_BYTES)


def test_arrivals_on_infiniband_bring_the_loads_that_are_said() -> None:
    # 8,200 messages of 1.878 MB in 20 ms, over 256 links of 40 Gbps: 123.2 Gbit over 6,144 Gbps x 20.05 ms.
    assert infiniband.duration_ms(82_000) == pytest.approx(20.05, abs=0.005)


def test_steps_are_of_two_with_tcd_in_the_case_study_alone() -> None:
    read = SPACE.default
    assert infiniband.ib_cc(read, "tcd", case_study=True)["scheme.ccti_increase"] == 2
    assert infiniband.ib_cc(read, "tcd")["scheme.ccti_increase"] == 1
    assert infiniband.ib_cc(read, "fecn", case_study=True)["scheme.ccti_increase"] == 1
    assert infiniband.ib_cc(read, "fecn")["detector.delayed"] == "queued"
    head = infiniband.ib_cc(SPACE.parse(["delayed=head"]), "tcd")
    assert head["detector.fecn.delayed"] == "head"


def test_servers_drawn_anew_are_those_of_the_paper() -> None:
    drawn: Any = infiniband.random_servers(8_000, 2.0, "per_pair", seed=1)
    jobs, io = drawn
    mpi = set(jobs["hosts"])
    assert mpi == set(jobs["destinations"])
    servers, clients = set(io["destinations"]), set(io["hosts"])
    # 4 servers in each of 128 racks, 25 % of 1,024 hosts as clients, MPI on the rest.
    assert (len(servers), len(clients), len(mpi)) == (512, 256, 256)
    assert not servers & clients
    assert not mpi & (servers | clients)
    # 800 messages of 1.878 MB in 2 ms over 256 x 40 Gbps: 12.02 of 20.48 Gbit.
    assert io["load"] == pytest.approx(0.587, abs=0.001)
    # 7,200 of 7,850 B in the same time: 0.452 Gbit.
    assert jobs["load"] == pytest.approx(0.0221, abs=0.0001)


def test_mean_completion_times_are_of_the_size_asked_for() -> None:
    sizes, times = np.array([2_000, 512_000, 512_000]), np.array([10.0, 100.0, 300.0])
    found = Mct(3, 0, sizes, times, sizes > 32_000, (0, 0), 0.0)
    assert mean_us(found, 512) == 200
    assert mean_us(found) == pytest.approx(410 / 3)
    assert np.isnan(mean_us(found, 4_000))


def test_lacking_credits_make_fecn_mark_the_innocent_and_tcd_say_undetermined() -> None:
    one, several = measured("ib-single"), measured("ib-multi")
    fecn: Chain = one["ib-single", "fecn", 1]
    assert fecn.marks.get(("P2", "f0", "ce"), 0) > 0
    assert fecn.marks.get(("P2", "f2", "ce"), 0) > 0
    # Two inputs of 280 KB are all that waits for P2, and the frame on the wire is not in them.
    assert 500 < fecn.queue_kb["P2"].max() <= 560
    found: Chain = one["ib-single", "tcd", 1]
    assert time_in(found, "P2", "undetermined") > 3_000
    assert marked_by(found, "P1") == 0
    assert "undetermined" not in {state for _, state in found.states["P3"]}
    both: Chain = several["ib-multi", "tcd", 1]
    # f0 and f2 bring 50 Gbps: a congestion that shows when P3's is over.
    assert "congestion" in {state for _, state in both.states["P2"]}
    assert both.states["P1"][-1][1] == "undetermined"


def test_the_testbeds_flow_is_undetermined_with_credits_too() -> None:
    found = measured("ib-testbed")["ib-testbed", "tcd", 1]
    assert found.share["f0", "ue"][4:7].min() > 0.8
    assert found.share["f0", "ce"].max() < 0.05
    assert found.share["f1", "ce"][4:7].min() > 0.8
    assert max(found.share["f0", mark][8:].max() for mark in ("ue", "ce")) < 0.01
    assert found.share["f0", "ue"][:3].max() == 0


def test_jobs_on_the_fat_tree_come_to_their_end() -> None:
    import xoff

    # k = 8 has 4 hosts in a rack, of which one is a server.
    job = next(job for job in group_jobs("ib-fat-tree", SHORT, SPACE.default) if job.key[1] == "tcd")
    all_traffic: Any = job.sets["traffic"]
    (traffic,) = all_traffic
    small = {"topology.k": 8, "traffic": [{**traffic, "io_servers": 1}]}
    found: Mct = job.measure(xoff.run(job.scenario, seed=job.seed, sets={**job.sets, **small}))
    assert found.messages == 300
    assert found.incomplete == 0
    assert set(found.size_bytes[found.io].tolist()) <= {512_000, 1_000_000, 2_000_000, 4_000_000}
    # 1,024 hosts' time for a message alone at least: two links there and back, 4 us each.
    assert found.mct_us.min() > 16
