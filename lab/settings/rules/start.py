"""What keeps a server from starting, or from ending as it is told."""

from __future__ import annotations

from collections.abc import Iterator

from lab.settings.rules.rule import Config, Flaw, Severity, rule


@rule(
    "UW204",
    Severity.NO_EFFECT,
    "die-on-term without a master",
    why="it says what SIGTERM means to the master; without one SIGTERM ends the first process",
    seen="core/master.c:346",
    bad="die-on-term = true",
    good="""
master = true
die-on-term = true
""",
)
def die_on_term_without_master(config: Config) -> Iterator[Flaw]:
    """SIGTERM ends the server in any case."""
    setting = config.last("die-on-term")
    if setting and config.on("die-on-term") and not config.master:
        text = (
            "it tells the master what SIGTERM means, and there is none; without one SIGTERM ends "
            "the first process in any case; add master = true, or leave it out"
        )
        yield config.flaw(setting, text, config.drop(setting, safe=True))


@rule(
    "UW205",
    Severity.NO_EFFECT,
    "no-orphans without a master",
    why="workers look whether their master is gone, and there is none",
    seen="core/uwsgi.c:3344",
    bad="no-orphans = true",
    good="""
master = true
no-orphans = true
""",
)
def no_orphans_without_master(config: Config) -> Iterator[Flaw]:
    """Workers outlive the first process."""
    setting = config.last("no-orphans")
    if setting and config.on("no-orphans") and not config.master:
        text = (
            "workers outlive their first process all the same where there is no master; add "
            "master = true"
        )
        yield config.flaw(setting, text, config.drop(setting, safe=True))
