"""The page that runs scenarios in a browser: one file, which holds the simulator and asks for nothing else."""

from __future__ import annotations

import base64
import gzip
import importlib.resources
import json
import tomllib
from pathlib import Path

from xoff.report.template import document

PARTS = Path(__file__).parent / "run"
"""The template, style and scripts of the page."""
SCRIPTS = (
    "basics", "units", "share", "toml", "completion", "editor", "network", "states", "plots", "tree", "knob", "numbers",
    "simulator", "app",
)  # fmt: skip
"""In the order in which they stand on the page."""
GLUE, BINARY = "xoff_wasm.js", "xoff_wasm_bg.wasm"
"""What `make wasm` makes: the simulator, and the JavaScript that calls it."""


def ready(folder: Path) -> dict[str, dict[str, str]]:
    """The ready scenarios of `folder` by name, their titles, and the files that they name."""
    texts = {file.stem: file.read_text("utf-8") for file in sorted(folder.glob("*.toml"))}
    titles, files = {}, {}
    for name, text in texts.items():
        scenario = tomllib.loads(text)
        titles[name] = f"{name}: {scenario['title']}" if "title" in scenario else name
        files.update({path: (folder / path).read_text("utf-8") for path in _named(scenario)})
    return {"ready": texts, "titles": titles, "files": files}


def _named(value: object) -> list[str]:
    """The files that a scenario names."""
    if isinstance(value, dict):
        own = [value["file"]] if isinstance(value.get("file"), str) else []
        return own + [file for inner in value.values() for file in _named(inner)]
    return [file for inner in value for file in _named(inner)] if isinstance(value, list) else []


def _packed(content: bytes) -> str:
    return base64.b64encode(gzip.compress(content, mtime=0)).decode()


def page(scenarios: Path, simulator: Path) -> str:
    """The page with the ready scenarios of one folder and the simulator of another.

    Without a simulator the page says how a site has it.
    """
    plotly = (importlib.resources.files("plotly") / "package_data" / "plotly.min.js").read_text("utf-8")
    data = {"scenarios": _packed(json.dumps(ready(scenarios)).encode())}
    if (simulator / BINARY).exists():
        data |= {
            "wasm": _packed((simulator / BINARY).read_bytes()),
            "glue": _packed((simulator / GLUE).read_bytes()),
            "worker": _packed((PARTS / "worker.js").read_bytes()),
            "plotly": _packed(plotly.encode()),
        }
    parts = [(PARTS / f"{name}.js").read_text("utf-8") for name in SCRIPTS]
    script = "\n".join(['"use strict";\n(() => {', *parts, "})();\n"])
    return document(
        "page.html",
        "Run it here",
        PARTS,
        style=(PARTS / "style.css").read_text("utf-8"),
        scripts=[script],
        unpacked=[plotly],
        data=data,
        runs_wasm=True,
        docs="docs/browser.html",
        home="index.html",
    )
