"""Requests as nginx's uwsgi_pass sends them, to servers that are honest, slow, or lie."""

import socket
import subprocess
import threading

import pytest

from lab.bench.load.process import EngineGenerator
from lab.bench.load.wires import HttpWire, check_clients, wire_of
from lab.bench.machine.programs import find_command
from lab.errors import UsageError
from lab.model.plan import Load
from lab.model.protocols import Endpoint
from lab.model.request import Expectation, Request
from lab.model.uwsgi import LONGEST, passed_on
from lab.model.workload import MANNERS, Manner, Transport, Wire, Workload
from tests.kit.engines import count, right_at_a_rate
from tests.kit.lab_process import until
from tests.kit.replies import BODY, REPLY, WORKLOAD
from tests.kit.uwsgi_protocol import parsed, received

WIRE = HttpWire(passed_on(Request("/9").encode()), Expectation(body=BODY), keepalive=False)
UNSIZED = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + BODY


def asked(transport=Transport.TCP, **rest):
    """Return the workload of a server that is asked in the uwsgi protocol."""
    fields = {"path": "/9", "expect": Expectation(body=BODY)} | rest
    return Workload("nine", wire=Wire.UWSGI, transport=transport, **fields)


def test_another_framing_of_http_is_a_manner_and_no_more(monkeypatch):
    """The engine sends what it encodes, keeps connections where it does, and names it so."""
    framed = Manner(called="framed", by="in a frame", encode=lambda sent: b"<%b>" % sent)
    monkeypatch.setitem(MANNERS, Wire.UWSGI, framed)
    wire = wire_of(asked(), keepalive=True)
    assert wire.request(0) == b"<%b>" % Request("/9").encode()
    assert wire.keepalive
    assert asked().target_text == "/9 in a frame over TCP"


def test_every_wire_has_a_manner():
    """None is a word alone."""
    assert set(MANNERS) == set(Wire)


def answering(reply=REPLY, seen=None):
    """Return a handler that answers one request, notes its variables, and closes, as uWSGI does."""

    def handle(conn):
        request = received(conn)
        if request is not None:
            if seen is not None:
                seen.append(request)
            conn.sendall(reply)

    return handle


def variables(request):
    """Return what becomes of a request of HTTP: its variables, and its body."""
    packet = passed_on(request)
    size = int.from_bytes(packet[1:3], "little")
    assert packet[0] == packet[3] == 0
    return parsed(packet[4 : 4 + size]), packet[4 + size :]


HEAD = (
    b"POST /caf%C3%A9/a%20b?q=%20&r HTTP/1.1\r\nHost: shop.example:8080\r\nAccept: */*\r\n"
    b"Content-Type: text/plain\r\nContent-Length: 6\r\nX-One: 1\r\nX-One:  2 \r\n"
    b"Cookie: a=1\r\nCookie: b=2\r\n\r\n"
)


def test_a_request_is_told_in_variables():
    """The path decoded, the query not; all headers, those that are repeated joined; the body."""
    environ, body = variables(HEAD + b"\r\n\r\nab")
    assert body == b"\r\n\r\nab"
    assert environ == {
        "QUERY_STRING": "q=%20&r",
        "REQUEST_METHOD": "POST",
        "CONTENT_TYPE": "text/plain",
        "CONTENT_LENGTH": "6",
        "REQUEST_URI": "/caf%C3%A9/a%20b?q=%20&r",
        "PATH_INFO": "/caf\xc3\xa9/a b",
        "DOCUMENT_ROOT": "/usr/share/nginx/html",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REQUEST_SCHEME": "http",
        "REMOTE_ADDR": "127.0.0.1",
        "REMOTE_PORT": "49152",
        "SERVER_PORT": "80",
        "SERVER_NAME": "shop.example",
        "HTTP_HOST": "shop.example:8080",
        "HTTP_ACCEPT": "*/*",
        "HTTP_CONTENT_TYPE": "text/plain",
        "HTTP_CONTENT_LENGTH": "6",
        "HTTP_X_ONE": "1, 2",
        "HTTP_COOKIE": "a=1; b=2",
    }


NGINX = """
daemon off; user root; worker_processes 1; pid {folder}/nginx.pid; error_log stderr;
events {{ worker_connections 64; }}
http {{
  access_log off;
  client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
  uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
  server {{
    listen unix:{folder}/front.sock; server_name shop.example; root /usr/share/nginx/html;
    location / {{ {params} uwsgi_pass unix:{folder}/uwsgi.sock; }}
  }}
}}
"""

PARAMS = {
    "QUERY_STRING": "query_string",
    "REQUEST_METHOD": "request_method",
    "CONTENT_TYPE": "content_type",
    "CONTENT_LENGTH": "content_length",
    "REQUEST_URI": "request_uri",
    "PATH_INFO": "document_uri",
    "DOCUMENT_ROOT": "document_root",
    "SERVER_PROTOCOL": "server_protocol",
    "REQUEST_SCHEME": "scheme",
    "SERVER_NAME": "server_name",
}
"""nginx's own uwsgi_params, but for the addresses of both ends."""


@pytest.mark.skipif(find_command("nginx") is None, reason="nginx is not installed")
def test_nginx_tells_the_same(serve, tmp_path):
    """Of one request, nginx and we hand on the same variables, but for who asked it where."""
    seen = []
    serve(handler=answering(seen=seen), path=tmp_path / "uwsgi.sock")
    params = "".join(f"uwsgi_param {name} ${source};" for name, source in PARAMS.items())
    conf = tmp_path / "nginx.conf"
    conf.write_text(NGINX.format(folder=tmp_path, params=params))
    # Newer nginx joins repeated headers as we do, and older ones pass each on.
    head = HEAD.replace(b"X-One: 1\r\n", b"").replace(b"Cookie: a=1\r\n", b"")
    command = [find_command("nginx"), "-e", "stderr", "-p", str(tmp_path), "-c", str(conf)]
    with (
        subprocess.Popen(command, stderr=subprocess.DEVNULL) as nginx,
        socket.socket(socket.AF_UNIX) as client,
    ):
        try:
            until(lambda: not client.connect_ex(str(tmp_path / "front.sock")), "nginx")
            client.sendall(head + b"abcdef")
            until(lambda: seen, "the request that nginx hands on")
        finally:
            nginx.terminate()
    ((theirs, body),) = seen
    ours, rest = variables(head + b"abcdef")
    assert body == rest == b"abcdef"
    names = [*PARAMS, *(name for name in ours if name.startswith("HTTP_"))]
    assert {name: theirs.get(name) for name in names} == {name: ours[name] for name in names}


def test_a_head_that_no_packet_takes_is_refused():
    """Two bytes say how long it is."""
    with pytest.raises(ValueError, match=f"the uwsgi protocol takes {LONGEST}"):
        passed_on(b"GET / HTTP/1.1\r\nHost: h\r\nCookie: " + b"a" * LONGEST + b"\r\n\r\n")


@pytest.mark.parametrize("reply", [REPLY, UNSIZED], ids=["length", "until the end"])
@pytest.mark.parametrize("keepalive", [True, False])
def test_an_honest_server_makes_no_error(serve, engine, at, reply, keepalive):
    """Each request has a connection of its own, whatever the load would keep."""
    seen = []
    server = serve(handler=answering(reply, seen), **at)
    window = count(engine(server.address, wire=WIRE, connections=3, keepalive=keepalive), 30)
    assert (window.ok, window.errors, window.sample) == (30, {}, "")
    assert (window.connections, window.retried) == (30, 0)
    assert {(environ["PATH_INFO"], environ["HTTP_HOST"]) for environ, _ in seen} == {
        ("/9", "localhost")
    }


@pytest.mark.parametrize("reply", [REPLY, UNSIZED], ids=["length", "until the end"])
def test_at_a_rate_an_honest_server_makes_no_error(serve, engine, at, reply):
    """The open loop speaks it, too."""
    server = serve(handler=answering(reply), **at)
    driven = engine(server.address, wire=WIRE, connections=3, rate=500.0)
    window = right_at_a_rate(driven, 20)
    assert window.errors == {}
    assert sum(window.service.values()) == window.ok


@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        (REPLY.replace(b"200 OK", b"500 No"), "status"),
        (REPLY.replace(b"[0, 1", b"[0, 2"), "body"),
        (UNSIZED[:-1], "body"),
        (REPLY + b"x", "malformed"),
        (b"\x00\x05\x00\x00abcde", "malformed"),
        (REPLY[:-1], "truncated"),
        (b"", "closed"),
    ],
)
def test_a_lie_is_found(serve, engine, at, *, reply, failure):
    """Its replies are judged as those of HTTP are."""
    window = count(engine(serve(handler=answering(reply), **at).address, wire=WIRE))
    assert (window.ok, window.errors) == (0, {failure: 4})


def test_what_does_not_come_in_time_is_a_timeout(serve, engine, at):
    """Be the connection ever so open."""
    over = threading.Event()

    def stop(conn):
        received(conn)
        over.wait(5)

    window = count(engine(serve(handler=stop, **at).address, wire=WIRE, timeout=0.1))
    over.set()
    assert window.errors == {"timeout": 4}


@pytest.mark.costly
@pytest.mark.parametrize("load", [Load(4), Load(4, rate=300.0), Load(4, requests=50)])
def test_the_engines_processes_speak_it(serve, at, load):
    """Wire and address reach each child."""
    server = serve(handler=answering(), **at)
    where = Endpoint("127.0.0.1", 0, socket=server.address) if at else Endpoint(*server.address)
    with EngineGenerator(2).session(where, asked(), load, None) as session:
        session.warm_up(0.05, 10)
        windows = session.measure(0.2)
    assert [dict(window.errors) for window in windows] == [{}, {}]
    assert sum(window.ok for window in windows) > 0


def test_a_path_that_cannot_be_sent_is_refused_in_this_wire_as_well():
    """With the workload's name."""
    with pytest.raises(UsageError, match=r"workload nine: .* must be percent-encoded"):
        wire_of(asked(path="/a b"), keepalive=True)


@pytest.mark.parametrize("client", ["ab", "fasthttp"])
def test_a_client_that_speaks_http_only_is_refused(client):
    """In a line, before anything starts."""
    with pytest.raises(UsageError, match=f"{client} speaks http over tcp; nine is uwsgi over unix"):
        check_clients([client], asked(Transport.UNIX))
    check_clients([client], WORKLOAD)
