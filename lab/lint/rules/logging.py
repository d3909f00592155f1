"""What is written to the log, and where that lies."""

from __future__ import annotations

from lab.lint.rules.alike import at_top, present, without
from lab.lint.rules.rule import Case

STILL = ("log-4xx", "log-5xx", "log-slow", "log-big", "log-zero", "log-ioerror", "log-sendfile")
"""Options by which some requests are logged with disable-logging, too."""

ROUTED = ("route", "final-route", "error-route", "response-route")
"""Beginnings of options of which one may have a request logged."""


def _silent(config: Case) -> bool:
    """Return whether no request is logged."""
    some = any(config.on(name) for name in STILL) or config.starting(*ROUTED)
    return config.on("disable-logging") and not some


present(
    "UW211",
    "log-format log-format-strftime req-logger log-micros",
    "this is about the log lines of requests, and disable-logging drops all of them; leave it out, "
    "or add log-5xx = true",
    title="a format for request lines that are not logged",
    source="core/logging.c:593 `logging_options.enabled`",
    bad="disable-logging = true\nlog-format = %(method) %(uri)",
    good="disable-logging = true\nlog-format = %(method) %(uri)\nlog-5xx = true",
    near_miss="disable-logging = true\nlog-format = %(method) %(uri)\nlog-slow = 1000",
    when=_silent,
    fix=without,
)

present(
    "UW212",
    "log-maxsize log-backupname touch-logrotate touch-logreopen",
    "this is about the file of logto or daemonize, and neither is set; add logto = FILE",
    title="log rotation without a log file",
    source="core/logging.c:556 `uwsgi.logfile`; core/logging.c:563 `uwsgi.logfile`",
    bad="log-maxsize = 20971520",
    good="log-maxsize = 20971520\nlogto = /var/log/app.log",
    near_miss="log-maxsize = 20971520\ndaemonize = /var/log/app.log",
    when=lambda config: not config.all("logto", "logto2", "daemonize", "daemonize2"),
    fix=at_top("logto = /var/log/uwsgi.log"),
)
