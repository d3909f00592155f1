"""Environment variables that servers read beside their options."""

from __future__ import annotations

from collections.abc import Iterator

from lab.lint.rules.rule import Case, Flaw, Severity, rule

WORKERS = "WEB_CONCURRENCY"
"""The variable that platforms set for the number of workers."""

READERS = frozenset({"gunicorn", "uvicorn"})
"""Servers that read it where no option sets the number of workers."""


@rule(
    "ST002",
    Severity.NO_EFFECT,
    "WEB_CONCURRENCY without effect",
    why="gunicorn and uvicorn read it where no option sets the number of workers, and other "
    "servers never; leave one of them out",
    source="gunicorn/config.py:762 `WEB_CONCURRENCY`; granian/cli.py:132 `--workers`",
    bad="FROM python:3.12-slim\nENV WEB_CONCURRENCY=4\n"
    'CMD ["gunicorn", "--worker-tmp-dir", "/dev/shm", "--workers", "2", "shop:app"]',
    good="FROM python:3.12-slim\nENV WEB_CONCURRENCY=4\n"
    'CMD ["gunicorn", "--worker-tmp-dir", "/dev/shm", "shop:app"]',
    near_miss="FROM python:3.12-slim\nENV WEB_CONCURRENCY=4\n"
    "CMD exec gunicorn --worker-tmp-dir /dev/shm --workers $WEB_CONCURRENCY shop:app",
)
def overridden(config: Case) -> Iterator[Flaw]:
    """An option that a variable sets may have this one's value."""
    value, setting = config.known.environ.get(WORKERS, ""), config.last("workers")
    if config.start is None or not value.isdecimal() or config.server == "uWSGI":
        return
    if config.server not in READERS:
        if setting is None:
            text = f"{config.server} does not read {WORKERS}={value}; write --workers {value}"
            yield config.flaw(config.top, text)
    elif setting and setting.value.isdecimal() and not _is_variable(config):
        text = f"{WORKERS}={value} is set as well and has no effect; leave one of them out"
        yield config.flaw(setting, text)


@rule(
    "ST003",
    Severity.ERROR,
    "an empty WEB_CONCURRENCY",
    why="gunicorn reads a number from it at the start, also if an option sets the workers, and "
    "uvicorn if none does, and both end with a traceback; unset it, or give it a number",
    source='gunicorn/config.py:762 `int(os.environ.get("WEB_CONCURRENCY", 1))`',
    bad="FROM python:3.12-slim\nENV WEB_CONCURRENCY=\n"
    'CMD ["gunicorn", "--worker-tmp-dir", "/dev/shm", "--workers", "2", "shop:app"]',
    good="FROM python:3.12-slim\nENV WEB_CONCURRENCY=2\n"
    'CMD ["gunicorn", "--worker-tmp-dir", "/dev/shm", "shop:app"]',
    near_miss="FROM python:3.12-slim\nENV WEB_CONCURRENCY=\n"
    'CMD ["granian", "--interface", "asgi", "--workers", "1", "shop:app"]',
)
def empty(config: Case) -> Iterator[Flaw]:
    """GU013 has it where no option sets the workers."""
    is_empty = config.start is not None and config.known.environ.get(WORKERS) == ""
    has_option = config.last("workers") is not None and not _is_variable(config)
    if is_empty and config.server == ("gunicorn" if has_option else "uvicorn"):
        yield config.flaw(config.top)


def _is_variable(config: Case) -> bool:
    """Return whether the variable itself sets the number of workers."""
    setting = config.last("workers")
    if setting is None or setting.spot.file not in config.texts:
        return False
    return config.line(setting.spot)[setting.spot.column - 1 :].startswith(f"{WORKERS}=")
