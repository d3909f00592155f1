"""`CommandTable`: the options of a server's command, and what stands in such a command."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from lab.config import command_edit
from lab.config.configuration import Config, Known
from lab.config.spot import Setting
from lab.config.steps import Steps, new_option
from lab.config.words import OFF, Argument, arguments, command_of
from lab.errors import ProfileError


@dataclass(frozen=True, eq=False)
class CommandTable:
    """The options of a server's command, without their dashes."""

    program: str
    file: Path
    """The options of one version, which `tools/command_options.py` wrote."""

    collects: frozenset[str] = frozenset()
    """Options of which each value counts."""

    defaults: Mapping[str, str] = field(default_factory=dict)
    """Variable whose name is not made of the option's -> the option whose default it is."""

    @cached_property
    def carried(self) -> Mapping[str, Any]:
        """What `tools/command_options.py` wrote."""
        content: dict[str, Any] = json.loads(self.file.read_text(encoding="utf-8"))
        return content

    @cached_property
    def version(self) -> str:
        """The version whose options they are."""
        return str(self.carried["version"])

    @cached_property
    def options(self) -> Mapping[str, Mapping[str, Any]]:
        """Option -> what is known of it; what switches one off has that, too."""
        known = self.carried["options"]
        return {word: entry for name, entry in known.items() for word in (name, *_off(entry))}

    @cached_property
    def _main_names(self) -> Mapping[str, str]:
        """Option in any spelling -> the option."""
        known = self.carried["options"]
        return {word: name for name, entry in known.items() for word in (name, *_off(entry))}

    @cached_property
    def _of_word(self) -> Mapping[str, str]:
        """Word of the command, with dashes -> the option, of options that it calls otherwise."""
        known = self.carried["options"]
        return {word: name for name, entry in known.items() for word in entry.get("words", ())}

    @cached_property
    def _short(self) -> frozenset[str]:
        """The words of one letter."""
        return frozenset(word for word in self._of_word if len(word) == 2)

    @cached_property
    def variable(self) -> re.Pattern[str]:
        """Pattern of a variable that may set an option; its last group is the value."""
        others = "".join(f"|{name}" for name in self.defaults)
        return re.compile(rf"({self.program.upper()}_\w+{others})=(.*)", re.DOTALL)

    @cached_property
    def variables(self) -> Mapping[str, str]:
        """Variable -> the option that it sets."""
        named = {
            f"{self.program.upper()}_{entry['variable'].upper()}": name
            for name, entry in self.carried["options"].items()
            if "variable" in entry
        }
        return {**self.defaults, **named}

    def takes_no_value(self, word: str) -> bool:
        """Return whether a word of the command is an option that no value follows."""
        return self.is_flag(self._name_of(word))

    def takes_variable(self, word: str) -> bool:
        """Return whether a word before the command is a variable that sets one of its options."""
        return self.variable.match(word) is not None

    def option_of(self, word: str) -> str:
        """Return the option that a word of the command stands for: "ws" for "--no-ws"."""
        name = self._name_of(word)
        return self._main_names.get(name, name)

    def is_flag(self, option: str) -> bool:
        """Return whether an option takes no value."""
        return "off" in self.options.get(option, ())

    def spelt(self, option: str, value: str) -> Sequence[str]:
        """Return the words that set an option; none where that is to leave it out, or in a file."""
        entry = self.options.get(option, {})
        off, words = entry.get("off"), entry.get("words")
        if words is not None:
            is_left_out = not words or (off is not None and value.lower() in OFF)
            return () if is_left_out else (words[0],) if off is not None else (words[0], value)
        if off is None:
            return f"--{option}", value
        return tuple(f"--{word}" for word in ((option,) if value.lower() not in OFF else off[:1]))

    def read(self, path: Path, known: Known) -> Config:
        """
        Read a command with its arguments; what it sets are its options, without their dashes.

        An option that takes no value, or is followed by another one or nothing, has none. Variables
        that stand before it count as its options; one of no option keeps its name.

        Raises:
            ProfileError: No word of it is the program.
        """
        text = known.required(path)
        command = command_of(text, path, self.program)
        if command is None:
            problem = f"is not a {self.program} command: it does not contain the word "
            raise ProfileError(path, f"{problem}`{self.program}`")
        before = [(self.variable.fullmatch(word.value), word.spot) for word in command.before]
        settings = [
            Setting(self.variables.get(match[1], match[1]), match[2], spot, match[2])
            for match, spot in before
            if match
        ]
        defaults = [one for one in settings if self._is_default(text, one)]
        settings = [*defaults, *(one for one in settings if one not in defaults)]
        given = self._settings(command.behind)
        top = command.program.spot
        return Config(self.program, path, (*settings, *given), {path: text}, known, top=top)

    def given(self, config: Config) -> list[Argument | Setting]:
        """Return the options of a command, and its other words."""
        command = command_of(config.texts[config.file], config.file, self.program)
        return list(self._arguments(command.behind)) if command else []

    def target(self, config: Config) -> Setting | None:
        """Return what a command serves, as the value of no option; None where it names nothing."""
        return next((word for word in self.given(config) if isinstance(word, Setting)), None)

    def edited(
        self, config: Config, steps: Steps, read: Callable[[Path, Known], Config] | None = None
    ) -> str:
        """
        Return the text of a command, or of its script, after the steps; see `Server.edited`.

        Args:
            config: The command.
            steps: The steps.
            read: Reads the command again; None: `read`.
        """
        for step, _ in steps:
            name = new_option(step)
            entry = self.options.get(self.option_of(name)) if name else None
            if name and entry is None:
                raise ProfileError(config.file, f"{self.program} has no option {name}")
            if entry and entry.get("words") == []:
                problem = f"the command of {self.program} has no {name}: write it in a file"
                raise ProfileError(config.file, problem)
        grammar = command_edit.Grammar(
            read or self.read, self.option_of, self.spelt, self.is_flag, self.given, self.collects
        )
        return command_edit.edited(grammar, config, steps)

    def _is_default(self, text: str, setting: Setting) -> bool:
        """Return whether a variable gives a default, so that any other one wins."""
        line = text.split("\n")[setting.spot.line - 1]
        return line[setting.spot.column - 1 :].partition("=")[0].lstrip("'\"") in self.defaults

    def _arguments(self, words: Iterable[Setting]) -> Iterator[Argument | Setting]:
        return arguments(words, self.takes_no_value, self._short)

    def _name_of(self, word: str) -> str:
        """Return what a word sets; Python's argparse takes the beginning of one word for it."""
        if self._of_word and word[:2] == "--" and word not in self._of_word:
            whole = [one for one in self._of_word if one.startswith(word)]
            word = whole[0] if len(whole) == 1 else word
        if (option := self._of_word.get(word)) is not None:
            return option
        name = word.removeprefix("--")
        # Of --worker_class, which is no word of the command, the option is another one.
        return word if "words" in self.options.get(name, ()) else name

    def _settings(self, words: Iterable[Setting]) -> Iterator[Setting]:
        for argument in self._arguments(words):
            if isinstance(argument, Argument):
                name = self._name_of(argument.name)
                yield Setting(name, argument.value, argument.word.spot, argument.raw)


def _off(entry: Mapping[str, Any]) -> Sequence[str]:
    """Return what switches a flag off."""
    words: Sequence[str] = entry.get("off", ())
    return words
