"""The rows of `xoff collective` as a table, as JSON and as CSV."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

from xoff.studies.collective.measure import COLUMNS
from xoff.studies.collective.run import Results
from xoff.text import shown

if TYPE_CHECKING:
    from rich.table import Table


def table(results: Results, kind: str) -> Table:
    """nccl-tests' columns, with the ideal beside them, and before them what tells the rows of one size apart."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    drawn = Table(title=f"{kind} among {_ranks(results)} ranks", box=box.SIMPLE)
    for key in results.keys:
        drawn.add_column(escape(key), no_wrap=True)
    names = (
        "size\n(B)",
        "count\n(elements)",
        "type\n",
        "redop\n",
        "root\n",
        "time\n(us)",
        "algbw\n(GB/s)",
        "busbw\n(GB/s)",
    )
    for name in (*names, "ideal busbw\n(GB/s)", "of ideal\n(%)"):
        drawn.add_column(name, justify="right", no_wrap=True)
    last = None
    for settings, row in results.rows:
        if last is not None and last != row.size and len(results.keys) > 0:
            several = sum(other.size == last for _, other in results.rows) > 1
            if several:
                drawn.add_section()
        last = row.size
        drawn.add_row(
            *(escape(shown(str(settings[key]))) for key in results.keys),
            str(row.size),
            str(row.count),
            row.type,
            row.redop,
            str(row.root),
            _significant(row.time_us),
            f"{row.algbw:.2f}",
            f"{row.busbw:.2f}",
            f"{row.ideal_busbw:.2f}",
            f"{row.of_ideal * 100:.1f}",
        )
    return drawn


def _ranks(results: Results) -> int:
    return results.rows[0][1].ranks if results.rows else 0


def _significant(time_us: float) -> str:
    """A time with as many digits as nccl-tests prints."""
    if time_us >= 10_000:
        return f"{time_us:.0f}"
    return f"{time_us:.1f}" if time_us >= 100 else f"{time_us:.2f}"


def json_text(results: Results) -> str:
    """The rows as a list of objects."""
    return json.dumps(results.records(), indent=2)


def csv_text(results: Results) -> str:
    """The rows with a header of names."""
    out = io.StringIO()
    writer = csv.DictWriter(out, [*results.keys, *COLUMNS], lineterminator="\n")
    writer.writeheader()
    writer.writerows(results.records())
    return out.getvalue().rstrip("\n")
