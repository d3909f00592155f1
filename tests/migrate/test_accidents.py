"""What hurt those who moved by hand: of a reduced configuration each, the translation names it."""

from __future__ import annotations

from lab.cli.migrate.migration import migrated

APP = "[uwsgi]\nhttp-socket = :8000\nmodule = shop.wsgi\n"


def moved(tmp_path, text, to):
    """Return what an ini becomes."""
    path = tmp_path / "uwsgi.ini"
    path.write_text(APP + text)
    return migrated(str(path), to, {})


def notes(migration, name):
    """Return one of the lists as a text."""
    return "\n".join(f"{note.was} -> {note.becomes}" for note in migration.lists[name])


def test_threads_are_those_that_run_the_application(tmp_path):
    """They became runtime threads, and then 64 a pod, for nine months."""
    migration = moved(tmp_path, "processes = 1\nthreads = 2\nlisten = 128\n", "granian")
    assert "--blocking-threads 2" in migration.text
    assert "--backlog 128" in migration.text
    assert "runtime-threads" not in migration.text.partition("exec")[2]
    assert migration.concurrency == "1 x 2 = 2 requests, before and after"


def test_threads_are_no_backpressure(tmp_path):
    """They became the backpressure, which was taken back later."""
    migration = moved(tmp_path, "threads = 4\n", "granian")
    assert "--backpressure" not in migration.text.partition("exec")[2]
    assert "--backpressure is not a number of threads" in notes(migration, "the same")


def test_workers_that_follow_the_cpus_still_do(tmp_path):
    """`%k` times 4 became 1 times 4."""
    migration = moved(tmp_path, "workers = %k\nthreads = 4\n", "granian")
    assert '--workers "$CPUS"' in migration.text
    assert "cpu.max" in migration.text
    assert migration.concurrency == "4 requests per CPU, before and after"


def test_what_was_imported_once_still_is(tmp_path):
    """A random key at import logged users out, as each worker had its own."""
    assert "preload_app = True" in moved(tmp_path, "processes = 4\n", "gunicorn").text
    lost = notes(moved(tmp_path, "processes = 4\n", "granian"), "no equivalent")
    assert "SECRET_KEY" in lost


def test_the_number_of_workers_is_the_one_that_was_written(tmp_path):
    """16 became 2 x CPUs + 1, counted on the host."""
    assert "\nworkers = 16\n" in moved(tmp_path, "processes = 16\n", "gunicorn").text


def test_a_socket_of_the_uwsgi_protocol_says_who_may_use_it(tmp_path):
    """From another container it was Forbidden."""
    migration = moved(tmp_path, "socket = 0.0.0.0:3031\n", "gunicorn")
    assert 'protocol = "uwsgi"' in migration.text
    assert "uwsgi_allow_ips" in notes(migration, "behaves differently")


def test_recycling_that_is_gone_is_named(tmp_path):
    """Limits of memory and age were left out in silence."""
    text = "reload-on-rss = 300\nmax-worker-lifetime = 3600\n"
    assert "--workers-max-rss 300" in moved(tmp_path, text, "granian").text
    lost = notes(moved(tmp_path, text, "gunicorn"), "no equivalent")
    assert "reload-on-rss = 300" in lost
    assert "max-worker-lifetime = 3600" in lost


def test_figures_that_are_gone_are_named(tmp_path):
    """Those of uwsgitop, and of a plugin that sent them."""
    lost = notes(
        moved(tmp_path, "stats = 127.0.0.1:1717\nplugin = dogstatsd\n", "granian"), "no equivalent"
    )
    assert "uwsgitop" in lost
    assert "plugin = dogstatsd" in lost


def test_a_dead_worker_is_replaced(tmp_path):
    """Without the option the server ends with the first worker that dies."""
    migration = moved(tmp_path, "master = true\nprocesses = 2\n", "granian")
    assert "--respawn-failed-workers" in migration.text.partition("exec")[2]


def test_a_buffer_is_not_made_smaller(tmp_path):
    """8192 would cut what is 417,792 by default."""
    migration = moved(tmp_path, "buffer-size = 8192\n", "granian")
    assert "--http1-buffer-size" not in migration.text.partition("exec")[2]
    assert "417,792" in notes(migration, "behaves differently")


def test_a_time_limit_that_ends_is_named(tmp_path):
    """It ended in silence: with threads on one server, always on the other."""
    assert "proxy_read_timeout" in notes(
        moved(tmp_path, "harakiri = 60\n", "granian"), "no equivalent"
    )
    threads = moved(tmp_path, "harakiri = 60\nthreads = 4\n", "gunicorn")
    assert "proxy_read_timeout" in notes(threads, "no equivalent")
    assert "\ntimeout = 60\n" in moved(tmp_path, "harakiri = 60\n", "gunicorn").text


def test_a_reload_that_reads_no_new_code_is_named(tmp_path):
    """With an application that is imported before the fork, SIGHUP starts the old code again."""
    migration = moved(tmp_path, "touch-reload = /srv/shop/reload\n", "gunicorn")
    assert "preload_app = True" in migration.text
    assert "with preload_app that loads no new code" in notes(migration, "no equivalent")
