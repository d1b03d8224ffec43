"""Figures as PNG and SVG with their data beside them, in one style for all papers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xoff.errors import extra
from xoff.report.palette import COLOURS
from xoff.runs.files import publish, temporary_file, write_file

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "MARKERS", "SCHEME_COLOURS", "SCHEME_NAMES", "FigureFile", "canvas", "legend_above", "save"]

SCHEME_COLOURS = {
    "fncc": COLOURS[0],
    "hpcc": COLOURS[1],
    "dcqcn": COLOURS[2],
    "rocc": COLOURS[3],
    "fncc-no-lhcs": COLOURS[5],
}
"""A scheme has the same colour in all figures."""

SCHEME_NAMES = {
    "fncc": "FNCC",
    "hpcc": "HPCC",
    "dcqcn": "DCQCN",
    "rocc": "RoCC",
    "fncc-no-lhcs": "FNCC without LHCS",
}
"""Names of schemes in figures."""

MARKERS = {"fncc": "o", "hpcc": "s", "dcqcn": "^", "rocc": "D", "fncc-no-lhcs": "v"}
"""Markers, so that colour is not the only difference."""

_STYLE: dict[Any, Any] = {
    "figure.dpi": 100,
    "savefig.dpi": 160,
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.labelsize": 10,
    "axes.grid": True,
    "grid.color": "#d9d9d9",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.5,
    "svg.hashsalt": "xoff",
    "figure.constrained_layout.use": True,
}


@dataclass(frozen=True)
class FigureFile:
    """A figure in the output folder."""

    name: str
    """File name without ending."""
    title: str
    """What it shows."""
    caption: str
    """How it was made."""
    wide: bool = False
    """Whether it needs the whole width of a page."""


@contextmanager
def canvas(rows: int = 1, columns: int = 1, width: float = 6.4, height: float = 3.8) -> Iterator[tuple[Figure, Any]]:
    """A figure and its axes (an array if there are several), sizes in inches; closed afterwards."""
    mpl = extra("matplotlib", "a figure")

    with mpl.rc_context(_STYLE):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as New

        figure = New(figsize=(width, height))
        FigureCanvasAgg(figure)
        yield figure, figure.subplots(rows, columns)


def save(figure: Figure, data: pl.DataFrame, folder: Path, drawn: FigureFile) -> FigureFile:
    """Write `NAME.png`, `NAME.svg` and the data that they show, `NAME.csv`, into `folder`."""
    with temporary_file(folder) as file:
        figure.savefig(file, format="png")
        publish(file, folder / f"{drawn.name}.png")
    with temporary_file(folder) as file:
        # Without a date the file is the same each time.
        figure.savefig(file, format="svg", metadata={"Date": None})
        publish(file, folder / f"{drawn.name}.svg")
    write_file(folder / f"{drawn.name}.csv", data.write_csv(float_precision=6))
    return drawn


def legend_above(axes: Any, columns: int) -> None:
    """The legend between title and plot, where the legend hides nothing."""
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=columns, borderaxespad=0.2, columnspacing=1.4)
