"""A command, alone or in a script, that is changed by steps."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.config import change
from lab.config.change import Editing, Values, Ways, by_hand, line_end, rewritten
from lab.config.configuration import Config, Known
from lab.config.edits import Edit, applied
from lab.config.spot import Setting, Spot
from lab.config.steps import Drop, Prefix, Put, Rename, Step, Steps
from lab.config.words import OFF, Argument, command_of
from lab.errors import ProfileError

TARGET = "TARGET"
"""What the words that belong to no option are called among the values."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """How one server's command is spelt."""

    read: Callable[[Path, Known], Config]
    option_of: Callable[[str], str]
    """Returns the option that a word with its dashes stands for: "ws" for "--no-ws"."""

    spelt: Callable[[str, str], Sequence[str]]
    """Returns the words that set an option; none where that is to leave it out."""

    is_flag: Callable[[str], bool]
    """Whether an option takes no value."""

    given: Callable[[Config], Sequence[Argument | Setting]]
    collects: frozenset[str] = frozenset()
    """Options of which each value counts."""


def edited(grammar: Grammar, config: Config, steps: Steps) -> str:
    """
    Return the text that has a command, after the steps.

    Raises:
        ProfileError: It cannot be written so.
    """
    plain = [(_plain(grammar, step), says) for step, says in steps]
    return change.edited(_editing(grammar), config, plain)


def with_prefix(config: Config, prefix: Prefix, comments: Iterable[str]) -> str:
    """
    Return the text of a command, or of its script, with a program in front of the command.

    Raises:
        ProfileError: There is no command.
    """
    command = command_of(config.texts[config.file], config.file, config.server)
    if command is None:
        raise ProfileError(config.file, f"has no command for {prefix.words}: start it by hand")
    before, first = command.before, command.program
    if len(before) > 1 and before[-1].value == "-m":  # python -m granian
        first = before[-2]
    lines = _CommandLines(config)
    lines.put(first, 0, 0, f"{prefix.words} ")
    return applied(config.texts, [lines.edits(map(_comment, comments))])[config.file]


def _plain(grammar: Grammar, step: Step) -> Step:
    """Return a step with its options by one name; one that says no by leaving out as a `Drop`."""
    option = grammar.option_of(step.option)
    match step:
        case Put(_, value):
            return Put(option, value) if grammar.spelt(option, value) else Drop(option)
        case Rename(_, to):
            return Rename(option, grammar.option_of(to))
    return Drop(option)


def _editing(grammar: Grammar) -> Editing:
    return Editing(
        grammar.read,
        lambda config: _values(grammar, config),
        lambda config, step: _wanted(grammar, config, step),
        lambda config, step, says: _ways(
            grammar, config, step, [_comment(comment) for comment in says]
        ),
    )


def _values(grammar: Grammar, config: Config) -> Values:
    values_by_option: Values = {}
    for setting in config.settings:
        name = grammar.option_of(f"--{setting.option}")
        values = values_by_option.setdefault(name, [])
        if name not in grammar.collects:
            values.clear()
        values.append(_value(grammar, setting.option, setting.value))
    words = grammar.given(config)
    return values_by_option | {TARGET: [word.value for word in words if isinstance(word, Setting)]}


def _value(grammar: Grammar, option: str, value: str) -> object:
    """Return a value as it is compared: of a flag whether it is on."""
    name = grammar.option_of(f"--{option}")
    if not grammar.is_flag(name):
        return value
    return option == name if not value else value.lower() not in OFF


def _wanted(grammar: Grammar, config: Config, step: Step) -> Values:
    of = _values(grammar, config)

    def put(step: Put) -> list[object]:
        new = _value(grammar, step.option, step.value)
        kept = of.get(step.option, []) if step.option in grammar.collects else []
        return kept if new in kept else [*kept[1:], new] if kept else [new]

    return change.with_step(of, step, put)


def _ways(grammar: Grammar, config: Config, step: Step, comments: list[str]) -> Ways:
    there = [
        argument
        for argument in grammar.given(config)
        if isinstance(argument, Argument) and grammar.option_of(argument.name) == step.option
    ]
    spots = {argument.word.spot for argument in there}
    elsewhere = [
        setting
        for setting in config.settings
        if grammar.option_of(f"--{setting.option}") == step.option and setting.spot not in spots
    ]
    if isinstance(step, Put):
        yield from _put(_Wish(grammar, config, step, comments), there, elsewhere)
    elif elsewhere:
        why = f"it is set elsewhere, as {elsewhere[0].written}"
        raise by_hand(config, step, why, elsewhere[0].spot)
    elif isinstance(step, Rename):
        spelt = grammar.spelt(step.to, "1")[0]
        lines = _CommandLines(config)
        for argument in reversed(there):
            lines.put(argument.word, 0, len(argument.name), spelt)
        yield lines.edits(comments)
    else:
        yield _without(config, there, comments)


@dataclass(frozen=True, slots=True)
class _Wish:
    """A value that is to be written in a command."""

    grammar: Grammar
    config: Config
    step: Put
    comments: list[str]


def _put(wish: _Wish, there: Sequence[Argument], elsewhere: Sequence[Setting]) -> Ways:
    grammar, config, step = wish.grammar, wish.config, wish.step
    words = [shlex.quote(word) for word in grammar.spelt(step.option, step.value)]
    collects = step.option in grammar.collects
    if collects and len(there) > 1:
        raise by_hand(config, step, "it is set several times")
    last = there[-1] if there else None
    if last and not re.search(r"[$`]", (last.follows or last.word).raw):
        yield _in_place(config, last, words, wish.comments)
    if collects and there:
        raise by_hand(config, step, "every value of it counts")
    beaten = []
    if last:
        value = (last.follows or last.word).raw
        beaten = [f"overrides {last.name} {value}" if last.follows else f"overrides {value}"]
    elif elsewhere:
        beaten = [_overrides(config, elsewhere[-1])]
    yield _at_the_end(grammar, config, words, [*wish.comments, *map(_comment, beaten)])


class _CommandLines:
    """The lines of a text that change."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.changed: dict[int, str] = {}

    def line(self, number: int) -> str:
        """Return a line as it is by now."""
        return self.changed.get(number) or self.config.line(Spot(self.config.file, number, 1))

    def put(self, word: Setting, start: int, end: int, new: str) -> None:
        """Put a text in the place of a part of a word."""
        line, at = self.line(word.spot.line), word.spot.column - 1
        self.changed[word.spot.line] = line[: at + start] + new + line[at + end :]

    def edits(self, comments: Iterable[str], gone: Iterable[int] = ()) -> list[Edit]:
        """Return what changes, with comments above the command."""
        above = _begins(self.config)
        self.changed.setdefault(above, self.line(above))
        lines = {number: [line] for number, line in self.changed.items()}
        lines |= {number: [] for number in gone}
        return rewritten(self.config, {**lines, above: [*comments, *lines[above]]})


def _in_place(
    config: Config, there: Argument, words: Sequence[str], comments: Iterable[str]
) -> list[Edit]:
    lines = _CommandLines(config)
    if there.follows and len(words) > 1:
        lines.put(there.follows, 0, len(there.follows.raw), words[1])
    elif len(words) == 1:
        lines.put(there.word, 0, len(there.word.raw), words[0])
    else:
        between = "=" if "=" in there.word.raw else "" if there.value else " "
        lines.put(there.word, 0, len(there.word.raw), f"{there.name}{between}{words[1]}")
    return lines.edits(comments)


def _at_the_end(
    grammar: Grammar, config: Config, words: Sequence[str], comments: Iterable[str]
) -> list[Edit]:
    """Return the edits that add words to a command; where it has a line a word, in one more."""
    if dashes := _end_of_options(config):
        return _before(config, dashes, words, comments)
    given = grammar.given(config)
    last = config.top
    end = last.column - 1 + _length_at(config, last)
    if given:
        final = given[-1]
        word = final if isinstance(final, Setting) else final.follows or final.word
        last, end = word.spot, word.spot.column - 1 + len(word.raw)
    line = config.line(last)
    before = " "
    if last.line != config.top.line:
        indent = re.match(r"\s*", line)
        before = f" \\{line_end(config)}{indent[0] if indent else ''}"
    lines = _CommandLines(config)
    lines.changed[last.line] = f"{line[:end]}{before}{' '.join(words)}{line[end:]}"
    return lines.edits(comments)


def _end_of_options(config: Config) -> Setting | None:
    """Return the word `--`, behind which no word is an option; it is never the value of one."""
    command = command_of(config.texts[config.file], config.file, config.server)
    behind = command.behind if command else ()
    return next((word for word in behind if word.value == "--"), None)


def _before(
    config: Config, word: Setting, words: Sequence[str], comments: Iterable[str]
) -> list[Edit]:
    """Return the edits that add words before a word; where that begins a line, in one more."""
    line, at = config.line(word.spot), word.spot.column - 1
    begins = word.spot.line != config.top.line and not line[:at].strip()
    between = f" \\{line_end(config)}{line[:at]}" if begins else " "
    lines = _CommandLines(config)
    lines.changed[word.spot.line] = f"{line[:at]}{' '.join(words)}{between}{line[at:]}"
    return lines.edits(comments)


def _length_at(config: Config, spot: Spot) -> int:
    """Return the letters of the word at a place."""
    match = re.match(r"\S*", config.line(spot)[spot.column - 1 :])
    return len(match[0]) if match else 0


def _without(config: Config, there: Sequence[Argument], comments: Iterable[str]) -> list[Edit]:
    """Return the edits that take words away, and the lines that have no other."""
    lines, gone = _CommandLines(config), []
    for argument in reversed(there):
        for word in filter(None, (argument.follows, argument.word)):
            line, at = lines.line(word.spot.line), word.spot.column - 1
            rest = line[at + len(word.raw) :]
            before = line[:at].rstrip()
            indent = line[: len(line) - len(line.lstrip())]
            kept = f"{before}{rest}" if before else f"{indent}{rest.lstrip()}"
            lines.changed[word.spot.line] = kept
            if not kept.strip() or kept.strip() == "\\":
                gone.append(word.spot.line)
    for number in gone:
        last = not lines.changed.pop(number).strip()
        above = lines.line(number - 1).rstrip() if last and number > 1 else ""
        if above.endswith("\\"):
            lines.changed[number - 1] = above[:-1].rstrip()
    return lines.edits(comments, gone)


def _overrides(config: Config, setting: Setting) -> str:
    """Return the comment on words that win over a file, or over a variable before the command."""
    if setting.spot.file != config.file:
        return change.overrides(setting)
    variable = re.match(r"[^\s=]*", config.line(setting.spot)[setting.spot.column - 1 :])
    return f"overrides {variable[0]}" if variable else ""


def _begins(config: Config) -> int:
    """Return the number of the line in which a command begins, with what stands before it."""
    number = config.top.line
    while number > 1 and config.line(Spot(config.file, number - 1, 1)).endswith("\\"):
        number -= 1
    return number


def _comment(text: str) -> str:
    return f"# {text}"
