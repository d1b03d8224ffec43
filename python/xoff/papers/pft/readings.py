"""F_C of the paper's best setting under other readings: what the paper leaves open is set otherwise, one by one.

A reading that changes the fabric or the traffic has its own run without PFT.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from xoff.papers.pft.experiments import BEST, HEAVY, HEAVY_SETS, Point, Scale, Sets, heavy, jobs
from xoff.papers.pft.findings import Results, control_factor
from xoff.runs.jobs import Job


@dataclass(frozen=True)
class Reading:
    """A value of something that the paper leaves open."""

    axis: str
    """What is open."""
    label: str
    """The value."""
    sets: Sets
    """Settings on top of each run; empty for the default."""
    quick: bool = False
    """Whether `--quick` runs it."""

    @property
    def name(self) -> str:
        """Unique name."""
        if self.sets == HEAVY_SETS:
            return HEAVY
        return f"{self.axis}: {self.label}" if self.sets else "default"

    @property
    def fabric(self) -> bool:
        """Whether it changes runs without PFT."""
        return any(not key.startswith("throttle.") for key in self.sets)


BITS = "width b of the random number, bits"
WINDOW = "windows T_e = T_s, cycles"
COUNT = "counts T_e' = T_s' of 1024 cycles"
ALGORITHM = "reading of Algorithm 2"
CREDITS = "credits K of 16 B"
UNIT = "unit of a credit"
MESSAGE = "congestors' messages"
FRAME = "payload of a packet"
DELAY = "delay of a link"
TEST = "messages of the bandwidth test"


def _window(cycles: int) -> Sets:
    count = cycles // 2
    return {
        "throttle.enter_window": cycles,
        "throttle.escape_window": cycles,
        "throttle.enter_count": count,
        "throttle.escape_count": count,
    }


def _count(cycles: int) -> Sets:
    return {"throttle.enter_count": cycles, "throttle.escape_count": cycles}


def _buffer(held: int, iterations: int) -> Sets:
    return {"flow_control.credits": held, "traffic.0.congestor_iterations": iterations}


def _message(size: str, iterations: int) -> Sets:
    # Smaller messages take less time: more of them are needed for the tests to end first.
    return {"traffic.0.congestor_size": size, "traffic.0.congestor_iterations": iterations}


def _packets(held: int) -> Sets:
    return {"flow_control.unit": "packet", "flow_control.credits": held}


READINGS = (
    Reading(BITS, "28", {}),
    Reading(BITS, "29", {"throttle.random_bits": 29}),
    Reading(BITS, "30", {"throttle.random_bits": 30}, quick=True),
    Reading(BITS, "31", {"throttle.random_bits": 31}),
    Reading(BITS, "32", {"throttle.random_bits": 32}, quick=True),
    Reading(WINDOW, "64", _window(64)),
    Reading(WINDOW, "256", _window(256)),
    Reading(WINDOW, "1024", {}),
    Reading(WINDOW, "4096", _window(4096)),
    Reading(WINDOW, "16384", _window(16384), quick=True),
    Reading(COUNT, "64", _count(64)),
    Reading(COUNT, "256", _count(256)),
    Reading(COUNT, "512", {}),
    Reading(COUNT, "768", _count(768)),
    Reading(COUNT, "960", _count(960)),
    Reading(ALGORITHM, "repaired", {}),
    Reading(ALGORITHM, "literal", {"throttle.reading": "literal"}, quick=True),
    Reading(CREDITS, "2048", _buffer(2048, 320), quick=True),
    Reading(CREDITS, "4096", {}),
    Reading(CREDITS, "8192", _buffer(8192, 200)),
    Reading(CREDITS, "16384", _buffer(16384, 200)),
    Reading(UNIT, "flit", {}),
    Reading(UNIT, "packet, K 16", _packets(16)),
    Reading(UNIT, "packet, K 4096", _packets(4096), quick=True),
    Reading(MESSAGE, "2 KiB", _message("2KiB", 240)),
    Reading(MESSAGE, "4 KiB", {}),
    Reading(MESSAGE, "16 KiB", _message("16KiB", 180)),
    Reading(MESSAGE, "64 KiB", HEAVY_SETS, quick=True),
    Reading(FRAME, "1 KiB", {"packets.mtu": "1088B"}),
    Reading(FRAME, "2 KiB", {"packets.mtu": "2112B"}),
    Reading(FRAME, "4 KiB", {}),
    Reading(DELAY, "20 ns", {"topology.delay": "20ns"}),
    Reading(DELAY, "100 ns", {}),
    Reading(DELAY, "300 ns", {"topology.delay": "300ns"}),
    Reading(DELAY, "1 us", {"topology.delay": "1us"}),
    Reading(TEST, "8 KiB", {}),
    Reading(TEST, "16 KiB", {"traffic.0.bandwidth_size": "16KiB", "traffic.0.congestor_iterations": 300}),
)
"""By axis, in the order of the plot; the default stands among the values of each."""


def wanted(scale: Scale) -> list[Reading]:
    """The readings that are run beside the default."""
    return [reading for reading in READINGS if reading.sets and (scale.every or reading.quick)]


def further(scale: Scale) -> list[Job]:
    """All runs under readings other than the default."""
    made = jobs(heavy(scale), scale, HEAVY_SETS)
    for reading in wanted(scale):
        if reading.name == HEAVY:
            continue
        controls = (None, BEST) if reading.fabric else (BEST,)
        made += jobs({Point(control, reading=reading.name): 1 for control in controls}, scale, reading.sets)
    return made


def factor(results: Results, reading: Reading) -> float | None:
    """F_C of the paper's best setting under a reading, with the first seed; `None` if it was not run."""
    point, base = (Point(control, reading=reading.name) for control in (BEST, None))
    if not reading.fabric:
        base = Point(None)
    if (point, 1) not in results or (base, 1) not in results:
        return None
    return control_factor(results, point, base, seeds=(1,))


def table(results: Results) -> pl.DataFrame:
    """One row a reading: what is open, the value and F_C."""
    rows = [
        (each.axis, each.label, not each.sets, value)
        for each in READINGS
        if (value := factor(results, each)) is not None
    ]
    return pl.DataFrame(rows, schema=["open", "value", "default", "control_factor"], orient="row")


def overview(found: pl.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Column names and rows: an axis in each row, with its values and their F_C."""
    rows: list[list[str]] = []
    for (axis,), part in found.group_by(["open"], maintain_order=True):
        if len(part) > 1:
            values = [f"{v}{' (default)' * d}: {f:.2f}" for _, v, d, f in part.iter_rows()]
            rows.append([str(axis), "; ".join(values)])
    return ["what the paper leaves open", "F_C of AT-RI, m 18, 0x250, 0x2a0"], rows
