"""Options that have an equivalent: what is written, and in which list they stand."""

from __future__ import annotations

import re

import pytest

from lab.cli.migrate.migration import migrated
from tests.kit.lab_process import BIN, until

from .servers import begun

SAME, CHANGED, LOST = "the same", "behaves differently", "no equivalent"
HTTP = "http-socket = :80"
TLS = "https = :443,c.pem,k.pem"
PEM = 'certfile = "c.pem"\nkeyfile = "k.pem"'

CASES = [
    # lines, to, what is written, the list that names the last line
    ("http2_max_concurrent_streams = 128", "granian", "--http2-max-concurrent-streams 128", SAME),
    (
        "http2_initial_window_size = 99999",
        "granian",
        "--http2-initial-stream-window-size 99999",
        SAME,
    ),
    ("http2_max_frame_size = 16384", "granian", "--http2-max-frame-size 16384", SAME),
    ("http2_max_header_list_size = 9999", "granian", "--http2-max-headers-size 9999", SAME),
    ('http_protocols = "h2,h1"', "granian", "--http auto", CHANGED),
    ('http_protocols = "h1"', "granian", "--http 1", SAME),
    ('http_protocols = "h1"', "uwsgi", "", SAME),
    ("http2_max_concurrent_streams = 128", "uwsgi", "", LOST),
    (f"{TLS},HIGH", "gunicorn", 'ciphers = "HIGH"', SAME),
    (f"{TLS},HIGH", "granian", "", LOST),
    (f"{TLS},HIGH,ca.pem", "gunicorn", 'ca_certs = "ca.pem"\n', SAME),
    (f"{TLS},HIGH,ca.pem", "gunicorn", "cert_reqs = 1\n", SAME),
    (f"{TLS},HIGH,!ca.pem", "gunicorn", "cert_reqs = 2\n", SAME),
    (f"{TLS},HIGH,!ca.pem", "granian", "--ssl-ca ca.pem", SAME),
    (f"{TLS},HIGH,!ca.pem", "granian", "--ssl-client-verify", SAME),
    (f'{PEM}\nca_certs = "a.pem"\ncert_reqs = 2', "uwsgi", "c.pem,k.pem,DEFAULT,!a.pem\n", SAME),
    (f'{PEM}\nca_certs = "a.pem"\ncert_reqs = 1', "uwsgi", "c.pem,k.pem,DEFAULT,a.pem\n", SAME),
    (f'{PEM}\nciphers = "HIGH"', "uwsgi", "c.pem,k.pem,HIGH\n", SAME),
    ('ciphers = "HIGH"', "uwsgi", "", SAME),
    (f"{HTTP}\nenable-proxy-protocol = true", "gunicorn", "proxy_protocol = True", CHANGED),
    ("http = :80\nhttp-enable-proxy-protocol = 1", "gunicorn", "proxy_protocol = True", CHANGED),
    ("http = :80\nhttp-enable-proxy-protocol = 1", "granian", "", LOST),
    ("proxy_protocol = True", "uwsgi", "enable-proxy-protocol = true", CHANGED),
    ('proxy_protocol = "off"', "uwsgi", "", SAME),
    ("sendfile = False", "uwsgi", "", CHANGED),
    ("daemon = True", "uwsgi", "daemonize = /dev/null", SAME),
    ('errorlog = "/l"\ndaemon = True', "uwsgi", "daemonize = /l", SAME),
    ("daemon = False", "uwsgi", "", SAME),
    ("daemon = False", "granian", "", SAME),
    ("daemon = True", "granian", "", LOST),
    (f"{HTTP}\ndaemonize = /l", "gunicorn", "daemon = True\n", SAME),
    (f"{HTTP}\ndaemonize = /l", "gunicorn", 'errorlog = "/l"', SAME),
    (f"{HTTP}\ndaemonize = $(A)/l", "gunicorn", 'errorlog = os.environ["A"] + "/l"', SAME),
    (f"{HTTP}\ndaemonize = @(x)/l", "gunicorn", "", LOST),
    (f"{HTTP}\nchmod-socket = 660", "gunicorn", "", SAME),
    (f"{HTTP}\nchmod-socket = 660", "granian", "", SAME),
    (f"{HTTP}\nchown-socket = a", "gunicorn", "", SAME),
    ("umask = 0o117", "granian", "", SAME),
    (f"{HTTP}\nhook-asap = unix_signal:15 end_me", "granian", "", SAME),
    (f"{HTTP}\nhook-post-app = unix_signal:1 gracefully_kill", "gunicorn", "", SAME),
    (f"{HTTP}\nadd-header = Connection: close", "gunicorn", "", SAME),
    (f"{HTTP}\nthreads = 2\nadd-header = Connection: close", "gunicorn", "", CHANGED),
    (f"{HTTP}\nadd-header = Connection: close", "granian", "", CHANGED),
    (f"{HTTP}\nadd-header = X-A: b", "granian", "", LOST),
    (f"{HTTP}\nplugins = python3,http", "granian", "", SAME),
    (f"{HTTP}\nplugins = /usr/lib/uwsgi/python", "granian", "", SAME),
    (f"{HTTP}\nplugin = /usr/lib/uwsgi/python3_plugin.so", "granian", "", SAME),
    (f"{HTTP}\nplugins = gevent", "granian", "", LOST),
    (f"{HTTP}\nhttp-timeout = 75", "gunicorn", "", SAME),
    ("http = :80\nhttp-timeout = 75", "gunicorn", "", LOST),
    (f"{HTTP}\nmanage-script-name = true", "granian", "", SAME),
    ("http = :80\nmount = /=m.py\nmanage-script-name = true", "gunicorn", "", SAME),
    (f"{HTTP}\nshow-config = false", "gunicorn", "", SAME),
    (f"{HTTP}\nno-defer-accept = 1", "gunicorn", "", SAME),
    (f"{HTTP}\npost-buffering = 0", "gunicorn", "", SAME),
    ("worker_class = 'gthread'\nworker_connections = 9", "granian", "", LOST),
    ("worker_connections = 9", "granian", "", SAME),
    ("keepalive = 5", "granian", "", SAME),
    ("workers = 2\nkeepalive = 5", "uwsgi", "", SAME),
    ("graceful_timeout = 30", "granian", "--workers-kill-timeout 30", SAME),
    ("threads = 2\nkeepalive = 75", "granian", "--http1-header-read-timeout 60000", CHANGED),
    ("threads = 2\nkeepalive = 0", "granian", "--no-http1-keep-alive", SAME),
    ("http = :80\nsocket-timeout = 8\nhttp-keepalive = 9", "granian", "timeout 8000 ", CHANGED),
]


def made(folder, lines, to):
    """Return what lines of an ini, or of a gunicorn.conf.py, become."""
    is_ini = lines.startswith(("http", "https")) and "_" not in lines.partition(" ")[0]
    path = folder / ("uwsgi.ini" if is_ini else "gunicorn.conf.py")
    first = "[uwsgi]\nmodule = m:a\n" if is_ini else 'wsgi_app = "m:a"\nbind = ":80"\n'
    path.write_text(f"{first}{lines}\n")
    return migrated(str(path), to, {})


@pytest.mark.parametrize(("lines", "to", "written", "name"), CASES)
def test_an_option_has_its_equivalent(tmp_path, lines, to, written, name):
    """The list that names it names the option of the other server."""
    result = made(tmp_path, lines, to)
    assert written in result.text
    (*_, line) = lines.split("\n")
    assert line in {note.was for note in result.lists[name]}


@pytest.mark.parametrize(
    ("command", "to", "way"),
    [
        ("granian --interface wsgi --log-config a.json m:a", "gunicorn", "set logconfig_json to"),
        ("granian --interface wsgi --log-config a.json m:a", "uwsgi", "in its code"),
        ("gunicorn --log-config-json a.json m:a", "granian", "write a JSON file for --log-config"),
        ("gunicorn --log-config a.ini m:a", "granian", "write a JSON file for --log-config"),
    ],
)
def test_the_loggers_of_another_server_have_other_names(command, to, way):
    """Their file is not written: what to do with it is."""
    result = migrated(command, to, {})
    assert way in next(note.becomes for note in result.lists[LOST] if "a." in note.was)
    assert "a.json" not in result.text


def test_a_dict_of_loggers_is_not_called_a_computed_value(tmp_path):
    """It need not be known: nobody else reads it."""
    assert "--log-config" in str(made(tmp_path, "logconfig_dict = f()", "granian").lists[LOST])
    assert "--log-config" in str(made(tmp_path, "logconfig_dict = {'a': 1}", "granian").lists[LOST])


WAYS = {
    "limit-post = 9": "client_max_body_size of nginx",
    "umask = 022": "UMask= of systemd",
    "optimize = 2": "PYTHONOPTIMIZE",
    "max-fd = 9": "LimitNOFILE= of systemd",
    "cpu-affinity = 1": "CPUAffinity= of systemd",
    "hook-pre-app = exec:true": "ExecStartPre=",
    "hook-asap = unix_signal:10 end": "lab knows no equivalent",
    "hook-accepting1 = exec:true": "lab knows no equivalent",
    "skip-atexit = true": "lab knows no equivalent",
    "master-fifo = /f": "lab knows no equivalent",
}


@pytest.mark.parametrize(("address", "is_written"), [(":80", False), ("/run/a", True)])
@pytest.mark.parametrize("to", ["gunicorn", "granian"])
def test_the_mode_of_a_socket_is_that_of_a_unix_socket(tmp_path, address, is_written, to):
    """Without one it is left out."""
    text = made(tmp_path, f"http-socket = {address}\nchmod-socket = 660", to).text
    assert bool(re.search("umask|--uds-permissions", text)) is is_written


def test_a_server_in_the_background_without_a_file_of_its_log(tmp_path):
    """It loses both logs."""
    result = made(tmp_path, f"{HTTP}\ndaemonize = @(x)/l", "gunicorn")
    assert "daemon = True: the logs are lost" in str(result.lists[CHANGED])


@pytest.mark.parametrize("line", WAYS)
def test_the_way_out_is_that_of_the_option(tmp_path, line):
    """And not one of a group to which it belongs."""
    result = made(tmp_path, f"{HTTP}\n{line}", "granian")
    (note,) = [note for note in result.lists[LOST] if note.was == line]
    assert WAYS[line] in note.becomes


@pytest.mark.parametrize(
    "name", ["on_exit", "on_reload", "worker_int", "worker_abort", "when_ready"]
)
def test_a_hook_that_is_not_before_the_start(tmp_path, name):
    """It cannot be done in ExecStartPre=."""
    result = made(tmp_path, f"def {name}(server): pass", "granian")
    (note,) = [note for note in result.lists[LOST] if name in note.was]
    assert note.becomes.startswith("lab knows no equivalent")


@pytest.mark.parametrize("to", ["gunicorn", "granian"])
def test_a_relative_socket_is_below_the_folder_that_is_served_from(tmp_path, to):
    """As uWSGI binds it; granian would bind it where it is started."""
    text = made(tmp_path, "https-socket = :1,c,k\nsocket = rel.sock\nchdir = /srv/", to).text
    assert "rel.sock" not in text  # TLS at all addresses, or at none
    (tmp_path / "uwsgi.ini").write_text("[uwsgi]\nmodule = m\nsocket = a.sock\nchdir = /srv/\n")
    result = migrated(str(tmp_path / "uwsgi.ini"), to, {})
    assert "/srv/a.sock" in result.text
    assert to == "gunicorn" or "- uwsgi_pass unix:/srv/a.sock;" in result.nginx


def test_a_relative_socket_of_granian_is_where_it_is_started():
    """Which is not known here."""
    result = migrated("granian --interface wsgi --uds a --working-dir /srv m:a", "gunicorn", {})
    (note,) = [note for note in result.lists[CHANGED] if note.was == "uds = a"]
    assert "write the absolute path" in note.becomes


def test_a_relative_socket_in_nginx_is_told(tmp_path):
    """Nginx would look for it in a folder of its own."""
    (tmp_path / "uwsgi.ini").write_text("[uwsgi]\nmodule = m\nsocket = ./a.sock\n")
    result = migrated(str(tmp_path / "uwsgi.ini"), "granian", {})
    assert result.nginx == ()
    assert any("absolute path" in note.becomes for note in result.lists[LOST])


def test_no_start_command_without_an_address(tmp_path):
    """UWSGI ends with "The -s/--socket option is missing"."""
    (tmp_path / "gunicorn.conf.py").write_text("bind = f()\nwsgi_app = 'm:a'\n")
    result = migrated(str(tmp_path / "gunicorn.conf.py"), "uwsgi", {})
    assert result.start == "uwsgi uwsgi.ini --http-socket HOST:PORT"


BOUND = {
    "uwsgi": ("--socket a.sock --chdir {folder}/srv", "srv/a.sock"),
    "gunicorn": ("--bind unix:a.sock --chdir {folder}/srv m:app", "srv/a.sock"),
    "granian": ("--interface wsgi --uds a.sock --working-dir {folder}/srv m:app", "a.sock"),
}


@pytest.mark.peers
@pytest.mark.parametrize("program", BOUND)
def test_where_a_server_binds_a_relative_socket(program, tmp_path):
    """Two of them below the folder that they serve from."""
    (tmp_path / "srv").mkdir()
    for folder in (tmp_path, tmp_path / "srv"):
        (folder / "m.py").write_text("def app(environ, start_response): ...\n")
    words, path = BOUND[program]
    with begun([BIN / program, *words.format(folder=tmp_path).split()], tmp_path, {}):
        until(lambda: [*tmp_path.rglob("a.sock")], f"a socket of {program}")
        assert (tmp_path / path).exists()
