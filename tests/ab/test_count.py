"""`lab ab --count`: instructions and system calls of a request, old and new."""

from __future__ import annotations

import shutil
import sys

import pytest

from lab.analysis.judging import FAILED
from lab.bench.servers import counting
from lab.bench.servers.counting import Cost
from lab.bench.trials import counts
from lab.config.launch import ApplicationTarget
from lab.errors import LabError, UsageError
from lab.model.request import Headers, Request
from lab.model.runtime import OURS

APP = """\
import os


def application(environ, start_response):
    for _ in range({calls}):
        os.stat("/")
    sum(number * number for number in range({work}))
    start_response("{status}", [("Content-Length", "6")])
    assert environ["QUERY_STRING"] == "a=1" and environ["HTTP_X_KIND"] == "b"
    return [b"hello\\n"]
"""

needs_tools = pytest.mark.skipif(
    not all(map(shutil.which, counting.TOOLS)), reason="valgrind or strace is not installed"
)
ASKED = Request("/x?a=1", headers=Headers((("X-Kind", "b"),)))


def cost(folder, *, calls=2, work=1000, status="200 OK"):
    """Return what a request takes of an application with so much work."""
    folder.mkdir()
    text = APP.format(calls=calls, work=work, status=status)
    (folder / "shop.py").write_text(text)
    sought = ApplicationTarget("shop", "application", folder, "", python=sys.executable)
    return counting.cost(sought, ASKED, 200, OURS)


@pytest.mark.costly
@needs_tools
def test_what_a_request_takes_is_counted(tmp_path):
    """System calls to the last one, instructions to a hundredth; more work is more of them."""
    one, again = cost(tmp_path / "a"), cost(tmp_path / "b")
    more = cost(tmp_path / "c", calls=3, work=1100)
    assert one.syscalls == again.syscalls == 2
    assert again.instructions == pytest.approx(one.instructions, rel=0.02)
    assert more.syscalls == 3
    assert more.instructions > 1.05 * one.instructions


@pytest.mark.costly
@needs_tools
def test_a_wrong_reply_is_not_counted(tmp_path):
    """It says which status came."""
    with pytest.raises(LabError, match="it answers 500 OOPS"):
        cost(tmp_path / "a", status="500 OOPS")


def test_what_is_missing_is_named_with_what_installs_it(monkeypatch):
    """Before anything is started."""
    monkeypatch.setattr(counting, "find_command", lambda name: None)
    with pytest.raises(LabError, match="apt-get install valgrind strace"):
        counting.require_tools()


def test_an_application_that_nobody_knows_is_refused():
    """With the option that names it."""
    with pytest.raises(LabError, match="say --app"):
        counting.cost(None, ASKED, 200, OURS)


def test_an_application_of_asgi_is_refused(tmp_path):
    """It would be called by WSGI, and the error would be the application's."""
    sought = ApplicationTarget("shop", "app", tmp_path, "", python="python", interface="asgi")
    with pytest.raises(LabError, match="shop:app is not called by WSGI"):
        counting.cost(sought, ASKED, 200, OURS)


@pytest.mark.parametrize(
    ("limit", "status"),
    [
        ("instructions > 1.02", FAILED),
        ("instructions>1.05", 0),
        ("syscalls > 1", 0),
        ("syscalls >= 1", FAILED),
    ],
)
def test_a_limit_is_on_new_over_old(limit, status):
    """A count has no noise, so that it is judged as it is."""
    costs = Cost(100_000, 4), Cost(103_000, 4)
    lines, code = counts.report(costs, [counts.parse(limit)])
    assert code == status
    assert "instructions per request: 100,000 -> 103,000 (1.03x)" in lines


def test_a_first_system_call_is_a_change():
    """Though nothing can be divided by none."""
    _, code = counts.report((Cost(1, 0), Cost(1, 1)), [counts.parse("syscalls > 1")])
    assert code == FAILED
    _, code = counts.report((Cost(1, 0), Cost(1, 0)), [counts.parse("syscalls > 1")])
    assert code == 0


def test_a_limit_that_is_not_whole_is_refused():
    """With what to write; another metric is none of a count's."""
    with pytest.raises(UsageError, match=r"instructions > 1\.02"):
        counts.parse("instructions 1.02")
    assert counts.parse("cpu > 1.05") is None
