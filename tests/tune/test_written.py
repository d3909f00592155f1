"""What a tune writes: the file, its name, and what is said of it."""

from __future__ import annotations

import pytest

from lab.cli import outputs
from lab.cli.outputs import write_new
from lab.cli.tune.moves import ground_of
from lab.cli.tune.result import as_in_command, before
from lab.cli.tune.tuning import _is_the_same
from lab.config import servers
from lab.config.command import alone, profile_of
from lab.config.configuration import Known
from lab.config.reading import read
from lab.config.steps import Prefix, Put
from lab.errors import FileError, UsageError


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    """On a full disk nothing is left, so that the next try is not refused."""

    def full(self, content):
        with self.open("wb") as file:
            file.write(content[:3])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(outputs.Path, "write_bytes", full)
    with pytest.raises(FileError, match="No space left"):
        write_new(tmp_path / "new.ini", "[uwsgi]\n")
    assert not [*tmp_path.iterdir()]


def test_a_file_that_is_there_stays(tmp_path):
    """Also one that came meanwhile."""
    path = tmp_path / "new.ini"
    path.write_text("mine")
    with pytest.raises(UsageError, match="the file exists"):
        write_new(path, "[uwsgi]\n")
    assert [file.read_text() for file in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("line", "same"),
    [("chdir = /srv/shop", True), ("chdir = /srv/%n", False), ("chdir = %d", True),
     ("module = %n:app", False)],
)  # fmt: skip
def test_an_ini_that_uses_its_own_name_means_something_else_under_another(tmp_path, line, same):
    """A vassal's is often written so."""
    ini = tmp_path / "shop.ini"
    ini.write_text(f"[uwsgi]\n{line}\n")
    config = read(str(ini), Known())
    text = servers.edited(config, [(Put("processes", "4"), ())])
    assert _is_the_same(config, text, tmp_path / "shop.tuned.ini") is same


def test_a_command_with_a_comment_above_it_is_a_command(tmp_path, monkeypatch):
    """Where a variable before it is overridden, that is said above it."""
    monkeypatch.chdir(tmp_path)
    name = "GRANIAN_WORKERS=2 granian --interface wsgi a:app"
    text = servers.edited(read(name, Known()), [(Put("workers", "4"), ())])
    assert text.startswith("#")
    (command,) = profile_of(alone(text)).commands
    assert command[-2:] == ("--workers", "4")


@pytest.mark.parametrize(
    ("command", "step", "said"),
    [
        ("uvicorn a:app", Put("access-log", "false"), "--no-access-log"),
        ("uvicorn a:app", Put("workers", "2"), "--workers"),
        ("gunicorn a:app", Put("worker_class", "gthread"), "--worker-class"),
    ],
)
def test_a_new_option_is_named_as_the_command_has_it(tmp_path, monkeypatch, command, step, said):
    """In the comment above it."""
    monkeypatch.chdir(tmp_path)
    assert as_in_command(read(command, Known()), step) == said


@pytest.mark.parametrize(
    ("command", "written"),
    [
        ("granian --interface wsgi a:app", "taskset -c 0 granian --interface wsgi a:app"),
        ("A=1 python -m uvicorn a:app", "A=1 taskset -c 0 python -m uvicorn a:app"),
        ("uv run gunicorn a:app", "uv run taskset -c 0 gunicorn a:app"),
    ],
)
def test_a_command_is_bound_to_a_cpu_in_front_of_it(command, written, tmp_path, monkeypatch):
    """Behind what stands before the server, and beside a change of its options."""
    monkeypatch.chdir(tmp_path)
    config = read(command, Known())
    assert servers.edited(config, [(Prefix("taskset -c 0"), ("why",))]) == f"# why\n{written}"
    both = [(Prefix("taskset -c 0"), ("first",)), (Put("workers", "1"), ("second",))]
    assert servers.edited(config, both) == f"# first\n# second\n{written} --workers 1"


def test_the_comment_above_a_bound_command_says_what_it_takes(tmp_path, monkeypatch):
    """Two servers that are bound to one CPU share it."""
    monkeypatch.chdir(tmp_path)
    name = "granian --interface wsgi a:app"
    (step,) = ground_of(name, read(name, Known()), cpus=2).steps({"affinity": "1"})
    assert before(ground_of(name, read(name, Known()), cpus=2), step) == (
        "taskset -c 1 is new: no other server may be bound to that CPU, and a cpuset, as of "
        "Kubernetes, has to allow it"
    )
