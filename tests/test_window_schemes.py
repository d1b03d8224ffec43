"""DCTCP and Swift in a network, against what their papers' formulas say of the queue at one bottleneck."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from xoff import Run, run
from xoff.analysis.tables import frame

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

SCENARIO = """
[topology]
name = "dumbbell"
switches = 3
senders = 4
rate = "100Gbps"
delay = "1.5us"

[scheme]
name = "{scheme}"

[run]
duration = "8ms"

[[traffic]]
pattern = "incast"
senders = ["sender0", "sender1", "sender2", "sender3"]
receiver = "receiver0"
size = "1GB"

[record]
interval = "2us"
queues = ["switch1->switch2"]
utilization = true
rates = "all"
"""

FLOWS = 4
BYTES_PER_US = 12_500
"""100 Gbps."""


def settled(run: Run, table: str, column: str) -> Floats:
    """A column of the second half of a run's samples."""
    half = frame(run, table).filter(pl.col("time_ps") > run.manifest["sim_time_ps"] / 2)
    return half[column].to_numpy().astype(np.float64)


def long_flows(folder: Path, scheme: str) -> Run:
    (folder / "s.toml").write_text(SCENARIO.format(scheme=scheme))
    return run(folder / "s.toml")


def test_dctcp_holds_the_queue_at_its_threshold(tmp_path: Path) -> None:
    """The sawtooth of N flows ends at K + N packets and is A = sqrt(2 N (C RTT + K)) / 2 high (DCTCP, section 3.3).

    K is 300 KB = 198 frames of 1518 B, and C RTT = 12.5 us * 12.5 KB/us = 156 KB = 103 frames, so that A is
    sqrt(2 * 4 * 301) / 2 = 24.5 frames = 37.2 KB where the flows are in step, and less where they are not. Between two
    samples more may come in than that: N packets again.
    """
    result = long_flows(tmp_path, "dctcp")
    frames = 1518 * FLOWS
    assert settled(result, "queues", "max_bytes").max() <= 300_000 + 2 * frames
    assert settled(result, "queues", "bytes").min() >= 300_000 + frames - 37_200 - 2 * frames
    assert settled(result, "utilization", "utilization").mean() > 0.999


def test_swift_holds_the_delay_at_its_target(tmp_path: Path) -> None:
    """The delay is the target of a window of its own fair share.

    With D as the delay, a flow's window is C D / N, and D = base + 3 us + a / sqrt(window) + b, where a = 32.26 us and
    b = -2.016 us for windows in packets of 1448 B (of 1518 B on the wire). The base target is T + 5 us, and the queue
    C (D - T).
    """
    result = long_flows(tmp_path, "swift")
    base_us = float(result.manifest["scenario"]["scheme"]["base_target"].removesuffix("ns")) / 1e3
    delay = base_us
    for _ in range(50):
        window = BYTES_PER_US * delay / FLOWS / 1518
        delay = base_us + 3 + 32.26 / np.sqrt(window) - 2.016
    queue = BYTES_PER_US * (delay - (base_us - 5))
    # About 130 KB. The cut comes a round trip late, and steps are a packet each.
    measured = settled(result, "queues", "bytes").mean()
    assert 0.9 * queue < measured < 1.1 * queue
    # Equal targets and equal steps: equal shares.
    flow, goodput = settled(result, "rates", "flow"), settled(result, "rates", "goodput_bps")
    shares = [goodput[flow == number].mean() for number in range(FLOWS)]
    assert max(shares) < 1.05 * min(shares)
    assert settled(result, "utilization", "utilization").mean() > 0.999
