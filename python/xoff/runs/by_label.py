"""Measures of one label's flows in a tuning: `objective = "websearch.slowdown_p99"`.

The scenario's parser knows measures of whole runs. It is given those, and the labels are kept here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xoff.errors import UserError, nearest
from xoff.runs.toml import toml

Override = tuple[str, str]

MEASURES = ("slowdown_mean", "slowdown_p50", "slowdown_p95", "slowdown_p99", "incomplete")
"""What the flows of one label have: PAUSE frames and queues are of ports."""

_HINT = re.compile(r"\.(slowdown|incomplete|pause|hol_|max_queue|dropped)")


@dataclass(frozen=True)
class ByLabel:
    """A tuning's objective and budget, some of which are of a label."""

    origin: str
    """The scenario's name, for messages."""
    objective: list[str]
    budget: dict[str, float]

    @property
    def overrides(self) -> list[Override]:
        """What makes the scenario one without labels in its measures."""
        plain = list(dict.fromkeys(name.rpartition(".")[2] for name in self.objective))
        limits = {name: most for name, most in self.budget.items() if "." not in name}
        return [("tune.objective", toml(plain)), ("tune.budget", toml(limits))]

    def applied(self, resolved: dict[str, Any]) -> dict[str, Any]:
        """The resolved scenario with the measures as they were written.

        Raises
        ------
        UserError
            No traffic has such a label.
        """
        traffic = resolved.get("traffic", [])
        labels = [str(each["label"]) for each in traffic if each.get("label")]
        for name in [*self.objective, *self.budget]:
            label = name.rpartition(".")[0]
            # The labels of traffic from a file are the file's.
            if label and label not in labels and not any("file" in each for each in traffic):
                known = f"its labels are {', '.join(dict.fromkeys(labels))}" if labels else "no traffic has a label"
                hint = nearest(label, labels)
                raise UserError(f"{self.origin}: [tune] `{name}`: no traffic has the label `{label}`; {known}{hint}")
        if "tune" in resolved:
            resolved["tune"].update({"objective": self.objective, "budget": self.budget})
        return resolved


def by_label(text: str, overrides: Sequence[Override], origin: str) -> ByLabel | None:
    """The measures of a scenario's tuning if one of them is of a label; `None` otherwise.

    Raises
    ------
    UserError
        Such a measure is wrong.
    """
    if not any(_HINT.search(each) for each in (text, *(value for _, value in overrides))):
        return None
    import tomllib

    try:
        tune = tomllib.loads(text).get("tune", {})
    except (tomllib.TOMLDecodeError, RecursionError):
        return None  # The scenario's parser says what is wrong, and where.
    found = dict(tune) if isinstance(tune, dict) else {}
    for key, value in overrides:
        if key in ("tune.objective", "tune.budget"):
            found[key.removeprefix("tune.")] = _value(value)
    objective, budget = found.get("objective"), found.get("budget", {})
    names = [objective] if isinstance(objective, str) else objective
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return None
    if not isinstance(budget, Mapping) or not any("." in name for name in (*names, *budget)):
        return None
    for name in (*names, *budget):
        _check(name, origin)
    for name, most in budget.items():
        if "." in name and (isinstance(most, bool) or not isinstance(most, int | float) or not most >= 0):
            raise UserError(f"{origin}: [tune] budget `{name}` = {most!r}: expected a number from 0")
    if len(set(names)) < len(names):
        raise UserError(f"{origin}: [tune] objective: a measure stands there twice; expected each once")
    return ByLabel(origin, list(names), dict(budget))


def _check(name: str, origin: str) -> None:
    label, dot, measure = name.rpartition(".")
    if not dot:
        return
    expected = f"expected LABEL.MEASURE with one of {', '.join(MEASURES)}"
    if not label:
        raise UserError(f"{origin}: [tune] `{name}`: a label is missing; {expected}")
    if measure not in MEASURES:
        raise UserError(
            f"{origin}: [tune] `{name}`: flows of one label have no `{measure}`; {expected}{nearest(measure, MEASURES)}"
        )


def _value(text: str) -> Any:
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return text
