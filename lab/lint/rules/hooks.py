"""Commands that uWSGI runs beside its workers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lab.lint.rules.rule import Case, Flaw, Severity, rule

MIGRATES = re.compile(
    r"\b(manage\.py|django-admin)\s.*\b(migrate|syncdb)\b(?!.*--(check|plan)\b)"
    r"|\balembic\b.*\bupgrade\b|\bflask\b.*\bdb\s+upgrade\b"
)
"""Commands that change the tables of a database: Django's, Alembic's, Flask-Migrate's."""

LOCKED = re.compile(r"\bflock\b")
"""What runs one of them after the other, on one machine."""

EACH = frozenset({"hook-accepting", "hook-accepting-once", "hook-post-fork"})
"""Hooks that each worker runs."""

LOADING = frozenset({"hook-pre-app", "hook-post-app", "exec-pre-app", "exec-post-app"})
"""What is run whenever the application is loaded: by the first process, or by each worker."""


@rule(
    "UW329",
    Severity.DANGEROUS,
    "database migrations at every start",
    why="workers, or instances that start together, change the same tables at once, and some of "
    "them fail or migrate twice; run the migration once before they start, as a step of the "
    "deployment",
    source="core/uwsgi.c:3824 `hook_pre_app`; core/uwsgi.c:3605 `hook_accepting`",
    bad="processes = 4\nlazy-apps = true\nhook-pre-app = exec:python manage.py migrate --noinput",
    good="processes = 4\nlazy-apps = true\nhook-pre-app = exec:python manage.py migrate --check",
    near_miss="processes = 4\nlazy-apps = true\n"
    "hook-asap = exec:flock /run/shop/migrate python manage.py migrate --noinput",
)
def migrates(config: Case) -> Iterator[Flaw]:
    """A remark where the first process alone runs it, as an instance may be the only one."""
    lazy = config.on("lazy-apps") or config.on("lazy")
    for setting in config.starting("hook-", "exec-"):
        if not MIGRATES.search(setting.value) or LOCKED.search(setting.value):
            continue
        in_each_worker = setting.option in EACH or (lazy and setting.option in LOADING)
        many = in_each_worker and config.knows("processes") and config.processes > 1
        text = "each instance runs it at every start, so two may change the tables at once"
        if many:
            text = f"each of {config.processes} workers runs it, all at the same time"
        advice = "run it once before they start, as a step of the deployment"
        yield config.flaw(setting, f"{text}; {advice}", harmless=not many)
