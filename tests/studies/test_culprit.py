"""The search for the request that ended a worker: by the numbers, and on a server with a hole."""

import tomllib
from contextlib import contextmanager

import pytest

from studies.malformed import damage, found_out
from tests.corpus import doors
from tests.corpus.corpus import expand, read
from tests.corpus.culprit import Trap, culprit, entry, save, shrink
from tests.corpus.doors import Door
from tests.corpus.interpreted import KILLER
from tests.corpus.stand import instead


def holds(part):
    """Return what kills where *part* stands in a request."""
    return lambda requests: any(part in request for request in requests)


def test_the_one_of_many_is_found():
    """Of a thousand requests it is the one that kills by itself."""
    suspects = [b"GET /%d HTTP/1.1" % number for number in range(1000)]
    assert culprit(suspects, holds(b"/617 ")) == suspects[617]


def test_what_kills_no_more_is_said():
    """Where none of them does it again, or only two together, there is none."""
    suspects = [b"a", b"b", b"c", b"d"]
    assert culprit(suspects, lambda _: False) is None
    assert culprit(suspects, lambda sent: {b"a", b"d"} <= set(sent)) is None


@pytest.mark.parametrize("least", [b"X: \xff", b"\xff", b"GET", b"\r\n\r\n"])
def test_all_that_is_not_needed_is_left_out(least):
    """Lines first, then bytes; what is left kills, and nothing of it can be left out."""
    request = b"GET /9 HTTP/1.1\r\nA: b\r\nX: \xff\r\nHost: fib\r\n\r\n"
    assert shrink(request, holds(least)) == least


def test_an_entry_is_read_as_the_request(tmp_path):
    """What is written can be put into requests.toml, whatever bytes it has."""
    request = bytes(range(256)) + b'"\\'
    path = tmp_path / "requests.toml"
    path.write_text(entry('a "worker" dies', request), encoding="utf-8")
    (corpus_request,) = read(path)
    assert (corpus_request.raw, corpus_request.group) == (request, "found")


def test_what_the_notation_would_change_is_kept_as_bytes(tmp_path):
    """A request with {rest} in it is not written as an entry, which would mean something else."""
    assert [path.suffix for path in save(tmp_path, doors.SOCKET, b"GET /{rest}")] == [".http"]
    assert (tmp_path / "http-socket.http").read_bytes() == b"GET /{rest}"


def test_a_request_for_figures_has_their_path():
    """The target of a request is replaced, and nothing else of it."""
    assert doors.FIGURES.aim(b"GET /9 HTTP/1.1") == b"GET /metrics/a HTTP/1.1"
    assert doors.FIGURES.aim(b"\x16\x03 / x") == b"\x16\x03 / x"


@pytest.fixture
def hole(tmp_path):
    """Return a door to `tuned` without its rule for the scheme."""

    @contextmanager
    def start():
        with instead("http-socket", without="route") as server:
            yield server

    return Door("hole", start)


def test_a_death_is_seen_again_and_again(hole):
    """It is told from a request that kills nobody, and the next one meets a whole server."""
    with Trap(hole) as kills:
        assert [kills([sent]) for sent in (KILLER, b"GET /9 HTTP/1.1\r\n\r\n", KILLER)] == [
            True,
            False,
            True,
        ]


@pytest.mark.slow
def test_a_worker_that_dies_is_told_with_its_request(hole, tmp_path):
    """One of hundreds ends a worker: it is named, made small, and written down."""
    suspects = [request.raw for request in read()[:200]]
    suspects.insert(77, KILLER)
    sentence = found_out(hole, suspects, tmp_path)
    assert sentence.startswith("one request ends a worker: ")
    table = tomllib.loads((tmp_path / "hole.toml").read_text(encoding="utf-8"))
    sent = expand(table["found"]["hole: a worker dies"]["send"])
    assert sent == (tmp_path / "hole.http").read_bytes()
    assert len(sent) < len(KILLER)
    assert b"PROTO" in sent.upper()


def test_damage_ends_with_the_first_death(hole, monkeypatch):
    """Mutations find such a hole by themselves, and the run says so."""
    monkeypatch.setattr("studies.malformed.found_out", lambda door, _: f"{door.name} found")
    monkeypatch.setattr("studies.malformed.AT_A_TIME", 100)
    problems = []
    done = damage(hole, 4000, 1, problems)
    assert done["deaths"] >= 1
    assert sum(done["outcomes"].values()) < 4000
    assert "hole: hole found" in problems
    assert any("processes died" in problem for problem in problems)
