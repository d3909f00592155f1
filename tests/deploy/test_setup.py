"""Set-up: its two layers, and that an interrupted one says what to do and is repaired."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.lab_process import ROOT, until
from tools import halves

NO_NETWORK = """\
WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after \
connection broken by 'NewConnectionError('HTTPConnection(host='127.0.0.1', port=9): Failed to \
establish a new connection: [Errno 111] Connection refused')': /simple/cython/
ERROR: Could not find a version that satisfies the requirement cython==3.3.1 (from versions: none)
ERROR: No matching distribution found for cython==3.3.1"""
NO_ROOM = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"
NOTHING = """\
WARNING: The repository located at a.b is not a trusted or secure host and is being ignored.
ERROR: No matching distribution found for cython==3.3.1 (from versions: none)"""
CHANGED = "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE."
NO_HEADER = """\
  error: subprocess-exited-with-error
      plugins/python/python_plugin.c:138:9: warning: 'Py_NoSiteFlag' is deprecated
      plugins/router_basicauth/router_basicauth.c:7:10: fatal error: crypt.h: No such file or \
directory
          7 | #include <crypt.h>
      compilation terminated.
  ERROR: Failed building wheel for uwsgi
error: failed-wheel-build-for-install

x Failed to build installable wheels for some pyproject.toml based projects
╰─> uwsgi"""
"""What pip 23 to 26 print."""


TESTED_WITH = ("pytest_timeout", "django", "selenium", "schemathesis", "mypy", "ruff")
"""What only the second layer has. pytest itself comes with Locust."""


def environment(**variables):
    """Return an environment in which no make, and no choice of this checkout's, is left."""
    left = ("MAKE", "MFLAGS", "FIB_", "PYTHON", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left)}
    return kept | variables


@pytest.fixture
def stub(tmp_path):
    """Return a checkout whose `.venv` has a Python that only says what pip would say."""
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "setup.sh", tmp_path / "tools")
    bins = tmp_path / ".venv" / "bin"
    bins.mkdir(parents=True)
    python = """case $* in *pip*) ;; *) exit 0 ;; esac
echo "$SAYS"; [ -z "$WAITS" ] || exec "$WAITS" -c "$WAIT"; exit 1"""
    others = ("busybox", "valgrind", "strace", "patch", "curl", "nginx", "node", "go")
    write_programs(bins, {"python": python, **dict.fromkeys(others, "")})
    return tmp_path


def write_programs(folder, bodies):
    """Write a shell script for each name."""
    for name, body in bodies.items():
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)


WAIT = "import time; open('.venv/asked', 'w').close(); time.sleep(60)"
"""A pip that takes its time. Not `sleep`: a shell that is about to become it may lose a signal."""


def start(stub, says="", waits="", layer="tests", path=None, **variables):
    """Begin to install a layer, as from a terminal."""
    path = f"{stub}/.venv/bin:{path or os.environ['PATH']}"
    return subprocess.Popen(
        ["env", "--default-signal=INT,TERM,HUP", "tools/setup.sh", layer],
        cwd=stub,
        env=environment(SAYS=says, WAITS=waits, WAIT=WAIT, PATH=path, **variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


@pytest.mark.costly
def test_an_interpreter_that_makes_no_environment_leaves_the_old_one(stub):
    """Or does not run at all: it is tried before anything is removed."""
    other = 'case "$*" in "-m venv"*) exit 1 ;; *version*) echo 3.99 ;; esac\nexit 0'
    write_programs(stub, {"other": other, "broken": "exit 1"})
    there = sorted(path.name for path in (stub / ".venv" / "bin").iterdir())
    for name, words in (("other", "makes no environment"), ("broken", "does not run")):
        process = start(stub, layer="setup", PYTHON=str(stub / name))
        last = process.communicate(timeout=30)[0].splitlines()[-1]
        assert (process.returncode, words in last) == (1, True), last
        assert "name another one, then: make setup" in last
    assert sorted(path.name for path in (stub / ".venv" / "bin").iterdir()) == there


STEP = r"setup: installing what tests, lint and types need: \d+ s"


@pytest.mark.parametrize(
    ("says", "last"),
    [
        (
            NO_NETWORK,
            r"setup: packages cannot be downloaded \(WORDS\): is there a network, .*: make test",
        ),
        (
            NOTHING,
            r"setup: packages cannot be downloaded \(WORDS\): is there a network, .*: make test",
        ),
        (NO_ROOM, r"setup: the disk is full \(WORDS\): make room in .* and .*, then: make test"),
        (
            CHANGED,
            f"setup: stopped; WORDS; its last words: {CHANGED[:-1]}. When it is mended: make test",
        ),
        (
            NO_HEADER,
            (
                r"setup: stopped; WORDS; its first error: plugins/\S+:7:10: fatal error: crypt.h: "
                r"No such file or directory \(libcrypt-dev has it\). When it is mended: make test"
            ),
        ),
    ],
)
def test_a_failed_set_up_says_why_what_to_do_and_where_pips_words_are(stub, says, last):
    """In one line below that of the step, which has its seconds; the file has all that pip said."""
    process = start(stub, says)
    step, line = process.communicate(timeout=30)[0].splitlines()
    assert process.returncode == 1
    assert re.fullmatch(STEP, step)
    assert re.fullmatch(last.replace("WORDS", "build/setup.log has what pip said"), line)
    assert (stub / "build" / "setup.log").read_text() == f"{says}\n"


def test_what_pip_says_is_printed_where_no_file_can_have_it(stub):
    """As on a full disk."""
    (stub / "build" / "setup.log").mkdir(parents=True)
    lines = start(stub, NO_ROOM).communicate(timeout=30)[0].splitlines()
    assert lines[-2] == NO_ROOM
    assert lines[-1].startswith("setup: the disk is full (what pip said is above): make room in ")


APT = {"apt-get": "echo E: no such package; exit 100", "sudo": 'shift; exec "$@"'}
"""An apt-get that fails, and a sudo that asks nobody."""
UTILITIES = (
    "sh", "env", "date", "dirname", "tr", "cut", "mkdir", "id", "tail", "true", "cat", "du",
    "find", "sed", "wc",
)  # fmt: skip
"""What a set-up asks of a system that has no valgrind."""


def test_apt_gets_words_go_to_the_file_that_the_error_names(stub):
    """Below them stands what to type."""
    bins, system = stub / ".venv" / "bin", stub / "system"
    write_programs(bins, APT)
    (bins / "valgrind").unlink()
    system.mkdir()
    for name in UTILITIES:
        (system / name).symlink_to(shutil.which(name))
    lines = start(stub, CHANGED, path=system).communicate(timeout=30)[0].splitlines()
    assert re.fullmatch(r"setup: installing valgrind: \d+ s", lines[0])
    assert lines[1] == (
        "setup: tests are skipped that need valgrind (build/setup.log has what apt-get said): "
        "sudo apt-get install valgrind"
    )
    assert (stub / "build" / "setup.log").read_text().startswith("E: no such package\n")


def test_a_header_that_the_compiler_lacks_is_installed_or_named(stub):
    """The newest Debian's libc6-dev has no crypt.h, which uWSGI is compiled with."""
    compiler = {"cc": "! grep -q crypt.h", "pcre2-config": "", "ss": ""}
    write_programs(stub / ".venv" / "bin", APT | compiler)
    process = start(stub, layer="setup", PYTHON=sys.executable)
    lines = process.communicate(timeout=30)[0].splitlines()
    assert process.returncode == 1
    assert lines[-1] == (
        "setup: system packages are missing (build/setup.log has what apt-get said): "
        "sudo apt-get update && sudo apt-get install -y libcrypt-dev && make setup"
    )


def test_a_failed_installation_of_the_peers_says_what_to_do(stub):
    """As the other layers; what needs no package index is not touched by it."""
    process = start(stub, NO_NETWORK, layer="peers")
    lines = process.communicate(timeout=30)[0].splitlines()
    assert process.returncode == 1
    assert re.fullmatch(r"setup: installing the other servers of the articles: \d+ s", lines[0])
    assert re.fullmatch(r"setup: packages cannot be downloaded .*: make peers", lines[-1])
    assert not (stub / ".peers").exists()


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_set_up_says_how_to_go_on(stub, sent):
    """Ctrl-C ends it with one line and 130."""
    process = start(stub, waits=sys.executable)
    until((stub / ".venv" / "asked").exists, "the installation")
    os.killpg(process.pid, sent)
    assert process.communicate(timeout=30)[0].splitlines()[-1] == (
        "setup: interrupted; to go on: make test"
    )
    assert process.returncode == 130


@pytest.mark.parametrize("name", ['a "b"', "a $b", "a `b", f'{"a" * 100}"'])
def test_a_folder_in_which_no_program_would_start_is_refused(tmp_path, name):
    """In one line that names the character, and before anything is made."""
    folder = tmp_path / name
    (folder / "tools").mkdir(parents=True)
    shutil.copy(ROOT / "tools" / "setup.sh", folder / "tools")
    done = subprocess.run(
        ["tools/setup.sh"],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    character = next(candidate for candidate in name if candidate in '"$`')
    assert done.returncode == 1
    assert done.stderr == (
        f"setup: the folder {folder} has a {character} in its name, and no program of .venv would "
        "start there: rename it, then: make setup\n"
    )
    assert [path.name for path in folder.iterdir()] == ["tools"]


def test_a_folder_in_which_programs_start_is_not_refused(stub):
    """A quote alone does no harm, nor does a blank."""
    for name in ('a"b', "a b"):
        folder = stub / name
        shutil.copytree(stub / "tools", folder / "tools")
        shutil.copytree(stub / ".venv", folder / ".venv")
        output = start(folder, CHANGED).communicate(timeout=30)[0]
        assert "in its name" not in output
        assert CHANGED[:-1] in output  # what pip says, so it was asked


def package(packages, name, *listed, files=()):
    """Write a package's list of files, and these files."""
    info = packages / f"{name}-1.0.dist-info"
    for file in (f"{info.name}/METADATA", *files):
        (packages / file).parent.mkdir(parents=True, exist_ok=True)
        (packages / file).write_text("x")
    if listed:
        (info / "RECORD").write_text("".join(f"{line}\n" for line in listed))
    return info


def test_what_is_not_whole_is_installed_again(tmp_path):
    """A package that pip had not finished, or of which a file has gone, is removed; no other is."""
    installer = "{0}-1.0.dist-info/INSTALLER,sha256=x,4"
    whole = package(
        tmp_path, "whole",
        "whole.py,sha256=x,1", "__pycache__/whole.pyc,,", installer.format("whole"),
        files=("whole.py", "whole-1.0.dist-info/INSTALLER"),
    )  # fmt: skip
    package(tmp_path, "unlisted")
    package(tmp_path, "unfinished", "unfinished.py,sha256=x,1", files=("unfinished.py",))
    package(tmp_path, "gone", "gone.py,sha256=x,1", installer.format("gone"),
            files=("gone-1.0.dist-info/INSTALLER",))  # fmt: skip
    (tmp_path / "~ld").mkdir()
    assert halves.remove(tmp_path) == ["gone", "unfinished", "unlisted"]
    assert list(tmp_path.glob("*.dist-info")) == [whole]
    assert not (tmp_path / "~ld").exists()


def test_pip_s_own_packages_are_whole():
    """What pip installed here is taken for whole: the rule is pip's of today."""
    packages = Path(pytest.__file__).parents[1]
    assert [path.name for path in packages.glob("*.dist-info") if not halves._is_whole(path)] == []


class Checkout:
    """A copy of this checkout without anything built, and make in it."""

    def __init__(self, folder):
        self.folder = folder
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, folder / name)

    def start(self, *words, **variables):
        """Begin `make WORDS` in a session of its own, its output in `output`."""
        with (self.folder / "output").open("w") as output:
            return subprocess.Popen(
                ["env", "--default-signal=INT,TERM,HUP", "make", *words],
                cwd=self.folder,
                env=environment(**variables),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def make(self, *words, **variables):
        """Run `make WORDS` to its end; return its status and the lines that it wrote."""
        status = self.start(*words, **variables).wait(timeout=800)
        return status, self.said().splitlines()

    def said(self):
        """Return what the last make wrote so far."""
        return (self.folder / "output").read_text()

    def has(self, package):
        """Whether .venv can import it."""
        done = subprocess.run(
            [".venv/bin/python", "-c", f"import {package}"],
            cwd=self.folder, env=environment(), capture_output=True, check=False,
        )  # fmt: skip
        return done.returncode == 0


@pytest.mark.slow
def test_a_new_checkout_is_set_up_in_two_layers_whatever_interrupts_it(tmp_path):
    """
    No network, then a kill in the middle of pip, then a real `make compare`, then the second layer.

    Two to ten minutes; needs a package index, and the system packages that uWSGI is built with.
    """
    here = Checkout(tmp_path)
    # Without pip's configuration, whose folders of packages would stand in for the network.
    alone = {"PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": "", "PIP_NO_CACHE_DIR": "1"}
    status, lines = here.make("setup", PIP_INDEX_URL="http://127.0.0.1:9/simple", **alone)
    assert status == 2
    assert lines[-2].startswith(
        "setup: packages cannot be downloaded (build/setup.log has what pip said): "
    )
    assert lines[-2].endswith(" (PIP_INDEX_URL)? When it answers: make setup")

    process = here.start("setup")
    packages = f".venv/lib/python{sys.version_info[0]}.*/site-packages"
    begun = lambda: process.poll() is not None or list(tmp_path.glob(f"{packages}/matplotlib"))  # noqa: E731
    until(begun, "the installation of the lab", timeout=600)
    if "packages cannot be downloaded" in here.said():
        pytest.skip("needs a package index")
    os.killpg(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL

    small = "ARGS=tuned scheme --blocks 1 --window 0.3 --warmup 0.1 --no-confirm"
    status, lines = here.make("compare", small)
    assert status == 0, lines[-20:]
    assert any(
        re.search(r"\d+ packages and \d+ MB new in .venv: the service", line) for line in lines
    )
    # One block can tell nothing apart, on whatever machine.
    assert lines[-1].startswith("compare: done, but this machine was too noisy"), lines[-20:]
    assert here.has("locust")
    assert not any(map(here.has, TESTED_WITH))

    _does_nothing(here, "setup")
    status, lines = here.make(".venv/tests.stamp")
    assert status == 0, lines[-20:]
    assert lines[-1].endswith("Django, Selenium, ruff, mypy")
    assert all(map(here.has, TESTED_WITH))
    _does_nothing(here, ".venv/tests.stamp")


def _does_nothing(here, target):
    """Whether there is nothing left to do for it."""
    status, lines = here.make(target)
    assert status == 0
    assert not [line for line in lines if line.startswith("setup:")]
