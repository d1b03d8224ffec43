"""The page of a tuning: what was asked for, the best beside the baseline, how the search went, and what matters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from xoff.errors import UserError
from xoff.report.page import page, write_page
from xoff.report.plots.style import Plot, listed
from xoff.runs.index import text_of
from xoff.studies.sweep.measures import Estimate, estimate
from xoff.studies.sweep.paired import paired
from xoff.studies.sweep.words import NONE, difference_text, digits, number_text
from xoff.studies.tune.best import Trial
from xoff.studies.tune.drawings import by_key, contour, front, history, importance
from xoff.studies.tune.importance import importances
from xoff.studies.tune.measures import Shown, shown_measures
from xoff.studies.tune.outcome import Measured, Outcome, read_outcome
from xoff.studies.tune.show import settings_text
from xoff.text import count_text, quantity_text

MAX_BEST = 5
"""Maximum trials of a Pareto front whose settings stand beside the baseline's."""

MAX_ROWS = 500
"""Maximum rows of the table of trials; trials.parquet has all of them."""

HERE = Path(__file__).parent


def write_tune_report(folder: Path, target: Path) -> Path:
    """Write the page of a tuning's folder to `target`, and return it."""
    return write_page(lambda: render(read_outcome(folder)), target)


def render(found: Outcome) -> str:
    """The page as text."""
    objective, budget = found.about["objective"], found.about["budget"]
    over = {trial.number for trial in found.trials if trial.error is None and trial.exceeds(budget)}
    best = {int(number) for number in found.best}
    shown = shown_measures(objective)
    parts, why_not = _figures(found, shown, over, best)
    figures = {plot.name: json.loads(plot.figure.to_json()) for _, several in parts for plot in several if plot.figure}
    names = [*dict.fromkeys([*objective, *budget])]
    others = [name for name in dict.fromkeys(name for t in found.trials for name in t.measures) if name not in names]
    measures = shown_measures([*names, *others])
    return page(
        "tune.html",
        f"Tuning of {Path(found.scenario).name}",
        found.version,
        figures,
        folder=HERE / "templates",
        about=_about(found, over),
        asked=_asked(found),
        best=_best(found, measures),
        parts=parts,
        why_not=why_not,
        keys=[each["key"] for each in found.space],
        measures=measures,
        rows=[_row(trial, found, measures, over, best) for trial in found.trials[:MAX_ROWS]],
        more=max(0, len(found.trials) - MAX_ROWS),
    )


def _figures(
    found: Outcome, shown: Sequence[Shown], over: set[int], best: set[int]
) -> tuple[list[tuple[str, list[Plot]]], list[str]]:
    """The figures under their headings, and why some are not there."""
    done = [trial for trial in found.trials if trial.error is None]
    if not done:
        return [], ["Every trial failed: there is nothing to draw."]
    baseline = _means(found.baseline)
    why_not = []
    matters: list[Plot] = []
    for each in shown:
        try:
            shares = importances(found.trials, found.space, each.name)
        except UserError as error:
            why_not.append(f"What matters to an objective needs Optuna: {error}")
            shares = None
        else:
            if shares is None:
                why_not.append(f"{each.title}: what matters to it cannot be told: too few trials, or all are as good.")
        keys = list(shares or {}) or [key["key"] for key in found.space]
        matters += [importance(shares, each)] if shares and len(shares) > 1 else []
        matters += [by_key(found.trials, key, each, best, baseline.get(each.name)) for key in keys[:2]]
        if len(keys) > 1 and len(done) > 1:
            matters.append(contour(found.trials, (keys[0], keys[1]), each, best))
    histories = [history(found.trials, over, each, baseline.get(each.name)) for each in shown]
    parts = [("History", histories), ("What matters", matters)]
    if len(shown) > 1:
        parts.insert(0, ("Pareto front", [front(found.trials, shown, best, over, baseline)]))
    return parts, list(dict.fromkeys(why_not))


def _about(found: Outcome, over: set[int]) -> str:
    failed = sum(trial.error is not None for trial in found.trials)
    text = f"{count_text(len(found.trials), 'trial')} with {count_text(len(found.about['seeds']), 'seed')} each"
    text += f", {len(over):,} above the budget" if over else ""
    text += f", {failed:,} failed" if failed else ""
    return text + "."


def _asked(found: Outcome) -> list[tuple[str, str]]:
    """What was asked for: a name and a text each."""
    about = found.about
    measures = shown_measures(about["objective"])
    limits = shown_measures(list(about["budget"]))
    rows = [("objective", f"minimize {listed([each.axis for each in measures])}")]
    if limits:
        texts = [f"{each.title} at most {_in_unit(about['budget'][each.name], each)}" for each in limits]
        rows.append(("budget", listed(texts)))
    rows += [(each["key"], _range(each)) for each in found.space]
    rows.append(("seeds", ", ".join(str(seed) for seed in about["seeds"])))
    rows.append(("sampler", f"{about.get('sampler', '')}, {about.get('batch', '')} trials at a time"))
    return rows


def _range(each: dict[str, Any]) -> str:
    if "choices" in each:
        return "one of " + ", ".join(str(choice).strip('"') for choice in each["choices"])
    ends = [quantity_text(f"{each[end]:.10g}{each.get('suffix', '')}") for end in ("low", "high")]
    return f"{ends[0]} to {ends[1]}" + (", all magnitudes as likely" if each.get("log") else "")


def _best(found: Outcome, measures: Sequence[Shown]) -> dict[str, Any]:
    """The best trials' settings and numbers beside those of the baseline."""
    numbers = list(found.best)[:MAX_BEST]
    columns = [found.best[number] for number in numbers]
    keys = [each["key"] for each in found.space]
    alone = columns[0] if len(columns) == 1 else None
    settings = [(key, [_setting(each.settings.get(key)) for each in [*columns, found.baseline]]) for key in keys]
    rows = []
    for each in measures:
        texts = [number_text(_estimate(column, each)) for column in [*columns, found.baseline]]
        if any(text != NONE for text in texts):
            change = difference_text(_difference(alone, found.baseline, each)) if alone else None
            rows.append((each, texts, change))
    by_number = {trial.number: trial for trial in found.trials}
    return {
        "names": [f"trial {number}" for number in numbers],
        "settings": settings,
        "rows": rows,
        "paired": alone is not None and len(found.about["seeds"]) > 1,
        "more": max(0, len(found.best) - MAX_BEST),
        "error": found.baseline.error,
        "sets": [settings_text(by_number[int(n)].settings) for n in numbers if int(n) in by_number],
    }


def _estimate(of: Measured, shown: Shown) -> Estimate | None:
    values = [each[shown.name] / shown.scale for each in of.by_seed.values() if shown.name in each]
    return estimate(values) if values else None


def _difference(best: Measured, baseline: Measured, shown: Shown) -> Any:
    def values(of: Measured) -> dict[int, float]:
        found = {int(seed): each for seed, each in of.by_seed.items()}
        return {seed: each[shown.name] / shown.scale for seed, each in found.items() if shown.name in each}

    return paired(values(best), values(baseline))


def _means(of: Measured) -> dict[str, float]:
    runs = list(of.by_seed.values())
    names = [name for name in (runs[0] if runs else {}) if all(name in run for run in runs)]
    return {name: estimate([run[name] for run in runs]).mean for name in names}


def _row(trial: Trial, found: Outcome, measures: Sequence[Shown], over: set[int], best: set[int]) -> dict[str, Any]:
    return {
        "number": trial.number,
        "settings": [_setting(trial.settings.get(each["key"])) for each in found.space],
        "numbers": [_number(trial.measures.get(each.name), each) for each in measures],
        "kind": "best" if trial.number in best else "above the budget" if trial.number in over else "",
        "error": trial.error,
    }


def _setting(value: Any) -> tuple[str, str]:
    """A setting for people, and as the scenario takes it if that differs."""
    if value is None:
        return NONE, ""
    exact = text_of(value)
    text = f"{value:.4g}" if isinstance(value, float) else quantity_text(exact)
    return text, exact if exact != text else ""


def _number(value: float | None, shown: Shown) -> str:
    return NONE if value is None else digits(value / shown.scale, 4)


def _in_unit(value: float, shown: Shown) -> str:
    return f"{digits(value / shown.scale, 4)}{' ' + shown.unit if shown.unit else ''}"
