"""What is found of servers, workers and costs: where, how bad, and whether its fix mends it."""

import pytest

from lab.settings.lint.config import Known
from lab.settings.lint.fix import applied
from lab.settings.lint.read import example
from lab.settings.rules.rule import RULES
from tests.kit.linting import found

CLASSES = ("UW3", "UW4", "UW5", "GU", "GR")

REMARKS = {"UW317", "UW322", "UW405", "GU006", "GU010", "GR002", "GR003", "GR004"} | {
    f"UW50{number}" for number in range(1, 10)
}

PLACES = {
    "GR001": (1, 1),
    "GR002": (1, 1),
    "GR003": (1, 26),
    "GR004": (1, 48),
    "GU001": (1, 1),
    "GU002": (1, 1),
    "GU003": (1, 1),
    "GU004": (1, 1),
    "GU005": (2, 1),
    "GU006": (1, 1),
    "GU007": (2, 1),
    "GU008": (2, 1),
    "GU009": (1, 1),
    "GU010": (1, 1),
    "GU011": (1, 1),
    "GU012": (1, 1),
    "UW301": (2, 1),
    "UW302": (2, 1),
    "UW303": (4, 1),
    "UW304": (4, 1),
    "UW305": (4, 1),
    "UW306": (3, 1),
    "UW307": (4, 1),
    "UW308": (5, 1),
    "UW309": (2, 1),
    "UW310": (2, 1),
    "UW311": (4, 1),
    "UW312": (2, 1),
    "UW313": (3, 1),
    "UW314": (1, 1),
    "UW315": (3, 1),
    "UW316": (3, 1),
    "UW317": (1, 1),
    "UW318": (2, 1),
    "UW319": (1, 1),
    "UW320": (2, 1),
    "UW321": (1, 1),
    "UW322": (3, 1),
    "UW323": (2, 1),
    "UW324": (2, 1),
    "UW325": (2, 1),
    "UW326": (3, 1),
    "UW327": (2, 1),
    "UW401": (2, 1),
    "UW402": (2, 1),
    "UW403": (1, 1),
    "UW404": (3, 1),
    "UW405": (2, 1),
    "UW406": (3, 1),
    "UW407": (2, 1),
    "UW408": (2, 1),
    "UW501": (2, 1),
    "UW502": (1, 1),
    "UW503": (3, 1),
    "UW504": (4, 1),
    "UW505": (2, 1),
    "UW506": (2, 1),
    "UW507": (2, 1),
    "UW508": (4, 1),
    "UW509": (3, 1),
}
"""Code -> line and column of what is found in the rule's bad example."""


def of(code, text, known=None):
    """Return what one rule finds in a text."""
    return [flaw for flaw in found(text, code, known) if flaw.code == code]


def test_every_rule_of_these_classes_is_here():
    """A new one has its place."""
    assert set(PLACES) == {code for code in RULES if code.startswith(CLASSES)}


@pytest.mark.parametrize("code", PLACES)
def test_a_fault_is_found_at_its_place(code):
    """In the bad example once; the good one has none; a remark is a remark."""
    (flaw,) = of(code, RULES[code].bad)
    assert (flaw.spot.line, flaw.spot.column) == PLACES[code]
    assert (flaw.severity == "remark") == (code in REMARKS)
    assert not of(code, RULES[code].good)


@pytest.mark.parametrize("code", PLACES)
def test_a_fix_mends(code):
    """What it leaves has no such fault."""
    text = RULES[code].bad
    (flaw,) = of(code, text)
    if flaw.fix is not None:
        texts = example(code, text).texts
        (mended,) = applied(texts, [flaw.fix]).values()
        assert mended not in texts.values()
        assert not of(code, mended)


@pytest.mark.parametrize("code", PLACES)
def test_a_message_is_one_sentence_that_says_what_to_do(code):
    """Without a full stop; what is wrong, and after a semicolon what to do."""
    for flaw in of(code, RULES[code].bad):
        assert ";" in flaw.message
        assert not flaw.message.endswith(".")
        assert len(flaw.message) < 360


FOUND = [
    ("UW301", "workers = 4"),
    ("UW302", "harakiri = 30"),
    ("UW302", "reload-on-rss = 300"),
    ("UW303", "master = true\nworkers = 4\nmax-requests = 1000"),
    ("UW303", "stats = 127.0.0.1:1717\nprocesses = 2\nmax-worker-lifetime = 60"),
    ("UW304", "master = true\nharakiri = 30\ngevent = 100"),
    ("UW305", "http = 127.0.0.1:8080\nmaster = true\nharakiri = 9"),
    ("UW307", "http = :80\nharakiri = 30\nhttp-timeout = 20"),
    ("UW310", "http-socket = [::]:8080"),
    ("UW310", "socket = :8080\nprotocol = http"),
    ("UW314", "http-socket = 127.0.0.1:8080\nwsgi-file = site.py"),
    ("UW315", "http-socket = 127.0.0.1:8080\nstats = 127.0.0.1:1717"),
    ("UW327", "async = 100\ngreenlet = true"),
    ("UW401", "uwsgi-socket = :3031"),
    ("UW401", "fastcgi-socket = 8.8.8.8:9000"),
    ("UW402", "stats-server = 0.0.0.0:9191"),
    ("UW404", "socket = /run/app.sock\nchmod-socket = 777"),
    ("UW404", "socket = /run/app.sock\nchmod-socket = 1"),
    ("UW405", "socket = /run/app.sock\npidfile = /tmp/app.pid"),
    ("UW406", "chdir = /srv/app\nstatic-map = /files=/srv"),
    ("UW406", "chdir = /srv/app\ncheck-static = ."),
    ("UW408", "http = 127.0.0.1:8080\nwsgi-file = site.py"),
    ("UW408", "socket = /run/app.sock\nmodule = site:app"),
    ("UW503", "evil-reload-on-rss = 300"),
    ("GU001", "access_logfile = '-'"),
    ("GU001", "def on_start(server):\n    pass\n\n\npre_forks = 1"),
    ("GU002", "keepalive = 5\nthreads = 1\nworker_class = 'sync'"),
    ("GU004", "worker_class = 'tornado'\nworker_connections = 10"),
    ("GU007", "threads = 4\ntimeout = 120"),
    ("GU011", "preload_app = True\nreload = True"),
    ("GU012", "forwarded_allow_ips = '10.0.0.1,*'"),
    ("GR001", "exec granian site:app"),
    ("GR002", "GRANIAN_INTERFACE=wsgi /venv/bin/granian site:app"),
    ("GR004", "granian --backlog=65536 site:app"),
]
"""Rule, and another configuration that it finds something in."""

SILENT = [
    ("UW301", "processes = 4\nstats = 127.0.0.1:1717"),
    ("UW301", "processes = 1"),
    ("UW302", "harakiri = 0"),
    ("UW303", "master = true\nmax-worker-lifetime = 60"),
    ("UW303", "master = true\nprocesses = 4\nmax-worker-lifetime = 60\nmax-worker-lifetime = 0"),
    ("UW304", "master = true\nharakiri = 30\nprocesses = 8"),
    ("UW305", "socket = /run/app.sock\nmaster = true\nharakiri = 30"),
    ("UW306", "master = true\nharakiri = 60"),
    ("UW307", "http-socket = 127.0.0.1:8080\nharakiri = 300"),
    ("UW308", "socket = :3031\nharakiri-queue-threshold = 10"),
    ("UW309", "http11-socket = 127.0.0.1:8080\nprocesses = 4\nthreads = 16"),
    ("UW310", "http-socket = 10.1.2.3:8080"),
    ("UW310", "http-socket = web:8080"),
    ("UW310", "http = :80"),
    ("UW311", "socket = /run/app.sock\ntouch-reload = /srv/reload"),
    ("UW312", "http-socket = 127.0.0.1:80\nroute-run = addheader:Connection: close"),
    ("UW313", "socket = /run/app.sock"),
    ("UW314", "socket = /run/app.sock\nstatic-map = /=/srv/files"),
    ("UW314", "module = site:app"),
    ("UW315", "socket = /run/app.sock\nmaster = true\ndie-on-term = true"),
    ("UW315", "socket = /run/app.sock"),
    ("UW315", "emperor = /etc/uwsgi\nmaster = true"),
    ("UW321", "socket = /run/app.sock\nbuffer-size = 65535"),
    ("UW401", "socket = /run/app.sock"),
    ("UW401", "socket = 10.0.0.7:3031"),
    ("UW403", "socket = /run/app.sock\nuid = app"),
    ("UW404", "socket = 127.0.0.1:3031\nchmod-socket = 666"),
    ("UW406", "chdir = /srv/app\nstatic-map = /static=/srv/app/static"),
    ("UW408", "socket = /run/app.sock\nstatic-map = /=/srv/files"),
    ("UW408", "http-socket = 127.0.0.1:80\nmodule = site:app\nroute-run = setscheme:https"),
    ("UW501", "http = 127.0.0.1:8080\nhttp-keepalive = 1"),
    ("UW503", "master = true\nmemory-report = false"),
    ("UW504", "thunder-lock = true"),
    ("UW506", "post-buffering = 0"),
    ("UW508", "master = true\nprocesses = 16\ncheaper = 2\ncheaper-algo = busyness"),
    ("UW509", "socket = /run/app.sock\nlog-master = true\ndisable-logging = true"),
    ("GU001", "worker = 4\nworkers = worker * 2"),
    ("GU001", "import multiprocessing\n\ndef helper():\n    pass\n\nname = 'x'\nprint(name)"),
    ("GU002", "worker_class = choose()\nkeepalive = 75"),
    ("GU002", "threads = 4\nkeepalive = 75"),
    ("GU002", "if fast:\n    worker_class = 'gthread'\nkeepalive = 75"),
    ("GU002", "from shared import *\nkeepalive = 75"),
    ("GU003", "threads = 4"),
    ("GU003", "worker_class = 'sync'\nthreads = 1"),
    ("GU005", "workers = 1\nmax_requests = 1000"),
    ("GU005", "max_requests = 0"),
    ("GU005", "max_requests = int(limit)"),
    ("GU007", "timeout = 0\nthreads = 4"),
    ("GU007", "worker_class = 'uvicorn.workers.UvicornWorker'\ntimeout = 30"),
    ("GU008", "workers = min(8, multiprocessing.cpu_count())"),
    ("GU008", "workers = os.environ.get('W', cpu_count())"),
    ("GU008", "import os\nworkers = len(os.sched_getaffinity(0))"),
    ("GU010", "worker_class = 'sync'"),
    ("GU010", "worker_class = 'gthread'\nkeepalive = 0"),
    ("GU011", "reload = debug"),
    ("GU012", "forwarded_allow_ips = '*'\nbind = 'unix:/run/app.sock'"),
    ("GR001", "GRANIAN_INTERFACE=asgi granian site:app"),
    ("GR002", "granian --interface asgi site:app"),
    ("GR002", "granian --interface wsgi --backlog 128 site:app"),
    ("GR003", "granian --blocking-threads 16 site:app"),
]
"""Rule, and a configuration that it has nothing to say about."""


@pytest.mark.parametrize(("code", "text"), FOUND)
def test_a_fault_is_found_in_other_words(code, text):
    """By another spelling, another option, or where it follows from several."""
    assert of(code, text)


@pytest.mark.parametrize(("code", "text"), SILENT)
def test_no_false_alarm(code, text):
    """What is meant so, is not known, or cannot do harm is not found."""
    assert not of(code, text)


@pytest.mark.parametrize(
    ("code", "text", "known"),
    [
        ("UW313", "socket = /run/app.sock", Known(connections=500)),
        ("UW319", "http = 127.0.0.1:80", Known(container=True)),
        ("UW320", "processes = %k", Known(container=True)),
        ("UW322", "processes = 50\nthreads = 3", Known(db_connections=100)),
        ("UW323", "daemonize = /var/log/app.log", Known(container=True)),
        ("UW403", "socket = /run/app.sock", Known(root=True)),
        ("GU006", "workers = 4", Known(container=True)),
        ("GR004", "granian --backlog 2048 site:app", Known(somaxconn=128)),
    ],
)
def test_what_must_be_known_for_a_fault(code, text, known):
    """It is found where that is known, and not where nothing is."""
    assert of(code, text, known)
    assert not of(code, text, Known())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("processes = 4\ncheaper = 4", {"UW102"}),
        (
            "master = on\nprocesses = 8\nthreads = 2\nmax-requests = 9 ; all\nharakiri = 60 ; s",
            {"UW002", "UW303", "UW304"},
        ),
        (
            "stats = :91\nworkers = 4\nthreads = 2\nharakiri = 9\nmax-requests = 9\nmemory-report = 1",
            {"UW303", "UW304", "UW402", "UW503"},
        ),
    ],
)
def test_what_public_configurations_have_in_common(text, expected):
    """Three patterns that are copied from one to the next."""
    assert expected <= {flaw.code for flaw in found(text)}


def test_the_scheme_behind_a_proxy_is_a_remark():
    """The proxy may set the header itself, and its file is another one."""
    for door in ("socket = /run/app.sock", "http-socket = 127.0.0.1:8080"):
        (flaw,) = of("UW408", f"{door}\nmodule = site:app")
        assert flaw.severity == "remark"
        assert "unless the proxy sets that header" in flaw.message
