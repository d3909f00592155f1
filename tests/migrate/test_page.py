"""docs/how-to/migrate.md: its example is what the command prints, and can be used as it is."""

from __future__ import annotations

import re

import pytest

from lab.errors import UsageError
from tests.kit.lab_process import run
from tools.pages import directives
from tools.pages.files import DOCS
from tools.pages.migration import ini

PAGE = "how-to/migrate"


def test_the_example_is_what_the_command_prints(tmp_path):
    """Its status is the one that the page names."""
    page = (DOCS / f"{PAGE}.md").read_text()
    typed, printed = re.search(
        r"```console\n\$ \.venv/bin/lab (migrate .*)\n((?s:.*?))```", page
    ).groups()
    (tmp_path / "uwsgi.ini").write_text(ini(PAGE))
    done = run("lab", *typed.split(), cwd=tmp_path)
    assert done.stdout == printed
    assert done.returncode == 4, done.stderr


def test_the_linter_finds_nothing_wrong_in_what_is_written(tmp_path):
    """As the page tells its reader to look."""
    (tmp_path / "uwsgi.ini").write_text(ini(PAGE))
    command = "migrate uwsgi.ini --to gunicorn --output gunicorn.conf.py"
    run("lab", *command.split(), cwd=tmp_path)
    done = run("lab", "lint", "gunicorn.conf.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("directive", "problem"),
    [
        ("migrated how-to/migrate to nowhere", "there is no nowhere to migrate to, only uwsgi"),
        ("migrated how-to/locust to granian", "docs/how-to/locust.md has no configuration"),
        ("differences of harakiri", "the vocabulary has no 'harakiri', only workers"),
    ],
)
def test_what_the_vocabulary_does_not_have_is_named(directive, problem):
    """Instead of an old text that stays on the page."""
    with pytest.raises(UsageError, match=problem):
        directives.fill(f"<!-- {directive} -->\n<!-- end -->\n")


def test_a_difference_is_told_of_each_server():
    """Of an option, a feature and a behaviour alike; what repeats the cell before it says so."""
    rows = directives.fill(
        "<!-- differences of respawn, cron, stuck -->\n<!-- end -->\n"
    ).splitlines()
    assert rows[1] == "| uWSGI | gunicorn | granian |"
    respawn, cron, stuck = (row.strip("| ").split(" | ") for row in rows[3:6])
    assert respawn[:2] == ["**a worker that dies is replaced**: `master`", "always"]
    assert respawn[2].startswith("`--respawn-failed-workers`")
    assert cron[0].startswith("**cron**: `cron`")
    assert cron[1].startswith("no equivalent: use a systemd timer")
    assert cron[2] == "the same"
    assert stuck[2] == "is never ended"
