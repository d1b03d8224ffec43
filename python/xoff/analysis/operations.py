"""What the kernels of the table `operations` mean, for all who tell computing from communication."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from xoff.analysis.intervals import Times

COMPUTES = ("calc", "compute", "cpu", "memory", "storage", "forward", "backward", "optimizer")
"""Words with which the kernels of computations begin; of a trace, the node's name follows behind a colon."""

ITERATION = "iteration"
"""Kernel of a whole iteration of a rank, in which all else of the iteration lies."""

SENDS = "send"
"""Word with which the kernels of single messages begin."""

RECEIVES = "recv"
"""Word with which the kernels of their receives begin."""


def word(kernel: str) -> str:
    """The word with which a kernel begins: what the operation does, without the name of a trace's node."""
    return kernel.partition(":")[0]


def transfer_ps(size_bytes: Times, rate_bps: int | None, delay_ps: int, most_ps: int) -> Times:
    """How long messages within a host take, at most `most_ps` without the delay; without a rate only the delay."""
    # A slow rate could take more ps than there is room for.
    taken = np.minimum(np.ceil(size_bytes * (8e12 / rate_bps)), most_ps) if rate_bps else 0 * size_bytes
    return taken.astype(np.int64) + delay_ps
