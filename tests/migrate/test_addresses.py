"""Addresses, TLS and paths: they mean the same to the other server, or are lost with the reason."""

from __future__ import annotations

import pytest
from gunicorn.util import parse_address

from lab.cli.migrate.migration import migrated
from lab.config.vocabulary.addresses import of_bind
from lab.config.vocabulary.values import Expression

GUNICORN = "gunicorn.conf.py"
UWSGI = "uwsgi.ini"
WRONG = ("/tmp/a", "@abs", "fd", "=0", "addr=", "/x=y", "/a=b", "pythonpath = ", "PATH=")
TLS = "--certfile /c.pem --keyfile /k.pem m:app"


GRANIAN_TLS = "--ssl-certificate /c.pem --ssl-keyfile /k.pem"


@pytest.fixture
def moved(tmp_path):
    """Return a function that migrates a command, or the lines of a file."""

    def make(text, to):
        if text.startswith(("gunicorn ", "granian ")):
            return migrated(text, to, {})
        name, head = GUNICORN, 'wsgi_app = "m:app"\n'
        if to != "uwsgi":
            name, head = UWSGI, "[uwsgi]\nmodule = m:app\n"
        if text.startswith(('pythonpath = "', "bind", "import")):
            name, head = GUNICORN, 'wsgi_app = "m:app"\n'
        path = tmp_path / name
        path.write_text(head + text + "\n")
        return migrated(str(path), to, {})

    return make


def lost(result):
    """Return what is lost, with the reasons, as one text."""
    return "\n".join(f"{note.was} -> {note.becomes}" for note in result.translation.lost)


@pytest.mark.parametrize(
    ("text", "to", "line"),
    [
        ('bind = "127.0.0.1"', "uwsgi", "http-socket = 127.0.0.1:8000\n"),
        ('bind = "127.0.0.1"', "granian", "--host 127.0.0.1 --port 8000 "),
        ('bind = "tcp://1.2.3.4:80"', "uwsgi", "http-socket = 1.2.3.4:80\n"),
        ('bind = "[::1]:80"', "uwsgi", "http-socket = [::1]:80\n"),
        ('bind = "[::1]:80"', "granian", "--host ::1 --port 80 "),
        ('bind = "unix:///tmp/x"', "granian", "--uds /tmp/x "),
        ("granian --interface wsgi --host ::1 --port 80 m:app", "gunicorn", 'bind = "[::1]:80"'),
        ("http-socket = *:8077", "gunicorn", 'bind = "0.0.0.0:8077"'),
        ("http-socket = *:8077", "granian", "--host 0.0.0.0 --port 8077 "),
        ("http-socket = [::1]:80", "granian", "--host ::1 --port 80 "),
        ("http-socket = [::1]:80", "gunicorn", 'bind = "[::1]:80"'),
        (f"gunicorn {TLS}", "uwsgi", "https-socket = 127.0.0.1:8000,/c.pem,/k.pem\n"),
        (
            "gunicorn --certfile /c.pem -b :8443 m:app",
            "uwsgi",
            "https-socket = :8443,/c.pem,/c.pem\n",
        ),
        (
            f"granian --interface wsgi --host 127.0.0.1 --port 8543 {GRANIAN_TLS} m:app",
            "uwsgi",
            "https-socket = 127.0.0.1:8543,/c.pem,/k.pem\n",
        ),
    ],
)
def test_an_address_is_the_same(moved, text, to, line):
    """Host, port, path and TLS are those that were read."""
    result = moved(text, to)
    assert line in result.text.replace(" \\\n   ", "")
    assert "bind" not in lost(result)
    assert "socket" not in lost(result)


@pytest.mark.parametrize(
    ("text", "to", "reason"),
    [
        (f"gunicorn -b unix:/x {TLS}", "uwsgi", "TLS on a UNIX socket"),
        ("gunicorn -b :8443 --certfile /c,x.pem --keyfile /k m:app", "uwsgi", "comma"),
        ("gunicorn -b :8443 --keyfile /k m:app", "uwsgi", "one of them is unknown"),
        ("gunicorn -b unix:/tmp/a:8099 m:app", "uwsgi", "a path with a colon"),
        ("granian --interface wsgi --uds /tmp/a:8 m:app", "uwsgi", "a path with a colon"),
        ("granian --interface wsgi --uds @abs m:app", "uwsgi", "begins with @"),
        ("granian --interface wsgi --uds /a,b m:app", "gunicorn", "comma"),
        ('bind = "fd://3"', "granian", "already open"),
        ('bind = "fd://3"', "uwsgi", "already open"),
        ('import os\nbind = os.environ["BIND"]', "uwsgi", "a variable decides"),
        ("socket = @abs", "gunicorn", "abstract"),
        ("socket = @abs", "granian", "abstract"),
        ("socket = /tmp/a\nabstract-socket = true", "gunicorn", "abstract"),
        ("http-socket = /tmp/a:8099", "gunicorn", "a path with a colon"),
        ("shared-socket = 0.0.0.0:443\nhttps = =0,c,k", "gunicorn", "shared-socket"),
        ("https2 = addr=:443,cert=/c,key=/k", "gunicorn", "KEY=VALUE"),
        ("http-to-https = :80", "gunicorn", "redirects"),
        ("suwsgi-socket = :443,c,k", "gunicorn", "over TLS"),
        ("https-socket = :$(PORT),c,k", "gunicorn", "write the value"),
        ("http-socket = :80\nraw-socket = 127.0.0.1:5", "gunicorn", "raw-socket = 127.0.0.1:5"),
        ("http-socket = :80\nraw-socket = 127.0.0.1:5", "granian", "raw-socket = 127.0.0.1:5"),
        ("http-socket = :80\nhttp-socket = :81", "granian", "http-socket = :81"),
        ("http-socket = :80\nsocket = :81", "granian", "socket = :80"),
        ("http-socket = :80\nsocket = :81", "gunicorn", "http-socket = :80"),
        ("http-socket = :80\nfastcgi-socket = :81", "gunicorn", "fastcgi-socket = :81"),
        ("http-socket = :80\nscgi-socket = :81", "granian", "scgi-socket = :81"),
        ("http-socket = :80\nzerg = /tmp/z", "granian", "zerg = /tmp/z"),
        ('pythonpath = "/tmp/b/[x]"', "uwsgi", "/tmp/b/[x]"),
        ("pythonpath = /p*", "gunicorn", "/p*"),
        ("pythonpath = /p*", "granian", "/p*"),
        ("pythonpath = /a,b", "gunicorn", "/a,b"),
        ("pythonpath = /c:d", "granian", "/c:d"),
        (
            "granian --interface wsgi --static-path-route /x=y --static-path-mount /D m:app",
            "uwsgi",
            "ends the URL path at its =",
        ),
        ("granian --interface wsgi --url-path-prefix /a=b m:app", "uwsgi", "at its ="),
    ],
)
def test_what_the_other_server_would_read_otherwise_is_lost(moved, text, to, reason):
    """It stands in the list with the reason, and no line says it."""
    result = moved(text, to)
    assert reason in lost(result)
    lines = f"{result.text}\n{result.environment}".splitlines()
    kept = "\n".join(line for line in lines if not line.startswith(("#", ";")))
    for wrong in WRONG:
        assert wrong not in kept


@pytest.mark.parametrize("letter", "bijIJtT")
@pytest.mark.parametrize("to", ["gunicorn", "granian"])
def test_a_variable_that_is_not_known_is_no_empty_text(moved, letter, to):
    """Its option is lost, and not written with an empty value."""
    result = moved(f"env = V=a%{letter}", to)
    assert f"env = V=a%{letter} -> a variable in the value" in lost(result)
    assert "V=" not in result.environment
    assert "V=a" not in result.text


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1",
        "127.0.0.1:80",
        "localhost",
        ":80",
        "[::1]",
        "[::1]:80",
        "tcp://1.2.3.4:80",
        "tcp://1.2.3.4",
        "unix:/tmp/x",
        "unix://tmp/x",
        "unix:///tmp/x",
        "unix:/tmp/a:8099",
        "fd://3",
        "a:b",
        "a:",
    ],
)
def test_gunicorn_reads_the_same_address(text):
    """The reader agrees with gunicorn's parser, or refuses."""
    address = of_bind(Expression.of(text), "http", "", None)
    try:
        expected = parse_address(text)
    except RuntimeError:
        expected = None
    if isinstance(expected, tuple):
        assert (address.host.text, int(address.port.text)) == expected
    elif isinstance(expected, str):
        assert address.path.text == expected
    else:
        assert address.lost


@pytest.mark.parametrize("to", ["granian", "uwsgi"])
@pytest.mark.parametrize("name", ["gunicorn m:app", "Procfile", "gunicorn.conf.py"])
def test_the_default_address_of_gunicorn_depends_on_port(tmp_path, monkeypatch, name, to):
    """Without bind it listens on 0.0.0.0:$PORT where PORT is set."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Procfile").write_text("web: gunicorn m:app\n")
    (tmp_path / "gunicorn.conf.py").write_text('wsgi_app = "m:app"\n')
    unset, known = migrated(name, to, {}), migrated(name, to, {"PORT": "5000"})
    assert unset.status == 4
    assert [note.was for note in unset.lists["behaves differently"]][-1] == "gunicorn's default"
    assert "gunicorn's default" not in str(unset.lists["the same"])
    assert "0.0.0.0:$PORT where PORT is set" in unset.lists["behaves differently"][-1].becomes
    written = "--host 0.0.0.0 --port 5000" if to == "granian" else "http-socket = 0.0.0.0:5000\n"
    assert written in known.text
    assert not any("default, 0" in note.was for note in known.lists["behaves differently"])
