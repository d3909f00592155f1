"""SIGTERM ends the master instead of reloading it."""

from __future__ import annotations

from lab.settings.rules.rule import Rule, no_master

RULE = Rule(
    "uWSGI",
    "die-on-term",
    no_master,
    "it tells the master what SIGTERM means, and there is none; without one SIGTERM ends the "
    "first process in any case; add master = true, or leave it out",
)
