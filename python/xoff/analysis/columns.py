"""Columns of result tables as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl
    import pyarrow as pa


def as_numpy(column: pa.ChunkedArray | pa.Array) -> npt.NDArray[Any]:
    """The values of a column; of numbers with nulls floats, with NaN for null.

    pyarrow's own `to_numpy` imports pandas where pandas is installed, which takes longer than a small report.
    """
    from polars import from_arrow

    return cast("pl.Series", from_arrow(column)).to_numpy()
