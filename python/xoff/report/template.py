"""HTML from templates: Jinja2, which escapes every value that is not HTML already.

Templates stand in `report/templates`; another room gives the folder with its own, which may extend these.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

TEMPLATES = Path(__file__).parent / "templates"


@cache
def _environment(folder: Path) -> Environment:
    return Environment(
        loader=FileSystemLoader([folder, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(name: str, folder: Path = TEMPLATES, **values: Any) -> Markup:
    """The template `name` of `folder` with these values."""
    # The template has escaped every value.
    return Markup(_environment(folder).get_template(name).render(values))
