"""Runs whose tables are written by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from xoff._xoff import slowdown_statistics
from xoff.runs.manifest import MANIFEST, manifest_text
from xoff.runs.results import Run

RATES = ("sent_bps", "goodput_bps", "rate_bps")


def seal(folder: Path, manifest: dict[str, Any] | None = None) -> None:
    """Make the checksums of a run fit what stands in its folder, as if xoff had written it, with another `manifest`."""
    file = folder / MANIFEST
    text = manifest_text(
        json.loads(file.read_text("utf-8")) if manifest is None else manifest, folder.glob("*.parquet")
    )
    file.write_text(text, "utf-8")


def made_up_run(
    sizes: Sequence[int | None] = (1000, 2000),
    slowdowns: Sequence[float | None] = (1.0, 3.0),
    *,
    scheme: str = "made_up",
    pauses: Sequence[tuple[str, int, int]] = (),
    queues: Sequence[tuple[int, str, int]] = (),
    rates: Sequence[tuple[int, int, int, float]] = (),
    fcts: Sequence[int | None] | None = None,
    label: Sequence[str] | None = None,
    **manifest: Any,
) -> Run:
    """A run whose tables say just this.

    `pauses` are (port, start_ps, length_ps), `queues` (time_ps, port, bytes), `rates` (time_ps, interval_ps, flow, rate
    in bit/s). `fcts` are in ps; without them, flows with a slowdown took 1 us.
    `label` has one for each flow.
    """
    count = len(sizes)
    names = pa.array([f"host{number}" for number in range(count)], pa.string()).dictionary_encode()
    used = sorted({port for _, port, _ in queues} | {port for port, _, _ in pauses})
    tables = {
        "flows": {
            "id": pa.array(range(count), pa.uint32()),
            "src": names,
            "dst": names,
            "size_bytes": pa.array(sizes, pa.uint64()),
            "fct_ps": pa.array(
                [None if s is None else 10**6 for s in slowdowns] if fcts is None else fcts, pa.uint64()
            ),
            "slowdown": pa.array(slowdowns, pa.float64()),
            "label": pa.array(label or ["made up"] * count, pa.string()).dictionary_encode(),
            "priority": pa.array([0] * count, pa.uint8()),
            "start_ps": pa.array([0] * count, pa.uint64()),
            "path": pa.array([""] * count, pa.string()).dictionary_encode(),
            "paused_ps": pa.array([0] * count, pa.uint64()),
            "hol_blocked": pa.array([None] * count, pa.bool_()),
        },
        "queues": {
            "time_ps": pa.array([row[0] for row in queues], pa.uint64()),
            "port": pa.array([row[1] for row in queues], pa.string()).dictionary_encode(),
            # Of the whole port.
            "priority": pa.array([None] * len(queues), pa.uint8()),
            "bytes": pa.array([row[2] for row in queues], pa.uint64()),
            "max_bytes": pa.array([row[2] for row in queues], pa.uint64()),
        },
        "rates": {
            "time_ps": pa.array([row[0] for row in rates], pa.uint64()),
            "interval_ps": pa.array([row[1] for row in rates], pa.uint64()),
            "flow": pa.array([row[2] for row in rates], pa.uint32()),
            **{name: pa.array([row[3] for row in rates], pa.float64()) for name in RATES},
        },
        "utilization": {
            "time_ps": pa.array([], pa.uint64()),
            "port": pa.array([], pa.string()).dictionary_encode(),
            "utilization": pa.array([], pa.float64()),
        },
        "pauses": {
            "port": pa.array([row[0] for row in pauses], pa.string()).dictionary_encode(),
            "by": pa.array(["->".join(reversed(row[0].split("->"))) for row in pauses], pa.string()),
            "priority": pa.array([0] * len(pauses), pa.uint8()),
            "start_ps": pa.array([row[1] for row in pauses], pa.uint64()),
            "length_ps": pa.array([row[2] for row in pauses], pa.uint64()),
        },
        "roots": {
            "port": pa.array([], pa.string()).dictionary_encode(),
            "priority": pa.array([], pa.uint8()),
            "max_bytes": pa.array([], pa.uint64()),
            "start_ps": pa.array([], pa.uint64()),
            "length_ps": pa.array([], pa.uint64()),
        },
        "notifications": {"time_ps": pa.array([], pa.uint64())},
        "marks": {
            "time_ps": pa.array([], pa.uint64()),
            "port": pa.array([], pa.string()).dictionary_encode(),
            "flow": pa.array([], pa.uint32()),
            "mark": pa.array([], pa.string()).dictionary_encode(),
        },
        "states": {
            "time_ps": pa.array([], pa.uint64()),
            "priority": pa.array([], pa.uint8()),
            "port": pa.array([], pa.string()).dictionary_encode(),
            "state": pa.array([], pa.string()).dictionary_encode(),
        },
        "operations": {
            "label": pa.array([], pa.string()).dictionary_encode(),
            "kernel": pa.array([], pa.string()).dictionary_encode(),
            **{name: pa.array([], pa.uint32()) for name in ("process", "ring", "iteration")},
            **{name: pa.array([], pa.uint64()) for name in ("bytes", "start_ps", "end_ps")},
        },
        "throttles": {
            "time_ps": pa.array([], pa.uint64()),
            **{name: pa.array([], pa.string()).dictionary_encode() for name in ("port", "state")},
        },
        "breakdown": {
            "flow": pa.array([], pa.uint32()),
            **{name: pa.array([], pa.string()).dictionary_encode() for name in ("leg", "part", "port")},
            "time_ps": pa.array([], pa.uint64()),
        },
        "reordering": {
            "connection": pa.array([], pa.uint32()),
            **{name: pa.array([], pa.uint64()) for name in ("packets", "reordered", "max_extent", "buffer_bytes")},
        },
        "packets": {
            "time_ps": pa.array([], pa.uint64()),
            **{name: pa.array([], pa.string()).dictionary_encode() for name in ("port", "direction", "kind")},
            "flow": pa.array([], pa.uint64()),
        },
        "ports": {
            "port": pa.array(used, pa.string()).dictionary_encode(),
            "node": pa.array([port.partition("->")[0] for port in used], pa.string()).dictionary_encode(),
            "peer": pa.array([port.partition("->")[2] for port in used], pa.string()).dictionary_encode(),
            "utilization": pa.array([0.5] * len(used), pa.float64()),
            "max_queue_bytes": pa.array(
                [max((size for _, name, size in queues if name == port), default=0) for port in used], pa.uint64()
            ),
            "pause_frames_sent": pa.array([sum(name == port for name, _, _ in pauses) for port in used], pa.uint64()),
            "paused_ps": pa.array([sum(p[2] for p in pauses if p[0] == port) for port in used], pa.uint64()),
            "dropped": pa.array([0] * len(used), pa.uint64()),
        },
    }
    about = {
        "version": "0",
        "seed": 1,
        "scenario": {"scheme": {"name": scheme}},
        "wall_s": 2.0,
        "packet_hops": 5_000_000,
        "sim_time_ps": 10**9,
        "fingerprint": "0123456789abcdef",
        "complete": True,
        "loads": [],
        "summary": {
            "flows": count,
            "completed": sum(each is not None for each in slowdowns),
            "slowdown": slowdown_statistics([each for each in slowdowns if each is not None]),
            "pause_frames": len(pauses),
            "paused_ps": sum(length for _, _, length in pauses),
            "hol_blocked": None,
            "max_queue_bytes": max((size for _, _, size in queues), default=0),
            "dropped": 0,
        },
        "table_docs": {"flows": {"size_bytes": "Payload of the message."}},
        **manifest,
    }
    return Run(about, {name: pa.table(columns) for name, columns in tables.items()})
