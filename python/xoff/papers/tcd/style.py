"""What TCD's figures share: colours, names, titles."""

from __future__ import annotations

from typing import Any

from xoff.report import figures as fig

KINDS = {"red": "without TCD", "tcd": "with TCD"}
COLOUR = {"red": fig.COLOURS[1], "tcd": fig.COLOURS[0]}
NAMES = {"dcqcn": "DCQCN", "timely": "TIMELY"}


def number(name: str) -> str:
    """A figure's number in the paper, from its file's name."""
    return name.removeprefix("fig").lstrip("0")


def set_title(axes: Any, name: str, text: str, pad: float = 24) -> None:
    """A figure's title, left, with its number in the paper."""
    axes.set_title(f"Fig. {number(name)}: {text}", loc="left", pad=pad)


def size_text(kilobytes: float) -> str:
    """A size with its unit."""
    if kilobytes >= 1000:
        return f"{kilobytes / 1000:g} MB"
    return f"{kilobytes:g} KB" if kilobytes >= 1 else f"{kilobytes * 1000:g} B"
