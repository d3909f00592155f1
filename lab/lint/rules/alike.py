"""Rules without a function: `present` reports options that are set, `missing` one that is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypedDict, Unpack

from lab.lint.rules.rule import WHY, Case, Edit, Fix, Flaw, Setting, Severity, Spot, rule

When = Callable[[Case], bool]
FixMaker = Callable[[Case, Setting], Fix | None]

REMARKS = ("UW206", "UW209", "UW210", "UW218", "UW317", "UW5")
"""Codes of remarks, or their beginnings."""

DIGITS = 20
"""No option takes a number of so many digits; Python refuses to parse thousands of them."""

CLASSES = {"1": Severity.ERROR, "2": Severity.NO_EFFECT}
"""First digit of a code -> severity; other codes are dangerous."""


SILENT = "rules about options that are not set are silent"
"""What an include that was not read does to the rules."""


class Examples(TypedDict):
    """The source and the examples of a rule; see `Rule`."""

    source: str
    bad: str
    good: str
    near_miss: str


def always(_: Case) -> bool:
    """Return True for any configuration."""
    return True


def no_fix(_: Case, __: Setting) -> None:
    """Return no fix."""


def without(config: Case, setting: Setting) -> Fix | None:
    """Return the fix that removes the line."""
    return config.drop(setting)


def instead(config: Case, spot: Spot, old: str, new: str | None, *, safe: bool) -> Fix | None:
    """Return the fix that writes *new* in the place of *old*; None without that or a file."""
    if new is None or spot.file not in config.texts:
        return None
    return Fix((Edit(spot, old, new),), safe, new.replace("\n", ", ") or "without it")


def renamed(option: str) -> FixMaker:
    """Return what fixes a setting by another option with the same value."""
    return lambda config, setting: config.rename(setting, option)


def with_line(line: str) -> FixMaker:
    """Return what fixes a setting by a line below it."""
    return lambda config, setting: config.add(line, after=setting)


def at_top(line: str) -> FixMaker:
    """Return what fixes all settings by one line below [uwsgi]."""
    return lambda config, _: config.add(line)


def present(
    code: str,
    options: str,
    why: str,
    *,
    title: str = "",
    when: When = always,
    fix: FixMaker = no_fix,
    **examples: Unpack[Examples],
) -> None:
    """
    Register a rule that reports options that are set, unless to a word for no.

    Args:
        code: The code of the rule.
        options: Names of options, separated by blanks.
        why: What the options do, and what to write instead.
        title: What the rule finds; the options if it is empty.
        when: Whether the rule applies to a configuration.
        fix: Returns the fix of a setting.
        examples: *source*, *bad*, *good* and *near_miss* of `Rule`.
    """

    def check(config: Case) -> Iterator[Flaw]:
        if when(config):
            for setting in written(config, *options.split()):
                yield config.flaw(setting, fix=fix(config, setting))

    title = title or ", ".join(options.split())
    rule(code, _severity(code), title, why=why, **examples)(check)


def missing(
    code: str, line: str, why: str, *, source: str, bad: str, near_miss: str, when: When = always
) -> None:
    """
    Register a rule that reports a missing option.

    Args:
        code: The code of the rule.
        line: The line to add; the option may have any other value. Further lines are added with
            it, except those whose option is set.
        why: What happens without it, and what to write.
        source: The evidence; see `Rule`.
        bad: An example, which is good with *line*.
        near_miss: A correct file that looks like the bad one; see `Rule`.
        when: Whether a configuration needs the option.
    """
    name = line.partition(" = ")[0]

    def check(config: Case) -> Iterator[Flaw]:
        if config.last(name) is None and when(config):
            yield config.flaw(config.top, f"no {name}: {WHY}", _with_lines(config, line))

    rule(
        code,
        _severity(code),
        f"no {name}",
        why=why,
        source=source,
        bad=bad,
        good=f"{bad}\n{line}",
        near_miss=near_miss,
    )(check)


def _with_lines(config: Case, lines: str) -> Fix | None:
    first, *others = lines.split("\n")
    rest = (line for line in others if config.last(line.partition(" = ")[0]) is None)
    fixes = [fix for fix in map(config.add, (first, *rest)) if fix]
    if not fixes:
        return None
    edits = tuple(edit for fix in reversed(fixes) for edit in fix.edits)
    steps = tuple(step for fix in fixes for step in fix.steps)
    return Fix(edits, fixes[0].safe, ", ".join(fix.description for fix in fixes), steps)


def written(config: Case, *names: str) -> Iterator[Setting]:
    """Yield the settings of options that are not off; of an option without repeats, the last."""
    for name in names:
        settings = config.all(name) if config.on(name) else []
        yield from settings if config.table.repeats(name) else settings[-1:]


def _severity(code: str) -> Severity:
    if code.startswith(REMARKS):
        return Severity.REMARK
    return CLASSES.get(code[2], Severity.DANGEROUS)
