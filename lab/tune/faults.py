"""Whether a change brings a fault that the user's configuration has not: the linter's word."""

from __future__ import annotations

from lab import dialects
from lab.lint.flaw import Severity
from lab.lint.judge import judged
from lab.tune.climb import Values
from lab.tune.moves import Ground

GRAVE = {Severity.ERROR, Severity.DANGEROUS}
"""Faults that no change may bring."""


def new_fault(ground: Ground, values: Values) -> str:
    """
    Return the first grave fault that a change brings; empty where it brings none.

    Raises:
        ProfileError: The change cannot be written.
    """
    before = {flaw.code for flaw in judged(ground.config)}
    after = judged(dialects.with_text(ground.config, ground.text(values)))
    new = (each for each in after if each.severity in GRAVE and each.code not in before)
    return next((f"{each.code}: {each.message}" for each in new), "")
