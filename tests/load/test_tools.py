"""The tools beside the engine: wrk and ab."""

import shutil
from pathlib import Path

import pytest

from lab.bench.load import ab
from lab.bench.load.ab import AbGenerator, parse_ab, parse_times
from lab.bench.load.tool import ToolCounts, ToolRun, run_tool
from lab.errors import GeneratorError, UsageError
from lab.model.plan import Load
from lab.model.protocols import Endpoint
from studies.wrk import parse_wrk, wrk_command
from tests.kit.replies import REPLY, WORKLOAD

WRK = """Running 1s test @ http://127.0.0.1:18231/
  1 threads and 32 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.20ms    1.42ms   9.06ms   84.84%
    Req/Sec    18.94k     6.46k   30.47k    70.00%
  18858 requests in 1.00s, 4.30MB read
"""

AB = """Concurrency Level:      2
Time taken for tests:   0.003 seconds
Complete requests:      10
Failed requests:        5
   (Connect: 0, Receive: 0, Length: 5, Exceptions: 0)
Non-2xx responses:      3
Total transferred:      600 bytes
"""


def test_wrk_report():
    """Requests and seconds are read, and classes without errors left out."""
    assert parse_wrk(WRK) == ToolCounts(18858, 1.0, {})


def test_wrk_report_with_errors():
    """Errors of sockets and status are read by class."""
    text = WRK.replace("1.00s,", "1.50m,") + (
        "  Socket errors: connect 0, read 12, write 0, timeout 3\n  Non-2xx or 3xx responses: 5\n"
    )
    assert parse_wrk(text) == ToolCounts(18858, 90.0, {"read": 12, "timeout": 3, "status": 5})


@pytest.mark.parametrize("parse", [parse_wrk, parse_ab])
@pytest.mark.parametrize("text", ["", WRK[:120], AB[:60]])
def test_report_that_is_not_whole(parse, text):
    """A report that breaks off is an error, and not a count of 0."""
    with pytest.raises(GeneratorError, match="no count"):
        parse(text)


def test_ab_report():
    """Failures of each class are read."""
    assert parse_ab(AB) == ToolCounts(10, 0.003, {"length": 5, "status": 3})


def test_ab_times():
    """Total times in whole milliseconds become a histogram of microseconds."""
    table = (
        "starttime\tseconds\tctime\tdtime\tttime\twait\n"
        "Sat Nov 21 08:00:00 2026\t1795000000\t0\t2\t2\t2\n"
        "Sat Nov 21 08:00:00 2026\t1795000000\t0\t1\t1\t1\n"
        "Sat Nov 21 08:00:00 2026\t1795000000\t1\t1\t2\t1\n"
    )
    assert parse_times(table) == ({1000: 1, 2000: 2}, pytest.approx(0.005))
    with pytest.raises(GeneratorError, match="ttime"):
        parse_times("")


def test_tool_that_is_missing():
    """A tool that is not there is told with the package that has it."""
    with pytest.raises(GeneratorError, match="apt-get install some-package"):
        run_tool(["no-such-tool"], "some-package", None)


def test_tool_that_fails():
    """A tool's own words are the error."""
    with pytest.raises(GeneratorError, match=r"status 3: too bad"):
        run_tool(["sh", "-c", "echo too bad >&2; exit 3"], "dash", None)


@pytest.mark.skipif(shutil.which("ab") is None, reason="ab is not installed (apache2-utils)")
def test_ab_counts_what_the_server_counts(serve):
    """A counted load by ab is exactly its number of requests at the server."""
    server = serve(REPLY, close=True)
    load = Load(connections=5, keepalive=False, requests=50)
    with AbGenerator().session(Endpoint(*server.address), WORKLOAD, load, [0]) as session:
        session.warm_up(0, 10)
        assert server.requests == 10
        (window,) = session.measure(0)
    assert server.requests == 60
    assert (window.ok, window.errors, window.unfinished) == (50, {}, 0)
    assert sum(window.latency.values()) == 50
    assert window.cpu > 0


@pytest.mark.parametrize(("kept", "connections"), [("", 50), ("0", 50), ("45", 10), ("50", 5)])
def test_ab_opens_a_connection_where_none_was_kept(monkeypatch, kept, connections):
    """Its own at first, and one after each reply that closed; without -k one for each request."""
    report = AB.replace("10", "50").replace("Failed requests:        5", "Failed requests: 0")
    line = f"Keep-Alive requests:    {kept}\n" if kept else ""

    def run_tool(command, *_):
        Path(command[command.index("-g") + 1]).write_text("ttime\n")
        return ToolRun(1, report.replace("Length: 5", "Length: 0") + line, 0.1, 0.0)

    monkeypatch.setattr(ab, "run_tool", run_tool)
    load = Load(connections=5, keepalive=bool(kept), requests=50)
    monkeypatch.setattr(ab, "check_ab", lambda _load: None)
    with AbGenerator().session(Endpoint("127.0.0.1", 1), WORKLOAD, load, None) as session:
        (window,) = session.measure(0)
    assert window.connections == connections


def test_ab_wants_a_number():
    """ab has no timed load."""
    with (
        pytest.raises(UsageError, match="--load article"),
        AbGenerator().session(Endpoint("127.0.0.1", 1), WORKLOAD, Load(), None),
    ):
        pass


@pytest.mark.skipif(shutil.which("wrk") is None, reason="wrk is not installed")
def test_wrk_counts_what_the_server_counts(serve):
    """wrk's count of a real run is the server's, but for the requests under way at its end."""
    server = serve(REPLY)
    url = "http://{}:{}/".format(*server.address)
    run = run_tool(wrk_command(url, 2, 1, keepalive=True), "wrk", None)
    tally = parse_wrk(run.output)
    assert 0 <= server.requests - tally.requests <= 2
    assert run.cpu > 0
