"""Workers that are replaced: by age, by requests, by a touch."""

from __future__ import annotations

from collections.abc import Iterator

from lab.config.uwsgi.roles import NOT_WORKERS
from lab.lint.rules.alike import at_top, present, with_line, written
from lab.lint.rules.rule import Case, Flaw, Severity, rule

present(
    "UW202",
    "max-worker-lifetime",
    "only the master looks at a worker's age, and there is none; add master = true, or leave it "
    "out",
    title="max-worker-lifetime without a master",
    source="core/master_checks.c:254 `max_worker_lifetime`; docs/runs/lifetime",
    bad="max-worker-lifetime = 3600",
    good="max-worker-lifetime = 3600\nmaster = true",
    near_miss="max-worker-lifetime = 3600\nstats = 127.0.0.1:1717",
    when=lambda config: not config.master,
    fix=with_line("master = true"),
)


@rule(
    "UW203",
    Severity.NO_EFFECT,
    "a delta without the option that it spreads",
    why="the delta is added to an age or a number of requests that is not set",
    source="core/master_checks.c:256 `lifetime_delta`; core/utils.c:1192 `max_requests_delta`",
    bad="master = true\nmax-worker-lifetime-delta = 60",
    good="master = true\nmax-worker-lifetime-delta = 60\nmax-worker-lifetime = 3600",
    near_miss=(
        "master = true\n"
        "max-worker-lifetime-delta = 60\n"
        "set-placeholder = age=3600\n"
        "max-worker-lifetime = %(age)"
    ),
)
def delta_alone(config: Case) -> Iterator[Flaw]:
    """There is nothing to spread."""
    for setting in written(config, "max-worker-lifetime-delta", "max-requests-delta"):
        spread = setting.option.removesuffix("-delta")
        if config.last(spread) is None:
            text = f"this spreads {spread}, which is not set; set that, or leave it out"
            yield config.flaw(setting, text, config.drop(setting))


@rule(
    "UW213",
    Severity.NO_EFFECT,
    "reload-mercy without daemons",
    why="this is for the Emperor and for daemons, and there are none; for workers write "
    "worker-reload-mercy, which is 60 seconds by default",
    source="core/master_utils.c:20 `worker_reload_mercy`; core/init.c:125 `worker_reload_mercy`",
    bad="master = true\nreload-mercy = 8",
    good="master = true\nworker-reload-mercy = 8",
    near_miss="master = true\nreload-mercy = 8\nattach-daemon = redis-server",
)
def mercy_for_daemons(config: Case) -> Iterator[Flaw]:
    """Where both are written, the one for workers counts."""
    workers = config.last("worker-reload-mercy")
    for setting in () if config.starting(*NOT_WORKERS) else written(config, "reload-mercy"):
        if workers is None:
            yield config.flaw(setting, fix=config.rename(setting, "worker-reload-mercy"))
        else:
            reason = f"this is not for workers, for which {workers.written} counts; leave it out"
            yield config.flaw(setting, reason, config.drop(setting))


present(
    "UW217",
    "touch-chain-reload touch-workers-reload",
    "new workers are copies of the application that the master has loaded, so the old code goes "
    "on; add lazy-apps = true",
    title="a chained reload without lazy-apps",
    source="core/uwsgi.c:3125 `lazy_apps`; core/uwsgi.c:3471 `lazy_apps`",
    bad="master = true\ntouch-chain-reload = /srv/app/reload",
    good="master = true\ntouch-chain-reload = /srv/app/reload\nlazy-apps = true",
    near_miss="master = true\ntouch-chain-reload = /srv/app/reload\nlazy = true",
    when=lambda config: not (config.on("lazy-apps") or config.on("lazy")),
    fix=at_top("lazy-apps = true"),
)


@rule(
    "UW219",
    Severity.NO_EFFECT,
    "a worker limit that the event loop ignores",
    why="the worker learns that its time is over, and the event loop goes on",
    source="core/master_checks.c:259 `SIGWINCH`; core/uwsgi.c:1241 `gracefully reload in async`",
    bad="master = true\ngevent = 100\nmax-worker-lifetime = 3600",
    good="master = true\nmax-worker-lifetime = 3600",
    near_miss="master = true\ngevent = 100\nmax-requests = 5000",
)
def not_replaced(config: Case) -> Iterator[Flaw]:
    """With gevent they are replaced after a number of requests, with asyncio not even then."""
    for setting in written(config, "max-worker-lifetime"):
        if config.all("gevent", "asyncio"):
            text = "a worker with gevent or asyncio does not notice its age; leave it out"
            yield config.flaw(setting, text, config.drop(setting))
    for setting in written(config, "max-requests"):
        if config.all("asyncio"):
            text = "a worker with asyncio counts its requests and does not end; leave it out"
            yield config.flaw(setting, text, config.drop(setting))
