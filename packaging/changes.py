"""Prints the changelog's section of a version: `python packaging/changes.py 0.2.0`."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def section(text: str, version: str) -> str:
    """The text below the heading of `version`; a `SystemExit` if the changelog has none."""
    found = re.search(rf"^## \[{re.escape(version)}\].*?\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if found is None:
        sys.exit(f"CHANGELOG.md has no section [{version}]")
    return found.group(1).strip()


if __name__ == "__main__":
    print(section((Path(__file__).parents[1] / "CHANGELOG.md").read_text("utf-8"), sys.argv[1]))
