"""Rules that differ in options and words only: something is written, or it is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypedDict, Unpack

from lab.lint.rules.rule import WHY, Case, Edit, Fix, Flaw, Setting, Severity, Spot, rule

When = Callable[[Case], bool]
Mends = Callable[[Case, Setting], Fix | None]

REMARKS = ("UW206", "UW209", "UW210", "UW218", "UW317", "UW5")
"""Codes, and beginnings of them, of remarks."""

DIGITS = 20
"""That no option's number has: Python refuses to read some thousands of them."""

CLASSES = {"1": Severity.ERROR, "2": Severity.NO_EFFECT}
"""First digit of a code -> how bad it is; all else that is made here is dangerous."""


class Examples(TypedDict):
    """What a rule's page shows, handed on as it is; what each is stands at `Rule`."""

    seen: str
    bad: str
    good: str
    near: str


def always(_: Case) -> bool:
    """Say yes of any configuration."""
    return True


def nothing(_: Case, __: Setting) -> None:
    """Mend nothing."""


def without(config: Case, setting: Setting) -> Fix | None:
    """Mend by taking the line away."""
    return config.drop(setting)


def instead(config: Case, spot: Spot, old: str, new: str | None, *, safe: bool) -> Fix | None:
    """Return the fix that writes *new* in the place of *old*; None without that or a file."""
    if new is None or spot.file not in config.texts:
        return None
    return Fix((Edit(spot, old, new),), safe, new.replace("\n", ", ") or "without it")


def renamed(option: str) -> Mends:
    """Mend by another option with the same value."""
    return lambda config, setting: config.rename(setting, option)


def with_line(line: str) -> Mends:
    """Mend by a line below what is written."""
    return lambda config, setting: config.add(line, after=setting)


def at_top(line: str) -> Mends:
    """Mend by a line below [uwsgi], once for all that is written."""
    return lambda config, _: config.add(line)


def present(
    code: str,
    options: str,
    says: str,
    *,
    title: str = "",
    when: When = always,
    mends: Mends = nothing,
    **shown: Unpack[Examples],
) -> None:
    """
    Make a rule that finds options that are written, and not with a word for no.

    Args:
        code: The rule's.
        options: Names, a blank between them.
        says: What they do, and what to do about it.
        title: What the rule finds; the options if it is empty.
        when: Whether that is wrong in a configuration.
        mends: The fix for what is written there.
        shown: *seen*, *bad*, *good* and *near* of `Rule`.
    """

    def looks(config: Case) -> Iterator[Flaw]:
        if when(config):
            for setting in written(config, *options.split()):
                yield config.flaw(setting, fix=mends(config, setting))

    title = title or ", ".join(options.split())
    rule(code, _severity(code), title, why=says, **shown)(looks)


def missing(
    code: str, line: str, says: str, *, seen: str, bad: str, near: str, when: When = always
) -> None:
    """
    Make a rule that finds that an option is missing.

    Args:
        code: The rule's.
        line: What to add; its option may be written with any other value.
        says: What happens without it, and what to do.
        seen: See `Rule`, as for *bad*.
        bad: An example, which is good with *line*.
        near: What looks as bad and is not, see `Rule`.
        when: Whether the option is wanted in a configuration.
    """
    name = line.partition(" = ")[0]

    def looks(config: Case) -> Iterator[Flaw]:
        if config.last(name) is None and when(config):
            yield config.flaw(config.top, f"no {name}: {WHY}", config.add(line))

    good, title = f"{bad}\n{line}", f"no {name}"
    rule(code, _severity(code), title, why=says, seen=seen, bad=bad, good=good, near=near)(looks)


def written(config: Case, *names: str) -> Iterator[Setting]:
    """Yield what sets the options, if that is no word for no; of a single-valued one the last."""
    for name in names:
        settings = config.all(name) if config.on(name) else []
        yield from settings if config.table.repeats(name) else settings[-1:]


def _severity(code: str) -> Severity:
    if code.startswith(REMARKS):
        return Severity.REMARK
    return CLASSES.get(code[2], Severity.DANGEROUS)
