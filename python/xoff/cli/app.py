"""The command `xoff`.

Exit status: 0 for done, 2 for a user's mistake, 1 for a run that broke, 130 after Ctrl-C; SIGTERM and SIGHUP act as
Ctrl-C does, with 143 and 129. A command imports only what it needs: a run starts at once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

try:
    from xoff.cli import catalogue, runs, studies
    from xoff.cli.console import complain
    from xoff.cli.formats import agreement, exporter, importer
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


app = typer.Typer(
    name="xoff",
    cls=_Group,
    help="A packet-level simulator for congestion control in lossless networks.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(importer)
app.add_typer(exporter)
app.add_typer(agreement)


def _version(wanted: bool) -> None:
    if wanted:
        from xoff import _xoff

        typer.echo(f"xoff {_xoff.__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """A packet-level simulator for congestion control in lossless networks."""


# In the order of the help.
for command in (
    runs.run,
    runs.check,
    studies.sweep,
    studies.tune,
    studies.collective,
    runs.report,
    runs.explore,
    runs.explain,
    studies.reproduce,
    studies.compare,
    catalogue.describe,
    catalogue.schemes,
    catalogue.topologies,
    catalogue.workloads,
    catalogue.schema,
    runs.bench,
):
    app.command()(command)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    with ends_as_ctrl_c() as came:
        status = _status(arguments)
    return 128 + came[0] if came and status == INTERRUPTED else status


def _status(arguments: list[str] | None) -> int:
    try:
        app(args=arguments)
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
