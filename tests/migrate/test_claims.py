"""What the vocabulary says of the servers, tried on them: what is seen is said in its words."""

import ast
import json
import socket
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from lab.bench.servers.ports import free_port
from lab.config.vocabulary.senses import senses
from tests.kit.lab_process import BIN, SITES, until

from .said import CASES, DOES, says
from .servers import (
    COMMANDS,
    answers,
    begun,
    exchanged,
    exchanged_at,
    negotiated,
    request,
    server,
    uwsgi_packet,
)

SERVERS = pytest.mark.parametrize("program", COMMANDS)
TWO = {
    "uwsgi": ("--master", "--processes", "2"),
    "gunicorn": ("--workers", "2"),
    "granian": ("--workers", "2"),
}
"""Two workers of one thread each."""

ROUTER = "--http 127.0.0.1:{port} --pythonpath {sites} --module open_book"
GRACEFUL = ("--master", "--hook-master-start", "unix_signal:15 gracefully_kill_them_all")


def body_of(reply):
    """Return what stands behind the head of a reply."""
    return reply.partition(b"\r\n\r\n")[2]


class Asking(threading.Thread):
    """Sends a request from a thread of its own, and keeps what comes back."""

    def __init__(self, instance, seconds):
        super().__init__()
        self.port, self.seconds, self.reply = instance.port, seconds, b""
        self.start()
        until(lambda: instance.noted(f"asked {seconds} "), "the request under way")

    def run(self):
        """Ask."""
        with suppress(OSError):
            self.reply = exchanged(self.port, request("GET", f"/?{self.seconds}"), timeout=40.0)

    @property
    def answered(self):
        """Whether the reply came, and is whole."""
        self.join()
        return self.reply.startswith(b"HTTP/1.1 200") and body_of(self.reply).endswith(b"}")


def test_every_hidden_difference_is_tried():
    """None is told of applications of WSGI that no test here has seen."""
    keys = {
        node.slice.value
        for node in ast.walk(ast.parse(Path(__file__).read_text()))
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "DOES"
    }
    assert keys == {key for key in DOES if not key.startswith("asgi-")}


@pytest.mark.peers
@SERVERS
def test_the_body_of_a_reply_to_head(program, tmp_path):
    """The application gives one; what the server does with it differs."""
    with server(program, tmp_path) as instance:
        body = body_of(exchanged(instance.port, request("HEAD")))
    assert DOES["head"][program].startswith("is sent" if body else "is left out")


@pytest.mark.peers
@SERVERS
def test_a_header_with_an_underscore(program, tmp_path):
    """It is X-User for who does not look closely."""
    with server(program, tmp_path) as instance:
        environ = instance.environ(headers={"X_USER": "mallory"})
    seen = "reaches the application as HTTP_X_USER" if "HTTP_X_USER" in environ else "is dropped"
    assert DOES["underscore"][program].startswith(seen)


@pytest.mark.peers
@SERVERS
def test_several_processes_in_environ(program, tmp_path):
    """wsgi.multiprocess with two workers."""
    with server(program, tmp_path, *TWO[program]) as instance:
        value = instance.environ()["wsgi.multiprocess"]
    assert DOES["multiprocess"][program].startswith(f"is {bool(value)}")


@pytest.mark.peers
@SERVERS
def test_whether_a_body_ends_by_itself(program, tmp_path):
    """wsgi.input_terminated, which frameworks ask before they read one in chunks."""
    with server(program, tmp_path) as instance:
        value = instance.environ().get("wsgi.input_terminated")
    assert DOES["terminated"][program].startswith("is not set" if value is None else f"is {value}")


@pytest.mark.peers
@SERVERS
def test_variables_of_the_process_in_environ(program, tmp_path):
    """A secret that is in the environment of the server."""
    with server(program, tmp_path, DATABASE_PASSWORD="x") as instance:
        secret = "DATABASE_PASSWORD" in instance.environ()
    assert ("environment variables" in DOES["environ"][program]) is secret


@pytest.mark.peers
@SERVERS
def test_files_that_the_kernel_sends(program, tmp_path):
    """wsgi.file_wrapper, which a framework uses where it is there."""
    with server(program, tmp_path) as instance:
        wrapper = instance.environ()["wrapper"]
    assert ("no wsgi.file_wrapper" in says("sendfile", program)) is not wrapper


DYING = [
    ("uwsgi", (), False),
    ("gunicorn", (), False),
    ("granian", (), True),
    ("granian", ("--respawn-failed-workers",), False),
]


@pytest.mark.peers
@pytest.mark.parametrize(("program", "options", "ends"), DYING)
def test_one_of_two_workers_is_killed(program, options, ends, tmp_path):
    """Another takes its place, or the server ends with status 1."""
    with server(program, tmp_path, *TWO[program], *options) as instance:
        first = min(instance.workers)
        instance.workers[first].kill()
        if ends:
            assert instance.process.wait(60) == 1
            assert DOES["dead-worker"][program].startswith("ends the server, unless")
            assert "exits with status 1" in says("respawn", program)
        else:
            until(lambda: first not in instance.workers and len(instance.workers) == 2, "another")
            assert answers(instance)
            assert options or DOES["dead-worker"][program] == "is replaced by the master"


STOPPED = [
    ("uwsgi", (), (False, True), "is dropped"),
    ("uwsgi", ("--master",), (False, False), "SIGTERM reloads at once"),
    ("uwsgi", ("--master", "--die-on-term"), (False, True), "with die-on-term the server ends"),
    ("gunicorn", (), (True, True), "finishes first"),
    ("granian", (), (True, True), "finishes first"),
]


@pytest.mark.peers
@pytest.mark.parametrize(("program", "options", "outcome", "claim"), STOPPED)
def test_sigterm_during_a_request(program, options, outcome, claim, tmp_path):
    """Of two seconds: it is answered or dropped, and the server ends or starts again."""
    answered, ends = outcome
    with server(program, tmp_path, *options) as instance:
        asking = Asking(instance, 2)
        instance.term()
        assert asking.answered is answered
        if ends:
            instance.process.wait(60)
        else:
            until(lambda: len(instance.noted("imported")) == 2, "a second import")
            until(lambda: answers(instance), "a reply after it")
    assert claim in DOES["term"][program]


@pytest.mark.peers
def test_the_hook_that_lets_requests_end(tmp_path):
    """What is written for uWSGI in the place of die-on-term."""
    with server("uwsgi", tmp_path, *GRACEFUL) as instance:
        asking = Asking(instance, 2)
        instance.term()
        assert asking.answered
        instance.process.wait(60)
    assert "is dropped, unless a hook-master-start lets it finish" in DOES["term"]["uwsgi"]


IMPORTED = [
    ("uwsgi", (), 1),
    ("uwsgi", ("--lazy-apps",), 2),
    ("gunicorn", (), 2),
    ("gunicorn", ("--preload",), 1),
    ("granian", (), 2),
]


@pytest.mark.peers
@pytest.mark.parametrize(("program", "options", "times"), IMPORTED)
def test_how_often_the_application_is_imported(program, options, times, tmp_path):
    """By two workers: once, by the first process, or in each."""
    with server(program, tmp_path, *TWO[program], *options) as instance:
        until(lambda: len(instance.workers) >= 2, "two workers")
        until(lambda: len(instance.noted("imported")) >= times, f"{times} imports")
        assert answers(instance)
        assert len(instance.noted("imported")) == times
        assert (instance.process.pid in instance.noted("imported")) is (times == 1)
    by_default = senses()["preload"].columns[program].implied == "true"
    assert options or by_default is (times == 1)


LONG = [
    ("uwsgi", ("--master", "--harakiri", "1"), True, "is ended by harakiri"),
    ("gunicorn", ("--timeout", "1"), True, "is ended by timeout, with worker class sync"),
    ("gunicorn", ("--timeout", "1", "--threads", "2"), False, "with worker class sync"),
    ("granian", ("--blocking-threads", "1"), False, "is never ended"),
]


@pytest.mark.peers
@pytest.mark.parametrize(("program", "options", "ended", "claim"), LONG)
def test_a_request_that_takes_longer_than_the_limit(program, options, ended, claim, tmp_path):
    """Of six seconds, with a limit of one: it is ended, or is answered."""
    with server(program, tmp_path, *options) as instance:
        assert Asking(instance, 6).answered is not ended
        until(lambda: answers(instance), "a reply after it")
    assert claim in DOES["stuck"][program]


@pytest.mark.peers
@pytest.mark.parametrize("others", [False, True])
def test_harakiri_with_two_threads(others, tmp_path):
    """A stuck request is ended if it is alone, and goes on where others end beside it."""
    options = ("--master", "--harakiri", "1", "--threads", "2")
    with server("uwsgi", tmp_path, *options) as instance:
        # Also the request before may end beside it, on the other thread: then it is tried again.
        answered = all(answered_beside(instance, seconds, others) for seconds in (4, 5, 6))
    assert answered is others
    assert "with several threads, each request that ends resets the timer" in says(
        "time-limit", "uwsgi"
    )
    assert "each request that ends resets the timer" in DOES["stuck"]["uwsgi"]


def answered_beside(instance, seconds, others):
    """Return whether a long request is answered, alone or with short ones all the time."""
    asking = Asking(instance, seconds)
    while others and asking.is_alive():
        answers(instance)
    return asking.answered


KEPT = [
    (("uwsgi", COMMANDS["uwsgi"]), None, "is closed, by http-socket and by http"),
    (("uwsgi", ROUTER), None, "is closed, by http-socket and by http"),
    (("uwsgi", f"--http-keepalive=3 {ROUTER}"), 3, "unless http-keepalive is set"),
    (("uwsgi", f"--http-keepalive=1 {ROUTER}"), 6, "unless http-keepalive is set"),
    (("gunicorn", COMMANDS["gunicorn"]), None, "is closed by sync"),
    (("gunicorn", f"--threads 2 {COMMANDS['gunicorn']}"), 2, "kept for 2 s by gthread"),
    (("gunicorn", f"-k gthread {COMMANDS['gunicorn']}"), 2, "kept for 2 s by gthread"),
    (("gunicorn", f"--threads 2 --keep-alive 0 {COMMANDS['gunicorn']}"), None, "is closed"),
    (("granian", COMMANDS["granian"]), 6, "is kept for 30 s"),
    (("granian", f"--http1-header-read-timeout 3000 {COMMANDS['granian']}"), 3, "read-timeout"),
]


@pytest.mark.peers
@pytest.mark.parametrize(("how", "seconds", "claim"), KEPT)
def test_a_connection_after_the_reply(how, seconds, claim, tmp_path):
    """A second request on it is answered or not; then it stays for so long at the least."""
    program, command = how
    with server(program, tmp_path, command=command) as instance:
        with socket.create_connection(("127.0.0.1", instance.port), 20) as client:
            replies = [replied(client), replied(client)]
            assert replies == [True, seconds is not None]
            if seconds is not None:
                client.settimeout(seconds - 1)
                with pytest.raises(TimeoutError):
                    client.recv(1)
        assert claim in DOES["keep"][program]


@pytest.mark.peers
def test_an_idle_connection_of_gthread_is_closed(tmp_path):
    """That it is kept for a second at the least is seen above: it is gone before ten."""
    check_idle_closed("gunicorn", "--threads 2", tmp_path)
    assert "kept for 2 s by gthread" in DOES["keep"]["gunicorn"]


@pytest.mark.peers
def test_granian_ends_an_idle_connection_by_the_time_for_headers(tmp_path):
    """It is gone before ten seconds, and by default after 30."""
    check_idle_closed("granian", "--http1-header-read-timeout 2000", tmp_path)


def check_idle_closed(program, options, folder):
    """Check that a server closes a connection that is idle after a reply, within ten seconds."""
    with (
        server(program, folder, command=f"{options} {COMMANDS[program]}") as served,
        socket.create_connection(("127.0.0.1", served.port), 10) as client,
    ):
        assert replied(client)
        assert client.recv(1) == b""


def replied(client):
    """Return whether a request on a connection has a reply; read the whole of it."""
    reply = b""
    with suppress(ConnectionError):
        client.sendall(request(keep=True))
        while not body_of(reply).endswith(b"}"):
            if not (part := client.recv(1 << 16)):
                break
            reply += part
    return reply.startswith(b"HTTP/1.1 200")


SCHEMES = [
    ("uwsgi", "127.0.0.1", "https", "X-Forwarded-Proto, whoever sends it"),
    ("uwsgi", "127.0.0.2", "https", "X-Forwarded-Proto, whoever sends it"),
    (
        "gunicorn",
        "127.0.0.1",
        "https",
        "X-Forwarded-Proto of forwarded_allow_ips only, which is 127.0.0.1",
    ),
    (
        "gunicorn",
        "127.0.0.2",
        "http",
        "X-Forwarded-Proto of forwarded_allow_ips only, which is 127.0.0.1",
    ),
    ("granian", "127.0.0.1", "http", "is http, unless the code wraps the application"),
]


@pytest.mark.peers
@pytest.mark.parametrize(("program", "source", "scheme", "claim"), SCHEMES)
def test_the_scheme_behind_a_proxy(program, source, scheme, claim, tmp_path):
    """By X-Forwarded-Proto, as far as its sender is believed."""
    sent = request("GET", "/", "X-Forwarded-Proto: https")
    with server(program, tmp_path) as instance:
        environ = json.loads(body_of(exchanged(instance.port, sent, source)))
    assert environ["wsgi.url_scheme"] == scheme
    assert claim in DOES["scheme"][program]


@pytest.mark.peers
@SERVERS
def test_the_client_s_address_behind_a_proxy(program, tmp_path):
    """By HTTP it is the proxy's, whatever X-Forwarded-For says."""
    with server(program, tmp_path) as instance:
        environ = instance.environ(headers={"X-Forwarded-For": "203.0.113.9"})
    assert environ["REMOTE_ADDR"] == "127.0.0.1"
    assert "is nginx's" in DOES["client"][program]


BY_UNIX = {
    "uwsgi": ("--http-socket {folder}/s --pythonpath {sites} --module open_book", request()),
    "gunicorn": ("--bind unix:{folder}/s --pythonpath {sites} open_book:application", request()),
    "gunicorn, uwsgi": (
        "--protocol uwsgi --bind unix:{folder}/s --pythonpath {sites} open_book:application",
        uwsgi_packet(REMOTE_ADDR="203.0.113.9"),
    ),
    "granian": (
        "--interface wsgi --uds {folder}/s --working-dir {sites} open_book:application",
        request(),
    ),
}


@pytest.mark.peers
@pytest.mark.parametrize("case", BY_UNIX)
def test_the_client_s_address_by_a_unix_socket(case, tmp_path):
    """It is empty, also of what nginx sends as uwsgi_params; in uWSGI 0.0.0.0."""
    command, sent = BY_UNIX[case]
    program, socket = case.partition(",")[0], str(tmp_path / "s")
    words = command.format(folder=tmp_path, sites=SITES).split()
    with begun([BIN / program, *words], tmp_path, {"NOTES": str(tmp_path / "notes")}):
        until(lambda: _by_unix(socket, sent), f"{program} serving")
        environ = json.loads(body_of(_by_unix(socket, sent)))
    if program == "uwsgi":
        assert CASES["client"][program]["http + unix"] == f"is {environ['REMOTE_ADDR']}"
        return
    assert environ["REMOTE_ADDR"] == ""
    assert CASES["client"][program]["unix"] == "is empty"
    assert "over a UNIX socket" in DOES["client"][program]
    assert "empty" in DOES["client"][program]


def _by_unix(socket, sent):
    """Return what comes back by a UNIX socket; nothing where nobody answers yet."""
    with suppress(OSError):
        return exchanged_at(socket, sent)
    return b""


BY_UWSGI = {
    "uwsgi": "--socket 127.0.0.1:{port} --pythonpath {sites} --module open_book",
    "gunicorn": "--protocol uwsgi " + COMMANDS["gunicorn"],
}
PACKET = uwsgi_packet(REMOTE_ADDR="203.0.113.9", HTTPS="on", REMOTE_USER="alice", HTTP_X_USER="bob")


@pytest.mark.peers
@pytest.mark.parametrize("program", BY_UWSGI)
def test_what_uwsgi_params_say(program, tmp_path):
    """The scheme; to one of the two also the client's address, and what else nginx adds."""
    with server(program, tmp_path, command=BY_UWSGI[program], ready=PACKET) as instance:
        environ = json.loads(body_of(exchanged(instance.port, PACKET)))
    assert environ["wsgi.url_scheme"] == "https"
    assert "uwsgi_params" in DOES["scheme"][program]
    by_params = environ["REMOTE_ADDR"] == "203.0.113.9"
    assert DOES["client"][program].startswith("comes from uwsgi_params") is by_params
    assert DOES["params"][program].startswith("reaches") is ("REMOTE_USER" in environ)
    assert environ["HTTP_X_USER"] == "bob"
    assert program == "uwsgi" or "HTTP_X_USER" in CASES["underscore"][program]["uwsgi"]


@pytest.mark.peers
@pytest.mark.parametrize("program", BY_UWSGI)
def test_who_may_speak_the_uwsgi_protocol(program, tmp_path):
    """Everybody, or 127.0.0.1 only."""
    with server(program, tmp_path, command=BY_UWSGI[program], ready=PACKET) as instance:
        other = exchanged(instance.port, PACKET, "127.0.0.2")
    everybody = "from everybody" in says("access-ips", program)
    assert other.startswith(b"HTTP/1.1 200" if everybody else b"HTTP/1.1 500")


@pytest.mark.parametrize("program", ["gunicorn", "granian"])
def test_the_version_of_http_that_tls_clients_get(tmp_path, tls, program):
    """Without TLS nobody chooses; uWSGI's sockets do not negotiate."""
    assert DOES["http2"][program] == ""
    port = free_port()
    words = COMMANDS[program].format(port=port, sites=SITES).split()
    with begun([BIN / program, *words, *tls[program]], tmp_path):
        protocol = negotiated(port)
    claim = CASES["http2"][program]["tls"]
    assert claim == ("gets HTTP/2" if protocol == "h2" else "gets HTTP/1.1")
