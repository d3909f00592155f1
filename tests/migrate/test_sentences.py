"""Sentences of a migration that once were false."""

import pytest

from lab.cli.migrate.migration import migrated

HOOK = "hook-master-start = unix_signal:15 gracefully_kill_them_all"


@pytest.fixture
def moved(tmp_path):
    """Return a function that migrates the lines of an ini, or of a gunicorn.conf.py."""

    def make(lines, to):
        is_ini = to != "uwsgi" and " = [" not in lines
        path = tmp_path / ("uwsgi.ini" if is_ini else "gunicorn.conf.py")
        path.write_text(("[uwsgi]\nmodule = m:a\n" if is_ini else 'wsgi_app = "m:a"\n') + lines)
        return migrated(str(path), to, {})

    return make


def listed(made, name):
    """Return a list of a migration as lines."""
    return [f"{note.was} -> {note.becomes}" for note in made.lists[name]]


@pytest.mark.parametrize("to", ["gunicorn", "granian"])
def test_die_on_term_ends_requests_and_other_servers_do_not(moved, to):
    """A hook lets them finish, as other servers always do."""
    ends, finishes = moved("die-on-term = true\n", to), moved(f"{HOOK}\n", to)
    line = "die-on-term = true -> requests in flight finish first; uWSGI ended them"
    assert line in listed(ends, "behaves differently")
    assert f"{HOOK} -> not needed: the server always does this" in listed(finishes, "the same")
    hidden = "not visible in the configuration"
    assert "SIGTERM" in str(ends.lists[hidden])
    assert "SIGTERM" not in str(finishes.lists[hidden])


def test_the_ini_that_is_written_lets_requests_finish(moved):
    """So nothing is said of a request that SIGTERM drops."""
    made = moved("", "uwsgi")
    assert f"\n{HOOK}\n" in made.text
    assert "die-on-term = " not in made.text
    assert "SIGTERM" not in str(made.lists["not visible in the configuration"])
