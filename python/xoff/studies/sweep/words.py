"""Numbers of a sweep as text: means with their intervals, and differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xoff.studies.sweep.measures import Estimate

if TYPE_CHECKING:
    from xoff.studies.sweep.paired import Difference

NONE = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"


def number_text(estimate: Estimate | None) -> str:
    """A mean with half of its interval, if it has one."""
    if estimate is None:
        return NONE
    half = "" if estimate.half is None else f" \N{PLUS-MINUS SIGN} {digits(estimate.half, 3)}"
    return digits(estimate.mean, 4) + half


def difference_text(difference: Difference | None, *, share: bool = True) -> tuple[str, str]:
    """A difference with its interval and, with `share`, its share; and `more`, `less`, or nothing for chance."""
    if difference is None:
        return NONE, ""
    sign = "+" if difference.mean > 0 else ""
    text = sign + digits(difference.mean, 3)
    if difference.half is not None:
        text += f" \N{PLUS-MINUS SIGN} {digits(difference.half, 2)}"
    if share and difference.share is not None:
        text += f" ({sign}{digits(100 * difference.share, 2)} %)"
    return text, ("more" if difference.mean > 0 else "less") if difference.differs else ""


def digits(number: float, count: int) -> str:
    """A number with at least `count` digits that count, and no fraction where it has more before the point."""
    text = f"{number:,.0f}" if abs(number) >= 10 ** (count - 1) else f"{number:.{count}g}"
    return text.replace("-", MINUS, 1) if text.startswith("-") else text
