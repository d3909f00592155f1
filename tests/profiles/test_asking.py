"""A configuration that uWSGI does not end to read holds up nobody, and leaves nothing running."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest

from lab.bench import profiles
from lab.bench.machine.programs import binary
from lab.bench.profiles import asking
from lab.errors import ProfileError
from tests.kit.lab_process import ROOT, alive, descendants, until
from tests.kit.uwsgi_options import confirmed

GROWING = "[uwsgi]\nset-placeholder = bar=x%(bar)\nhttp = :$(PORT)\nenv = A=%(bar)\n"
"""The same, and what it puts there gets longer each time."""

ENDLESS = "[uwsgi]\nset-ph = bar=%(bar)x\nhttp = :$(PORT)\nenv = A=%(bar)\n"
"""uWSGI puts a placeholder's value in its place, and then looks at the same place again."""


def asked(path):
    """Ask uWSGI for what it reads from a file."""
    return asking.ask(binary(), ("--ini", str(path)), path, None, {})


@pytest.fixture
def endless(tmp_path, monkeypatch):
    """Return an ini that uWSGI never ends to read, and a time too short to fill its memory."""
    monkeypatch.setattr(asking, "TIMEOUT", 0.1)
    monkeypatch.setattr(asking, "MEMORY", 1 << 30)  # not full before a busy machine sees the time
    path = tmp_path / "endless.ini"
    path.write_text(ENDLESS)
    return path


def test_an_ini_that_is_never_read_to_its_end_is_refused(endless):
    """The refusal names the file and says how long uWSGI had; no uWSGI is left."""
    with pytest.raises(ProfileError, match=r"endless\.ini.*not read it within 0.1 s"):
        asked(endless)
    assert not [process for process in psutil.Process().children() if process.name() == "uwsgi"]


def test_an_ini_that_takes_all_memory_is_refused(tmp_path):
    """It ends at one gibibyte, within seconds; the refusal says so and not uWSGI's backtrace."""
    path = tmp_path / "growing.ini"
    path.write_text(GROWING)
    with pytest.raises(ProfileError, match=r"growing\.ini.*not read it within 256 MiB of memory; "):
        asked(path)


@pytest.mark.parametrize("text", [GROWING, ENDLESS])
def test_a_placeholder_that_holds_itself_is_refused_without_uwsgi(tmp_path, text):
    """By lab's own reader, which ends."""
    path = tmp_path / "circle.ini"
    path.write_text(text)
    with pytest.raises(ProfileError, match=r"circle\.ini: cannot be served, .* contains itself"):
        profiles.read(str(path))


@pytest.mark.costly
@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("for-readline = /dev/zero\nenv = A=%(_)\nendfor =\n", "3 s of CPU|256 MiB"),
        (f"env = A={'x' * 9000}\n" * 600, "makes more than 4 MiB of it"),
    ],
)
def test_an_ini_that_takes_all_time_is_refused(tmp_path, lines, says):
    """Time on a CPU ends sooner than time by the clock, which a busy machine needs."""
    path = tmp_path / "busy.ini"
    path.write_text(f"[uwsgi]\n{lines}")
    with pytest.raises(ProfileError, match=f"busy.ini: uWSGI .*({says})"):
        asked(path)


def is_limited(process):
    """Return whether it is a uWSGI whose CPU time ends; the limit is set once it has started."""
    limit = process.rlimit(psutil.RLIMIT_CPU)[0]
    return process.name() == "uwsgi" and limit != psutil.RLIM_INFINITY


def test_a_killed_lab_leaves_no_uwsgi_that_reads_for_ever(endless):
    """SIGKILL of whoever asked: the kernel ends what is then still reading."""
    asks = (
        "from pathlib import Path\n"
        "from lab.bench.profiles import asking\n"
        "asking.TIMEOUT = 100.0\n"  # it is killed before
        f"path = {str(endless)!r}\n"
        f"asking.ask({binary()!r}, ('--ini', path), Path(path), None, {{}})\n"
    )
    with subprocess.Popen([sys.executable, "-c", asks], cwd=ROOT) as lab:
        reading = until(
            lambda: [process for process in descendants(lab.pid) if is_limited(process)],
            "uWSGI has been asked, and has its limit",
        )
        lab.kill()
    # Seconds of CPU, which a busy machine does not give in a minute.
    until(lambda: not alive(reading), "uWSGI has ended", 240)


@pytest.mark.parametrize("name", ["a:b", "a@(exec:touch ran)", "a\nb"])
def test_a_folder_whose_name_uwsgi_takes_apart_is_refused(tmp_path, name):
    """Before uWSGI is asked, which would look for another file."""
    path = tmp_path / name / "u.ini"
    path.parent.mkdir()
    path.write_text("[uwsgi]\nhttp-socket = :8080\n")
    with pytest.raises(ProfileError, match=r"its folder or file has .* in its name; rename that"):
        confirmed(path)
