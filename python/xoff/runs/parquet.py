"""Reading stored tables within bounds: a small file may hold more rows than the memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xoff._xoff import MAX_ROWS, free_memory
from xoff.errors import UserError
from xoff.text import name_text, size_text

if TYPE_CHECKING:
    import pyarrow as pa

_MAX_ROWS = 2 * MAX_ROWS
"""Maximum rows of a table: a run ends with the sample, or the microsecond, that reaches half of it."""

_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8, "BYTE_ARRAY": 4}
"""Minimum bytes of a value in memory; that of a text is its place in a list."""


def read_table(file: Path) -> pa.Table:
    """The table in a Parquet file, whose texts are all valid.

    Raises
    ------
    UserError
        It is no Parquet file, a torn one, or its rows do not fit into the memory.
    FileNotFoundError
        There is none.
    """
    import pyarrow as pa

    try:
        check_size(file)
        table = _read(file)
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


def _read(file: Path) -> pa.Table:
    """The table, with its texts written out only if they fit: a file may name one long text for each of its rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pq.read_schema(_opened(file))
    for index, field in enumerate(schema):
        if field.name in schema.names[:index]:
            name = name_text(field.name)
            raise UserError(f"{file}: two columns have the name `{name}`, so not a table that xoff wrote")
        if not _is_readable(field.type):
            raise UserError(
                f"{file}: the column `{name_text(field.name)}` is of type {field.type}, "
                "so not a table that xoff wrote; expected numbers, names or flags"
            )
    plain = [index for index, field in enumerate(schema) if _is_text(field.type)]
    names = [schema.field(index).name for index in plain]
    table = pq.ParquetFile(_opened(file), read_dictionary=names).read()
    needed = sum(_text_bytes(table.column(index)) for index in plain)
    free = free_memory()
    if free is not None and needed > free[0]:
        raise UserError(
            f"{file}: the texts of its {table.num_rows:,} rows take about {size_text(needed)} in memory: "
            f"{size_text(free[0])} are {free[1]}"
        )
    columns = [
        column.cast(field.type) if index in plain else column
        for index, (column, field) in enumerate(zip(table.columns, schema, strict=True))
    ]
    return pa.table(columns, schema=schema)


def _is_readable(kind: pa.DataType) -> bool:
    import pyarrow.types as kinds

    if kinds.is_list(kind):
        # The telemetry of a packet.
        return bool(kinds.is_integer(kind.value_type))
    if kinds.is_dictionary(kind):
        return _is_text(kind.value_type)
    numeric = kinds.is_integer(kind) or kinds.is_floating(kind)
    return bool(numeric or kinds.is_boolean(kind) or kinds.is_null(kind)) or _is_text(kind)


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow.types as kinds

    return bool(kinds.is_string(kind) or kinds.is_large_string(kind))


def _text_bytes(column: pa.ChunkedArray) -> int:
    """Bytes of all texts of a column that was read as a list of different texts, and places in it."""
    import pyarrow.compute as pc

    lengths = (pc.take(pc.binary_length(chunk.dictionary), chunk.indices) for chunk in column.chunks)
    return sum(pc.sum(each).as_py() or 0 for each in lengths)


def check_size(file: Path) -> None:
    """Refuse a table whose rows do not fit into the memory, by what the file says of itself.

    Raises
    ------
    UserError
        They do not fit, or it is no file.
    OSError, ValueError, pyarrow.ArrowException
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
    """Whether a table that xoff wrote has a row; a file that is not there has none.

    Raises
    ------
    UserError
        It is no Parquet file, or a torn one.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return file.is_file() and bool(pq.read_metadata(_opened(file)).num_rows)
    except (OSError, ValueError, pa.ArrowException) as error:  # names of columns need not be text
        raise UserError(f"{file}: not a table that xoff wrote: {error}") from None


def _opened(file: Path) -> pa.NativeFile:
    """The file, whose name need not be UTF-8."""
    import pyarrow as pa

    return pa.OSFile(os.fsencode(file))


def _bytes(column: Any) -> int:
    width = _WIDTHS.get(column.physical_type, 1)
    return max(int(column.total_uncompressed_size), int(column.num_values) * width)
