"""The command that repeats a run which was started in the web form."""

from __future__ import annotations

import argparse
import sys

from locust.argument_parser import ui_extra_args_dict

from lab.model.runtime import without_values


def command(parsed: argparse.Namespace, connections: int) -> tuple[str, ...]:
    """
    Return the command that starts without the web form what was chosen in it.

    Args:
        parsed: What the form left, over what the command line said.
        connections: Number of users.
    """
    words = [*without_values(sys.argv), "--headless", "--users", str(connections)]
    for name, given in ui_extra_args_dict().items():
        value = getattr(parsed, name)
        if (value or None) == (given["default_value"] or None):  # what the command line says
            continue
        words.append(f"--{name.replace('_', '-')}")
        if value is not True:
            words += map(str, value if isinstance(value, list) else [value])
    return without_values(words)
