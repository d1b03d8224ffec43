"""The study that chooses values, and what a folder keeps of it.

What a trial tries follows from the scenario and from the outcomes of the batches before: the sampler is seeded by the
trial's number. So a study needs no memory of its own. A search that goes on chooses all values anew, as it did before,
and finds their runs made. The record is there to refuse another search in the same folder.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from xoff._xoff import __version__ as xoff_version
from xoff.errors import UserError, extra
from xoff.runs.files import write_file
from xoff.runs.scenario import Override
from xoff.studies.sweep.folder import RECORD
from xoff.text import printable

EARLIER = "study.log"
"""What earlier versions of xoff had in its place."""


@dataclass
class Record:
    """What a folder keeps of its study."""

    identity: str
    """Hash of all that decides what is tried."""
    optuna: str
    """Version of Optuna that began it."""
    xoff: str = ""
    """Version of xoff that began it."""
    trials: list[dict[str, str]] = field(default_factory=list)
    """The keys' values of each trial, as TOML, in the order in which they were chosen."""

    @classmethod
    def read(cls, folder: Path) -> Record | None:
        """The record in `folder`; `None` if there is none that can be read."""
        try:
            found = cls(**json.loads((folder / RECORD).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError, RecursionError):
            return None
        return found if isinstance(found.trials, list) else None

    def write(self, folder: Path) -> None:
        """Write it into `folder`."""
        write_file(folder / RECORD, json.dumps(asdict(self), indent=1) + "\n")

    def take(self, number: int, overrides: Sequence[Override]) -> bool:
        """Take up the values of a trial; whether they are new.

        Raises
        ------
        UserError
            The record has other values, since another version of Optuna or of xoff chose them, say.
        """
        values = dict(overrides)
        if number >= len(self.trials):
            self.trials.append(values)
            return True
        if self.trials[number] != values:
            raise UserError(f"trial {number}: {self._why()}")
        return False

    def other_xoff(self) -> str:
        """As `, by xoff 0.1.0`, if another version than this began the study; otherwise nothing."""
        return f", by xoff {printable(str(self.xoff))}" if self.xoff not in ("", xoff_version) else ""

    def _why(self) -> str:
        began = printable(str(self.optuna))
        if began != _version():
            return (
                f"Optuna {_version()} chooses other values than Optuna {began}, which began this tuning; name another "
                f"folder, or install that version: pip install optuna=={began}"
            )
        if other := self.other_xoff():
            return f"xoff {xoff_version} chooses other values than {RECORD} has{other}; name another folder"
        return f"{RECORD} has other values than this search chooses: it or a run was changed; name another folder"


def new_record(identity: str) -> Record:
    """The record of a study that begins."""
    return Record(identity, _version(), xoff_version)


def _version() -> str:
    return str(extra("optuna", "tuning").__version__)


class Study:
    """Chooses the values of a tuning's keys, a batch at a time."""

    def __init__(self, about: Mapping[str, Any], space: Sequence[Mapping[str, Any]]) -> None:
        optuna = extra("optuna", "tuning")
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._optuna, self._about, self.space = optuna, about, space
        """Each key with its range or its choices."""
        self.count = 0
        """Trials so far."""
        self.over: dict[int, list[float]] = {}
        """By how much each trial exceeds each budget."""
        self._study = optuna.create_study(directions=["minimize"] * len(about["objective"]))

    def ask(self) -> tuple[int, list[Override]]:
        """Choose the values of one more trial."""
        self._study.sampler = self._sampler(self.count)
        self.count += 1
        trial = self._study.ask()
        for each in self.space:
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
        return [(each["key"], _toml(trial.params[each["key"]], each)) for each in self.space]


def _toml(value: Any, of: Mapping[str, Any]) -> str:
    if "choices" in of:
        return str(value)
    return json.dumps(f"{value}{of['suffix']}") if of["suffix"] else repr(value)
