"""Processes queue for thunder-lock instead of waiting for connections."""

from __future__ import annotations

from lab.analysis.causes import phrases
from lab.analysis.causes.hypothesis import Hypothesis, When
from lab.analysis.causes.signs import BEHIND, Signs
from lab.config.moves import thunder_lock
from lab.model.diagnosis import Cause

NAME = "lock convoy"

CONVOY_SWITCHES = 0.5
"""Voluntary switches per reply. Processes that queue for thunder-lock show 1.0, without it 0.02."""


def _shows(s: Signs) -> Cause | None:
    processes = s.settings.processes
    if not s.settings.accept_lock or (processes or 1) < 2 or s.settings.at_once != 1:
        return None
    if s.switches is None or s.switches < CONVOY_SWITCHES or (s.share or 0.0) < BEHIND:
        return None
    if s.settings.routed:  # the router's connections alone make more switches than the lock
        return None
    return Cause(
        NAME,
        f"{s.switches:.2g} voluntary switches per reply in {processes} processes of one thread "
        "with thunder-lock; without a lock between them there are 0.01-0.04",
        phrases.against(
            phrases.server(s),
            "so its workers do not sleep in the application",
            phrases.generator(s),
        ),
    )


HYPOTHESIS = Hypothesis(NAME, _shows, When.FULL_LOAD, move=thunder_lock.without)
