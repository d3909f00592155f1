"""
Write options.json: the options of a server's command, of the version that is installed.

    python tools/command_options.py granian > lab/config/granian/options.json
    python tools/command_options.py uvicorn > lab/config/uvicorn/options.json
    python tools/command_options.py hypercorn > lab/config/hypercorn/options.json
"""

import argparse
import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from importlib import import_module
from importlib.metadata import version
from io import StringIO
from types import ModuleType
from typing import Any
from unittest import mock

import click

COMMANDS = {"granian": ("granian.cli", "cli"), "uvicorn": ("uvicorn.main", "main")}
"""Program -> the module and the name of its command."""


def table(program: str) -> str:
    """Return the file's text."""
    options = of_click(program) if program in COMMANDS else of_hypercorn()
    content = {"version": version(program), "options": dict(sorted(options.items()))}
    return json.dumps(content, indent=1) + "\n"


def of_click(program: str) -> dict[str, Any]:
    """Return the options of a command that Click made."""
    module, name = COMMANDS[program]
    command = getattr(import_module(module), name)
    return {
        option.opts[0].removeprefix("--"): _entry(program, option)
        for option in command.get_params(click.Context(command))
        if isinstance(option, click.Option)
    }


def _entry(program: str, option: click.Option) -> dict[str, Any]:
    """Return what is known of an option; what cannot be said of it is left out."""
    kind = option.type
    entry: dict[str, Any] = {"variable": option.name}
    if option.is_flag:
        entry["off"] = [word.removeprefix("--") for word in option.secondary_opts]
    elif isinstance(kind, click.Choice):
        entry["choices"] = [getattr(choice, "value", choice) for choice in kind.choices]
        entry |= {"exact": True} if kind.case_sensitive else {}  # capitals count
    elif isinstance(kind, click.IntRange) and type(kind).__name__ != "Duration":
        entry["least"], entry["most"] = kind.min, kind.max  # a Duration takes "24h" as well
    elif kind is click.INT:
        entry["least"], entry["most"] = None, None
    elif kind is click.FLOAT:
        entry["kind"] = "number"
    elif kind is click.BOOL:
        entry["choices"] = ["true", "false", "1", "0", "yes", "no", "t", "f", "y", "n", "on", "off"]
    elif isinstance(kind, click.Path) and kind.exists:
        entry["kind"] = "path"
    if program == "uvicorn" and option.name in {"loop", "http", "ws"}:
        config = import_module("uvicorn.config")
        known = {"loop": "LOOP_FACTORIES", "http": "HTTP_PROTOCOLS", "ws": "WS_PROTOCOLS"}
        entry["choices"] = [*getattr(config, known[option.name])]
        entry |= {"kind": "import", "exact": True}  # or a class: MODULE:NAME
    return entry


def of_hypercorn() -> dict[str, Any]:
    """Return the names that a file of hypercorn may have, each with the words of the command."""
    program, config = (import_module(f"hypercorn.{name}") for name in ("__main__", "config"))
    kinds = {name: _kind(config.Config, name) for name in dir(config.Config)}
    options: dict[str, Any] = {
        name: {"words": [], "takes": kind} for name, kind in kinds.items() if kind
    }
    options["application_path"] = {"words": [], "takes": "str"}
    for action in _actions(program):
        words = sorted(action.option_strings, key=len, reverse=True)
        name = _set_by(program, config.Config, words[0], action)
        entry = options[name]
        entry["words"] = [*words, *entry["words"]]  # the earlier one of two is deprecated
        if action.nargs == 0:
            entry["off"] = []
        elif action.type is int:
            entry["least"], entry["most"] = None, None
    options["config"] = {"words": ["--config", "-c"]}
    options["worker_class"]["choices"] = ["asyncio", "uvloop", "trio"]  # hypercorn/run.py:20
    options["worker_class"]["exact"] = True
    return options


def _kind(config: type, name: str) -> str:
    """Return which type a name of the configuration takes; empty: it is none."""
    default = getattr(config, name)
    if name.startswith("_") or (callable(default) and not isinstance(default, type)):
        return ""
    if isinstance(default, property):
        return {"root_path": "str", "cert_reqs": "int"}.get(name, "list") * bool(default.fset)
    if isinstance(default, type):
        return "any"
    annotation = str(config.__annotations__.get(name, type(default).__name__))
    kinds = (kind for kind in ("list", "bool", "float", "int", "str") if kind in annotation)
    return next(kinds, "any")


def _actions(program: ModuleType) -> Iterator[argparse.Action]:
    """Yield the options of a command that argparse made."""
    actions: list[argparse.Action] = []
    add = argparse.ArgumentParser.add_argument

    def add_argument(self: argparse.ArgumentParser, *names: str, **words: Any) -> argparse.Action:
        actions.append(add(self, *names, **words))
        return actions[-1]

    patched = mock.patch.object(argparse.ArgumentParser, "add_argument", add_argument)
    with patched, suppress(SystemExit), redirect_stdout(StringIO()):
        program.main(["--help"])
    left_out = {"help", "config"}
    yield from (one for one in actions if one.option_strings and one.dest not in left_out)


def _set_by(program: ModuleType, config: type, word: str, action: argparse.Action) -> str:
    """Return which name an option sets, by what the command makes of it."""
    same = word[2:].replace("-", "_")
    if hasattr(config, same):
        return same
    value = [] if action.nargs == 0 else ["7"]
    with mock.patch.object(program, "run") as run, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program.main([word, *value, "a:b"])
    made = vars(run.call_args[0][0]).keys() - {"application_path", "statsd_prefix"}
    (name,) = made
    return str(name).removeprefix("_")


if __name__ == "__main__":
    sys.stdout.write(table(sys.argv[1]))
