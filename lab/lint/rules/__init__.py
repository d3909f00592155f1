"""
What is wrong with a configuration, a rule at a time.

Nobody else says it: the server takes what is written, the file looks tuned, and a benchmark finds
noise in its name. To add a rule, add a function to the file of its subject; a file that is new is
found by itself.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from lab.config import servers
from lab.config.configuration import Config
from lab.lint.case import Case
from lab.lint.flaw import Flaw, Severity
from lab.lint.rules.rule import RULES

if TYPE_CHECKING:  # `lab lint` has none
    from lab.model.profile import Profile

for _subject in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_subject.name)


def flaws(config: Config) -> Iterator[Flaw]:
    """Yield what all rules find in a configuration, in the order of their codes."""
    case = Case.of(config)
    for _, rule in sorted(RULES.items()):
        yield from rule.flaws(case)


def inert(profile: Profile) -> tuple[str, ...]:
    """
    Return the options of *profile* that have no effect, each with the reason and what to do.

    Of a repeated option the last counts. Nothing for servers whose options are not known here. An
    option that only says what is the default is no mistake, and one that harms another matter.
    """
    config = servers.of(profile).config(profile)
    if config is None:
        return ()
    case = Case.of(config)
    # Every report asks, and a live page after each trial: so of the rules of that kind alone.
    candidates = (flaw for code in _inert_codes() for flaw in RULES[code].flaws(case))
    return tuple(f"{flaw.message}." for flaw in candidates if flaw.severity is Severity.NO_EFFECT)


@cache
def _inert_codes() -> tuple[str, ...]:
    """Return the codes of rules about what has no effect, in order."""
    rules = (rule for rule in RULES.values() if rule.severity is Severity.NO_EFFECT)
    return tuple(sorted(rule.code for rule in rules))
