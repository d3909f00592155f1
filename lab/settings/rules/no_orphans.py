"""Workers end when their master is gone."""

from __future__ import annotations

from lab.settings.rules.rule import Rule, no_master

RULE = Rule(
    "uWSGI",
    "no-orphans",
    no_master,
    "workers outlive their first process all the same where there is no master; add master = true",
)
