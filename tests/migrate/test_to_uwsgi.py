"""Configurations of gunicorn and commands of granian, as people write them, served by uWSGI."""

import pytest

from lab.cli.migrate.migration import migrated

from .public import tried

GUNICORN = {
    "threads": """
workers = 2
threads = 4
worker_class = "gthread"
bind = "0.0.0.0:8000"
wsgi_app = "shop.wsgi:application"
timeout = 60
""",
    "gevent": """
bind = "127.0.0.1:8000"
worker_class = "gevent"
worker_connections = 200
wsgi_app = "shop.wsgi"
""",
    "preload": """
bind = ":8000"
workers = 2
preload_app = True
graceful_timeout = 20
wsgi_app = "shop:app"
accesslog = "-"
""",
    "unix": """
bind = "unix:/run/shop/gunicorn.sock"
umask = 0o117
workers = 3
chdir = "/srv/shop"
user = "www-data"
group = "www-data"
wsgi_app = "config.wsgi:application"
pidfile = "/run/shop/gunicorn.pid"
""",
    "environment": """
import os

bind = f"0.0.0.0:{os.getenv('PORT', '8080')}"
workers = int(os.environ.get("WEB_CONCURRENCY", "2"))
threads = int(os.environ.get("THREADS", 2))
raw_env = ["DJANGO_SETTINGS_MODULE=shop.settings"]
wsgi_app = "shop.wsgi:application"
""",
    "cpus": """
import multiprocessing

bind = "127.0.0.1:8000"
workers = multiprocessing.cpu_count() * 2 + 1
keepalive = 5
backlog = 512
wsgi_app = "shop:create_app()"
""",
    "jitter": """
bind = "127.0.0.1:8000"
workers = 2
max_requests = 1000
max_requests_jitter = 50
limit_request_field_size = 8190
limit_request_fields = 200
worker_tmp_dir = "/dev/shm"
loglevel = "info"
wsgi_app = "shop:app"

def on_starting(server):
    server.log.info("hello")
""",
    "certificate": """
bind = ["0.0.0.0:8443"]
certfile = "/etc/ssl/shop.pem"
keyfile = "/etc/ssl/shop.key"
forwarded_allow_ips = "*"
wsgi_app = "shop:app"
""",
}
GRANIAN = {
    "threads": "--workers 2 --blocking-threads 8 --host 0.0.0.0 --port 8000 shop.wsgi:application",
    "respawn": "--workers 2 --respawn-failed-workers --respawn-interval 5 shop:app",
    "static": "--static-path-route /static --static-path-mount /srv/shop/static "
    "--static-path-expires 3600 --working-dir /srv/shop shop.wsgi:application",
    "lifetime": "--workers 2 --workers-lifetime 3600 --workers-max-rss 512 "
    "--workers-kill-timeout 30 --respawn-failed-workers shop:app",
    "factory": "--factory --port ${PORT:-8000} --host :: shop.app:create_app",
    "uds": "--uds /run/shop/granian.sock --uds-permissions 0660 --pid-file /run/shop/pid shop:app",
    "logs": "--access-log --log-level warning --process-name shop --backlog 1024 shop:app",
    "limits": "--http 1 --http1-header-read-timeout 5000 --no-http1-keep-alive --no-ws "
    "--backpressure 64 --blocking-threads 4 --runtime-threads 1 shop:app",
}
WRITES = {
    "gunicorn-threads": "threads = 4",
    "gunicorn-gevent": "gevent = 200",
    "gunicorn-preload": "worker-reload-mercy = 20",
    "gunicorn-unix": "chmod-socket = 660",
    "gunicorn-environment": "env = DJANGO_SETTINGS_MODULE=shop.settings",
    "gunicorn-cpus": "processes = %(%k * 2 + 1)",
    "gunicorn-jitter": "max-requests-delta = 50",
    "gunicorn-certificate": "https-socket = 0.0.0.0:8443,/etc/ssl/shop.pem,/etc/ssl/shop.key",
    "granian-threads": "threads = 8",
    "granian-respawn": "master = true",
    "granian-static": "static-map = /static=/srv/shop/static",
    "granian-lifetime": "max-worker-lifetime = 3600",
    "granian-factory": "callable = create_app()",
    "granian-uds": "chmod-socket = 660",
    "granian-logs": "listen = 1024",
    "granian-limits": "socket-timeout = 5",
}
"""Case -> what stands in its ini."""

CASES = [
    *(pytest.param("gunicorn", text, id=f"gunicorn-{name}") for name, text in GUNICORN.items()),
    *(
        pytest.param("granian", f"granian --interface wsgi {words}", id=f"granian-{name}")
        for name, words in GRANIAN.items()
    ),
]


@pytest.mark.peers
@pytest.mark.parametrize(("program", "text"), CASES)
def test_uwsgi_serves_what_it_becomes(program, text, tmp_path, request):
    """It starts, answers, and the linter finds neither an error nor a danger that is not told."""
    name = text
    if program == "gunicorn":
        path = tmp_path / "gunicorn.conf.py"
        path.write_text(text)
        name = str(path)
    assert f"{WRITES[request.node.callspec.id]}\n" in migrated(name, "uwsgi", {}).text
    outcome = tried(name, "uwsgi")
    assert outcome.right, (outcome.failure, outcome.errors, outcome.dangers, outcome.log[-2000:])
