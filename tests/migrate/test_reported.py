"""What users have reported of migrations of theirs, each in its shortest form."""

from __future__ import annotations

from lab.cli.migrate.migration import migrated


def test_the_queue_that_gunicorn_has_by_default_is_kept():
    """uWSGI's is 100 connections, and gunicorn's 2048."""
    assert "listen = 2048" in migrated("gunicorn -b 127.0.0.1:8000 shop:app", "uwsgi", {}).text


def test_in_the_background_the_umask_is_gunicorns(tmp_path):
    """uWSGI's is 0, with which every user may write to what the application makes."""
    path = tmp_path / "gunicorn.conf.py"
    path.write_text('wsgi_app = "shop:app"\ndaemon = True\nerrorlog = "error.log"\n')
    text = migrated(str(path), "uwsgi", {}).text
    assert "daemonize = error.log" in text
    assert "umask = 022" in text


def test_an_address_with_a_default_is_named_by_its_line():
    """And not by the end of the condition that it stands in."""
    command = 'gunicorn --bind "0.0.0.0:${PORT:-8080}" --workers 2 shop:app'
    (becomes,) = (
        note.becomes
        for note in migrated(command, "uwsgi", {}).lists["the same"]
        if note.was.startswith("bind")
    )
    assert becomes.startswith("http-socket = ")
