"""
Options that have no effect where they are written.

Nobody says so: the server takes them, the file looks tuned, and a benchmark finds noise in their
name. What is listed here was tried with uWSGI 2.0.31 and gunicorn 27.0; of thunder-lock and asyncio
it was read in the source. An option that only says what is the default is no mistake, and one that
harms another matter.

To add a rule, add a file with its `RULE`, or the file of its option with one more, and name the
rule in `RULES`.

Sources: uWSGI core/master_checks.c, uwsgi.h (thunder_lock), plugins/http; gunicorn's settings.
"""

from __future__ import annotations

from lab import settings
from lab.model import Profile
from lab.settings.rules import (
    die_on_term,
    gunicorn_keepalive,
    http_keepalive,
    max_worker_lifetime,
    max_worker_lifetime_delta,
    no_orphans,
    thunder_lock,
)

RULES = (
    *max_worker_lifetime.RULES,
    max_worker_lifetime_delta.RULE,
    die_on_term.RULE,
    no_orphans.RULE,
    *thunder_lock.RULES,
    *http_keepalive.RULES,
    gunicorn_keepalive.RULE,
)
"""In the order in which a report names what they find."""


def inert(profile: Profile) -> tuple[str, ...]:
    """
    Return the options of *profile* that have no effect, each with the reason and what to do.

    Of a repeated option the last counts. Nothing for servers whose options are not known here.
    """
    read = settings.of(profile)
    return tuple(
        f"{rule.option} = {read.options[rule.option]}: {rule.why}."
        for rule in RULES
        if rule.server == read.server and read.sets(rule.option) and rule.when(read)
    )
