"""A hypercorn.toml that is read, changed and copied."""

from pathlib import Path

import pytest

from lab.config import servers
from lab.config.configuration import Known
from lab.config.hypercorn.server import HYPERCORN
from lab.config.reading import read
from lab.config.steps import Drop, Put, Rename
from lab.errors import ProfileError

TOML = """\
# all of it
bind = ["127.0.0.1:8000", "127.0.0.1:8001"]
workers = 4
keep_alive_timeout = 75  # longer than nginx
"server_names" = [
    "shop.example",
]
accesslog = "-"

[other]
workers = 9
"""


LATE = "# why\nkeep_alive_timeout = 9"


@pytest.fixture
def config(tmp_path, monkeypatch):
    """Write and read the file."""
    monkeypatch.chdir(tmp_path)
    Path("hypercorn.toml").write_text(TOML)
    return read("hypercorn.toml", Known())


def test_every_name_has_its_place(config):
    """A list has a setting for each entry; a table is a name without a value."""
    settings = [(one.option, one.value, one.spot.line, one.spot.column) for one in config.settings]
    assert settings == [
        ("bind", "127.0.0.1:8000", 2, 1),
        ("bind", "127.0.0.1:8001", 2, 1),
        ("workers", "4", 3, 1),
        ("keep_alive_timeout", "75", 4, 1),
        ("server_names", "shop.example", 5, 2),
        ("accesslog", "-", 8, 1),
        ("other", "", 10, 2),
    ]


@pytest.mark.parametrize(
    ("step", "old", "new"),
    [
        (Put("keep_alive_timeout", "9"), "keep_alive_timeout = 75", LATE),
        (Put("worker_class", "uvloop"), "# all", '# why\nworker_class = "uvloop"\n# all'),
        (Put("use_reloader", "true"), "# all", "# why\nuse_reloader = true\n# all"),
        (Put("workers", "8"), "workers = 4\n", "# why\nworkers = 8\n"),
        (Rename("accesslog", "errorlog"), "accesslog", "# why\nerrorlog"),
        (Drop("workers"), "workers = 4\n", "# why\n"),
    ],
)  # fmt: skip
def test_a_step_changes_its_line_alone(step, old, new, config):
    """Comments and order stay."""
    text = servers.edited(config, [(step, ["why"])])
    assert text == TOML.replace(old, new, 1)


@pytest.mark.parametrize("step", [Drop("server_names"), Put("timeout", "9")])
def test_what_is_not_written(step, config):
    """A value of several lines, and a name that hypercorn does not have."""
    with pytest.raises(ProfileError):
        servers.edited(config, [(step, [])])


def test_the_private_copy_reaches_nothing_of_production(config):
    """It listens elsewhere, and answers to any name."""
    profile = HYPERCORN.profile_of_file(Path("hypercorn.toml").absolute())
    copy = dict(profile.options)["private.toml"]
    assert copy == 'workers = 4\nkeep_alive_timeout = 75\naccesslog = "-"\n'
    assert {one.option for one in profile.private_copy.altered} == {"bind", "server_names"}


@pytest.mark.parametrize(
    ("command", "option", "value"),
    [
        ("hypercorn -w4 a:b", "workers", "4"),
        ("hypercorn --log-file x a:b", "errorlog", "x"),
        ("hypercorn --grace 9 a:b", "graceful_timeout", "9"),
        ("hypercorn --keep-alive=9 a:b", "keep_alive_timeout", "9"),
        ("hypercorn --daemon a:b", "daemon", ""),
        ("hypercorn -c hypercorn.toml a:b", "workers", "4"),
        ("hypercorn -c hypercorn.toml -w 2 a:b", "workers", "2"),
    ],
)
def test_an_option_of_the_command_is_a_name_of_the_file(command, option, value, config):
    """In each spelling, and the beginning of one."""
    assert read(command, config.known).last(option).value == value
