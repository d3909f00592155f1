"""Workers that are replaced: by age, by requests."""

from __future__ import annotations

from collections.abc import Iterator

from lab.settings.rules.rule import Config, Flaw, Severity, rule


@rule(
    "UW202",
    Severity.NO_EFFECT,
    "max-worker-lifetime without a master",
    why="only the master looks at a worker's age",
    seen="core/master_checks.c:254; docs/runs/lifetime",
    bad="max-worker-lifetime = 3600",
    good="""
master = true
max-worker-lifetime = 3600
max-worker-lifetime-delta = 60
""",
)
def lifetime_without_master(config: Config) -> Iterator[Flaw]:
    """Nobody looks at a worker's age."""
    setting = config.last("max-worker-lifetime")
    if setting and config.on("max-worker-lifetime") and not config.master:
        text = (
            "only the master looks at a worker's age, and there is none; add master = true, or "
            "leave it out"
        )
        yield config.flaw(setting, text, config.add("master = true", after=setting))


@rule(
    "UW203",
    Severity.NO_EFFECT,
    "a delta without what it spreads",
    why="a delta spreads an age, or a count of requests, that is not set",
    seen="core/master_checks.c:254",
    bad="""
master = true
max-worker-lifetime-delta = 60
""",
    good="""
master = true
max-worker-lifetime = 3600
max-worker-lifetime-delta = 60
""",
)
def delta_alone(config: Config) -> Iterator[Flaw]:
    """There is nothing to spread."""
    setting = config.last("max-worker-lifetime-delta")
    if (
        setting
        and config.on("max-worker-lifetime-delta")
        and not config.last("max-worker-lifetime")
    ):
        text = "it spreads max-worker-lifetime, which is not set; set that, or leave it out"
        yield config.flaw(setting, text, config.drop(setting, safe=True))
