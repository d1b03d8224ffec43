"""Named arrays in one block of bytes, as scripts of a page read them: each becomes a typed array without a copy.

A block begins with the length of its head in bytes (four bytes, little-endian). The head is JSON: what `about` says,
and of
each array its type, offset after the head, length and, if it stands as differences, the factor and that it does.
Everything begins at a multiple of eight bytes.
"""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import numpy as np
import numpy.typing as npt

_EXACT = ("uint8", "uint16", "uint32")
"""Types of whole numbers, the smallest first."""


class Pack:
    """A block that is being filled."""

    def __init__(self, about: dict[str, Any]) -> None:
        self.about = about
        """What the head says beside the arrays."""
        self._parts: list[bytes] = []
        self._arrays: dict[str, dict[str, Any]] = {}
        self._length = 0

    def add(self, name: str, values: npt.ArrayLike) -> None:
        """Add numbers in the smallest type that holds each exactly; `NaN` stands for null."""
        self._put(name, _smallest(np.asarray(values)))

    def add_times(self, name: str, values: npt.ArrayLike) -> None:
        """Add times in ps, in any order, as differences in units of their common divisor, which compress best."""
        times = np.asarray(values, dtype=np.uint64)
        unit = int(np.gcd.reduce(times)) if len(times) else 1
        ticks = times // np.uint64(max(unit, 1))
        if len(ticks) and int(ticks.max()) >= 2**32:
            self._put(name, times.astype(np.float64))
            return
        # Differences wrap around, as sums of 32 bits do: where the next series begins, time goes back.
        self._put(name, np.diff(ticks.astype(np.uint32), prepend=np.uint32(0)), unit=unit or 1)

    def packed(self) -> bytes:
        """The block."""
        head = json.dumps({**self.about, "arrays": self._arrays}, separators=(",", ":"), allow_nan=False).encode()
        head += b" " * (-(len(head) + 4) % 8)
        return len(head).to_bytes(4, "little") + head + b"".join(self._parts)

    def text(self) -> str:
        """The block as text for a page: compressed, in Base64."""
        return base64.b64encode(gzip.compress(self.packed(), compresslevel=6, mtime=0)).decode()

    def _put(self, name: str, values: npt.NDArray[Any], **more: int) -> None:
        content = np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<")).tobytes()
        content += b"\0" * (-len(content) % 8)
        self._arrays[name] = {"type": values.dtype.name, "at": self._length, "count": len(values), **more}
        self._parts.append(content)
        self._length += len(content)


def _smallest(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if values.dtype == bool or len(values) == 0:
        return values.astype(np.uint8)
    numbers = values.astype(np.float64)
    if np.all(numbers >= 0) and np.all(numbers == np.floor(numbers)):
        most = numbers.max()
        for kind in _EXACT:
            if most <= np.iinfo(kind).max:
                return numbers.astype(kind)
    single = numbers.astype(np.float32)
    same = single.astype(np.float64) == numbers
    return single if bool(np.all(same | np.isnan(numbers))) else numbers
