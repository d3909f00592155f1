"""The environments of two versions: one for both only where nothing that it is made of differs."""

from __future__ import annotations

import subprocess
from types import SimpleNamespace

import pytest

from lab.errors import LabError
from lab.system import packages


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Make environments; their installation is only written down, and not carried out."""
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "cache"))
    installed = []

    def make(place, folder, install):
        (place / "bin").mkdir(parents=True)
        (place / packages.DONE).write_text('{"A": "1"}')
        installed.append((folder.name, install))

    monkeypatch.setattr(packages, "_make", make)
    return SimpleNamespace(folder=tmp_path, installed=installed)


def version(made, name, **files):
    """Return the folder of a version with files."""
    folder = made.folder / name
    folder.mkdir(exist_ok=True)
    for file, text in files.items():
        (folder / f"{file}.txt").write_text(text)
    return folder


def environment(made, name, install, tree="", **files):
    """Return the environment of a version."""
    folder = version(made, name, **files)
    apart = made.folder / f"env-{name}"
    return packages.environment_for(folder, install, tree, apart, lambda: None)


LISTED = "pip install -r requirements.txt"


def test_what_lists_say_alike_is_installed_once(made):
    """Whatever else differs between two commits."""
    first = environment(made, "a", LISTED, "one", requirements="flask==3.1\n")
    second = environment(made, "b", LISTED, "two", requirements="flask==3.1\n")
    assert first == second
    assert len(made.installed) == 1


@pytest.mark.parametrize(
    ("files", "others"),
    [
        ({"requirements": "flask==2.3\n"}, {"requirements": "flask==3.1\n"}),
        ({"requirements": "-r base.txt\n", "base": "flask==2.3\n"}, {"base": "flask==3.1\n"}),
        ({"requirements": "-cbase.txt\nflask", "base": "flask==2.3\n"}, {"base": "flask==3.1\n"}),
        ({"requirements": "-e .\n"}, {}),
        ({"requirements": "./library\n"}, {}),
        ({"requirements": "shop @ file:library\n"}, {}),
    ],
    ids=["list", "included", "constraint", "editable", "folder", "address"],
)
def test_what_may_differ_is_installed_twice(made, files, others):
    """In a list, in one that it includes, or in files that it only names."""
    first = environment(made, "a", LISTED, "one", **files)
    second = environment(made, "b", LISTED, "two", **(files | others))
    assert first != second


@pytest.mark.parametrize("install", ["pip install .", "pip install '.[service]'", "./install.sh"])
def test_a_command_that_may_read_anything_is_run_for_each_commit(made, install):
    """And once for the same one."""
    first = environment(made, "a", install, "one")
    assert first != environment(made, "b", install, "two")
    assert first == environment(made, "c", install, "one")


def test_the_environment_of_a_folder_lives_as_long_as_the_run(made):
    """What is in the folder has no name, and may be another the next time."""
    assert environment(made, "a", "pip install .", None) == made.folder / "env-a"
    assert environment(made, "b", LISTED, None, requirements="") != made.folder / "env-b"


@pytest.mark.parametrize(
    ("install", "files"),
    [("pip install -e .", {}), ("pip install --editable '.[service]'", {}),
     (LISTED, {"requirements": "flask\n-e .\n"})],
)  # fmt: skip
def test_an_environment_that_leads_to_a_folder_lives_as_long_as_that(made, install, files):
    """The folder of a revision is gone after the run."""
    assert environment(made, "a", install, "one", **files) == made.folder / "env-a"


def test_what_a_killed_lab_has_left_is_removed(made):
    """The next time that one is made, unless another lab is about to make it."""
    cache = made.folder / "cache"
    for name in ("torn", "under-way"):
        (cache / f"env-{name}" / "lib").mkdir(parents=True)
    with packages._locked(cache / "env-under-way.lock"):
        environment(made, "a", LISTED, requirements="")
    assert not (cache / "env-torn").exists()
    assert (cache / "env-under-way").exists()


def test_an_installation_that_fails_says_why_and_leaves_nothing(tmp_path, monkeypatch):
    """As on a full disk; it is made anew the next time."""
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "cache"))
    command = "echo '[Errno 28] No space left on device'; exit 3"
    for _ in range(2):
        with pytest.raises(LabError, match="No space left on device"):
            packages.environment_for(tmp_path, command, "x", tmp_path / "env", lambda: None)
        assert not [each for each in (tmp_path / "cache").iterdir() if each.is_dir()]


def test_what_an_installation_leaves_running_is_ended(tmp_path):
    """As a server that --setup starts."""
    packages.run_setup("sleep 1000 & echo $! > pid", tmp_path, None)
    pid = (tmp_path / "pid").read_text().strip()
    assert subprocess.run(["kill", "-0", pid], capture_output=True, check=False).returncode == 1
