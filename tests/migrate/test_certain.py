"""A setting of a gunicorn.conf.py whose value reading does not tell is lost, and not assumed."""

import pytest

from lab.cli.migrate.migration import migrated


@pytest.fixture
def moved(tmp_path):
    """Return a function that migrates a gunicorn.conf.py."""

    def make(lines, to):
        path = tmp_path / "gunicorn.conf.py"
        path.write_text(f'import os\nwsgi_app = "m:app"\n{lines}\n')
        return migrated(str(path), to, {})

    return make


def lost(migration):
    """Return the lines of the list of what is lost."""
    return "\n".join(f"{note.was} -> {note.becomes}" for note in migration.lists["no equivalent"])


@pytest.mark.parametrize("to", ["uwsgi", "granian"])
@pytest.mark.parametrize(
    ("lines", "name", "never"),
    [
        ("workers = 4\nif x:\n    workers = 1", "workers", ("--workers", "processes =")),
        ("workers = 2; workers += 1", "workers", ("--workers", "processes =")),
        ("for workers in x: pass", "workers", ("--workers", "processes =")),
        ("if x: preload_app = True", "preload_app", ("lazy-apps",)),
        ("if x: accesslog = '-'", "accesslog", ("disable-logging",)),
        ("accesslog = os.environ.get('A', x)", "accesslog", ("disable-logging",)),
        ("raw_env = ['A=1']\nraw_env.append('B=2')", "raw_env", ("A=1",)),
        ("os.environ['N'] = '8'\nworkers = int(os.environ.get('N', 3))", "workers", ("N-3",)),
        ("keyfile = '/k'\nif x: certfile = '/c'", "certfile", ("-socket", "--host", "/k")),
        ("keyfile = '/k'\ncertfile = os.environ['C']", "TLS", ("-socket", "--host", "/k")),
    ],
)
def test_what_is_not_certain_is_lost(moved, lines, name, never, to):
    """What is set under a condition, or changed later, has no value that is known."""
    migration = moved(lines, to)

    assert name in lost(migration)
    assert not [text for text in never if text in migration.text]


def test_a_variable_that_granian_would_read_is_lost(moved):
    """Of several variables the lists name the one that is lost, and the one that is kept."""
    migration = moved('raw_env = ["A=1", "GRANIAN_WORKERS=77"]', "granian")

    assert migration.environment == "A=1\n"
    assert "GRANIAN_WORKERS=77 -> granian would take" in lost(migration)
    assert [note.was for note in migration.lists["the same"] if "A=1" in note.was] == [
        "raw_env: A=1"
    ]


def test_a_worker_class_of_a_variable_is_not_certain(moved):
    """Its default is translated, and the list says so."""
    migration = moved('worker_class = os.environ.get("WC", "gevent")', "uwsgi")

    assert "gevent = 1000" in migration.text
    assert "the variable WC may choose another class" in lost(migration)


@pytest.mark.parametrize(
    "lines",
    [
        "workers = count()",
        "if x: workers = 2",
        "workers = os.environ.get('W', 'a`b`')",
        "workers = 2\nthreads = count()",
        "workers = 2\nworker_class = os.environ.get('WC', 'gevent')",
    ],
)
def test_a_number_at_once_that_is_not_known_is_not_printed(moved, lines):
    """Nor is it that of a default."""
    assert moved(lines, "granian").concurrency == ""


def test_a_default_for_an_empty_variable_is_another_one(moved):
    """The default of `get` holds for a variable that is not set; that of `or` for an empty one."""
    lines = 'raw_env = ["B=" + os.environ.get("BB", "d"), "C=" + (os.environ.get("CC") or "e")]'

    assert moved(lines, "granian").environment == 'B="${BB-d}"\nC="${CC:-e}"\n'
    assert "the variable CC -> the default also applied to an empty value" in lost(
        moved(lines, "uwsgi")
    )


def test_a_text_before_or_is_no_variable(moved):
    """Python computes it, and it is not run."""
    assert "workers = 0 or 4" in lost(moved("workers = 0 or 4", "granian"))
