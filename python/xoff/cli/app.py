"""The command `xoff`.

Exit status: 0 for done, 2 for a user's mistake, 1 for a run that broke, 130 after Ctrl-C; SIGTERM and SIGHUP act as
Ctrl-C does, with 143 and 129. A command imports only what it needs, and no other module of commands: a run starts at
once.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

try:
    from xoff.cli.console import complain
    from xoff.cli.options import BROKEN, INTERRUPTED, MISTAKE
    from xoff.errors import RunError, ScenarioError, UserError
    from xoff.runs.signals import ends_as_ctrl_c
    from xoff.text import shown
except ImportError as error:
    # The native module is missing or of another version: there is no command yet that could say so.
    sys.exit(f"error: {error}")


class _Group(TyperGroup):
    """The commands; a usage error shows what was typed as all other messages do."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        with _shown():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        with _shown():
            return super().invoke(ctx)


@contextmanager
def _shown() -> Iterator[None]:
    try:
        yield
    except TyperException as error:
        error.message = shown(error.message)
        raise


_COMMANDS = {
    "run": "runs",
    "check": "runs",
    "sweep": "studies",
    "tune": "studies",
    "collective": "studies",
    "report": "runs",
    "explore": "runs",
    "explain": "runs",
    "reproduce": "studies",
    "compare": "studies",
    "describe": "catalogue",
    "schemes": "catalogue",
    "topologies": "catalogue",
    "workloads": "catalogue",
    "schema": "catalogue",
    "bench": "runs",
}
"""The module of each command, in the order of the help; the command is the function of its name."""

_GROUPS = {"import": "importer", "export": "exporter", "agreement": "agreement"}
"""What each group of commands is called in the module `formats`."""


def app(first: str | None = None) -> typer.Typer:
    """The command line; with that command alone if its `first` word is one, since each takes time to load."""
    made = typer.Typer(
        name="xoff",
        cls=_Group,
        help="A packet-level simulator for congestion control in lossless networks.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(common)
    is_known = first in _COMMANDS or first in _GROUPS
    for group, name in _GROUPS.items():
        if not is_known or group == first:
            made.add_typer(_part("formats", name))
    for command, module in _COMMANDS.items():
        if not is_known or command == first:
            made.command()(_part(module, command))
    return made


def _part(module: str, name: str) -> Any:
    try:
        return getattr(importlib.import_module(f"xoff.cli.{module}"), name)
    except ImportError as error:
        # An installation that is not whole.
        raise RunError(str(error)) from None


def _version(wanted: bool) -> None:
    if wanted:
        from xoff import _xoff

        typer.echo(f"xoff {_xoff.__version__}")
        raise typer.Exit


def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """A packet-level simulator for congestion control in lossless networks."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    with ends_as_ctrl_c() as came:
        status = _status(arguments)
    return 128 + came[0] if came and status == INTERRUPTED else status


def _status(arguments: list[str] | None) -> int:
    typed = sys.argv[1:] if arguments is None else arguments
    try:
        app(typed[0] if typed else None)(args=arguments)
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 0 if done.code is None else BROKEN
    except (UserError, ScenarioError) as error:
        complain("error", str(error))
        return MISTAKE
    except RunError as error:
        if error.__cause__ is not None:
            # The exception of a scheme in Python.
            import traceback

            traceback.print_exception(error.__cause__)
        complain("error", str(error))
        return BROKEN
    except UnicodeEncodeError as error:
        # A name on the command line that is no text.
        complain("error", f"{error.object}: not UTF-8; expected text")
        return MISTAKE
    except OSError as error:
        # A full disk, a folder that has become read-only, no process left.
        complain("error", f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error))
        return BROKEN
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0
