"""Files that once had the linter run a command, take all memory, or never end."""

import os
import subprocess
import sys

import pytest

from tests.kit.lab_process import BIN, run

MARK = "touch MARK"

UTF_7 = """<?xml version="1.0" encoding="UTF-7"?>
<uwsgi><env>X=+AEA-(exec:+AC8-+AC8-MARK)</env></uwsgi>
"""

ACTS = {
    "a percent sign": ("l.yaml", f"uwsgi:\n  env: X=@%z(exec://{MARK})\n"),
    "a percent sign in a name": ("n4.yaml", "uwsgi:\n  spo%%zoler: MARK\n"),
    "a namespace": ("k.xml", '<u:uwsgi xmlns:u="x"><u:spooler>MARK</u:spooler></u:uwsgi>'),
    "UTF-7": (
        "u.xml",
        UTF_7.replace("MARK", MARK),
    ),
    "EBCDIC": (
        "e.xml",
        f'<?xml version="1.0" encoding="IBM037"?><uwsgi><env>X=@(exec://{MARK})</env></uwsgi>'
        .encode("cp037"),
    ),
    "a variable": ("v.yaml", "uwsgi:\n  env: X=$(EVIL)\n"),
    "another form": (
        "i4.ini",
        "[uwsgi]\nhttp-socket = :1\nwsgi-file = x.py\ninclude = l.yaml\n",
    ),
    "autoload": ("uwsgi.ini", "[uwsgi]\nautoload = true\nplugins-dir = .\nx = 1\n"),
    "a plug-in": ("p.ini", "[uwsgi]\nhttp-socket = :1\nwsgi-file = x.py\nplugin = ./x\n"),
    "the end": (
        "f.ini",
        f"[uwsgi]\nexec-as-user-atexit = {MARK}\nfallback-config = e.ini\nstrict = 1\nnosuch = 1\n",
    ),
    "a name of gunicorn's": ("gunicorn.conf.py", "on_starting = 'evil.start'\nworkers = 2\n"),
}  # fmt: skip
"""How it acted -> the file's name, and what stands in it."""

LIBRARY = """
#include <stdio.h>
__attribute__((constructor)) static void mark(void) { fclose(fopen("MARK", "w")); }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Return a library whose constructor makes the mark."""
    folder = tmp_path_factory.mktemp("library")
    (folder / "x.c").write_text(LIBRARY)
    command = ["cc", "-shared", "-fPIC", "-o", folder / "x.so", folder / "x.c"]
    subprocess.run(command, check=True)
    return (folder / "x.so").read_bytes()


def lab(folder, *words):
    """Return how a command of the lab ends in a folder."""
    return run("lab", *words, cwd=folder, timeout=120, EVIL=f"@(exec://{MARK})")


@pytest.mark.parametrize("command", ["lint", "show"])
@pytest.mark.parametrize("how", ACTS)
def test_no_command_of_a_file_is_run(how, command, library, tmp_path):
    """Neither by `lab lint` nor by `lab show`, however it is written."""
    for name, text in ACTS.values():
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    for name in ("x_plugin.so", "x.so"):
        (tmp_path / name).write_bytes(library)
    (tmp_path / "e.ini").write_text(f"[uwsgi]\nini = exec://{MARK}\n")
    (tmp_path / "evil.py").write_text("open('MARK', 'w').close()\n")
    done = lab(tmp_path, command, f"./{ACTS[how][0]}")
    assert not (tmp_path / "MARK").exists()
    assert "Traceback" not in done.stderr
    assert done.returncode in {0, 1, 2}


ENDLESS = {
    "a loop": "for-times = 99999999\nenv = A=%(_)\nendfor =",
    "a device": "env = X=@(/dev/zero)",
    "a pipe": "env = X=@(pipe)\nini = pipe",
    "lines": "\n".join(f"env = A{number}=1" for number in range(150_000)),
    "blank lines": "\n" * 300_000,
    "suppressions": "; lab: ignore[UW001] x\n" * 300_000,
    "codes of one": "; lab: ignore[" + ",".join(["UW001"] * 1_300_000) + "] x",
}


@pytest.mark.costly
@pytest.mark.parametrize("what", ENDLESS)
def test_a_file_takes_little_memory_and_time(what, tmp_path):
    """A quarter of a gibibyte and five seconds of CPU at most."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "u.ini").write_text(f"[uwsgi]\n{ENDLESS[what]}\n")
    assert_bounded(tmp_path, "u.ini")


@pytest.mark.parametrize("asked", ["uwsgi.ini", "."])
def test_a_file_without_options_takes_little_of_both(asked, tmp_path):
    """Named, or looked at in a folder: whether it is another program's is soon seen."""
    (tmp_path / "uwsgi.ini").write_text("\n" * 300_000)
    assert_bounded(tmp_path, asked)


def assert_bounded(folder, name):
    """Lint within those bounds."""
    script = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], capture_output=True)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss, done.returncode)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, BIN / "lab", "lint", name],
        cwd=folder, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    seconds, kib, status = map(float, done.stdout.split())
    assert status in {0, 1, 2}
    assert seconds < 5
    assert kib < 256 << 10


@pytest.mark.parametrize("name", ["юзер", "日本", "😀", "\udcff"])
@pytest.mark.parametrize("command", ["lint", "show"])
def test_a_name_may_have_any_bytes(command, name, tmp_path):
    """A folder's, a file's, and what stands in the file."""
    folder = tmp_path / name
    folder.mkdir()
    (folder / f"{name}.ini").write_text("[uwsgi]\nhttp-socket = 127.0.0.1:0\nmodule = юзер:日本\n")
    done = lab(folder, command, f"./{name}.ini")
    assert done.returncode in {0, 1}, done.stderr
    assert not done.stderr


@pytest.mark.slow
def test_a_run_is_stored_whose_folder_has_a_name_of_any_bytes(tmp_path):
    """Its report is made, too."""
    folder = tmp_path / "\udcff"
    folder.mkdir()
    (folder / "u.ini").write_text("[uwsgi]\nhttp-socket = 127.0.0.1:0\nmodule = web\n")
    text = 'def application(environ, start):\n    start("200 OK", [])\n    return [b"hi"]\n'
    (folder / "web.py").write_text(text)
    done = lab(folder, "run", "./u.ini", "--path", "/", "--blocks", "1", "--window", "0.3")
    assert "Traceback" not in done.stderr
    assert list(folder.glob("results/*/report.html")), done.stderr
