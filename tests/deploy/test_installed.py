"""What somebody has who installs this project, and has no checkout of it."""

import os
import shutil
import subprocess
import sys
from importlib.metadata import distribution, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.kit.lab_process import ROOT

INI = "[uwsgi]\nhttp-socket = 127.0.0.1:8080\nmodule = hello:application\nmaster = true\n"
APP = """
def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"hello"]
"""
LIGHT = 5_000_000
"""Bytes that what the lab needs to read configurations takes, at most."""

INSTALL = "which is not installed: pip install 'uwsgi-fibonacci-lab[run] @ file:///"
"""From the same source: the name is in no index."""

SMALL = ("--blocks", "2", "--window", "0.3s", "--no-confirm")


def pip(*words):
    """Run pip, and return what it prints."""
    return subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", *words],
        check=True, capture_output=True, text=True, env=os.environ | {"FIB_BUILD": "pure"},
    ).stdout  # fmt: skip


def environment(folder):
    """Make an empty environment, and return the folder of its programs."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    return folder / "venv/bin"


def run(program, *words, cwd):
    """Run an installed program as a user does, and return its status and what it says."""
    done = subprocess.run(
        [program, *words], cwd=cwd, capture_output=True, text=True, check=False, timeout=240,
        env={"PATH": os.environ["PATH"], "HOME": str(cwd), "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def site(folder):
    """Make a folder with an application and its ini."""
    folder.mkdir()
    (folder / "my.ini").write_text(INI)
    (folder / "hello.py").write_text(APP)
    return folder


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel from a copy of what git has, and from nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "app", "fib", "lab",
         "loadtests", "profiles", "uwsgi", "*.in", "*.toml", "setup.py", "LICENSE", "README.md"],
        cwd=ROOT, check=True, capture_output=True,
    ).stdout.decode().split("\0")  # fmt: skip
    for name in filter(None, listed):
        if (ROOT / name).is_file():
            (folder / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / "tree" / name)
    words = ("wheel", "--no-deps", "--no-build-isolation", "-w", folder, folder / "tree")
    pip(*map(str, words))
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def light(wheel, tmp_path_factory):
    """Install it beside what it requires, and nothing else; return the folder of its programs."""
    folder = tmp_path_factory.mktemp("light")
    programs = environment(folder)
    pip("--python", str(programs / "python"), "install", "--no-deps", "--no-compile", str(wheel))
    packages = next((folder / "venv").glob("lib/python*/site-packages"))
    for file in light_files():
        target = packages / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(distribution("click").locate_file(file), target)
    return programs


def light_files():
    """Return the files of the packages that the lab requires without an extra."""
    every = [Requirement(requirement) for requirement in requires("uwsgi-fibonacci-lab") or ()]
    names = [requirement.name for requirement in every if requirement.marker is None]
    files = (file for name in names for file in distribution(name).files or ())
    return [file for file in files if ".." not in file.parts and file.suffix != ".pyc"]


@pytest.mark.costly
@pytest.mark.parametrize("program", ["lab", "uwsgi-fibonacci-lab"])
def test_it_lints_by_either_name(light, tmp_path, program):
    """The second is the package's, which `uvx` and `pipx run` start."""
    status, output = run(light / program, "lint", "my.ini", cwd=site(tmp_path / "shop"))
    assert (status, "UW314 dangerous" in output) == (1, True)


@pytest.mark.costly
def test_it_lints_and_lists_without_what_measures(light, tmp_path):
    """In any folder: a rule's page, the profiles that the wheel carries."""
    cwd = site(tmp_path / "shop")
    assert run(light / "lab", "lint", "--explain", "UW314", cwd=cwd)[0] == 0
    status, output = run(light / "lab", "list", cwd=cwd)
    assert (status, "\n  tuned " in output) == (0, True)


@pytest.mark.costly
def test_a_folder_beside_it_is_no_checkout(light, tmp_path):
    """The profiles are those that it carries, whatever else lies in site-packages."""
    packages = next(light.parent.glob("lib/python*/site-packages"))
    strays = [packages / "profiles", packages / "loadtests", packages / "setup.py"]
    try:
        for stray in strays[:2]:
            stray.mkdir()
        strays[2].touch()
        status, output = run(light / "lab", "list", cwd=site(tmp_path / "shop"))
        assert (status, "\n  tuned " in output) == (0, True)
    finally:
        strays[2].unlink()
        for stray in strays[:2]:
            stray.rmdir()


def test_it_translates_without_what_measures(light, tmp_path):
    """And says what installs the rest where a measurement is asked for."""
    cwd = site(tmp_path / "shop")
    words = ("migrate", "my.ini", "--to", "gunicorn")
    status, output = run(light / "lab", *words, cwd=cwd)
    assert (status, 'wsgi_app = "hello:application"' in output) == (4, True)
    status, output = run(light / "lab", *words, "--measure", cwd=cwd)
    assert status == 2
    assert INSTALL in output


def test_it_says_what_a_configuration_lacks_without_what_measures(light, tmp_path):
    """A block to paste, of the linter's rules."""
    cwd = site(tmp_path / "shop")
    status, output = run(light / "lab", "tune", "my.ini", "--dry-run", cwd=cwd)
    assert (status, "\nneed-app = true\n" in output) == (4, True)


def test_what_is_missing_is_said_with_its_command(light, tmp_path):
    """In a line, and without a traceback."""
    cwd = site(tmp_path / "shop")
    status, output = run(light / "lab", "run", "my.ini", "safety", cwd=cwd)
    assert status == 2
    assert output.count("\n") == 1
    assert INSTALL in output
    assert "is about the lab itself" in run(light / "lab", "claims", cwd=cwd)[1]


@pytest.mark.parametrize("words", [("-h",), ("run", "-h"), ("check", "-h")])
def test_help_needs_nothing_of_what_measures(light, tmp_path, words):
    """With the first sentence of each command."""
    status, output = run(light / "lab", *words, cwd=tmp_path)
    assert (status, "Usage: lab" in output, "Options:" in output) == (0, True, True)


def test_what_reads_configurations_is_small():
    """So that it is there in seconds."""
    where = distribution("click").locate_file
    assert sum(Path(where(file)).stat().st_size for file in light_files()) < LIGHT


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_it_compares_in_any_folder(kind, wheel, tmp_path):
    """With the extras, from an index: an own ini and a profile of the wheel's; from both forms."""
    package = wheel
    if kind == "sdist":
        build = "from setuptools import build_meta as b; import sys; b.build_sdist(sys.argv[1])"
        tree = wheel.parent / "tree"
        subprocess.run([sys.executable, "-c", build, str(tmp_path)], cwd=tree, check=True)
        package = next(tmp_path.glob("*.tar.gz"))
    programs = environment(tmp_path)
    try:
        pip("--python", str(programs / "python"), "install", f"{package}[run,service]")
    except subprocess.CalledProcessError as error:
        if "No matching distribution" in error.stderr or "ConnectionError" in error.stderr:
            pytest.skip("no package index can be reached")
        raise
    cwd = site(tmp_path / "shop")
    status, output = run(
        programs / "lab", "run", "my.ini", "safety", "--path", "/", *SMALL, cwd=cwd
    )
    assert status in (0, 3), output
    (folder,) = (cwd / "results").iterdir()
    assert (folder / "report.html").exists()
    status, output = run(programs / "lab", "run", "tuned", "cached", *SMALL, cwd=cwd)
    assert status in (0, 3), output
