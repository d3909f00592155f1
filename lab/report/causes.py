"""What limited each profile, in words: the cause, how far it is proved, and by which figures."""

from __future__ import annotations

from lab.analysis.limits import Limit
from lab.model.diagnosis import Diagnosis, Standing
from lab.model.metric import METRICS
from lab.model.numbers import ratio

UNEXPLAINED = "unexplained"

STANDINGS = {
    Standing.CONFIRMED: "cause",
    Standing.CONSISTENT: "likely",
    Standing.WITHDRAWN: "withdrawn",
}
"""How far a cause is proved, in a word before it."""


def cause_text(limit: Limit) -> str:
    """Return the cause and its standing, with "also" before what does not limit them first."""
    return UNEXPLAINED if limit.example is None else f"{also(limit)}{standing_of(limit.example)}"


def also(limit: Limit) -> str:
    """Return what stands before a cause that does not limit them first; else nothing."""
    return "" if limit.first or limit.standing is Standing.WITHDRAWN else "also "


def standing_of(diagnosis: Diagnosis) -> str:
    """
    Say how far it is proved: "cause: router", "likely: ...", "withdrawn: ...".

    A cause is only called one after its counter-run.
    """
    return f"{STANDINGS[diagnosis.standing]}: {diagnosis.cause.name}"


def tested(diagnosis: Diagnosis) -> str:
    """Say what the counter-run changed and what came of it; "none" without one."""
    counter, effect = diagnosis.counter, diagnosis.effect
    if counter is None:
        return "none"
    if effect is None or effect.ratio is None:
        return f"{counter.toggle}: too few valid trials"
    title = METRICS[counter.metric].title
    return f"{counter.toggle}: {title} {ratio(effect.ratio)}, expected {counter.expects.value}"


def profiles_of(limit: Limit) -> str:
    """Name the profiles for a narrow table; three or more in a row by their ends: "a to d"."""
    ends = (
        f"{names[0]} to {names[-1]}" if len(names) > 2 else ", ".join(names)
        for names in limit.stretches
    )
    return ", ".join(ends)


def trials_of(limit: Limit) -> str:
    """Say how many trials show it, of how many that could: "9/10", or the fewest and the most."""
    return " to ".join(f"{shown}/{of}" for shown, of in limit.trials)
