"""granian's command, changed by steps."""

from __future__ import annotations

from lab.config import command_edit
from lab.config.configuration import Config
from lab.config.granian.command import (
    COLLECTS,
    given,
    is_flag,
    option_of,
    options,
    read,
    spelt,
)
from lab.config.steps import Steps, new_option
from lab.errors import ProfileError

GRAMMAR = command_edit.Grammar(read, option_of, spelt, is_flag, given, COLLECTS)


def edited(config: Config, steps: Steps) -> str:
    """Return the text of a command, or of its script, after the steps; see `Server.edited`."""
    for step, _ in steps:
        if (name := new_option(step)) and option_of(name) not in options():
            raise ProfileError(config.file, f"granian has no option {name}")
    return command_edit.edited(GRAMMAR, config, steps)
