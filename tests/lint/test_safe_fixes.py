"""What `--fix` writes changes nothing of what uWSGI does, comments stay, and templates, too."""

from dataclasses import replace

import pytest
from gunicorn.config import Config
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lab.bench.machine.programs import binary
from lab.bench.profiles.known import of_machine, with_build
from lab.config.configuration import Known
from lab.config.equality import meaning
from lab.config.spot import Setting, Spot
from lab.config.uwsgi.reader import read
from lab.errors import ProfileError
from lab.lint.lint import lint
from tests.kit.generated_inis import TEXTS
from tests.kit.uwsgi_options import RefusedError, options


def mended(path, text, fixes="safe"):
    """Return what the fixes make of an ini, and the codes that are left."""
    path.write_bytes(text.encode())
    linted = lint(str(path), Known(), fixes=fixes, container=False)
    return linted.config.texts[path], {flaw.code for flaw in linted.flaws}


@pytest.fixture
def ini(tmp_path):
    """Return the path of an ini."""
    return tmp_path / "uwsgi.ini"


@pytest.mark.parametrize(
    "lines",
    [
        "home = /srv\nvirtualenv = %(home)/venvs/x",
        "processes = 2\nif-opt = processes=2\nthreads = 2\nendif =\nprocesses = 4",
        "guid = www-data",
        "vaccum = true",
        "py-callos-afterfork = true",
        "master = false ; off here",
        "vacuum = off # no",
        "cheaper-algo = bussyness\ncheaper = 1\nprocesses = 4",
        'env = "A=1"',
        "log-date = %Y",
        "chmod-socket = 0666\nsocket = /run/a.sock",
        "ini = base.ini",
        "env = A = 1",
        "pidfile = /run/a.pid # mine",
    ],
)
def test_what_changes_what_uwsgi_does_is_not_safe(lines, ini):
    """However sure it is what was meant: somebody may run it as it is."""
    text = f"[uwsgi]\n{lines}\n"
    assert mended(ini, text)[0] == text


@pytest.mark.parametrize(
    ("lines", "after"),
    [
        ("buffer-size = 131072 # cookies", "# cookies\nbuffer-size = 65535"),
        ("processes = 4 ; four", "; four\nprocesses = 4"),
        ("master = true # yes", "# yes\nmaster = true"),
        ("; kept\nprocesses = 4 # four\n; kept, too", "; kept\n# four\nprocesses = 4\n; kept, too"),
    ],
)
def test_what_is_safe_is_written_and_comments_stay(lines, after, ini):
    """The server does the same with it."""
    head = "[uwsgi]\nsocket = :3031\n"
    text = mended(ini, f"{head}{lines}\n")[0]
    assert text == f"{head}{after}\n"


@pytest.mark.parametrize(
    "lines",
    [
        "processes = <%= @workers %>",
        "processes = {{ workers }}\nthreads = {{threads}}",
        "uid = ${USER:-www-data}\nprocesses = ${N}",
        "http-socket = 0.0.0.0:${PORT:-8080}",
        "harakiri = {{ 30 }}s",
        "; {{ note }} {% raw %}",
    ],
)
@pytest.mark.parametrize("fixes", ["safe", "unsafe"])
def test_lines_of_a_template_stay(lines, fixes, ini):
    """Nothing is found in them: what the server gets is not what stands there."""
    after, codes = mended(ini, f"[uwsgi]\nmodule = a:b\n{lines}\n", fixes)
    assert lines in after
    assert not codes & {"UW003", "UW009", "UW012", "UW313"}


NO_EFFECT = """\
harakiri = 30
harakiri = 60
die-on-term = true
no-orphans = true
thunder-lock = true
max-requests-delta = 5
chmod-socket = 660
http-timeout = 5
"""
"""Lines that have no effect beside a socket alone."""


@pytest.mark.parametrize(
    "more", ["", "[prod]\nini = :uwsgi\nhttp = :80\n", "@EXTRA@\n", "$EXTRA\n"]
)
def test_no_line_is_taken_away_unless_asked(more, ini):
    """Another section, file or template, or a command's words, may be what it works with."""
    text = f"[uwsgi]\nsocket = :3031\n{NO_EFFECT}{more}"
    assert mended(ini, text)[0] == text


def test_lines_without_effect_are_taken_away(ini):
    """By `--unsafe-fixes`."""
    after, _ = mended(ini, f"[uwsgi]\nsocket = :3031\n{NO_EFFECT}", "unsafe")
    assert not [line for line in NO_EFFECT.splitlines()[2:] if line in after]


def test_a_suppression_that_is_of_nothing_here_is_kept(ini):
    """With other options, as --connections, it may be of something."""
    text = "[uwsgi]\nsocket = :3031\n; lab: ignore[UW313] it is enough\nlisten = 100\n"
    assert mended(ini, text)[0] == text


@pytest.mark.parametrize(
    "lines",
    [
        "chmod-socket = 9",  # invalid chmod value
        "master = true\ngevent = 10\nmax-worker-lifetime = 5\nmin-worker-lifetime = 60",
        "master = true\ngevent = 10\nmax-worker-lifetime = 600",  # uwsgi.atexit is called
        "disable-logging = true\nharakiri = 1\nlog-x-forwarded-for = true",  # its log line
        "uid = www-data\nchown-socket = www-data",  # core/uwsgi.c:2619: who binds
        "py-tracebacker = /run/tb.\nchmod-socket = 600",
        "zerg-pool = /run/zerg:127.0.0.1:0\nchmod-socket = 600",
        "pty-socket = /run/pty\nchmod-socket = 600",
        "tuntap-router = emperor0 /run/tuntap\nchmod-socket = 600",
        "http-subscription-server = /run/sub.sock\nhttp = :80\nchmod-socket = 600",
        "http-socket = %(n)\nchmod-socket = 600",
    ],
)
def test_what_has_an_effect_after_all_is_not_called_without(lines, ini):
    """Each was seen with uWSGI 2.0.31, or in its source."""
    text = f"[uwsgi]\nsocket = 127.0.0.1:880\n{lines}\n"
    assert mended(ini, text)[0] == text


BLOCKS = [
    ("{{- if .Values.slow }}", "{{- else }}", "{{- end }}"),
    ("{{#slow}}", "{{/slow}}{{^slow}}", "{{/slow}}"),
    ("{{~#if slow}}", "{{else}}", "{{/if}}"),
    ("% if slow:", "% else:", "% endif"),
    ("{% if slow %}", "{% else %}", "{% endif %}"),
    ("<% if @slow %>", "<% else %>", "<% end %>"),
    ("<#if slow>", "<#else>", "</#if>"),
    ("{if $slow}", "{else}", "{/if}"),
    ("{# of old:", "#}", ""),
]


@pytest.mark.parametrize(("begins", "between", "ends"), BLOCKS)
def test_what_only_another_program_can_read_is_refused(begins, between, ends, ini):
    """Of the branches of a template one is read, and nobody here knows which."""
    text = f"[uwsgi]\n{begins}\nharakiri = 300\n{between}\nharakiri = 30\n{ends}\n"
    ini.write_text(text)
    with pytest.raises(ProfileError, match=r"uwsgi\.ini:2: is a template, because it has '"):
        lint(str(ini), Known(), fixes="unsafe")


def test_what_is_half_merged_is_refused(ini):
    """Neither side is what somebody wrote."""
    ini.write_text("[uwsgi]\n<<<<<<< HEAD\nthreads = 2\n=======\nthreads = 4\n>>>>>>> other\n")
    with pytest.raises(ProfileError, match=r"uwsgi\.ini:2: has a merge conflict"):
        lint(str(ini), Known(), fixes="unsafe")


def test_static_expires_has_a_blank_and_a_type_an_equals_sign(ini):
    """uWSGI dies of the other one (core/uwsgi.c:4455 and 4470)."""
    good = "static-expires = /static/.* 3600\nstatic-expires-type = text/css=3600"
    assert "UW117" not in mended(ini, f"[uwsgi]\n{good}\n")[1]
    for bad in ("static-expires-uri = .*=3600", "static-expires-type = text/css 3600"):
        assert "UW117" in mended(ini, f"[uwsgi]\n{bad}\n")[1]


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("log-buffering = 8192", "leave it out"),
        ("chmod-sock = 660", "write chmod-socket"),
        ("exec-pre = x", "write exec-pre-app"),
        ("exec-before = x", "write exec-pre-app"),
    ],
)
def test_an_unknown_option_is_told_what_was_meant(line, advice, ini):
    """Not the word that looks most like it."""
    ini.write_text(f"[uwsgi]\n{line}\n")
    (flaw,) = (
        candidate for candidate in lint(str(ini), Known()).flaws if candidate.code == "UW001"
    )
    assert flaw.message.endswith(f"; {advice}")


PUBLIC = st.sampled_from(
    [
        "processes = 4",
        "workers = 2",
        "processes = 4 # four",
        "threads = 2\nthreads = 2",
        "master = true",
        "master = false ; off",
        "master",
        "vaccum = true",
        "guid = nobody",
        "buffer-size = 131072",
        "buffer-size = 131072 ; big",
        "harakiri = 30s",
        "no-orphans = 1",
        "die-on-term = true",
        "thunder-lock = true",
        "http-keepalive = 1",
        "chmod-socket = 660",
        "socket = 127.0.0.1:0",
        "socket = /tmp/%n.sock",
        'module = "app:app"',
        "env = A = 1",
        "env = P=a%20b",
        "env = P=a%%20b",
        "home = /srv",
        "virtualenv = %(home)/x",
        "base = /srv",
        "chdir = %(base)/app",
        "log-format = %(method)",
        "disable-logging = true",
        "%d = x",
        "cheaper-step = 2",
        "cheaper-algo = bussyness",
        "max-requests-delta = 5",
        "foo bar",
        "enable-threads = true",
        "listen = 1024 # queue",
        "strict = true",
        "; 50% of it",
        "uid = ${USER:-www}",
        "processes = {{ n }}",
        "threads = <%= n %>",
        "\ttabs\t=\t1",
        "if-opt = master",
        "if-env = HOME",
        "endif =",
        "set-ph = n=3\nprocesses = %(n)",
        "for = 1 2\nstats = :919%(_)\nendfor =",
        "static-map = /a=/b",
        "max-worker-lifetime = 9",
    ]
)
"""Lines that public inis have, good and bad."""


def agree(lines, others, folder, end="\n"):
    """Hold the safe fixes to what uWSGI says before and after."""
    path = folder / "a.ini"
    path.write_bytes(end.join(["[uwsgi]", *lines, ""]).encode())
    (folder / "b.ini").write_bytes(end.join(["[uwsgi]", *others, ""]).encode())
    known = with_build(of_machine(Known(environ={"HOME": "/nowhere"})), binary())
    try:
        linted = lint(str(path), known, fixes="safe", container=False)
    except ProfileError:  # of what it is made of there is too much to be read, so it is not mended
        return
    before = read(path, known)
    try:
        theirs = [options(before)]
    except (RefusedError, ProfileError):  # the second: a placeholder holds itself, without an end
        return
    for file, text in linted.config.texts.items():
        file.write_bytes(text.encode("utf-8", "surrogateescape"))
    theirs.append(options(before))
    first, second = (
        meaning(replace(before, settings=tuple(made(pair) for pair in pairs))) for pairs in theirs
    )
    assert first == second, (lines, others, linted.config.texts)


def made(pair):
    """Return an option and its value as uWSGI has them."""
    return Setting(pair[0], pair[1], Spot(None, 0, 0), pair[1])


LISTS = st.lists(PUBLIC, max_size=8)


@pytest.mark.costly
@example(lines=["home = /srv", "virtualenv = %(home)/x", "home = /b"], others=[], end="\n")
@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(lines=LISTS, others=LISTS, end=st.sampled_from(["\n", "\r\n"]))
def test_a_public_ini_means_the_same_after_its_safe_fixes(lines, others, end, tmp_path):
    """As uWSGI itself resolves it."""
    agree([*lines, "ini = %db.ini"], others, tmp_path, end)


@pytest.mark.costly
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(lines=TEXTS, others=TEXTS)
def test_any_ini_means_the_same_after_its_safe_fixes(lines, others, tmp_path):
    """Sections, conditions, loops, includes and variables, in any order."""
    agree(lines, others, tmp_path)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
@given(lines=LISTS, others=LISTS, end=st.sampled_from(["\n", "\r\n"]))
def test_two_thousand_public_inis_mean_the_same(lines, others, end, tmp_path):
    """The same, more of them."""
    agree([*lines, "ini = %db.ini"], others, tmp_path, end)


GUNICORN = st.sampled_from(
    [
        'worker_class = "sync"',
        "threads = 4",
        "threads = 1",
        "workers = 3  # three",
        'workers = "4"',
        "timeout = 30.0",
        "timeout = 0",
        "preload_app = 1",
        'bind = "0.0.0.0:8000"',
        "keepalive = 75",
        'loglevel = "verbose"',
        "limit_request_line = 65536",
        "max_requests = 1000",
        'forwarded_allow_ips = "*"',
        "# a comment",
        "debug = True",
    ]
)
"""Lines that a gunicorn.conf.py may have, good and bad."""


def settled(text):
    """Return what gunicorn makes of a file; None where it refuses it."""
    names, config = {}, Config()
    exec(compile(text, "gunicorn.conf.py", "exec"), names)
    try:
        for name, value in names.items():
            if name in config.settings:
                config.set(name, value)
    except (TypeError, ValueError):
        return None
    values = {
        name: setting.get() for name, setting in config.settings.items() if name != "worker_class"
    }
    return values | {"worker_class": config.worker_class_str}


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(lines=st.lists(GUNICORN, max_size=8))
def test_gunicorn_does_the_same_after_safe_fixes(lines, tmp_path):
    """With each setting that it takes, as it takes it itself."""
    path = tmp_path / "gunicorn.conf.py"
    text = "\n".join([*lines, ""])
    path.write_text(text)
    linted = lint(str(path), Known(), fixes="safe", container=False)
    assert settled(linted.config.texts[path]) == settled(text)
