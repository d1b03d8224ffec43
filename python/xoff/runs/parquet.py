"""Reading stored tables within bounds: a small file may hold more rows than the memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xoff._xoff import MAX_ROWS, free_memory
from xoff.errors import UserError
from xoff.text import size_text

if TYPE_CHECKING:
    import pyarrow as pa

_MAX_ROWS = 2 * MAX_ROWS
"""Maximum rows of a table: a run ends with the sample, or the microsecond, that reaches half of it."""

_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8, "BYTE_ARRAY": 4}
"""Minimum bytes of a value in memory; that of a text is its place in a list."""


def read_table(file: Path) -> pa.Table:
    """The table in a Parquet file, of which every text is one.

    Raises
    ------
    UserError
        It is no Parquet file, a torn one, or its rows do not fit into the memory.
    FileNotFoundError
        There is none.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        check_size(file)
        table = pq.read_table(_opened(file))
        table.validate(full=True)
        # Names that are no text are found when they are asked for.
        _ = table.column_names
    except FileNotFoundError:
        raise
    except (OSError, ValueError, pa.ArrowException) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{file}: not a table that xoff wrote: {error}") from None
    return table


def check_size(file: Path) -> None:
    """Refuse a table whose rows do not fit into the memory, by what the file says of itself.

    Raises
    ------
    UserError
        They do not fit, or it is no file.
    OSError, pyarrow.ArrowException
        It is no Parquet file, or there is none.
    """
    import pyarrow.parquet as pq

    if file.exists() and not file.is_file():
        # A device or a pipe might never begin, or end.
        raise UserError(f"{file}: not a file; expected a table that xoff wrote")
    about = pq.read_metadata(_opened(file))
    if about.num_rows > _MAX_ROWS:
        raise UserError(f"{file}: {about.num_rows:,} rows; expected at most {_MAX_ROWS:,}, which no run has")
    groups = [about.row_group(index) for index in range(about.num_row_groups)]
    needed = sum(_bytes(group.column(index)) for group in groups for index in range(group.num_columns))
    free = free_memory()
    if free is not None and needed > free[0]:
        raise UserError(
            f"{file}: its {about.num_rows:,} rows take about {size_text(needed)} in memory: "
            f"{size_text(free[0])} are {free[1]}"
        )


def has_rows(file: Path) -> bool:
    """Whether a table that xoff wrote has a row; a file that is not there has none."""
    import pyarrow.parquet as pq

    return file.is_file() and bool(pq.read_metadata(_opened(file)).num_rows)


def _opened(file: Path) -> pa.NativeFile:
    """The file, whose name need not be UTF-8."""
    import pyarrow as pa

    return pa.OSFile(os.fsencode(file))


def _bytes(column: Any) -> int:
    width = _WIDTHS.get(column.physical_type, 1)
    return max(int(column.total_uncompressed_size), int(column.num_values) * width)
