"""The study that chooses values: an Optuna study that keeps a journal of every step."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from xoff.errors import extra
from xoff.runs.scenario import Override

JOURNAL = "study.log"
"""The journal's file."""

_NAME = "xoff"


class Study:
    """Chooses the values of a tuning's keys, a batch at a time, and goes on where an earlier process was."""

    def __init__(self, folder: Path, about: Mapping[str, Any], space: Sequence[Mapping[str, Any]]) -> None:
        optuna = extra("optuna", "tuning")
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._optuna, self._about, self._space = optuna, about, space
        self.over: dict[int, list[float]] = {}
        """By how much each trial exceeds each budget."""
        storage = optuna.storages.JournalStorage(
            optuna.storages.journal.JournalFileBackend(str(folder / JOURNAL), _NoLock())
        )
        directions = ["minimize"] * len(about["objective"])
        self._study = optuna.create_study(storage=storage, study_name=_NAME, directions=directions, load_if_exists=True)

    def agree(self, identity: str) -> bool:
        """Whether the study is that of `identity`; a new one becomes it."""
        found = self._study.user_attrs.get("identity")
        if found is None:
            self._study.set_user_attr("identity", identity)
        return found in (None, identity)

    def count(self) -> int:
        """Trials so far."""
        return len(self._study.get_trials(deepcopy=False))

    def open(self) -> list[tuple[int, list[Override]]]:
        """Trials whose outcome is not known: of an earlier process that was stopped."""
        running = self._optuna.trial.TrialState.RUNNING
        found = self._study.get_trials(deepcopy=False, states=(running,))
        # A trial that was stopped while its values were chosen lacks some of them.
        return [(trial.number, self._overrides(trial)) for trial in found if len(trial.params) == len(self._space)]

    def finished(self) -> list[tuple[int, list[Override]]]:
        """Trials whose outcome is known."""
        running = self._optuna.trial.TrialState.RUNNING
        every = self._study.get_trials(deepcopy=False)
        return [
            (trial.number, self._overrides(trial))
            for trial in every
            if trial.state != running and len(trial.params) == len(self._space)
        ]

    def drop_torn(self) -> None:
        """Give up trials that were stopped while their values were chosen."""
        running = self._optuna.trial.TrialState.RUNNING
        for trial in self._study.get_trials(deepcopy=False, states=(running,)):
            if len(trial.params) < len(self._space):
                self._study.tell(trial.number, state=self._optuna.trial.TrialState.FAIL)

    def ask(self) -> tuple[int, list[Override]]:
        """Choose the values of one more trial."""
        # Seeded by the trial's number: what is chosen does not depend on which process it is.
        self._study.sampler = self._sampler(self.count())
        trial = self._study.ask()
        for each in self._space:
            key = each["key"]
            if "choices" in each:
                trial.suggest_categorical(key, each["choices"])
            elif each["whole"]:
                trial.suggest_int(key, int(each["low"]), int(each["high"]), log=each["log"])
            else:
                trial.suggest_float(key, each["low"], each["high"], log=each["log"])
        return trial.number, self._overrides(trial)

    def tell(self, number: int, outcome: Sequence[float] | None) -> None:
        """The outcome of a trial; `None` for one that failed."""
        if outcome is None:
            self._study.tell(number, state=self._optuna.trial.TrialState.FAIL)
        else:
            self._study.tell(number, list(outcome))

    def _sampler(self, number: int) -> Any:
        samplers, seed = self._optuna.samplers, (int(self._about["sampler_seed"]) * 1_000_003 + number) % 2**32
        if self._about["sampler"] == "random":
            return samplers.RandomSampler(seed=seed)
        constraints: Callable[[Any], Sequence[float]] | None = self._over if self._about["budget"] else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", category=FutureWarning)
            warnings.simplefilter("ignore", category=self._optuna.exceptions.ExperimentalWarning)
            if self._about["sampler"] == "nsga2":
                return samplers.NSGAIISampler(seed=seed, constraints_func=constraints)
            return samplers.TPESampler(seed=seed, constant_liar=True, constraints_func=constraints)

    def _over(self, trial: Any) -> Sequence[float]:
        return self.over.get(trial.number, [1.0] * len(self._about["budget"]))

    def _overrides(self, trial: Any) -> list[Override]:
        return [(each["key"], _toml(trial.params[each["key"]], each)) for each in self._space]


def _toml(value: Any, of: Mapping[str, Any]) -> str:
    if "choices" in of:
        return str(value)
    return json.dumps(f"{value}{of['suffix']}") if of["suffix"] else repr(value)


class _NoLock:
    """The folder has a lock of its own, which does not outlive its process, as the journal's would."""

    def acquire(self) -> bool:
        return True

    def release(self) -> None:
        pass
