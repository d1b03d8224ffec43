"""Writes the package `xoff.settings` from the schema of a scenario: `python -m xoff.cli.settings_writer [FOLDER]`.

Each table of a scenario, and each of its variants, becomes a function with a typed parameter for each key, so that
editors complete keys and type checkers refuse wrong ones. A test compares the committed package with what this writes.
"""

from __future__ import annotations

import json
import keyword
import re
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xoff import _xoff

_FILES: dict[str, tuple[str, str, str]] = {
    "topology": ("AnyTopology", "name", "Topologies: hosts, switches and links"),
    "routing": ("Routing", "name", "Routing: how packets find their path"),
    "scheme": ("AnyScheme", "name", "Congestion control"),
    "detector": ("AnyDetector", "name", "Detectors: what marks packets"),
    "throttle": ("AnyThrottle", "name", "Throttles: what holds back the hosts' NIC ports by their used credits"),
    "flow_control": ("FlowControl", "name", "Flow control between neighbours"),
    "traffic": ("Pattern", "pattern", "Traffic patterns"),
    "event": ("Event", "kind", "What breaks during a run"),
}
"""By file: the definition in the schema, the key that tells its variants apart, and what they are."""

_QUANTITIES = ("Time", "Rate", "Bytes")

_NOTE = (
    "Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.\n"
    "Each function gives one table of a scenario, and leaves out what it was not given."
)

_WIDTH = 118


def modules() -> dict[str, str]:
    """The text of each module of the package by its path in it: one for each function."""
    schema: dict[str, Any] = json.loads(_xoff.schema())
    definitions: dict[str, Any] = schema["$defs"]
    written = {"table.py": _TABLE}
    for folder, (definition, tag, title) in _FILES.items():
        forms = {form["properties"][tag]["const"]: form for form in definitions[definition]["oneOf"]}
        written |= _folder(folder, title, definitions, forms, tag)
    unions = {definition for definition, _, _ in _FILES.values()}
    names = {name.removeprefix("Any") for name in unions}
    plain = {
        _TABLES.get(name, _snake(name)): each
        for name, each in definitions.items()
        if name not in names | unions and "properties" in each and name not in _variants(definitions, unions)
    }
    title = "Plain tables of a scenario, and tables inside others"
    written |= _folder("tables", title, definitions, plain, None)
    written["__init__.py"] = _package(sorted(plain))
    return written


def _folder(
    folder: str, title: str, definitions: Mapping[str, Any], forms: Mapping[str, Mapping[str, Any]], tag: str | None
) -> dict[str, str]:
    """The modules of a folder: one for each form, and one that offers their functions."""
    written, imports, names = {}, [], []
    for name, schema in forms.items():
        module = _Module(definitions)
        own = module.function(name, schema, tag)
        written[f"{folder}/{own}.py"] = module.text(f"{title}: `{name}`")
        names.append(own)
    imports = [f"from xoff.settings.{folder}.{own} import {own}\n" for own in sorted(names)]
    listed = "".join(f'    "{own}",\n' for own in sorted(names))
    written[f"{folder}/__init__.py"] = f'"""{title}.\n\n{_NOTE}\n"""\n\n{"".join(imports)}\n__all__ = [\n{listed}]\n'
    return written


_TABLES = {"LinkSettings": "link"}
"""Functions that are called by their table's key, in place of their type."""


def _variants(definitions: Mapping[str, Any], unions: set[str]) -> set[str]:
    """The definitions that are written out as variants of a union already."""
    forms = [set(variant["properties"]) for union in unions for variant in definitions[union]["oneOf"]]
    own = {name: set(each["properties"]) for name, each in definitions.items() if "properties" in each}
    return {name for name, keys in own.items() if any({"name", *keys} == form for form in forms)}


class _Module:
    """One module: a function, and the aliases that its types need."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self._aliases: dict[str, str] = {}
        self._function = ""
        self._name = ""
        self._used: set[str] = set()

    def function(self, name: str, schema: Mapping[str, Any], tag: str | None) -> str:
        """Set the function of a table; `tag` is the key that names the variant. Returns the function's name."""
        properties = {key: each for key, each in schema["properties"].items() if key != tag}
        required = [key for key in schema.get("required", []) if key != tag]
        keys = [*required, *(key for key in properties if key not in required)]
        parameters, documents, values = [], [], []
        for key in keys:
            parameter = f"{key}_" if keyword.iskeyword(key) else key
            kind = self._type(properties[key])
            optional = "" if key in required else " = None"
            if optional and not kind.endswith("None"):
                kind += " | None"
            parameters.append(f"    {parameter}: {kind}{optional},\n")
            documents += [parameter, *_indented(_document(properties[key]), 4)]
            values.append(f'        "{key}": {parameter},\n')
        own = f"{name}_" if keyword.iskeyword(name) or name in ("list", "all") else name
        self._name = own
        head = f"def {own}(\n    *,\n{''.join(parameters)}) -> Table:\n" if parameters else f"def {own}() -> Table:\n"
        first, rest = _sentences(schema.get("description") or f"The table `{name}`.")
        lines = [f'"""{first}', *([""] if rest else []), *rest]
        if documents:
            lines += ["", "Parameters", "----------", *documents, '"""']
        elif rest:
            lines.append('"""')
        else:
            lines[-1] += '"""'
        tagged = f'        "{tag}": "{name}",\n' if tag else ""
        body = f"    return table({{\n{tagged}{''.join(values)}    }})\n"
        if values or tag:
            body = f"    return table(\n        {{\n{_deeper(tagged + ''.join(values))}        }}\n    )\n"
        if tag and not values:
            body = f'    return table({{"{tag}": "{name}"}})\n'
        self._function = head + "".join(f"    {line}".rstrip() + "\n" for line in lines) + body
        return own

    def _type(self, schema: Mapping[str, Any]) -> str:
        """A type as Python writes it."""
        if "$ref" in schema:
            return self._of_definition(schema["$ref"].rsplit("/", 1)[1])
        if "const" in schema:
            return self._literal([schema["const"]])
        if "enum" in schema:
            return self._literal(schema["enum"])
        for union in ("anyOf", "oneOf"):
            if union in schema:
                return self._union([self._type(each) for each in schema[union]])
        kind = schema.get("type")
        kinds = kind if isinstance(kind, list) else [kind]
        return self._union([self._plain(each, schema) for each in kinds])

    def _union(self, kinds: list[str]) -> str:
        several = list(dict.fromkeys(part for kind in kinds for part in _parts(kind)))
        several.sort(key=lambda kind: kind == "None")
        return " | ".join(several)

    def _plain(self, kind: str | None, schema: Mapping[str, Any]) -> str:
        if kind == "array":
            self._used.add("Sequence")
            return f"Sequence[{self._type(schema.get('items', {}))}]"
        if kind == "string" and schema.get("format") in _QUANTITIES:
            self._used.add(schema["format"])
            return str(schema["format"])
        plain = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
        if kind in plain:
            return plain[kind]
        self._used.add("Mapping")
        return "Mapping[str, object]"

    def _of_definition(self, name: str) -> str:
        """The type of a named definition: an alias for a choice of words, else what it stands for."""
        definition = self._definitions[name]
        forms = definition.get("oneOf", [])
        words = [each["const"] for each in forms if "const" in each] or definition.get("enum")
        if words and (not forms or len(words) == len(forms)):
            literal = "Literal[\n" + "".join(f'    "{word}",\n' for word in words) + "]"
            if len(short := f"Literal[{', '.join(chr(34) + word + chr(34) for word in words)}]") < 90:
                literal = short
            # The schema numbers definitions of one name; most functions need a single one of them.
            plain = re.sub(r"\d+$", "", name)
            alias = plain if self._aliases.get(plain, literal) == literal else name
            self._aliases[alias] = literal
            self._used.add("Literal")
            return alias
        return self._type(definition)

    def _literal(self, words: list[str]) -> str:
        self._used.add("Literal")
        return f"Literal[{', '.join(json.dumps(word) for word in words)}]"

    def text(self, title: str) -> str:
        """The module's text."""
        used = self._used
        abc = sorted(used & {"Mapping", "Sequence"})
        lines = [f'"""{title}.\n\n{_NOTE}\n"""\n\nfrom __future__ import annotations\n\n']
        if abc:
            lines.append(f"from collections.abc import {', '.join(abc)}\n")
        if "Literal" in used:
            lines.append("from typing import Literal\n")
        if abc or "Literal" in used:
            lines.append("\n")
        imported = ["Table", *sorted(used & set(_QUANTITIES)), "table"]
        imported = sorted(imported, key=lambda each: (each == "table", each))
        lines.append(f"from xoff.settings.table import {', '.join(imported)}\n\n")
        lines.append(f'__all__ = ["{self._name}"]\n')
        aliases = "".join(f"{name} = {literal}\n" for name, literal in sorted(self._aliases.items()))
        lines.append(f"\n{aliases}" if aliases else "")
        return f"{''.join(lines)}\n\n{self._function}"


def _parts(kind: str) -> list[str]:
    """The members of a union; brackets hold members of their own."""
    parts, depth, part = [], 0, ""
    for character in kind:
        depth += (character == "[") - (character == "]")
        if character == "|" and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += character
    return [*parts, part.strip()]


def _document(schema: Mapping[str, Any]) -> str:
    return schema.get("description") or "See the scenario's reference."


def _sentences(text: str) -> tuple[str, list[str]]:
    """A docstring's first line, and the lines after it."""
    text = _escaped(text)
    head, _, rest = text.partition("\n\n")
    head = " ".join(head.split())
    if len(head) > _WIDTH - 4:
        first, stop, more = head.partition(". ")
        if stop and len(first) < _WIDTH - 4:
            return f"{first}.", _indented(f"{more} {rest}", 0)
        return textwrap.shorten(head, _WIDTH - 8, placeholder=" ..."), _indented(f"{head} {rest}", 0)
    return head, _indented(rest, 0) if rest.strip() else []


def _indented(text: str, by: int) -> list[str]:
    lines = textwrap.wrap(" ".join(_escaped(text).split()), _WIDTH - 4 - by, break_long_words=False)
    return [f"{' ' * by}{line}" for line in lines]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''")


def _deeper(text: str) -> str:
    return "".join(f"    {line}" for line in text.splitlines(keepends=True))


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _package(functions: list[str]) -> str:
    """The package itself: its modules, and the functions of plain tables, which need no module's name."""
    modules = sorted([*_FILES, "tables"])
    imported = "".join(f"    {name},\n" for name in sorted(functions))
    names = "".join(f'    "{name}",\n' for name in sorted([*modules, *functions]))
    return (
        '"""A scenario\'s tables as functions with typed parameters: `settings.scheme.hpcc(eta=0.9)`.\n\n'
        f"{_NOTE}\n\n"
        "May import nothing but its own modules.\n"
        '"""\n\n'
        f"from xoff.settings import {', '.join(modules)}\n"
        f"from xoff.settings.tables import (\n{imported})\n\n"
        f"__all__ = [\n{names}]\n"
    )


_TABLE = '''"""What the functions of this package give, and the types that they share."""

from __future__ import annotations

from collections.abc import Mapping

Table = dict[str, object]
"""A table of a scenario, by key, as `xoff.Scenario` and `xoff.run` take it."""

Time = str
"""A time with its unit, such as `"1.5us"`: s, ms, us, ns or ps."""

Rate = str
"""A rate with its unit, such as `"100Gbps"`: Tbps, Gbps, Mbps, Kbps or bps."""

Bytes = str
"""A size with its unit, such as `"320KB"` or `"320KiB"`; B for bytes."""


def table(keys: Mapping[str, object]) -> Table:
    """The table of those keys that have a value."""
    return {key: value for key, value in keys.items() if value is not None}
'''


def write(folder: Path) -> None:
    """Write the package into `folder`."""
    for name, text in modules().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "settings")
