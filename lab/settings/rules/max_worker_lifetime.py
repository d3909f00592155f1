"""Workers are replaced when they reach an age: by the master, which asks them."""

from __future__ import annotations

from lab.settings.rules.rule import Rule, no_master

RULES = (
    Rule(
        "uWSGI",
        "max-worker-lifetime",
        no_master,
        "only the master looks at a worker's age, and there is none; add master = true, or leave "
        "it out",
    ),
    Rule(
        "uWSGI",
        "max-worker-lifetime",
        lambda read: bool(read.options.keys() & {"gevent", "asyncio"}),
        "a worker with gevent or asyncio does not notice its age; leave it out",
    ),
)
