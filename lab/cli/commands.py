"""What `lab` offers, and how it ends: with a status, and with a message where something failed."""

from __future__ import annotations

import ast
import errno
import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import click
from click.exceptions import NoArgsIsHelpError

from lab.bench.machine import project
from lab.cli.broken_pipe import forget_what_nobody_reads
from lab.cli.interrupts import interruptible
from lab.errors import LabError, UsageError
from lab.model.wording import alternatives, in_a_line
from lab.report.edge import guard_streams, say

_UNWRITTEN = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT)
"""How an output ends early: the reader of standard error has gone, or a disk is full."""

OF_RUN = frozenset(
    {"gevent", "jinja2", "locust", "markupsafe", "matplotlib", "numpy", "psutil", "rich"}
)
"""Packages that an installation which only reads has not: the extra `run`."""

TROUBLE = {"lint": 2}
"""Command of which 1 says something else than that it failed -> its status where it has."""

STATUSES = {
    0: "done",
    1: "failed",
    2: "wrong usage",
    3: "inconclusive",
    4: "`lab migrate`: an option has no equivalent, or behaves differently; "
    "`lab tune`: no measurable improvement, or with --dry-run lines are missing",
    99: "regression: a limit of --fail-if or --require is crossed",
    130: "interrupted",
}
"""What the exit status of every command says."""


def run_command_line() -> None:
    """Run what was typed and exit; turn an error into its message and exit status."""
    forget_what_nobody_reads()
    guard_streams()
    try:
        with interruptible():
            status = cli.main(prog_name="lab", standalone_mode=False)
    except click.ClickException as error:
        if isinstance(error, NoArgsIsHelpError):
            error.show()
        else:
            say(f"lab: {_error_text(error)}", err=True)
        sys.exit(error.exit_code)
    except LabError as error:
        with suppress(OSError):  # what ended it counts, and not a full disk
            sys.stdout.flush()  # so that it stands below what it speaks of
        say("lab: " + "\n".join(error.lines), err=True)
        sys.exit(error.exit_code)
    except ModuleNotFoundError as error:
        if _package(error) not in OF_RUN:
            raise
        text = _missing(error)
        say(f"lab: {text[0].lower()}{text[1:]}", err=True)
        sys.exit(2)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            say(f"lab: {error.filename}: no file has so long a name; name another", err=True)
            sys.exit(2)
        if error.errno not in _UNWRITTEN:
            raise
        # The buffer's rest goes nowhere, so that Python does not complain of it at its own end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            what = error.filename or "the output"
            say(f"lab: {what} could not be written: {error.strerror}", err=True)
        sys.exit(TROUBLE.get("".join(sys.argv[1:2]), 1))
    sys.exit(status)


def _error_text(error: click.ClickException) -> str:
    """Return what click has to say as the lab says it: what, then what to do."""
    text = error.format_message().rstrip(".")
    if not isinstance(error, click.UsageError):
        return text
    if isinstance(error, click.BadParameter) and error.param and error.message:
        name = error.param.opts[0]
        if isinstance(error.param, click.Argument):
            name = (error.param.metavar or name.upper()).strip("[].")
        return f"{name}: {error.message.rstrip('.')}"
    if isinstance(error, click.MissingParameter) and error.param:
        choices = getattr(error.param.type, "choices", ())
        if choices:
            return f"missing option {error.param.opts[0]}: {alternatives(choices)}"
    text = text[0].lower() + text[1:]
    if error.ctx is None:
        return text
    usage = error.ctx.command.get_usage(error.ctx).partition(" ")[2]
    return f"{text}{'' if text.endswith('?') else ';'} usage: {usage} (--help says more)"


COMMANDS = {
    "ab": "ab.command",
    "check": "check",
    "compare": "report",
    "lint": "lint.command",
    "list": "listing",
    "migrate": "migrate.command",
    "report": "report",
    "run": "run.command",
    "show": "show",
    "stress": "stress.command",
    "tune": "tune.command",
    "watch": "watch.command",
}
"""Command -> the module beside this one that has it, as NAME_command."""

CHECKOUT = {"claims": "studies.articles.command", "selftest": "studies.selftest.command"}
"""Command about the lab itself, which is there in a checkout only -> the module that has it."""


class Commands(Mapping[str, click.Command]):
    """Imports a command when it is asked for: `lab lint` needs nothing of what measures."""

    def __init__(self) -> None:
        self._modules = {name: f"lab.cli.{module}" for name, module in COMMANDS.items()}
        self._modules |= {
            name: module
            for name, module in CHECKOUT.items()
            if project.has(module.rpartition(".")[0])
        }

    def __getitem__(self, name: str) -> click.Command:
        if name in CHECKOUT and name not in self._modules:
            raise UsageError(f"{name} is about the lab itself, and there in its repository only")
        module = self._modules[name]
        if name in CHECKOUT:
            sys.path.append(str(project.root()))
        try:
            command: click.Command = getattr(importlib.import_module(module), f"{name}_command")
        except ModuleNotFoundError as error:
            command = _without_packages(name, module, error)
        # click would cut what it takes from the help at 45 columns.
        command.short_help = inspect.cleandoc(command.help or "").partition("\n\n")[0]
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)


def _without_packages(name: str, module: str, error: ModuleNotFoundError) -> click.Command:
    """
    Return a command that has its help alone, because a package of `OF_RUN` is not installed.

    Raises:
        ModuleNotFoundError: It is another module.
    """
    if _package(error) not in OF_RUN:
        raise error

    def refuse(**_: object) -> None:
        raise error

    help_text = f"{_docstring(module, f'{name}_command')}\n\n\b\n{_missing(error)}"
    words = click.Argument(["words"], nargs=-1, type=click.UNPROCESSED, expose_value=False)
    settings = {"ignore_unknown_options": True, "help_option_names": ["-h", "--help"]}
    return click.Command(
        name, settings, refuse, [words], help=help_text, options_metavar="[OPTIONS]"
    )


def _docstring(module: str, function: str) -> str:
    """Return the docstring of a function in a module, which is not imported."""
    spec = importlib.util.find_spec(module)
    assert spec is not None
    tree = ast.parse(Path(spec.origin or "").read_text(encoding="utf-8"))
    defined = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    docstrings = (ast.get_docstring(node) for node in defined if node.name == function)
    return next(docstrings, None) or ""


def _package(error: ModuleNotFoundError) -> str:
    return (error.name or "").partition(".")[0]


def _missing(error: ModuleNotFoundError) -> str:
    how = project.how_to_install("run")
    return f"This needs {_package(error)}, which is not installed: {how}"


class Lab(click.Group):
    """The command line, which knows what somebody may type in the place of an option."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is typed; of `lab explain` say where that is."""
        if args[:1] == ["explain"]:
            code = in_a_line("".join(args[1:2])) or "CODE"
            raise UsageError(
                f"there is no command explain: `{project.lab_command()} lint --explain {code}`"
            )
        return super().resolve_command(ctx, args)


@click.group(
    cls=Lab,
    commands=Commands(),
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
    epilog=f"Exit status: {', '.join(f'{status} {text}' for status, text in STATUSES.items())}.",
)
@click.version_option(package_name="uwsgi-fibonacci-lab")
def cli() -> None:
    """
    Check server configurations, and compare them under load.

    \b
    lab lint ~/shop/uwsgi.ini   find mistakes; starts nothing
    lab watch 8000              see how busy a running server is; reads only
    lab run --quick             compare the lab's main profiles, in three minutes
    lab run ~/shop/uwsgi.ini safety --path /items/3
                                compare your configuration with a profile
    lab run --app shop.wsgi:application --path /items/3
                                compare the profiles with your application
    """  # noqa: D301 - click wants the control character itself
