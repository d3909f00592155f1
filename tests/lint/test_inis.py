"""The inis of tests/inis, which follow public patterns, as the linter reads and judges them."""

import os
import shutil
import subprocess
from itertools import takewhile

import pytest

from lab.bench.machine.programs import binary
from lab.bench.profiles.asking import CLOSING, HOOKS, OPENING
from lab.bench.profiles.known import of_machine, with_build
from lab.config.configuration import Known
from lab.config.uwsgi.reader import read
from lab.lint.judge import judged
from tests.kit.lab_process import ROOT

INIS = ROOT / "tests" / "inis"


def pairs(config):
    """Return the options of a configuration with their values."""
    return [(setting.option, setting.value) for setting in config.settings]


@pytest.mark.parametrize("name", [path.name for path in sorted(INIS.glob("*.ini"))])
def test_it_is_read_as_uwsgi_reads_it(name, tmp_path):
    """Every option and its value, in order, through includes, conditions, loops and variables."""
    shutil.copytree(INIS, tmp_path, dirs_exist_ok=True)  # a spooler's folder is made by reading
    path, known = tmp_path / name, with_build(of_machine(Known.of_caller()), binary())
    hooks = (word for option, value in HOOKS for word in (f"--{option}", value))
    done = subprocess.run(
        (binary(), *hooks, str(path)), cwd=tmp_path, env=dict(known.environ),
        stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=False,
    )  # fmt: skip
    printed = (done.stderr + done.stdout).decode().split("\n")
    lines = printed[printed.index(OPENING) + 2 :]
    start = lines[0].index(" = ".join(HOOKS[0]))  # after what log-date or log-prefix put there
    theirs = [
        tuple(line[start:].split(" = ", 1))
        for line in takewhile(lambda line: line[start:] != CLOSING, lines[len(HOOKS) :])
    ]
    config = read(path, known)
    # While uWSGI reads cron2 it puts an end behind the first word of what it prints later.
    ours = [(name, value.split()[0] if name == "cron2" else value) for name, value in pairs(config)]
    assert ours == theirs
    assert not config.guesses


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("awx-guide", {"UW102"}),
        ("ckan", {"UW303", "UW304", "UW402", "UW503"}),
        ("production-copy", {"UW002", "UW303", "UW304"}),
        ("netbox", {"UW001"}),
        ("router", {"UW003", "UW201"}),
        ("django-quoted", {"UW005"}),
        ("django-gist", {"UW404", "UW405"}),
        ("nginx-guide", {"UW002", "UW401"}),
        ("gevent", {"UW218"}),
        ("container", {"UW012"}),
        ("flask-factory", {"UW213", "UW318"}),
    ],
)
def test_what_is_wrong_in_it_is_found(name, expected):
    """By the rules that are made of such files; also without any uWSGI."""
    codes = {flaw.code for flaw in judged(read(INIS / f"{name}.ini", Known(environ=os.environ)))}
    assert expected <= codes
