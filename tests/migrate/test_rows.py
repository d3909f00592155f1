"""What public inis set, a row each: what it becomes on both other servers."""

from __future__ import annotations

from lab.cli.migrate.migration import migrated
from tests.kit.cases import cases

LOST = "no equivalent"
SAME = "same"
CHANGED = "changed"

ROWS = [
    # uWSGI, in gunicorn, in granian: a line of the configuration, or the list that names it
    ("master = true", SAME, "--respawn-failed-workers"),
    ("processes = 4", "workers = 4", "--workers 4"),
    ("workers = 4", "workers = 4", "--workers 4"),
    ("vacuum = true", SAME, SAME),
    ("enable-threads = true", SAME, SAME),
    ("die-on-term = true", CHANGED, CHANGED),
    ("buffer-size = 8192", CHANGED, CHANGED),
    ("buffer-size = 32768", "limit_request_field_size = 32768", CHANGED),
    ("chdir = /srv", 'chdir = "/srv"', "--working-dir /srv"),
    ("threads = 4", "threads = 4", "--blocking-threads 4"),
    ("uid = www-data", 'user = "www-data"', LOST),
    ("gid = www-data", 'group = "www-data"', LOST),
    ("single-interpreter = true", SAME, SAME),
    ("max-requests = 1000", "max_requests = 1000", LOST),
    ("max-requests-delta = 100", "max_requests_jitter = 100", LOST),
    ("harakiri = 60", "timeout = 60", LOST),
    ("need-app = true", SAME, SAME),
    ("thunder-lock = true", SAME, SAME),
    ("lazy-apps = true", SAME, SAME),
    ("disable-logging = true", SAME, SAME),
    ("static-map = /s=/srv/s", LOST, "--static-path-mount /srv/s"),
    ("static-expires = /* 100", LOST, LOST),
    ("ignore-sigpipe = true", SAME, SAME),
    ("ignore-write-errors = true", SAME, SAME),
    ("disable-write-exception = true", SAME, SAME),
    ("pidfile = /run/x.pid", 'pidfile = "/run/x.pid"', "--pid-file /run/x.pid"),
    ("socket-timeout = 20", LOST, "--http1-header-read-timeout 20000"),
    ("http-timeout = 60", SAME, SAME),
    ("log-format = %(addr)", LOST, LOST),
    ("post-buffering = 8192", LOST, LOST),
    ("strict = true", LOST, SAME),
    ("stats = 127.0.0.1:1717", LOST, LOST),
    ("virtualenv = /venv", SAME, SAME),
    ("chown-socket = www-data", SAME, SAME),
    ("log-5xx = true", LOST, LOST),
    ("log-4xx = true", LOST, LOST),
    ("worker-reload-mercy = 60", "graceful_timeout = 60", "--workers-kill-timeout 60"),
    ("reload-on-rss = 300", LOST, "--workers-max-rss 300"),
    ("max-worker-lifetime = 3600", LOST, "--workers-lifetime 3600"),
    ("max-worker-lifetime = 30", LOST, "--workers-lifetime 60"),
    ("max-worker-lifetime-delta = 60", LOST, SAME),
    ("offload-threads = 2", SAME, SAME),
    ("plugin = http", SAME, SAME),
    ("logto = /var/log/x.log", 'errorlog = "/var/log/x.log"', LOST),
    ("memory-report = true", LOST, LOST),
    ("http-keepalive = 30", SAME, SAME),
    ("procname = shop", 'proc_name = "shop"', "--process-name shop"),
    ("auto-procname = true", LOST, LOST),
    ("listen = 1024", "backlog = 1024", "--backlog 1024"),
    ("py-autoreload = 1", "reload = True", "--reload"),
    ("touch-reload = /x", LOST, LOST),
    ("log-x-forwarded-for = true", LOST, LOST),
    ("manage-script-name = true", SAME, SAME),
    ("gevent = 100", 'worker_class = "gevent"', LOST),
    ("async = 10", LOST, LOST),
    ("wsgi-disable-file-wrapper = true", CHANGED, SAME),
    ("cheaper = 2", LOST, LOST),
    ("cron = -1 -1 -1 -1 -1 true", LOST, LOST),
    ("spooler = /srv/jobs", LOST, LOST),
    ("mule = jobs.py", LOST, LOST),
    ("attach-daemon = celery worker", LOST, LOST),
    ("hook-pre-app = exec:true", LOST, LOST),
    ("exec-asap = true", LOST, LOST),
    ("route = ^/x break:413", LOST, LOST),
    ("cache2 = name=x,items=10", LOST, LOST),
    ("add-header = X-A: b", LOST, LOST),
    ("harakiri-verbose = true", LOST, LOST),
    ("py-tracebacker = /tmp/x", LOST, LOST),
    ("logger = file:/x", LOST, LOST),
    ("log-encoder = json", LOST, LOST),
    ("emperor = /etc/uwsgi", LOST, LOST),
    ("legion = x", LOST, LOST),
    ("subscribe-to = 127.0.0.1:1", LOST, LOST),
    ("ksm = 10", LOST, LOST),
    ("cpu-affinity = 1", LOST, LOST),
    ("reload-on-as = 300", LOST, LOST),
    ("max-fd = 1000", LOST, LOST),
    ("master-fifo = /tmp/x", LOST, LOST),
    ("daemonize = /var/log/x", "daemon = True", LOST),
]
CASES = [
    (line, to, row[at]) for line, *row in ROWS for at, to in enumerate(("gunicorn", "granian"))
]


@cases("line, to, expected", CASES)
def test_an_option_becomes(tmp_path, line, to, expected):
    """A line of the other configuration, or one of a list that names it."""
    path = tmp_path / "uwsgi.ini"
    path.write_text(f"[uwsgi]\nhttp-socket = :8000\nmodule = shop\n{line}\n")
    migration = migrated(str(path), to, {})
    lists = {
        LOST: migration.translation.lost,
        SAME: migration.translation.same,
        CHANGED: migration.translation.changed,
    }
    if expected in lists:
        assert line in [note.was for note in lists[expected]]
    else:
        written = migration.text if to == "gunicorn" else migration.text.rpartition("exec ")[2]
        assert expected in written
        assert not [note for note in migration.translation.lost if note.was == line]
