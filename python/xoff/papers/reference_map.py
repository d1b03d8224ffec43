"""The map of readings that a paper's page has as a table: small reference data, drawn where the documentation is made.

`papers/NAME/map.toml` of the repository has the verdicts of the page's table; a run of `xoff reproduce NAME --readings`
draws its own, larger map ([readings_map](readings_map.py)).
"""

from __future__ import annotations

import io
import tomllib
from dataclasses import dataclass
from pathlib import Path

from xoff.errors import UserError
from xoff.papers.readings_map import SYMBOLS, draw_cell, legend_below
from xoff.papers.survey import HOLDING
from xoff.report import figures as fig

DEFAULT = "default"
"""The reading with which the others are compared."""

ABSENT = "·"
"""The symbol of a claim that was not judged under a reading."""

_VERDICTS = {symbol: verdict for verdict, symbol in SYMBOLS.items()}


@dataclass(frozen=True)
class ReferenceMap:
    """Verdicts by reading."""

    section: str
    """The heading of the page's section that has the table."""
    note: str
    """Of which runs the verdicts are."""
    claims: list[str]
    """Names of the claims."""
    readings: dict[str, str]
    """By reading, the default first: a symbol for each claim."""


def load(file: Path) -> ReferenceMap:
    """The map in `file`; raises `UserError` if it is no map."""
    found = ReferenceMap(**tomllib.loads(file.read_text("utf-8")))
    if next(iter(found.readings), "") != DEFAULT:
        raise UserError(f"{file}: readings: expected `{DEFAULT}` as the first")
    for reading, symbols in found.readings.items():
        if len(symbols) != len(found.claims) or set(symbols) - {*_VERDICTS, ABSENT}:
            expected = f"{len(found.claims)} symbols of {''.join(_VERDICTS)}{ABSENT}"
            raise UserError(f"{file}: readings: `{reading}` is `{symbols}`; expected {expected}")
    return found


def draw(found: ReferenceMap) -> str:
    """The map as SVG: a reading in each row, as pages are narrow, and a claim in each column."""
    across, down = len(found.claims), len(found.readings)
    longest = max(map(len, found.claims))
    width = max(_width(across), 5.6)
    with fig.canvas(width=width, height=1.4 + 0.26 * down + 0.075 * longest) as (figure, axes):
        axes.grid(visible=False)
        default = found.readings[DEFAULT]
        for y, (reading, symbols) in enumerate(found.readings.items()):
            for x, (symbol, base) in enumerate(zip(symbols, default, strict=True)):
                if symbol == ABSENT:
                    axes.text(x, y, ABSENT, ha="center", va="center", color="#909090")
                    continue
                verdict = _VERDICTS[symbol]
                changed = (verdict in HOLDING) is not (_VERDICTS.get(base) in HOLDING)
                same = reading != DEFAULT and symbol == base
                draw_cell(axes, x, y, verdict, changed=changed, same=same)
        axes.set_xticks(range(across), found.claims, rotation=90, fontsize=8.5)
        axes.set_yticks(range(down), list(found.readings), fontsize=8.5)
        axes.tick_params(length=0, top=True, bottom=False, labeltop=True, labelbottom=False)
        axes.set_xlim(-0.55, across - 0.45)
        axes.set_ylim(down - 0.45, -0.55)
        axes.set_aspect("equal")
        axes.set_anchor("NW")
        for side in axes.spines.values():
            side.set_visible(False)
        legend_below(figure, columns=1)
        text = io.StringIO()
        # Without a date the picture is the same each time.
        figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


def _width(claims: int) -> float:
    """Width in inches: the names of readings, and a cell for each claim."""
    return 3.0 + 0.27 * claims
