"""The servers: asked by profile, program and file, and named nowhere else."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from lab.config import servers
from lab.config.command import profile_of
from lab.config.scale import scaled
from lab.config.words import program_at
from lab.errors import ProfileError, UsageError
from tests.kit import builders as make

ROOT = Path(__file__).resolve().parents[2]

HINTS = {
    "lab/analysis/comparable.py",  # distributions
    "lab/analysis/gates/replies.py",  # where a gate has its reason from
    "lab/cli/lint/command.py",
    "lab/cli/run/command.py",
    "lab/lint/lint.py",
    "lab/bench/profiles/catalogue.py",
    "lab/bench/store/fitness.py",  # distributions, and how to install them
    "lab/bench/servers/last_words.py",
    "lab/lint/examples.py",  # packages in a lock
    "lab/report/opening.py",  # what to run next
}
"""Files that may name servers: in a help, a hint of an error, a reason."""

ADDED = """
[moonserve]
listen = ["--at", "{host}:{port}"]
workers = ["--moons", "-m"]
"""


@pytest.fixture
def added(tmp_path, monkeypatch):
    """Add a server to the file of those that are known by their command alone."""
    path = tmp_path / "commands.toml"
    path.write_text(servers.COMMANDS.read_text() + ADDED)
    monkeypatch.setattr(servers, "COMMANDS", path)
    servers.every.cache_clear()
    yield
    monkeypatch.undo()
    servers.every.cache_clear()


def test_a_server_that_is_one_entry_listens_where_the_lab_asks(added):
    """Its own address is moved, as that of any other."""
    profile = profile_of("moonserve --at :80 -m 3 shop:app")
    assert profile.commands == (("moonserve", "--at", "{host}:{port}", "-m", "3", "shop:app"),)
    assert [str(alteration) for alteration in profile.altered] == ["--at = :80 -> a free port"]


def test_a_server_that_is_one_entry_can_be_swept(added):
    """Over what the entry spells, and nothing else."""
    profile = profile_of("moonserve -m3 shop:app")
    (command,) = scaled(profile, "workers", 5).commands
    assert command == ("moonserve", "--moons", "5", "--at", "{host}:{port}", "shop:app")
    with pytest.raises(UsageError, match="moonserve has no option for them"):
        scaled(profile, "threads", 5)


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("/venv/bin/gunicorn a:b", "gunicorn"),
        ("env A=1 granian a:b", "granian"),
        ("python3 -m uvicorn a:b", "uvicorn"),
        ("taskset -c 0 granian a:b", "granian"),
        ("taskset --cpu-list 0 gunicorn a:b", "gunicorn"),
        ("./start {port}", ""),
    ],
)
def test_a_profile_s_server_is_that_of_its_program(command, program):
    """Wherever that stands in the command; of another one nothing is known."""
    profile = make.started_by(make.profile("x", server="command"), tuple(command.split()))
    assert servers.of(profile).program == program


@pytest.mark.parametrize(
    "binding",
    [
        "taskset -c 3",
        "A=1 /usr/bin/taskset --cpu-list 3",
        "taskset 0x8 --",
        "taskset -ac 3 env A=1",
    ],
)
def test_a_command_that_is_bound_to_a_cpu_is_bound_to_one_of_the_server(binding):
    """Under a name of its own; its -c names no file of gunicorn's."""
    plain, bound = profile_of("gunicorn -w 1 a:b"), profile_of(f"{binding} gunicorn -w 1 a:b")
    assert bound.name.startswith("taskset-")
    assert " -c {cpu} " in " ".join(bound.commands[0])
    assert bound.commands[0][-5:] == plain.commands[0][-5:]
    assert "taskset = " in " ".join(map(str, bound.altered))


@pytest.mark.parametrize("text", ["env A=1", "taskset -c 0", "env A={port}"])
def test_a_command_without_a_program_has_none_behind_what_starts_it(text):
    """It ended with an IndexError where a trial looked for the program."""
    assert program_at(text.split()) == 0


@pytest.mark.parametrize("binding", ["taskset -c 0,1", "taskset -c 0-1", "taskset 0x3", "taskset"])
def test_a_command_that_is_bound_to_several_cpus_is_refused(binding):
    """The lab gives the server its CPUs."""
    with pytest.raises(ProfileError, match="taskset"):
        profile_of(f"{binding} gunicorn -w 1 a:b")


def test_a_profile_without_a_command_is_one_of_uwsgi():
    """`uwsgi X.ini` starts it."""
    assert servers.of(make.profile("x")).program == "uwsgi"


@pytest.mark.parametrize(
    ("name", "text", "program"),
    [
        ("a.ini", "", "uwsgi"),
        ("a.yaml", "", "uwsgi"),
        ("prod.conf.py", "", "gunicorn"),
        ("granian", "", "granian"),
        ("-", "", "granian"),
        ("vassal", "[uwsgi]\n", "uwsgi"),
    ],
)
def test_a_file_s_server_is_that_of_its_name_or_text(name, text, program):
    """What none of them reads has none."""
    assert servers.of_file(Path(name), text).program == program
    assert servers.of_file(Path("a.txt"), "hello") is None


def words(path):
    """Yield the texts of a module that are no docstrings."""
    tree = ast.parse(path.read_text())
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docstrings
        ):
            yield node.value


def test_no_other_part_of_the_lab_names_a_server():
    """But for uWSGI, which the lab itself starts; in hints of errors, and where the rules are."""
    names = "|".join(server.program for server in servers.every() if server.program != "uwsgi")
    paths = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "lab").rglob("*.py")
        if not path.is_relative_to(ROOT / "lab" / "config")
        and not path.is_relative_to(ROOT / "lab" / "lint" / "rules")
        and any(re.search(rf"\b({names})\b", text) for text in words(path))
    }
    assert paths <= HINTS


def test_nothing_here_starts_or_asks_anybody():
    """So the linter can stand on it."""
    for path in (ROOT / "lab" / "config").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            aliases = (
                alias for alias in getattr(node, "names", ()) if isinstance(alias, ast.alias)
            )
            names = {getattr(node, "module", ""), *(alias.name for alias in aliases)}
            assert not {"subprocess", "socket"} & names, path
