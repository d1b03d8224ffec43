"""Columns of result tables as arrays, and rows by a name.

Where pandas is installed, pyarrow imports it as soon as it converts anything to or from numpy, or takes a number or a
text of Python's into a computation. That takes as long as a small report; polars does without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl
    import pyarrow as pa


def as_numpy(column: pa.ChunkedArray | pa.Array, null: int | None = None) -> npt.NDArray[Any]:
    """The values of a column, with `null` for null; without it, numbers with nulls are floats, and null is NaN."""
    from polars import from_arrow

    series = cast("pl.Series", from_arrow(column))
    return (series if null is None else series.fill_null(null)).to_numpy()


def rows_of(table: pa.Table, column: str, name: str) -> pa.Table:
    """The rows that have a name in a column of names."""
    from polars import Series, String, from_arrow

    names = cast("Series", from_arrow(table[column])).cast(String)
    return table.filter((names == name).to_arrow())
