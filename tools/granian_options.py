"""
Write lab/config/granian/options.json: the options of granian's command.

    python tools/granian_options.py > lab/config/granian/options.json

They are those of the granian that is installed.
"""

import json
import sys
from importlib.metadata import version
from typing import Any

import click
from granian.cli import Duration, cli


def table() -> str:
    """Return the file's text."""
    options = {
        each.opts[0].removeprefix("--"): _entry(each)
        for each in cli.get_params(click.Context(cli))
        if isinstance(each, click.Option)
    }
    content = {"version": version("granian"), "options": dict(sorted(options.items()))}
    return json.dumps(content, indent=1) + "\n"


def _entry(option: click.Option) -> dict[str, Any]:
    """Return what is known of an option; what cannot be said of it is left out."""
    kind = option.type
    entry: dict[str, Any] = {"variable": option.name}
    if option.is_flag:
        entry["off"] = [each.removeprefix("--") for each in option.secondary_opts]
    elif isinstance(kind, click.Choice):
        entry["choices"] = [getattr(each, "value", each) for each in kind.choices]
    elif isinstance(kind, Duration):
        pass  # "24h" is one as well
    elif isinstance(kind, click.IntRange):
        entry["least"], entry["most"] = kind.min, kind.max
    elif kind is click.INT:
        entry["least"], entry["most"] = None, None
    return entry


if __name__ == "__main__":
    sys.stdout.write(table())
