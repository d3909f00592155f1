"""What each request pays for. It may be meant so, and all of these are remarks."""

from __future__ import annotations

from collections.abc import Iterator

from lab.config.uwsgi.table import atoi
from lab.lint.address import is_unix
from lab.lint.rules.alike import missing, present, with_line
from lab.lint.rules.listening import routed
from lab.lint.rules.rule import Case, Fix, Flaw, Severity, rule


def logged(config: Case) -> bool:
    """Return whether a line is written for each request."""
    return bool(config.sockets()) and not config.on("disable-logging")


present(
    "UW501",
    "http",
    "the HTTP router is one process that opens a connection to a worker for each request, and "
    "without it requests/s rose to 2.19x, and p99 to 1.64x (measured); behind a proxy use "
    "http-socket or socket",
    title="http without http-keepalive",
    source="docs/runs/ladder; docs/explanation/what-limits-uwsgi.md",
    bad="http = 127.0.0.1:8080",
    good="http-socket = 127.0.0.1:8080",
    near_miss="http = 127.0.0.1:8080\nhttp-keepalive = 1",
    when=lambda config: config.number("http-keepalive") == 0,
)

missing(
    "UW502",
    "disable-logging = true\nlog-4xx = true\nlog-5xx = true",
    "uWSGI writes a line for each request, which costs little to a file and much to a terminal or "
    "a slow pipe; write disable-logging = true, with log-4xx = true and log-5xx = true for the "
    "requests that fail",
    source="docs/runs/ladder; profiles/disable-logging.ini",
    bad="http-socket = 127.0.0.1:8080",
    near_miss="http-socket = 127.0.0.1:8080\ndisable-logging",
    when=logged,
)

present(
    "UW503",
    "memory-report reload-on-as reload-on-rss evil-reload-on-as evil-reload-on-rss",
    "uWSGI opens, reads and closes /proc/self/stat for each request, even with disable-logging; "
    "against a memory leak write max-worker-lifetime with max-worker-lifetime-delta, which costs "
    "nothing per request",
    title="a memory check for each request",
    source="core/utils.c:1084 `force_get_memusage`; core/config.c:524 `force_get_memusage`",
    bad="master = true\nmemory-report = true",
    good="master = true\nmax-worker-lifetime = 3600\nmax-worker-lifetime-delta = 60",
    near_miss="master = true\nmemory-report = false",
)

present(
    "UW504",
    "thunder-lock",
    "the lock may cost more than it saves: 0.848x the requests/s with 4 processes of 2 threads on "
    "one core (measured); measure it with your application",
    source="docs/runs/keep-alive",
    bad="processes = 4\nmaster = true\nthunder-lock = true",
    good="processes = 4\nmaster = true",
    near_miss="processes = 1\nmaster = true\nthunder-lock = true",
    when=lambda config: config.processes > 1 and not config.sockets("http11"),
)

present(
    "UW505",
    "http",
    "the router connects to the workers by TCP, with a handshake for each request; a UNIX socket "
    "is cheaper: write socket = %dapp.sock",
    title="the HTTP router over TCP",
    source="plugins/http/http.c:1063 `127.0.0.1:0`",
    bad="http = 127.0.0.1:8080",
    good="http = 127.0.0.1:8080\nsocket = %dapp.sock",
    near_miss="http = 127.0.0.1:8080\nhttp-to = 127.0.0.1:3031",
    when=lambda config: (
        routed(config)
        # Whoever that is, the folder may be closed to it.
        and not config.last("http-to", "uid", "immediate-uid")
        and not any(is_unix(socket.value) for socket in config.sockets("uwsgi"))
    ),
    fix=with_line("socket = %dapp.sock"),
)


@rule(
    "UW506",
    Severity.REMARK,
    "post-buffering smaller than a body",
    why="a body of this many bytes or more goes through a temporary file, so nearly every body "
    "does; write post-buffering = 8192",
    source="core/protocol.c:707 `post_buffering`",
    bad="post-buffering = 1",
    good="post-buffering = 8192",
    near_miss="post-buffering = 4096",
)
def bodies_to_disk(config: Case) -> Iterator[Flaw]:
    """Every body goes to the disk."""
    setting = config.last("post-buffering")
    if setting and setting.value.isdecimal() and 0 < atoi(setting.value) < 4096:
        yield config.flaw(setting, fix=config.change(setting, "8192"))


present(
    "UW507",
    "static-map static-map2 check-static",
    "a worker sends each file itself, in 15 system calls, and serves nothing else meanwhile; let a "
    "proxy in front send the files, or write offload-threads = 2",
    title="static files without offload-threads",
    source="core/protocol.c:820 `check_static`; core/static.c:564 `offloading will be`",
    bad="static-map = /static=/srv/static",
    good="static-expires = /srv/static/* 3600",
    near_miss="static-map = /static=/srv/static\noffload-threads = 2",
    when=lambda config: config.number("offload-threads") == 0,
)


@rule(
    "UW508",
    Severity.REMARK,
    "cheaper with the default overload and step",
    why="uWSGI adds one worker at a time, after 3 seconds of overload",
    source="core/master_utils.c:289 `cheaper_overload`; core/init.c:121 `cheaper_overload = 3`",
    bad="master = true\nprocesses = 16\ncheaper = 2",
    good="master = true\nprocesses = 16\ncheaper = 2\ncheaper-overload = 1\ncheaper-step = 4",
    near_miss="master = true\nprocesses = 3\ncheaper = 2",
)
def slow_to_grow(config: Case) -> Iterator[Flaw]:
    """A burst meets few workers for many seconds."""
    setting, missing_workers = config.last("cheaper"), config.processes - config.number("cheaper")
    tuned = config.all("cheaper-algo", "cheaper-step", "cheaper-overload")
    least = config.number("cheaper")  # of true that is 0: all are started
    if setting and least > 0 and missing_workers > 1 and not tuned:
        text = (
            f"a burst waits while uWSGI adds one worker every 3 s, from {least} to "
            f"{config.processes}; write cheaper-overload = 1 and cheaper-step = 4"
        )
        lines = [
            config.add(line, after=setting) for line in ("cheaper-overload = 1", "cheaper-step = 4")
        ]
        edits = tuple(edit for fix in lines if fix for edit in fix.edits)
        fix = Fix(edits, safe=False, description="cheaper-overload = 1, cheaper-step = 4")
        yield config.flaw(setting, text, fix if edits else None)


present(
    "UW509",
    "log-master logger req-logger",
    "each line goes through a pipe to the master, with 3 to 4 more system calls; write logto, so "
    "that the worker writes the line itself",
    title="a log that the master writes",
    source="core/logging.c:1399 `worker_log_pipe`",
    bad="socket = /run/app.sock\nlog-master = true",
    good="socket = /run/app.sock\nlogto = /var/log/app.log",
    near_miss="socket = /run/app.sock\nlog-master = true\ndisable-logging = true",
    when=logged,
)
