"""The iterations of a training job, as a run's manifest has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xoff.text import count_text, time_text

WAITS = {
    "tensor": "tensor parallelism",
    "expert": "experts",
    "gradients": "gradients",
    "parameters": "parameters",
    "pipeline": "the pipeline",
}
"""What a rank waits for, in words."""


def iterations_text(iterations: Mapping[str, Any]) -> str:
    """A job's iterations on one line: how long they are, for how much of it a rank computes, and what it waits for."""
    times = iterations["times_ps"]
    text = f"{count_text(len(times), 'iteration')} of {time_text(round(iterations['mean_ps']))}"
    if len(times) > 1:
        text += " on average"
    text += f"; of its own time a rank computes {time_text(round(iterations['compute_ps']))}"
    waits = [(each["mean_ps"], WAITS.get(each["waits_for"], each["waits_for"])) for each in iterations["exposed"]]
    longest = sorted((wait for wait in waits if wait[0] > 0), reverse=True)
    if longest:
        parts = ", ".join(f"{time_text(round(mean))} for {name}" for mean, name in longest)
        text += f" and waits {time_text(round(iterations['exposed_ps']))}: {parts}"
    return text
