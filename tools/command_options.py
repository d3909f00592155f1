"""
Write options.json: the options of a server's command, of the version that is installed.

    python tools/command_options.py granian > lab/config/granian/options.json
    python tools/command_options.py uvicorn > lab/config/uvicorn/options.json
"""

import json
import sys
from importlib import import_module
from importlib.metadata import version
from typing import Any

import click

COMMANDS = {"granian": ("granian.cli", "cli"), "uvicorn": ("uvicorn.main", "main")}
"""Program -> the module and the name of its command."""


def table(program: str) -> str:
    """Return the file's text."""
    module, name = COMMANDS[program]
    command = getattr(import_module(module), name)
    options = {
        option.opts[0].removeprefix("--"): _entry(program, option)
        for option in command.get_params(click.Context(command))
        if isinstance(option, click.Option)
    }
    content = {"version": version(program), "options": dict(sorted(options.items()))}
    return json.dumps(content, indent=1) + "\n"


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


if __name__ == "__main__":
    sys.stdout.write(table(sys.argv[1]))
