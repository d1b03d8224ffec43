"""What was broken when, behind the lines of figures over time."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from xoff.analysis.failures import Span
from xoff.report.plots.style import plain

_SHADED = 40
"""Maximum number of spans that a figure shows."""

_LABELLED = 6
"""Maximum number of spans with a label."""

_FILL = "rgba(214,69,65,0.14)"
_STORM = "rgba(142,68,173,0.16)"
_EDGE = "rgba(214,69,65,0.55)"


_RIGHT = 0.6
"""Labels of spans that begin in the rest of the time axis stand left of their beginning, within the figure."""


def shade(figure: go.Figure, spans: Sequence[Span], scale: float, shown_ps: tuple[float, float]) -> None:
    """Shade the times in which something was broken, the longest ones, and name the first of each thing.

    `scale` is picoseconds per unit of the time axis, which shows the times `shown_ps`.
    """
    first, last = shown_ps
    shown = sorted(spans, key=lambda span: span.start_ps - span.end_ps)[:_SHADED]
    named: set[tuple[str, str]] = set()
    for span in sorted(shown, key=lambda span: (span.start_ps, span.target)):
        key = (span.kind, span.target)
        label = key not in named and len(named) < _LABELLED
        row = len(named) % 3
        if label:
            named.add(key)
        figure.add_vrect(
            x0=span.start_ps / scale,
            x1=span.end_ps / scale,
            fillcolor=_STORM if span.kind == "watchdog" else _FILL,
            line={"color": _EDGE, "width": 1},
            layer="below",
        )
        if label:
            figure.add_annotation(
                x=max(span.start_ps, first) / scale,
                y=1,
                yref="paper",
                xanchor="left" if span.start_ps < first + _RIGHT * (last - first) else "right",
                yanchor="top",
                yshift=-13 * row,
                text=plain(f"{span.kind} {span.target}"),
                font={"size": 10},
                showarrow=False,
            )
