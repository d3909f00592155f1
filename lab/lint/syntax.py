"""Spells the settings of a message in the syntax of the text that has them."""

from __future__ import annotations

import json
import re
import shlex

from lab.config import servers
from lab.config.configuration import Config
from lab.config.server import Server
from lab.config.spot import Setting, Spot
from lab.config.start import Surroundings
from lab.config.steps import Put
from lab.config.words import words_of
from lab.lint.flaw import Flaw

_SETTING = re.compile(
    r"""(?<![\w.-])(?:([a-z][\w-]*)\ =\ ("[^"]*"|'[^']*'|\S+?(?=[,;:]?(?:\s|$)))"""
    r"""|(?<=\bno\ )([a-z][\w-]*)(?=:)|([a-z]+[_-][\w-]*\w)(?![\w=.]))""",
    re.VERBOSE,
)
"""`name = value`, `no name:`, or a name that is no word of English."""

FILES = frozenset({".py", ".toml"})
"""Endings of files that are no command, also of a server whose command is read."""

NOWHERE = Surroundings()

_PLAIN = re.compile(r"[^\s'\"\\;&|<>()*?#`!]+")
"""What a shell leaves as it is, except for variables."""


def spelled(config: Config, flaw: Flaw) -> str:
    """Return the message of a flaw; of one in a command with the options of that command."""
    server, before, message = servers.of_config(config), "", flaw.message
    if not is_command(config, flaw.spot):
        return message
    for setting in config.at(flaw.spot):
        if message.startswith(f"{setting.written}: "):
            before, message = _written(config, setting), message.removeprefix(setting.written)
            break
    around = config.known.surroundings
    for step in flaw.steps:
        if isinstance(step, Put):
            words = _in_command(server, step.option, step.value, around)
            message = message.replace(str(step), words)
    return before + _SETTING.sub(lambda match: _replacement(server, match, around), message)


def is_command(config: Config, spot: Spot) -> bool:
    """Return whether a place is in the command that a configuration is."""
    server, file = servers.of_config(config), config.file
    alone = file.name == server.program and file in config.forms
    in_command = server.reads_command and file.suffix not in FILES
    return spot.file == file and (in_command or alone)


def _written(config: Config, setting: Setting) -> str:
    """Return the words of a command that set an option there, which may be a variable."""
    server, line = servers.of_config(config), config.line(setting.spot)
    words = [word.raw for word in words_of(line[setting.spot.column - 1 :], config.file)]
    if setting.raw.startswith("['") or not words:  # what several words make
        return _in_command(server, setting.option, setting.raw)
    spelling = server.command_words(setting.option, server.value_of(setting.raw))
    has_value = re.fullmatch(r"--[^=]+|-\w", words[0]) and spelling[1:]
    return " ".join(words[: 2 if has_value else 1])


def _replacement(server: Server, match: re.Match[str], around: Surroundings) -> str:
    option = match[1] or match[3] or match[4]
    if option not in server.options():
        return match[0]
    if match[1]:
        return _in_command(server, option, match[2], around)
    words = server.command_words(option, "true")
    return words[0] if words else match[0]


def _in_command(server: Server, option: str, written: str, around: Surroundings = NOWHERE) -> str:
    """Return the words that set an option to what a file would have; that where no word does."""
    words = server.command_words(option, server.value_of(written))
    if around.in_list and words[1:]:
        return _escaped(", ".join(json.dumps(word) for word in words), around)
    quoted = (word if _PLAIN.fullmatch(word) else shlex.quote(word) for word in words)
    return _escaped(" ".join(quoted), around) or f"{option} = {written}"


def _escaped(text: str, around: Surroundings) -> str:
    """Return a text as the file has it in which the command stands."""
    return "".join(around.escapes.get(char, char) for char in text)
