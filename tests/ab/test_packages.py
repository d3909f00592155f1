"""The environments of two versions: one for both only where nothing that it is made of differs."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from lab.bench.machine import packages
from lab.errors import LabError, ResultsError, UsageError
from lab.model.runtime import Runtime
from tests.kit.environments import put_uv


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


def environment(made, name, install, *, alone=False, **files):
    """Return the environment of a version."""
    folder = version(made, name, **files)
    apart = made.folder / f"env-{name}"
    return packages.environment_for(folder, install, apart, lambda: None, alone=alone)


LISTED = "pip install -r requirements.txt"


@pytest.mark.parametrize(
    "text",
    [
        "flask==3.1\n",
        "flask-cors\npytest-cov\n",
        "django[argon2]>=5,<6 ; python_version > '3.9'  # the application\n",
        "--require-hashes\nflask==3.1 \\\n    --hash=sha256:0a1b\n",
        "--index-url https://example.com/simple\nflask @ https://example.com/flask.zip\n",
    ],
)
def test_what_lists_say_alike_is_installed_once(made, text):
    """Whatever else differs between two commits."""
    first = environment(made, "a", LISTED, requirements=text)
    second = environment(made, "b", LISTED, requirements=text)
    assert first == second
    assert len(made.installed) == 1


@pytest.mark.parametrize(
    ("files", "others"),
    [
        ({"requirements": "flask==2.3\n"}, {"requirements": "flask==3.1\n"}),
        ({"requirements": "-r base.txt\n", "base": "flask==2.3\n"}, {"base": "flask==3.1\n"}),
        ({"requirements": "-cbase.txt\nflask", "base": "flask==2.3\n"}, {"base": "flask==3.1\n"}),
        *(
            ({"requirements": f"flask\n{line}\n"}, {})
            for line in (
                "core-1.0-py3-none-any.whl[fast]",
                "--index-url file:///srv/index",
                "-e .",
                "./library",
                "libs/core",
                "core-1.0-py3-none-any.whl",
                "vendor/core-1.0.tar.gz",
                "shop @ file:library",
                "core[fast] @ file:./libs/core",
                "--find-links wheels",
                "-r nowhere.txt",
            )
        ),
    ],
)
def test_what_may_differ_is_installed_twice(made, files, others):
    """In a list, in one that it includes, or in files that it only names."""
    first = environment(made, "a", LISTED, **files)
    second = environment(made, "b", LISTED, **(files | others))
    assert first != second


@pytest.mark.parametrize(
    ("install", "alone"),
    [("pip install .", False), ("pip install -e .", False), ("./setup.sh", False), (LISTED, True)],
)
def test_what_no_list_says_is_made_for_one_run(made, install, alone):
    """A command may read anything; a setup may install more; a revision's folder is gone then."""
    folder = environment(made, "a", install, alone=alone, requirements="flask==3.1\n")
    assert folder == made.folder / "env-a"


@pytest.mark.parametrize(
    ("text", "made_again"),
    [("flask>=3", True), ("flask==3.1", True), ("flask==3.1 --hash=sha256:0a", False)],
)
def test_open_versions_are_installed_anew_each_day(made, monkeypatch, text, made_again):
    """Else the old version would have the packages of a month ago, and the new one today's."""
    monkeypatch.setattr(packages.time, "strftime", lambda _: "2026-11-26")
    first = environment(made, "a", LISTED, requirements=f"{text}\n# the application\n")
    monkeypatch.setattr(packages.time, "strftime", lambda _: "2026-11-27")
    second = environment(made, "a", LISTED, requirements=f"{text}\n# the application\n")
    assert (first != second) is made_again


def test_what_nobody_uses_is_removed(made):
    """After a month, so that no disk is filled."""
    old = environment(made, "a", LISTED, requirements="flask==2.3\n")
    month = packages.time.time() - 31 * 86_400
    os.utime(old.with_suffix(".lock"), (month, month))
    used = environment(made, "b", LISTED, requirements="flask==3.1\n")
    assert used.exists()
    assert not old.exists()


def test_a_folder_that_cannot_be_written_is_named(made, monkeypatch):
    """With the variable that names another one."""
    (made.folder / "file").touch()
    monkeypatch.setenv("LAB_CACHE", str(made.folder / "file" / "cache"))
    with pytest.raises(ResultsError, match="LAB_CACHE names another"):
        environment(made, "a", LISTED, requirements="flask==3.1\n")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (("uv.lock", "pyproject.toml"), "pip install uv"),
        (("Pipfile",), "pipenv install"),
        (("requirements/prod.txt",), "pip install -r requirements/prod.txt"),
    ],
)
def test_what_is_not_read_is_refused_with_what_to_say(made, monkeypatch, files, said):
    """Rather than served with the packages of the lab, or with the newest."""
    monkeypatch.setenv("PATH", "")
    for name in files:
        (made.folder / name).parent.mkdir(exist_ok=True)
        (made.folder / name).touch()
    with pytest.raises(UsageError, match=said):
        packages.usual_installation(made.folder)


def test_a_lock_file_is_installed_by_its_own_program(made, monkeypatch):
    """Where that is here."""
    program = made.folder / "bin" / "uv"
    program.parent.mkdir()
    program.touch(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    (made.folder / "uv.lock").touch()
    assert packages.usual_installation(made.folder) == "uv sync --frozen --active"


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
    """As on a full disk."""
    put_uv(tmp_path, monkeypatch)
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "cache"))
    command = "echo '[Errno 28] No space left on device'; exit 3"
    with pytest.raises(LabError, match="No space left on device"):
        packages.environment_for(tmp_path, command, tmp_path / "env", lambda: None)
    assert not (tmp_path / "env").exists()


def test_what_an_installation_leaves_running_is_ended(tmp_path):
    """As a server that --setup starts."""
    packages.run_setup("sleep 1000 & echo $! > pid", tmp_path, Runtime())
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
