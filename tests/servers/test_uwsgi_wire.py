"""uWSGI behind `socket =`, asked as nginx asks it, over TCP and a UNIX socket."""

import pytest

from lab.bench.load.process import EngineGenerator
from lab.bench.servers import readiness
from lab.bench.servers.fetch import fetch
from lab.errors import ServerStartError
from lab.model.plan import Load
from lab.model.request import Expectation
from lab.model.workload import Transport, Wire, Workload
from tests.kit.lab_process import SITES

WHERE = {Transport.TCP: "{host}:{port}", Transport.UNIX: "{socket}"}


def asked(transport, wire=Wire.UWSGI, path="/where/Bonn"):
    """Return the workload of a site of Flask's."""
    body = b'{"city":"Bonn"}\n'
    return Workload("site", path, Expectation(body=body), app="flask_site:application",
        chdir=SITES, wire=wire, transport=transport)  # fmt: skip


@pytest.fixture
def start(start_peer):
    """Return what starts uWSGI on a socket of one kind, for a `with`."""

    def start(workload, option="--socket"):
        where = WHERE[workload.transport]
        words = ("uwsgi", "--master", option, where, "--chdir", "{chdir}", "--module", "{app}")
        return start_peer(workload, *words)

    return start


@pytest.mark.parametrize("transport", list(Transport))
def test_it_is_ready_answers_and_takes_a_load(start, transport):
    """The same reply as over HTTP, checked whole, on one connection per request."""
    workload = asked(transport)
    with start(workload) as server:
        assert fetch(server.endpoint, "/where/a%20%C3%A9?x=1", 5.0)[::2] == (
            200,
            b'{"city":"a \\u00e9"}\n',
        )
        load = Load(4, requests=200)
        with EngineGenerator().session(server.endpoint, workload, load, None) as session:
            (window,) = session.measure(0)
    assert (window.ok, window.errors, window.connections) == (200, {}, 200)


@pytest.mark.parametrize(
    ("option", "wire"), [("--http-socket", Wire.UWSGI), ("--socket", Wire.HTTP)]
)
def test_the_other_protocol_is_no_reply(start, monkeypatch, option, wire):
    """Whichever of the two it is: nothing is taken for an answer."""
    monkeypatch.setattr(readiness, "PATIENCE", 0.1)
    monkeypatch.setattr(readiness.wait_until_ready, "__defaults__", (1.5,))
    with pytest.raises(ServerStartError), start(asked(Transport.TCP, wire), option):
        pass
