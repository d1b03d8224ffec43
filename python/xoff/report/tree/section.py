"""The part of the report's page that shows the congestion tree: its HTML, and the scripts that draw it.

BokehJS draws the network: on a canvas, which needs no graphics card, with layers of which a step in time only redraws
the one that changes. It comes from the installed package `bokeh`, of which nothing else is used.
"""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from xoff.report.palette import COLOURS
from xoff.report.tree.changes import IDLE, PAUSED, ROOT, SENDING, SLOW, STATES, UNDETERMINED, UNKNOWN
from xoff.report.tree.data import Limits, tree_data

if TYPE_CHECKING:
    from xoff.report.plots import Labelled

_SKY, _ORANGE, _VERMILION, _PURPLE = COLOURS[5], COLOURS[4], COLOURS[1], COLOURS[3]

_LOOKS = {
    UNKNOWN: ("", "not recorded", "nothing in the tables says what it does"),
    IDLE: ("", "idle", "sent nothing in the interval between two samples"),
    SLOW: (_SKY, "sending below 10 %", "of its line rate in the interval; ACKs alone take some 4 %"),
    SENDING: (_SKY, "sending", "10 % of its line rate or more in the interval"),
    UNDETERMINED: (_PURPLE, "undetermined", "its detector takes it for neither congested nor not"),
    PAUSED: (_ORANGE, "paused", "it may not send, by PAUSE or for lack of credits"),
    ROOT: (_VERMILION, "congested root", "its queue grows or stays long although it may send"),
}
"""Colour, where it is not the page's own grey, name and meaning of each state."""

_SCRIPTS = ("tree-model.js", "tree-labels.js", "tree-network.js", "tree-details.js", "tree.js")


@dataclass(frozen=True)
class TreeSection:
    """What a page needs for its congestion trees."""

    body: str
    """HTML of the section."""
    data: dict[str, str]
    """Texts that the page unpacks when it needs them, by name."""
    script: str
    """The script that draws, to run before the page's own."""
    style: str
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
    absent = [
        f'<p class="note absent">{escape(each.label)}: {why}</p>'
        if len(runs) > 1
        else f'<p class="note absent">{why}</p>'
        for each, why in zip(runs, found, strict=True)
        if isinstance(why, str)
    ]
    if not data:
        return TreeSection(f"<h2>Congestion tree</h2>{''.join(absent)}", {}, "", "")
    drawn = [(number, each) for number, each in enumerate(runs) if f"tree-{number}" in data]
    files = importlib.resources.files("xoff.report") / "static"
    # BokehJS, copyright Anaconda, Inc. and Bokeh contributors, BSD 3-clause licence.
    library = importlib.resources.files("bokeh") / "server" / "static" / "js" / "bokeh.min.js"
    script = "".join((files / name).read_text("utf-8") for name in _SCRIPTS)
    return TreeSection(
        body=_body(drawn) + "".join(absent),
        data={**data, "bokeh": library.read_text("utf-8")},
        script=f'"use strict";\n(() => {{\n{script}}})();',
        style=(files / "tree.css").read_text("utf-8"),
    )


def _body(runs: Sequence[tuple[int, Labelled]]) -> str:
    looks = [{"colour": _LOOKS[state][0], "name": _LOOKS[state][1]} for state in range(len(STATES))]
    choices = "".join(f'<option value="{number}">{escape(each.label)}</option>' for number, each in runs)
    choice = f'<label>Run <select id="tree-run">{choices}</select></label>'
    legend = "".join(
        f'<li data-state="{state}" title="{escape(_LOOKS[state][2])}"><span class="key key-{state}"></span>'
        f"{escape(_LOOKS[state][1])} <b>0</b></li>"
        for state in (ROOT, PAUSED, UNDETERMINED, SENDING, SLOW, IDLE, UNKNOWN)
    )
    keys = "".join(f".key-{state} {{ --key: {look[0]}; }}\n" for state, look in _LOOKS.items() if look[0])
    return _BODY.format(
        run=choice if len(runs) > 1 else choice.replace("<label>", "<label hidden>"),
        first=runs[0][0],
        looks=escape(json.dumps(looks)),
        legend=legend,
        keys=keys,
    )


_BODY = """<h2>Congestion tree</h2>
<style>{keys}</style>
<div class="card tree" id="tree" tabindex="0" data-first="{first}" data-looks="{looks}" aria-label="Congestion tree"
aria-busy="true">
<h3>The network over time</h3>
<p class="note">Every link is drawn as its two egress ports, each the half at its own node; beside a host of a block its
own port is on the left, and that of its switch on the right. A port that is a congested root has a diamond; the five
for whose sake most ports stopped are numbered. Click on a port for its queue and PAUSEs, on a flow in the lists for its
path. Arrow keys move in time (with Shift ten steps), space plays, comma and full stop go to the last and next change of
congestion; drag moves the picture, Ctrl and the wheel zoom it.</p>
<div id="tree-notes"></div>
<p class="controls">{run}
<button type="button" id="tree-play" title="space">Play</button>
<button type="button" id="tree-back" title="comma">Last change</button>
<button type="button" id="tree-on" title="full stop">Next change</button>
<label>the whole in <select id="tree-speed"><option value="10">10 s</option><option value="30" selected>30 s</option>
<option value="120">2 min</option></select></label>
<output id="tree-time" for="tree-slider"></output></p>
<ul class="legend-states">{legend}</ul>
<div class="map"><div id="tree-map"><div id="tree-hover" hidden></div></div></div>
<input type="range" id="tree-slider" min="0" value="0" step="1" aria-label="Time">
<div id="tree-strip"></div>
<div id="tree-details" aria-live="polite"></div>
<div id="tree-chart"></div>
<div class="panels">
<section><h4>Congested roots, by the ports that stopped for their sake</h4>
<div class="list" id="tree-roots"></div></section>
<section><h4 id="tree-spread-title">How PAUSE spread</h4><div class="list" id="tree-spread"></div></section>
<section><h4 id="tree-victims-title">Victims</h4><div class="list" id="tree-victims"></div></section>
<section><h4>Other flows, the slowest first</h4><div class="list" id="tree-slowest"></div></section>
</div>
</div>"""
