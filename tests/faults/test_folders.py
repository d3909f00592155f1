"""Whatever a folder or a socket is called, the stack starts there, and no shell runs the name."""

import shutil
from contextlib import ExitStack

import pytest

from deploy.healthy import status_line
from tests.kit.lab_process import ROOT, until

from .parts import serving
from .test_start_up import PRODUCTION, assert_says, start

NAMES = (
    "a b",
    "it's",
    'say "x"',
    "$(touch RAN)",
    "`touch RAN`",
    "a;touch RAN",
    "a&touch RAN",
    "a|touch RAN",
    "a#>b",
    "# a",
    " a ",
    "a)b",
    "(a",
    "a\\b",
    "$HOME",
    "*",
    "%d",
    "é",
    "-n",
    "[uwsgi]",
)
"""Names of a folder; RAN... would lie where the command is typed."""

TELLING = frozenset({"it's", 'say "x"', "$(touch RAN)"})

EACH = [name if name in TELLING else pytest.param(name, marks=pytest.mark.slow) for name in NAMES]
"""The default run has one of each kind."""


@pytest.fixture
def run(tmp_path):
    """Return a function that starts production.ini, and waits until it serves."""
    with ExitStack() as started:

        def run(path, sock, **variables):
            variables |= {"SOCKET": str(sock), "PROCESSES": "2"}
            with (tmp_path / "log").open("w") as log:
                process = started.enter_context(serving(path, log, log, tmp_path, **variables))
            until(lambda: serves(sock) or process.poll() is not None, "a reply, or its end")
            assert process.poll() is None, (tmp_path / "log").read_text()

        yield run


def serves(sock):
    """Whether an instance answers on this socket."""
    try:
        return status_line("/healthz", {"SOCKET": str(sock)}).endswith("200 OK")
    except OSError:
        return False


def copied(folder):
    """Copy what an instance needs into *folder*, and return its profile."""
    bytecode = shutil.ignore_patterns("__pycache__")  # written anew at any time
    for part in ("app", "fib", "profiles", "uwsgi"):
        shutil.copytree(ROOT / part, folder / part, ignore=bytecode)
    return folder / "profiles/production.ini"


@pytest.mark.parametrize("name", EACH)
def test_name_of_the_checkout(tmp_path, run, name):
    """production.ini starts in a checkout of any name, and nothing of the name is run."""
    sock = tmp_path / "a.sock"
    run(copied(tmp_path / name), sock)
    assert list(tmp_path.rglob("RAN*")) == []


@pytest.mark.parametrize("name", EACH)
def test_name_of_the_socket(tmp_path, tmp_path_factory, run, name):
    """An instance listens on a SOCKET of any name, and nothing of the name is run."""
    folder = tmp_path_factory.mktemp("s") / name  # its path may have 96 bytes
    folder.mkdir()
    sock = folder / f"{name}.sock"
    run(PRODUCTION, sock)
    assert sock.is_socket()
    assert list(tmp_path.rglob("RAN*")) == []


@pytest.mark.parametrize("name", ["@(x)", "%(a b)", "$(HOME)"])
def test_name_that_uwsgi_expands(tmp_path, name):
    """A checkout whose name uWSGI itself would replace is refused with what is to be done."""
    status, printed = start(copied(tmp_path / name), tmp_path)
    assert_says(
        status, printed, (f"{tmp_path / name}/profiles", "uWSGI expands", "rename that folder")
    )


REFUSED = {
    "{folder}/@(exec://touch RAN)": "uWSGI expands @(",
    "@(exec://touch RAN)": "begins with a slash",
    "{folder}/$(SOCKET)": "uWSGI expands $(SOCKET)",
    "{folder}/%(socket)": "uWSGI expands %(",
    "{folder}/a\nstrict=0": "without line breaks",
    "{folder}/a ": "without blanks at its ends",
    "{folder}/a:b": "a colon would make it an address",
    "127.0.0.1:3031": "begins with a slash",
    ":3031": "begins with a slash",
    "a.sock": "begins with a slash",
    "./a.sock": "begins with a slash",
    "": "begins with a slash",
    "/": "it has a name",
    "@abstract": "begins with a slash",
    "/" + "a" * 96: "of 96 bytes at the most",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_path(tmp_path, name):
    """A SOCKET that uWSGI would take for something else than a path is refused, and not run."""
    value = name.format(folder=tmp_path)
    status, printed = start(PRODUCTION, tmp_path, SOCKET=value)
    assert_says(status, printed, (f"SOCKET={value!r}", "path of a UNIX socket", REFUSED[name]))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("pure", "lines"), [("", 1), ("1", 0)])
def test_plain_python_says_so(tmp_path, run, pure, lines):
    """Without the compiled module the log has a warning, unless plain Python is asked for."""
    path = copied(tmp_path / "checkout")
    for file in (*path.parents[1].glob("fib/*.so"), path.parents[1] / "fib/_core_c.json"):
        file.unlink(missing_ok=True)
    run(path, tmp_path / "a.sock", FIB_PURE_PYTHON=pure)
    log = tmp_path / "log"
    # The master writes the log, when it comes to it; this line follows the application's import.
    until(lambda: "WSGI app 0 " in log.read_text(), "the line of the loaded application")
    warnings = [
        line for line in log.read_text().splitlines() if "RuntimeWarning: fib._core_c" in line
    ]
    assert len(warnings) == lines
    assert all("pure Python" in line and "FIB_BUILD=cython" in line for line in warnings)
