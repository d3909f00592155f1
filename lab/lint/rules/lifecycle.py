"""How a server starts, reloads and ends."""

from __future__ import annotations

from collections.abc import Iterator

from lab.lint.rules.alike import missing, present, renamed, with_line, without
from lab.lint.rules.rule import WHY, Case, Flaw, Severity, rule
from lab.lint.syntax import is_command

HOOK = "hook-master-start = unix_signal:15 gracefully_kill_them_all"
"""What makes SIGTERM an orderly stop."""


def serves_python(config: Case) -> bool:
    """Return whether requests come to a Python application that the configuration names."""
    named = config.all("module", "wsgi", "wsgi-file", "file", "mount", "paste", "eval")
    return bool(named and config.sockets())


def hooked(config: Case) -> bool:
    """Return whether a hook says what SIGTERM means."""
    return any(
        setting.value.startswith("unix_signal:15 ") for setting in config.all("hook-master-start")
    )


missing(
    "UW314",
    "need-app = true",
    "if the application cannot be imported, uWSGI starts anyway and answers 500; write need-app = "
    "true, so that uWSGI exits instead",
    source="core/uwsgi.c:3883 `need_app`; docs/reference/production-settings.md",
    bad="http-socket = 127.0.0.1:8080\nmodule = site:app",
    near_miss="http-socket = 127.0.0.1:8080\nmodule = site:app\nneed-app",
    when=serves_python,
)


@rule(
    "UW315",
    Severity.DANGEROUS,
    "SIGTERM reloads instead of stopping",
    why="SIGTERM only reloads uWSGI, so Docker, Kubernetes and systemd wait for their timeout and "
    f"then kill it, and requests are lost; write {HOOK}",
    source="core/master.c:346 `die_on_term`; uwsgi#515; searxng#3429; linkding#368",
    bad="socket = /run/app.sock\nmaster = true",
    good=f"socket = /run/app.sock\nmaster = true\n{HOOK}",
    near_miss="socket = /run/app.sock\nmaster = true\nexit-on-reload = true",
)
def sigterm_reloads(config: Case) -> Iterator[Flaw]:
    """A container's stop waits for its limit and then kills."""
    signal = config.known.surroundings.stop_signal
    stops_on_sigterm = hooked(config) or config.on("die-on-term") or config.on("exit-on-reload")
    if signal and signal not in {"SIGTERM", "15"}:
        return
    if config.master and config.sockets() and not stops_on_sigterm:
        setting = config.last("master")
        implies = config.table.implies_master
        implied = next((setting for setting in config.settings if implies(setting.option)), None)
        text = f"this option implies a master, and {WHY}" if setting is None and implied else WHY
        fix = config.add(HOOK, after=setting)
        yield config.flaw(setting or implied or config.top, text, fix)


present(
    "UW316",
    "die-on-term",
    f"SIGTERM ends the workers in the middle of their requests; write {HOOK}",
    title="SIGTERM that ends requests",
    source="core/master.c:346 `die_on_term`; docs/reference/production-settings.md",
    bad="master = true\ndie-on-term = true",
    good=f"master = true\n{HOOK}",
    near_miss=f"master = true\ndie-on-term = true\n{HOOK}",
    # The Emperor dies by it in any case, and has no workers: core/emperor.c:1683.
    when=lambda config: (
        config.master
        and not hooked(config)
        and (bool(config.sockets()) or not config.last("emperor"))
    ),
    fix=with_line(HOOK),
)


@rule(
    "UW317",
    Severity.REMARK,
    "no strict",
    why="no strict: uWSGI ignores a mistyped option without a warning; write strict = true",
    source="core/config.c:382 `uwsgi.strict`; docs/reference/production-settings.md",
    bad="http-socket = 127.0.0.1:8080",
    good="http-socket = 127.0.0.1:8080\nstrict = true",
    near_miss="http-socket = 127.0.0.1:8080\nstrict",
)
def lax(config: Case) -> Iterator[Flaw]:
    """A mistyped option is ignored; one in a command is not."""
    if config.sockets() and not config.on("strict") and not is_command(config, config.top):
        names = {setting.option for setting in config.settings}
        known = not config.guesses and names <= config.table.entries.keys()
        fix = config.add("strict = true")
        if setting := config.last("strict"):
            text = "uWSGI ignores a mistyped option without a warning; write strict = true"
            yield config.flaw(setting, text)
        else:
            yield config.flaw(config.top, fix=fix if known else None)


present(
    "UW318",
    "lazy",
    "lazy is not lazy-apps: a reload is obeyed by the workers and not by the master, and each "
    "signal means something else; write lazy-apps = true",
    title="lazy instead of lazy-apps",
    source="core/uwsgi.c:1383 `lazy`; core/uwsgi.c:3884 `lazy`",
    bad="lazy = true",
    good="lazy-apps = true",
    near_miss="module = shop.lazy:app\nlazy-apps = true",
    fix=renamed("lazy-apps"),
)

present(
    "UW324",
    "py-autoreload",
    "a thread of each worker checks all files of all modules, and a change in one reloads the "
    "service; leave it out in production",
    source="plugins/python/python_plugin.c:451 `uwsgi_python_autoreloader_thread`",
    bad="py-autoreload = 1",
    good="py-autoreload = 0",
    near_miss="if-env = DEBUG\npy-autoreload = 1\nendif =",
    fix=without,
)

present(
    "UW327",
    "asyncio async",
    "a reload or a stop drops the requests in flight, because uWSGI has no graceful end in this "
    "mode; use threads or gevent, which finish them",
    title="asyncio or async",
    source="core/uwsgi.c:1241 `async mode`; docs/explanation/non-blocking.md",
    bad="asyncio = 100",
    good="threads = 32",
    near_miss="import = asyncio\ngevent = 100",
    when=lambda config: max(config.number("asyncio"), config.number("async")) > 1,
)
