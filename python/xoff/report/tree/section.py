"""The part of the report's page that shows the congestion tree: its HTML, and the scripts that draw it.

BokehJS draws the network: on a canvas, which needs no graphics card, with layers, of which a step in time only redraws
the one that changes. It comes from the installed package `bokeh`, of which nothing else is used.
"""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup, escape

from xoff.report.palette import COLOURS
from xoff.report.palette import PAUSED as PAUSED_COLOUR
from xoff.report.template import render
from xoff.report.tree.changes import IDLE, PAUSED, ROOT, SENDING, SLOW, STATES, UNDETERMINED, UNKNOWN
from xoff.report.tree.data import Limits, tree_data

if TYPE_CHECKING:
    from xoff.report.plots import Labelled

_SKY, _VERMILION, _PURPLE = COLOURS[5], COLOURS[1], COLOURS[3]


class _Look(NamedTuple):
    """How a state is drawn."""

    colour: str
    """Empty for the page's own grey."""
    name: str
    meaning: str


_LOOKS = {
    UNKNOWN: _Look("", "not recorded", "nothing in the tables says what it does"),
    IDLE: _Look("", "idle", "sent nothing in the interval between two samples"),
    SLOW: _Look(_SKY, "sending below 10 %", "of its line rate in the interval; ACKs alone take some 4 %"),
    SENDING: _Look(_SKY, "sending", "10 % of its line rate or more in the interval"),
    UNDETERMINED: _Look(_PURPLE, "undetermined", "its detector takes it for neither congested nor not"),
    PAUSED: _Look(PAUSED_COLOUR, "paused", "it may not send, by PAUSE or for lack of credits"),
    ROOT: _Look(_VERMILION, "congested root", "more is offered to its link than the link carries"),
}
"""How each state is drawn."""

_SCRIPTS = ("tree-model.js", "tree-labels.js", "tree-network.js", "tree-details.js", "tree.js")


@dataclass(frozen=True)
class TreeSection:
    """What a page needs for its congestion trees."""

    body: Markup
    """HTML of the section."""
    data: dict[str, str] = field(default_factory=dict)
    """Texts that the page unpacks when it needs them, by name."""
    script: str = ""
    """The script that draws, to run before the page's own."""
    style: str = ""
    """CSS."""


def tree_section(runs: Sequence[Labelled], limits: Limits | None = None) -> TreeSection:
    """The congestion trees of `runs`, one shown at a time."""
    shared = (limits or Limits()).shared(len(runs))
    found = [tree_data(each.run, shared) for each in runs]
    data = {
        f"tree-{number}": json.dumps(each, separators=(",", ":"), allow_nan=False)
        for number, each in enumerate(found)
        if not isinstance(each, str)
    }
    body = render(
        "tree.html",
        runs=[{"number": number, "label": each.label} for number, each in enumerate(runs) if f"tree-{number}" in data],
        absent=[(each.label, Markup(why)) for each, why in zip(runs, found, strict=True) if isinstance(why, str)],
        several=len(runs) > 1,
        looks={state: _LOOKS[state] for state in range(len(STATES))},
        names=escape(
            json.dumps([{"colour": _LOOKS[state].colour, "name": _LOOKS[state].name} for state in range(len(STATES))])
        ),
        legend=(ROOT, PAUSED, UNDETERMINED, SENDING, SLOW, IDLE, UNKNOWN),
    )
    if not data:
        return TreeSection(body)
    files = importlib.resources.files("xoff.report") / "static"
    # BokehJS, copyright Anaconda, Inc. and Bokeh contributors, BSD 3-clause licence.
    # The package's own modules are not needed, and take a tenth of a second to import.
    library = importlib.metadata.distribution("bokeh").locate_file("bokeh/server/static/js/bokeh.min.js")
    script = "".join((files / name).read_text("utf-8") for name in _SCRIPTS)
    return TreeSection(
        body,
        data={**data, "bokeh": Path(str(library)).read_text("utf-8")},
        script=f'"use strict";\n(() => {{\n{script}}})();',
        style=(files / "tree.css").read_text("utf-8"),
    )
