"""Any byte in any place that uWSGI reads by itself: no worker dies, under any profile of ours."""

import asyncio
import re

import pytest

from lab.bench import profiles
from lab.bench.trials.plan import arm_of
from lab.bench.workloads import read
from lab.model.plan import Load
from tests.corpus.client import ask
from tests.corpus.interpreted import KILLER, sweep
from tests.corpus.page import PAGE
from tests.corpus.stand import Stand, instead
from tests.kit.descriptions import descriptions
from tests.kit.lab_process import until
from tests.kit.running import read_installed, running

ARTICLE = ("baseline", "processes-threads", "disable-logging", "max-worker-lifetime", "cython")
"""What is measured is what the article published, and so is what one request does to it."""

TELLING = bytes((0x00, 0x09, 0x20, 0x80, 0xC3, 0xE2, 0xFF))
"""Ends and blanks of C, and of UTF-8 what stands alone, begins two and three, and never occurs."""


def by_uwsgi():
    """Return the profiles that run an application under uWSGI, but for the article's."""
    read = descriptions().values()
    ours = [
        profile for profile in read if any(command[0] == "uwsgi" for command in profile.commands)
    ]
    return [
        profile.name
        for profile in read
        if profile.name not in ARTICLE and (profile.server == "uwsgi" or profile in ours)
    ]


def survives(name, values):
    """Send each of *values* in each place to a profile, and assert that nothing died of it."""
    profile = read_installed(name)
    with running(profile, arm_of(profile, read("fib", "/9").workload, Load()).workload) as started:
        server = Stand(started)
        # nginx drops a request whose client has ended its side; uWSGI does not notice.
        storm = server.storm(sweep(values), *((1.0, 200) if profile.peer.fill else ()))
        assert sum(storm.words.values()) == sum(1 for _ in sweep(values))
        assert server.deaths() == 0
        # The article's application raises where a path is no number; that is its own affair.
        assert [line for line in server.complaints() if "Traceback" not in line] == []
        reply = asyncio.run(ask(server.address, KILLER.replace(b"\xff", b"http")))
        assert reply.word == "200"


@pytest.mark.costly
@pytest.mark.parametrize("name", ["http-keepalive", "http11-socket", "safety", "nginx-uwsgi"])
def test_telling_bytes(name):
    """One of each front end survives the bytes that mean something, wherever uWSGI reads."""
    survives(name, TELLING)


@pytest.mark.slow
@pytest.mark.parametrize("name", by_uwsgi())
def test_every_byte(name):
    """Every profile and peer survives all 256 bytes in every place, and goes on answering."""
    survives(name, bytes(range(256)))


def test_every_other_profile_sets_the_scheme():
    """Each profile that runs an application under uWSGI has the rule for its scheme, once."""
    rules = {
        name: [value for _, value in profiles.read(name).options if "setscheme:http" in value]
        for name in by_uwsgi()
    }
    assert [name for name, values in rules.items() if len(values) != 1] == []
    assert len(rules) > 20


@pytest.mark.parametrize(
    ("sent", "scheme"),
    [(None, "http"), ("https", "https"), ("http", "http"), ("javascript", "http"), ("", "http")],
)
def test_a_scheme_is_http_or_https(tuned_that_tells, sent, scheme):
    """`tuned` passes on https, which a proxy that ends TLS says, and makes http of all else."""
    header = b"" if sent is None else b"X-Forwarded-Proto: %s\r\n" % sent.encode()
    request = b"GET / HTTP/1.1\r\n%sHost: fib\r\nConnection: close\r\n\r\n" % header
    outcome = asyncio.run(ask(tuned_that_tells.address, request))
    assert b'"wsgi.url_scheme": "%s"' % scheme.encode() in outcome.bodies[0]


def test_the_line_for_other_configurations_closes_it():
    """The line of docs/reference/malformed.md spares the worker, and lets https through."""
    (line,) = re.findall(r"^route-if-not = .*$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    with instead("http-socket", without="route", options=line) as server:
        for scheme in (b"\xff", b"https"):
            outcome = asyncio.run(ask(server.address, KILLER.replace(b"\xff", scheme)))
            assert outcome.word == "200"
        assert server.deaths() == 0


def test_that_line_lets_nothing_else_through():
    """Not a scheme with a line feed behind it either, which $ would let pass."""
    (line,) = re.findall(r"^route-if-not = .*$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    pattern = line.partition(";")[2].partition(" ")[0].replace(r"\z", r"\Z")
    schemes = ("", "http", "https", "https\n", "\n", "https, https", "HTTPS", "javascript")
    assert [scheme for scheme in schemes if re.search(pattern, scheme)] == ["", "http", "https"]


@pytest.mark.parametrize("name", ["baseline", pytest.param("cython", marks=pytest.mark.slow)])
def test_the_articles_rungs_die_of_one_header(name):
    """
    A request ends a worker, which nobody replaces; soon nobody answers any more.

    Not all of a packet each: the HTTP router ends with the process that started it, whichever
    request that is.
    """
    with running(name, read("fib", "/9").workload) as started:
        server = Stand(started)
        workers = len(server.spawned())

        def ended():
            try:
                return asyncio.run(asyncio.wait_for(ask(server.address, KILLER), 2)).word != "200"
            except (ConnectionRefusedError, TimeoutError):
                return True

        for _ in range(workers):
            assert ended()
        until(lambda: server.deaths() > 0, "the death of a worker")
        assert any("Segmentation Fault" in line for line in server.complaints())
        assert server.spawned() == started.spawned()
        assert len(server.spawned()) == workers
        assert ended()
