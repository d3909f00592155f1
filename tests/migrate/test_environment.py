"""Environment variables of the application: each entry is carried over, or lost, by itself."""

from __future__ import annotations

import pytest

from lab.cli.migrate.migration import Migration, migrated

ENTRIES = """raw_env = [
    "A=1", "B=two words", "C=%x", "D=@(f)", "E= blank ", "F=x\\ny", "G", "UWSGI_MASTER=1",
]
"""


def notes(migration: Migration, name: str) -> list[str]:
    """Return the lines of a list."""
    return [f"{note.was} -> {note.becomes}" for note in migration.lists[name]]


def of_settings(tmp_path, lines: str, to: str) -> Migration:
    """Migrate a gunicorn.conf.py."""
    file = tmp_path / "gunicorn.conf.py"
    file.write_text(f'wsgi_app = "m:app"\n{lines}')
    return migrated(str(file), to, {})


def of_ini(tmp_path, lines: str, to: str) -> Migration:
    """Migrate an ini."""
    file = tmp_path / "uwsgi.ini"
    file.write_text(f"[uwsgi]\nmodule = a:app\nhttp-socket = :8000\n{lines}")
    return migrated(str(file), to, {})


@pytest.mark.parametrize(
    ("to", "unset"), [("gunicorn", "gunicorn does not start"), ("granian", "the value is empty")]
)
def test_a_placeholder_that_may_not_be_set_is_no_text(tmp_path, to, unset):
    """uWSGI keeps the text $(NO), and the other servers do not."""
    migration = of_ini(tmp_path, "env = A=$(NO)\nenv = B=1\n", to)
    (line,) = [line for line in notes(migration, "behaves differently") if "A=" in line]
    assert f"without NO {unset}; uWSGI kept the text $(NO)" in line
    assert [line for line in notes(migration, "the same") if "B=1" in line]
    assert migration.status == 4


@pytest.mark.parametrize("entries", ["env = B=1\nenv = A=$(B)\n", "env = A=$(B)\nenv = B=1\n"])
def test_a_placeholder_reads_what_was_set_before_the_server(tmp_path, entries):
    """A shell would read the B of the line above."""
    migration = of_ini(tmp_path, entries, "granian")
    assert migration.environment == 'A="${B}"\n'
    reason = "another value uses the earlier value of B: rename one of them"
    assert f"env: B=1 -> {reason}" in notes(migration, "no equivalent")
    assert '"A=" + os.environ["B"]' in of_ini(tmp_path, entries, "gunicorn").text


def test_a_variable_is_not_set_before_an_option_reads_it(tmp_path):
    """The script would give it the new value."""
    migration = of_ini(tmp_path, "workers = $(W)\nenv = W=9\nenv = H=x$(H)\n", "granian")
    assert migration.environment == 'H="x${H}"\n'
    assert '--workers "${W}"' in migration.text


def test_an_entry_of_a_computed_name_is_lost(tmp_path):
    """Which variable it sets is not known."""
    migration = of_ini(tmp_path, "env = $(N)=1\n", "gunicorn")
    assert "raw_env" not in migration.text
    assert "env: $N=1 -> this is not a variable: write NAME=value" in notes(
        migration, "no equivalent"
    )


def test_an_entry_that_an_ini_cannot_have_leaves_the_others(tmp_path):
    """Each has a line of its own, or stands with its reason in the list of what is lost."""
    migration = of_settings(tmp_path, ENTRIES, "uwsgi")
    lines = [line for line in migration.text.split("\n") if line.startswith("env = ")]
    assert lines == ["env = A=1", "env = B=two words", "env = C=%%x"]
    lost = [
        line.partition(" -> ")[0] for line in notes(migration, "no equivalent") if "raw_env" in line
    ]
    assert sorted(lost) == [
        "raw_env: D=@(f)",
        "raw_env: E= blank ",
        "raw_env: F=x y",
        "raw_env: G",
        "raw_env: UWSGI_MASTER=1",
    ]
    assert "raw_env: B=two words -> env = B=two words" in notes(migration, "the same")


@pytest.mark.parametrize(
    ("to", "name"), [("uwsgi", "UWSGI_WORKERS"), ("granian", "GRANIAN_WORKERS")]
)
def test_a_variable_that_would_be_an_option_is_lost(tmp_path, to, name):
    """uWSGI reads it when it reloads, granian at its start."""
    migration = of_settings(tmp_path, f'raw_env = ["{name}=3"]\n', to)
    assert name not in migration.environment
    assert f"\nenv = {name}" not in migration.text
    (line,) = [line for line in notes(migration, "no equivalent") if name in line]
    assert "for an option" in line


def test_gunicorn_does_not_read_its_options_in_what_it_sets(tmp_path):
    """It has read GUNICORN_CMD_ARGS and WEB_CONCURRENCY before, and at a reload it resets them."""
    migration = of_ini(tmp_path, "env = WEB_CONCURRENCY=3\n", "gunicorn")
    assert '"WEB_CONCURRENCY=3"' in migration.text
