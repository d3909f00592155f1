"""Sentences of a migration that once were false."""

import pytest

from lab.cli.migrate.migration import migrated
from lab.cli.migrate.text import as_text
from lab.errors import ProfileError

HOOK = "hook-master-start = unix_signal:15 gracefully_kill_them_all"


@pytest.fixture
def moved(tmp_path):
    """Return a function that migrates the lines of an ini, or of a gunicorn.conf.py."""

    def make(lines, to):
        is_ini = to != "uwsgi" and " = [" not in lines
        path = tmp_path / ("uwsgi.ini" if is_ini else "gunicorn.conf.py")
        path.write_text(("[uwsgi]\nmodule = m:a\n" if is_ini else 'wsgi_app = "m:a"\n') + lines)
        return migrated(str(path), to, {})

    return make


def listed(made, name):
    """Return a list of a migration as lines."""
    return [f"{note.was} -> {note.becomes}" for note in made.lists[name]]


@pytest.mark.parametrize("to", ["gunicorn", "granian"])
def test_die_on_term_ends_requests_and_other_servers_do_not(moved, to):
    """A hook lets them finish, as other servers always do."""
    ends, finishes = moved("die-on-term = true\n", to), moved(f"{HOOK}\n", to)
    line = "die-on-term = true -> requests in flight finish first; uWSGI ended them"
    assert line in listed(ends, "behaves differently")
    assert f"{HOOK} -> not needed: the server always does this" in listed(finishes, "the same")
    hidden = "not visible in the configuration"
    assert "SIGTERM" in str(ends.lists[hidden])
    assert "SIGTERM" not in str(finishes.lists[hidden])


@pytest.mark.parametrize("to", ["gunicorn", "granian"])
def test_die_on_term_beside_the_hook_ends_no_request(moved, to):
    """UWSGI's master then answers the request in flight, and ends."""
    made = moved(f"die-on-term = true\n{HOOK}\n", to)
    line = f"die-on-term = true, {HOOK} -> not needed: the server always does this"
    assert line in listed(made, "the same")
    assert "die-on-term" not in str(made.lists["behaves differently"])


@pytest.mark.parametrize(
    ("preload", "written"),
    [("False", "gevent-early-monkey-patch"), ("True", "gevent-monkey-patch")],
)
def test_gevent_patches_before_or_after_the_import_as_gunicorn_does(moved, preload, written):
    """Of `from time import sleep` a patch after the import leaves that of the time module."""
    made = moved(f'worker_class = "gevent"\npreload_app = {preload}\n', "uwsgi")
    assert f"worker_class = gevent -> {written} = true" in listed(made, "the same")


@pytest.mark.parametrize("command", ["gunicorn -w 2 m:a", "granian --interface wsgi m:a"])
def test_a_client_that_disconnects_is_not_logged_by_uwsgi_either(command):
    """With ignore-sigpipe alone it logs `OSError: write error`."""
    text = migrated(command, "uwsgi", {}).text
    for option in ("ignore-sigpipe", "ignore-write-errors", "disable-write-exception"):
        assert f"\n{option} = true\n" in text
    assert "thunder-lock" not in text  # nor do workers of others take turns


STUCK = "it ends no request: it replaces a worker whose main loop is stuck"
LIMITS = [
    # lines, what is printed of the limit, harakiri in the ini
    ("threads = 2\ntimeout = 60\n", f"timeout = 60 -> with worker class gthread {STUCK}", ""),
    ('worker_class = "gevent"\ntimeout = 60\n', f"with worker class gevent {STUCK}", ""),
    ("threads = 2\ntimeout = 0\n", "", ""),
    ("threads = 2\n", "", ""),
    ("import os\nthreads = int(os.environ.get('T', '1'))\n",
     "timeout = 30 (gunicorn's default), if $T is 1 -> harakiri = 30", "30"),
    ("import os\nthreads = int(os.environ.get('T', '2'))\n",
     "timeout = 30 (gunicorn's default), if $T is 1 -> left out, as $T is 2 by default", ""),
    ("threads = f()\ntimeout = 60\n", "timeout = 60, if `threads` is 1 -> harakiri = 60", "60"),
    ("timeout = 60\n", "timeout = 60 -> harakiri = 60", "60"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "expected", "harakiri"), LIMITS)
def test_a_time_limit_of_gunicorn_is_in_a_list(moved, lines, expected, harakiri):
    """Class sync alone ends a request by it, and a number of threads may be 1."""
    made = moved(lines, "uwsgi")
    printed = [*listed(made, "behaves differently"), *listed(made, "no equivalent")]
    limits = [line for line in printed if line.startswith("timeout")]
    assert len(limits) == bool(expected)
    assert expected in "".join(limits)
    assert (f"\nharakiri = {harakiri}\n" in made.text) is bool(harakiri)


def test_a_time_limit_is_written_where_threads_may_be_one(moved):
    """Or gunicorn's default, 30 s, would end longer requests."""
    made = moved("master = true\nthreads = $(T)\nharakiri = 60\n", "gunicorn")
    assert "\ntimeout = 60\n" in made.text
    assert "if `threads` is 1" in "".join(listed(made, "behaves differently"))
    assert "\ntimeout = 0\n" in moved("threads = $(T)\n", "gunicorn").text


@pytest.mark.parametrize("to", ["gunicorn", "uwsgi"])
@pytest.mark.parametrize(
    ("options", "threads", "concurrency"),
    [
        ("", 512, "1 x 512 = 512 requests, before and after"),
        ("--workers 2 --backlog 256", 64, "2 x 64 = 128 requests, before and after"),
        ("--backpressure 10", 5, "1 x 5 = 5 requests, before and after"),
        ("--backpressure 1", 1, "1 x 1 = 1 request, before and after"),
        ("--workers $W", None, ""),
    ],
)
def test_granian_runs_threads_that_nobody_wrote(options, threads, concurrency, to):
    """Four requests of 4 s took 4 s in granian, and 16 s in one thread."""
    made = migrated(f"granian --interface wsgi {options} m:a", to, {})
    assert made.concurrency == concurrency
    assert (f"\nthreads = {threads}\n" in made.text) is (threads is not None)
    lost = "blocking-threads is not set -> " in "\n".join(listed(made, "no equivalent"))
    assert lost is (threads is None)


@pytest.mark.parametrize(
    ("command", "to", "concurrency"),
    [
        ("gunicorn -w4 -k gevent --threads 3 m:a", "uwsgi", "4 x 1000 = 4,000 requests, before "),
        ("uwsgi --http :80 --gevent 9 --module m", "gunicorn", "1 x 9 = 9 requests, before and"),
        ("gunicorn -k gevent m:a", "granian", "1 x 1000 = 1,000 requests before; NO EQUIVALENT"),
        ("uwsgi --http :80 --gevent 9 --module m", "granian", "1 x 9 = 9 requests before; NO EQ"),
    ],
)
def test_greenlets_serve_the_requests(command, to, concurrency):
    """And no threads: granian was given one for each worker."""
    made = migrated(command, to, {})
    assert made.concurrency.startswith(concurrency)
    assert "threads = 1" not in made.text
    assert "--blocking-threads" not in made.text


def test_the_ini_that_is_written_lets_requests_finish(moved):
    """So nothing is said of a request that SIGTERM drops."""
    made = moved("", "uwsgi")
    assert f"\n{HOOK}\n" in made.text
    assert "die-on-term = " not in made.text
    assert "SIGTERM" not in str(made.lists["not visible in the configuration"])


@pytest.mark.parametrize("to", ["uwsgi", "granian"])
def test_the_file_of_an_access_log(tmp_path, to):
    """UWSGI logs requests to a file of their own; granian needs a file of Python's for that."""
    file = migrated("gunicorn --access-logfile /a.log m:a", to, {})
    (line,) = [line for name in file.lists for line in listed(file, name) if "/a.log" in line]
    if to == "uwsgi":
        assert "\nreq-logger = file:/a.log\n" in file.text
        assert line in listed(file, "the same")
        back = migrated(_file(tmp_path, file.text), "gunicorn", {})
        assert '\naccesslog = "/a.log"\n' in back.text
    else:
        assert line in listed(file, "no equivalent")
        assert "--log-config" in line
        assert "--access-log " in file.text
    assert "disable-logging" not in file.text
    output = migrated("gunicorn --access-logfile - m:a", to, {})
    assert "accesslog" in str(output.lists["the same"])


def _file(folder, text):
    (folder / "uwsgi.ini").write_text(text)
    return str(folder / "uwsgi.ini")


def test_an_ini_multiplies_and_adds(moved):
    """It computes from the left."""
    lines = "import os\nworkers = os.cpu_count() * 2 + 1\nthreads = 3\n"
    made = moved(lines, "uwsgi")
    assert made.concurrency == "6 requests per CPU and 3 more, before and after"
    assert "\nprocesses = %(%k * 2 + 1)\n" in made.text


@pytest.mark.parametrize("value", ["%k", "%(%k + 0)", "4"])
def test_a_condition_on_the_number_of_cpus_is_open(tmp_path, value):
    """It holds on some machines, and the number is not that of workers there."""
    lines = f"processes = {value}\nif-opt = processes=1\nprocesses = 2\nendif =\n"
    made = migrated(_file(tmp_path, f"[uwsgi]\nmodule = m:a\n{lines}"), "gunicorn", {})
    says = "if-opt = processes=1: decided on this machine: compare it with the one that serves"
    assert made.open == ((says,) if "k" in value else ())
    assert bool(made.concurrency) is ("k" not in value)


def test_no_comment_says_that_connections_were_kept(moved):
    """Worker class sync keeps none."""
    made = moved('worker_class = "sync"\n', "uwsgi")
    assert "\nadd-header = Connection: close\n" in made.text
    assert "were kept" not in made.text


def test_the_jitter_of_gunicorn_is_random_and_that_of_uwsgi_is_not(moved):
    """UWSGI adds it once for each worker before (core/utils.c, `uwsgi_close_request`)."""
    there = moved("max_requests = 1000\nmax_requests_jitter = 50\n", "uwsgi")
    back = moved("max-requests = 1000\nmax-requests-delta = 50\n", "gunicorn")
    assert any("(N - 1) x this" in line for line in listed(there, "behaves differently"))
    assert any("a random number" in line for line in listed(back, "behaves differently"))
    assert "jitter" not in str((there.lists["the same"], back.lists["the same"]))


@pytest.mark.parametrize(
    ("to", "line"),
    [
        ("uwsgi", "# timeout = 30 (gunicorn's default)\n"),
        (
            "uwsgi",
            "# preload_app is off (gunicorn's default): each worker imports the application\n",
        ),
        ("uwsgi", "# accesslog is off (gunicorn's default): no access log\n"),
        ("gunicorn", "# lazy-apps is off (uWSGI's default): the application is imported once"),
        ("gunicorn", "# disable-logging is off (uWSGI's default): access log\n"),
        ("granian", "threads = 1 (uWSGI's default)"),
    ],
)
def test_a_default_names_its_option(moved, to, line):
    """Or a server does always what no option says."""
    assert line in moved("", to).text


def test_a_default_without_an_option_is_always_so():
    """Granian imports the application in each worker."""
    made = migrated("granian --interface wsgi m:a", "uwsgi", {})
    assert "# granian, always: each worker imports the application\n" in made.text
    assert "# access-log is off (granian's default): no access log\n" in made.text


@pytest.mark.parametrize("text", ["", "\n", "; nothing\n", "[other]\nprocesses = 2\n"])
def test_an_ini_without_a_section_is_refused(tmp_path, text):
    """As `lab tune` refuses it."""
    path = tmp_path / "empty.ini"
    path.write_text(text)
    with pytest.raises(ProfileError, match="no section \\[uwsgi\\] that uWSGI would read: add it"):
        migrated(str(path), "gunicorn", {})


CONDITIONS = [
    # lines, variables that are given, what was assumed
    ("if-env = A\nprocesses = 1\nendif =\n", {}, "the variable A is not set: give --env A=VALUE"),
    (
        "if-env = A\nprocesses = 1\nendif =\nif-not-env = A\nendif =\nif-env = B=1\nlisten = 9\n",
        {},
        "the variables A, B are not set: give --env NAME=VALUE",
    ),
    ("if-env = A\nprocesses = 1\nendif =\n", {"A": "1"}, ""),
    ("processes = 1\nif-opt = processes=1\nthreads = 2\nendif =\n", {}, ""),
    ("if-file = /nosuch\nthreads = 2\nendif =\n", {}, ""),
]


@pytest.mark.parametrize(("lines", "environ", "assumed"), CONDITIONS)
def test_a_condition_says_once_what_was_assumed(tmp_path, lines, environ, assumed):
    """It names variables; an ini decides what it asks of its options."""
    path = tmp_path / "uwsgi.ini"
    path.write_text(f"[uwsgi]\nmodule = m:a\n{lines}")
    made = migrated(str(path), "gunicorn", environ)
    printed = [line for line in made.open if "assumes" in line]
    assert printed == [f"the translation assumes that {assumed}"] * bool(assumed)
    assert "not read completely" not in str(made.lists["no equivalent"])


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (
            "http-socket = 127.0.0.1:80\n",
            "Both use 127.0.0.1:80: to run both, give one another port",
        ),
        ("http-socket = :80\n", "Both use 0.0.0.0:80: to run both, give one another port"),
        ("socket = /run/s\n", "Both use /run/s: to run both, give one another path"),
        (
            "socket = /run/s\nsocket = /t\n",
            "Both use /run/s, /t: to run both, give one another address",
        ),
    ],
)
def test_the_address_of_both_is_named(moved, lines, line):
    """One of them must change while both run."""
    assert line in as_text(moved(lines, "gunicorn"))


def test_a_folder_has_no_dots_unless_a_link_leads_away(tmp_path):
    """%d.. is the folder above."""
    (tmp_path / "site" / "conf").mkdir(parents=True)
    (tmp_path / "site" / "conf" / "u.ini").write_text("[uwsgi]\nmodule = m:a\nchdir = %d..\n")
    (tmp_path / "link").symlink_to(tmp_path / "site" / "conf")
    made = migrated(str(tmp_path / "site" / "conf" / "u.ini"), "gunicorn", {})
    assert f'chdir = "{tmp_path}/site"' in made.text
    linked = f"{tmp_path}/link/.."
    (tmp_path / "u.ini").write_text(f"[uwsgi]\nmodule = m:a\nchdir = {linked}\n")
    assert f'chdir = "{linked}"' in migrated(str(tmp_path / "u.ini"), "gunicorn", {}).text


OF_HTTP = "comes from X-Forwarded-Proto"
HANGS, KEPT, SCHEME = "a request that hangs", "a connection after the reply", "the scheme"
CASES = [
    # lines of the configuration, the other server, what it is about, what is printed of both
    ("", "gunicorn", HANGS, ""),
    ("threads = 2\n", "granian", HANGS, ""),
    ("threads = 2\nkeepalive = 5\n", "uwsgi", KEPT, "kept for 5 s (keepalive); uWSGI: is closed"),
    ("threads = 2\n", "uwsgi", KEPT, "is kept for 2 s (keepalive); uWSGI: is closed"),
    ('worker_class = "gthread"\n', "uwsgi", KEPT, "is kept for 2 s (keepalive); uWSGI: is closed"),
    ("keepalive = 5\n", "uwsgi", KEPT, ""),
    ("threads = 2\nkeepalive = 30\n", "granian", KEPT, ""),
    ("threads = 2\nkeepalive = 75\n", "granian", KEPT, "is kept for 60 s"),
    ("keepalive = 5\nthreads = f()\n", "uwsgi", KEPT, "and kept for 5 s by gthread"),
    ("threads = f()\n", "uwsgi", KEPT, "is closed by sync, and kept for 2 s by gthread"),
    ('forwarded_allow_ips = "*"\n', "uwsgi", SCHEME, ""),
    ('forwarded_allow_ips = "10.0.0.1"\n', "uwsgi", SCHEME, f"{OF_HTTP} of 10.0.0.1 only"),
    ("", "uwsgi", SCHEME, f"{OF_HTTP} of 127.0.0.1 and ::1 only"),
    ('bind = ["unix:/s"]\n', "uwsgi", SCHEME, ""),
    ("socket = /s\n", "gunicorn", "underscore", ""),
    ("http-socket = :80\n", "gunicorn", "uwsgi_param", ""),
    ("http-socket = :80\n", "gunicorn", "the client's address", ""),
    ("http-socket = /s\n", "gunicorn", "the client's address", "is 0.0.0.0; gunicorn: is empty"),
    ("http-socket = :80\nmaster = true\ndie-on-term = true\n", "gunicorn", "SIGTERM",
     "uWSGI: is dropped: SIGTERM ends the server at once (die-on-term); gunicorn: finishes"),
    ("http-socket = :80\nprocesses = 1\n", "granian", "wsgi.multiprocess", ""),
    ("http-socket = :80\nprocesses = 2\n", "granian", "wsgi.multiprocess", "uWSGI: is True"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "to", "about", "expected"), CASES)
def test_a_hidden_difference_is_that_of_both_configurations(tmp_path, lines, to, about, expected):
    """It names both servers; where they do the same, or it is unknown, no line stands there."""
    is_ini = "http-socket" in lines or lines.startswith("socket") or (to != "uwsgi" and not lines)
    path = tmp_path / ("uwsgi.ini" if is_ini else "gunicorn.conf.py")
    head = "[uwsgi]\nmodule = m:a\n" if is_ini else 'wsgi_app = "m:a"\nbind = ":80"\n'
    path.write_text(head + lines)
    notes = migrated(str(path), to, {}).lists["not visible in the configuration"]
    printed = [note.becomes for note in notes if about in note.was]
    assert bool(printed) is bool(expected)
    assert expected in "".join(printed)


@pytest.mark.parametrize(
    ("daemon", "name", "becomes"),
    [
        ("", "the same", "left out: it has no effect"),
        ("attach-daemon = redis-server\n", "no equivalent", "run each of them as a separate"),
    ],
)
def test_reload_mercy_is_no_time_of_workers(moved, daemon, name, becomes):
    """The linter says so, too: uWSGI logs a mercy of 60 seconds for workers in spite of it."""
    made = moved(f"master = true\nreload-mercy = 8\n{daemon}", "gunicorn")
    assert any(f"reload-mercy = 8 -> {becomes}" in line for line in listed(made, name))
    assert "graceful_timeout = 8" not in made.text


@pytest.mark.parametrize(
    ("command", "to", "same"),
    [
        ("gunicorn -w 2 --threads 2 a:b", "granian", ["--blocking-threads 2: these"]),
        ("granian --interface wsgi --process-name x a:b", "gunicorn", ["proc_name = x: it needs"]),
        ("uvicorn --reload a:b", "granian", ["--reload: it needs the package granian[reload]"]),
        ("gunicorn -k asgi --bind unix:/a --umask 7 a:b", "hypercorn", ["--umask 7: a umask, in"]),
        ("gunicorn -k asgi -w 2 --max-requests 9 a:b", "uvicorn", ["--limit-max-requests 9"]),
        ("uvicorn --timeout-graceful-shutdown 9 a:b", "hypercorn", ["--graceful-timeout 9"]),
    ],
)  # fmt: skip
def test_what_only_explains_an_option_is_no_difference(command, to, same):
    """It stands with what is the same; an option that does the same differs in nothing."""
    lists = migrated(command, to, {}).lists
    listed = {key: " ".join(f"{one.was} -> {one.becomes}" for one in lists[key]) for key in lists}
    assert all(text in listed["the same"] for text in same)
    assert not any(text in listed["behaves differently"] for text in same)
