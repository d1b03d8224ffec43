"""The catalogue: schemes, topologies, workloads, with parameters, defaults, units and sources."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import Any

from xoff import _xoff
from xoff.errors import UserError, nearest

Entry = dict[str, Any]

KINDS = {
    "schemes": ("scheme", "scheme.name"),
    "detectors": ("detector", "detector.name"),
    "throttles": ("throttle", "throttle.name"),
    "flow_controls": ("flow control", "flow_control.name"),
    "transports": ("transport", "host.transport"),
    "topologies": ("topology", "topology.name"),
    "routings": ("routing", "routing.name"),
    "path_choices": ("path choice", "routing.choice"),
    "patterns": ("traffic pattern", "traffic.0.pattern"),
    "workloads": ("workload", "traffic.0.workload"),
}
"""What an entry of each list is called, and the key of a scenario that takes its name."""

QUANTITIES = {"Time": "time", "Rate": "rate", "Bytes": "size"}
"""Formats of strings with a unit, and what to call them."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a scheme, topology, pattern or the like."""

    name: str
    """Its key."""
    kind: str
    """What it takes: a size, a number, true or false, one of some words."""
    default: str
    """As TOML; empty if there is none."""
    required: bool
    """Whether it must be given."""
    doc: str
    """What it is."""


@functools.cache
def catalogue() -> dict[str, list[Entry]]:
    """Every list, by its name in the plural."""
    lists: dict[str, list[Entry]] = json.loads(_xoff.catalogue())
    return lists


def entry(plural: str, name: str) -> Entry:
    """The entry called `name`; a `UserError` with the nearest name, or with what it is instead, if there is none."""
    entries = catalogue()[plural]
    for each in entries:
        if each["name"] == name:
            return each
    singular = KINDS[plural][0]
    if others := find(name):
        raise UserError(f"no {singular} `{name}`, which is {' and '.join(article(each) for each, _ in others)}")
    names = [each["name"] for each in entries]
    known = "" if nearest(name, names) else f"; expected one of {', '.join(names)}"
    raise UserError(f"no {singular} `{name}`{nearest(name, names)}{known}")


def find(name: str) -> list[tuple[str, Entry]]:
    """The entries called `name` in all lists, each with its list."""
    return [(plural, each) for plural, entries in catalogue().items() for each in entries if each["name"] == name]


def described(name: str) -> list[tuple[str, Entry]]:
    """As `find`; a `UserError` with the nearest name of any list if there is none."""
    found = find(name)
    if not found:
        names = sorted({each["name"] for entries in catalogue().values() for each in entries})
        hint = nearest(name, names) or "; `xoff describe` lists all names"
        raise UserError(f"nothing in xoff is called `{name}`{hint}")
    return found


def article(plural: str) -> str:
    """`a scheme`, for the list of schemes."""
    return f"a {KINDS[plural][0]}"


def parameters(item: Entry) -> list[Parameter]:
    """The parameters of an entry with a schema."""
    schema = item.get("schema", {})
    defaults = item.get("defaults") or {}
    rows = []
    for name, about in (schema.get("properties") or {}).items():
        default = defaults.get(name, about.get("default"))
        required = name in schema.get("required", [])
        doc = one_line(about.get("description", ""))
        rows.append(Parameter(name, kind_of(about, schema), toml(default), required, doc))
    return rows


def kind_of(about: Any, schema: Any) -> str:
    """What a property takes, in a word or two, from its JSON schema."""
    if not isinstance(about, dict):
        return "anything"
    if about.get("format") in QUANTITIES:
        return QUANTITIES[about["format"]]
    if "$ref" in about:
        return kind_of(schema.get("$defs", {}).get(about["$ref"].rsplit("/", 1)[-1], {}), schema)
    for choice in ("anyOf", "oneOf"):
        if choice in about:
            kinds = [kind_of(each, schema) for each in about[choice]]
            return " or ".join(dict.fromkeys(kind for kind in kinds if kind != "nothing")) or "anything"
    if "allOf" in about:
        return kind_of(about["allOf"][0], schema)
    if "const" in about:
        return toml(about["const"])
    if "enum" in about:
        return " or ".join(toml(value) for value in about["enum"])
    names = {
        "integer": "whole number",
        "number": "number",
        "boolean": "true or false",
        "string": "text",
        "array": "list",
        "object": "table",
        "null": "nothing",
    }
    kinds = about.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return " or ".join(names.get(kind, kind) for kind in kinds if kind != "null" or len(kinds) == 1) or "anything"


def toml(value: object) -> str:
    """A value as a scenario writes it; empty for `None`."""
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False)


def one_line(doc: str) -> str:
    """A doc comment without its line breaks."""
    return " ".join(doc.split())
