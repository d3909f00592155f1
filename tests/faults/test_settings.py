"""A number that is none is refused before anything listens: in the environment, and in an ini."""

import re
import shutil

import pytest

from app import preflight
from app.serve import environment
from lab.bench import profiles
from lab.bench.machine import project
from lab.errors import ProfileError
from tests.kit.lab_process import ROOT
from tests.kit.uwsgi_options import confirmed

from .test_start_up import PRODUCTION, TUNED, assert_says, start

BASELINE = project.profiles() / "baseline.ini"
INIS = sorted(project.profiles().rglob("*.ini"))
PARTS = sorted((ROOT / "uwsgi").glob("*.ini"))

SOME = [TUNED, *(pytest.param(path, marks=pytest.mark.slow) for path in (BASELINE, PRODUCTION))]
"""Those that the default run starts, and the others, whose numbers are read alike."""


def asking(name):
    """Return the inis that ask for a variable, without those that other files complete."""
    known = {path: tuple(preflight.read(str(path))) for path in INIS}
    return [path for path, options in known.items() if preflight.asks(options, name)]


PROCESSES = ("", "0", "-1", "abc", "four", "1025", "10000", "\u0663", "2 ; two", " 2")
PORTS = ("", "0", "-1", "abc", "65536", "99999", "80 80")


def assert_refused(path, folder, *words, **variables):
    """Assert that it ends, names all *words* in one of its last lines, and has bound nothing."""
    status, printed = start(path, folder, **variables)
    assert_says(status, printed, words)
    assert not re.search("bound to|spawned", printed), printed


@pytest.mark.slow
@pytest.mark.parametrize("path", asking("PROCESSES"), ids=lambda path: path.stem)
def test_every_profile_refuses_a_number_of_workers_that_is_none(tmp_path, path):
    """PROCESSES=, as compose makes it of an unset variable, starts no profile that reads it."""
    assert_refused(path, tmp_path, "PROCESSES=''", "a number from 1 to 1024", PROCESSES="")


@pytest.mark.slow
@pytest.mark.parametrize("path", asking("PORT"), ids=lambda path: path.stem)
def test_every_profile_with_a_port_refuses_one_that_is_none(tmp_path, path):
    """PORT=abc starts no profile that listens on a port."""
    assert_refused(path, tmp_path, "PORT='abc'", "a number from 1 to 65535", PORT="abc")


@pytest.mark.parametrize("value", PROCESSES)
@pytest.mark.parametrize("path", [TUNED, SOME[-1]], ids=lambda path: path.stem)
def test_workers(tmp_path, path, value):
    """PROCESSES is a number from 1 to 1024, in digits that uWSGI knows, or nothing starts."""
    assert_refused(path, tmp_path, f"PROCESSES={value!r}", PROCESSES=value)


@pytest.mark.parametrize("value", PORTS)
@pytest.mark.parametrize("path", SOME[:2], ids=lambda path: path.stem)
def test_port(tmp_path, path, value):
    """PORT is a number from 1 to 65535, or nothing starts."""
    assert_refused(path, tmp_path, f"PORT={value!r}", PORT=value)


@pytest.mark.parametrize("name", ["PORT", "BIND", "SOCKET"])
def test_what_a_profile_does_not_ask_for_is_not_looked_at(name):
    """A PORT of somebody else's does not keep an instance behind nginx from starting."""
    path = TUNED if name == "SOCKET" else PRODUCTION
    known = {name: "none", "PROCESSES": "2"}
    assert environment(tuple(preflight.read(str(path))), known).items() >= known.items()


@pytest.mark.parametrize("value", ["", "::1", "[::1", "999.1.1.1", "127.0.0.1:9999", "/path"])
@pytest.mark.parametrize("path", SOME[:2], ids=lambda path: path.stem)
def test_address(tmp_path, path, value):
    """A BIND that is no address is refused; uWSGI would listen on all of them, or on none."""
    assert_refused(path, tmp_path, f"BIND={value!r}", "an address", BIND=value)


BAD = {
    "word": ("threads = abc", "takes 0"),
    "unit": ("harakiri = 30s", "takes 30"),
    "kilo": ("buffer-size = 32k", "takes 32"),
    "comment": ("processes = 2 ; two", "a comment stands on a line of its own"),
    "true": ("http-keepalive = true", "takes 0"),
    "hexadecimal": ("listen=0x100", "takes 0"),
    "alias": ("  workers\t=  many", "takes 0"),
    "nothing": ("max-requests =", "takes 0"),
    "megabytes": ("limit-as = 1G", "takes 1"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("path", SOME, ids=lambda path: path.stem)
def test_number(tmp_path, path, name):
    """An option that is a number and has another value is named with file, line and value."""
    line, words = BAD[name]
    mine = tmp_path / "mine.ini"
    mine.write_text(f"[uwsgi]\nini = {path}\n; mine\n{line}\n")
    key, _, value = (part.strip() for part in line.partition("="))
    assert_refused(mine, tmp_path, f"{mine}:4: {key} = {value}: ", words)


@pytest.mark.slow
@pytest.mark.parametrize("path", INIS, ids=lambda path: path.stem)
def test_edited_copy_of_a_profile(tmp_path, path):
    """In a copy of any profile of this project, an edited number is found where it stands."""
    for part in ("profiles", "uwsgi"):
        shutil.copytree(ROOT / part, tmp_path / part)
    copy = tmp_path / path.relative_to(ROOT)
    lines = [*copy.read_text().splitlines(), "socket-timeout = 4 s"]
    copy.write_text("\n".join(lines))
    assert_refused(copy, tmp_path, f"{copy}:{len(lines)}: socket-timeout = 4 s")


def test_number_beside_a_link(tmp_path):
    """What an ini includes lies beside the link by which it is named, as uWSGI has it."""
    for folder in ("there", "here"):
        (tmp_path / folder).mkdir()
    (tmp_path / "there/mine.ini").write_text("[uwsgi]\nini = %dpart.ini\n")
    (tmp_path / "here/part.ini").write_text("[uwsgi]\nthreads = y\n")
    link = tmp_path / "here/mine.ini"
    link.symlink_to("../there/mine.ini")
    assert_refused(link, tmp_path, f"{tmp_path}/here/part.ini:2: threads = y")


def test_number_in_an_included_file(tmp_path):
    """A number is looked for in every file that is included, and named with that file."""
    part = tmp_path / "part.ini"
    part.write_text("[other]\nthreads = x\n[uwsgi]\nthreads = y\n")
    mine = tmp_path / "mine.ini"
    mine.write_text(f"[uwsgi]\nini = {TUNED}\nini = %dpart.ini\n")
    assert_refused(mine, tmp_path, f"{part}:4: threads = y")


@pytest.mark.parametrize("path", [BASELINE, TUNED, PRODUCTION], ids=lambda path: path.stem)
def test_second_section(tmp_path, path):
    """A second [uwsgi] section, whose values would win, is named with file and line."""
    mine = tmp_path / "mine.ini"
    mine.write_text(f"[uwsgi]\nini = {path}\n[lab]\nsummary = x\n[uwsgi]\nlisten = 8\n")
    assert_refused(mine, tmp_path, f"{mine}:5: a second section [uwsgi]", "line 1")


def lab_refusal(folder, text):
    """Return what the lab says of an ini with this text."""
    mine = folder / "mine.ini"
    mine.write_text(text)
    with pytest.raises(ProfileError) as caught:
        profiles.read(str(mine))
    return str(caught.value).replace(str(folder), "")


def lab_warnings(folder, text):
    """Return the options that the lab serves an ini of the user's with, and its warnings of it."""
    mine = folder / "mine.ini"
    mine.write_text(text)
    profile, reading = profiles.with_reading(str(mine))
    warnings = profiles.warnings(profile, reading=reading)
    return dict(profile.options), [line.replace(str(folder), "") for line in warnings]


@pytest.mark.parametrize("name", [name for name in BAD if name not in ("comment", "alias")])
def test_number_in_the_lab(tmp_path, name):
    """The lab serves what uWSGI reads, and warns with file, line, option and what to do."""
    line, words = BAD[name]
    key, _, value = (part.strip() for part in line.partition("="))
    options, warnings = lab_warnings(tmp_path, f"[uwsgi]\nhttp = :$(PORT)\n{line}\n")
    place = f"/mine.ini:3: {key} = {value}: " if value else f"/mine.ini:3: {key}: "
    about = next(line for line in warnings if "a number" in line and "; write " in line)
    assert about.startswith(place)
    assert options[key] == words.removeprefix("takes ")


def test_a_server_without_workers_is_refused(tmp_path):
    """It would answer nothing: the flag that leaves the line out is named."""
    message = lab_refusal(tmp_path, f"[uwsgi]\nhttp = :$(PORT)\n{BAD['alias'][0]}\n")
    assert message.startswith("/mine.ini:3: workers = many: ")
    assert message.endswith("; --drop workers leaves it out")


def test_a_comment_behind_a_number_is_read_as_uwsgi_reads_it(tmp_path):
    """The digits alone count, in uWSGI and so in the lab; `lab lint` says that it is there."""
    mine = tmp_path / "mine.ini"
    mine.write_text("[uwsgi]\nhttp = :$(PORT)\nprocesses = 2 ; two\nharakiri = 30 # s\n")
    options = dict(profiles.read(str(mine)).options)
    assert (options["processes"], options["harakiri"]) == ("2", "30")


def test_each_number_in_the_lab_is_named(tmp_path):
    """Whoever mends the first one knows of the others; a comment behind a number is fine."""
    lines = "threads = 2 ; two\nharakiri = 30s\nlisten = 9\npost-buffering = true"
    _, warnings = lab_warnings(tmp_path, f"[uwsgi]\nhttp = :$(PORT)\n{lines}\n")
    numbers = [line for line in warnings if "uWSGI reads a number here" in line]
    assert [line.partition(" = ")[0] for line in numbers] == [
        "/mine.ini:4: harakiri",
        "/mine.ini:6: post-buffering",
    ]


def test_quotes_around_a_number_in_the_lab(tmp_path):
    """Of which uWSGI takes 0."""
    message = lab_refusal(tmp_path, '[uwsgi]\nhttp = :$(PORT)\nprocesses = "4"\n')
    assert message.startswith(
        '/mine.ini:3: processes = "4": the quotes are part of the value; leave'
    )


def test_number_in_the_lab_is_the_one_that_is_wrong(tmp_path):
    """Of two lines with one option the lab names the wrong one, in whichever file it is."""
    (tmp_path / "part.ini").write_text("[uwsgi]\nthreads = 1\nthreads = y\n")
    text = "[uwsgi]\nhttp = :$(PORT)\nthreads = 2\nini = %dpart.ini\n"
    assert any(s.startswith("/part.ini:3: threads = y: ") for s in lab_warnings(tmp_path, text)[1])


def test_number_that_uwsgi_makes_of_a_variable(tmp_path, monkeypatch):
    """The lab looks at values as uWSGI resolves them; of one that is not set it says the flag."""
    monkeypatch.setenv("MINE", "many")
    text = "[uwsgi]\nhttp = :$(PORT)\nthreads = $(MINE)\n"
    _, warned = lab_warnings(tmp_path, text)
    place = '/mine.ini:3: threads = $(MINE): uWSGI reads a number here, and takes "many"'
    assert any(line.startswith(place) for line in warned)
    monkeypatch.delenv("MINE")
    message = lab_refusal(tmp_path, text)
    assert message.startswith("/mine.ini:3: threads = $(MINE): if MINE is not set")
    assert message.endswith("--env MINE=VALUE")


def test_second_section_in_the_lab(tmp_path):
    """The lab refuses a second [uwsgi] section, with file and line."""
    message = lab_refusal(tmp_path, "[uwsgi]\nhttp = :$(PORT)\n[lab]\nsummary = x\n\n[uwsgi]\n")
    assert message.startswith("/mine.ini:6: [uwsgi] already begins in line 1, ")


USUAL = {
    "django": """[uwsgi]
chdir           = /path/to/your/project
module          = mysite.wsgi
master          = true
processes       = 10
socket          = /path/to/your/project/mysite.sock
chmod-socket    = 664
vacuum          = true
max-requests    = 5000
env = DJANGO_SETTINGS_MODULE=settings
uid = www-data
gid = 2000
pidfile=/tmp/project-master.pid
harakiri = 20
daemonize=/var/log/uwsgi/yourproject.log
""",
    "cheaper": """[uwsgi]
cheaper-algo = spare
cheaper = 8
cheaper-initial = 8
workers = %(cheaper-initial)0
cheaper-step = 1
cheaper-rss-limit-soft = 134217728
socket-timeout = %(harakiri + 1)
reload-on-rss = 192
umask = 002
umask = 0022
mule = 2
mule = mule.py
log-4xx = true
log-slow = 1000
http-timeout = 060
offload-threads = %k
max-requests = $(REQUESTS)
lazy-apps
gevent = 100
""",
    "sections": "[web]\nthreads = x\n[web]\n[uwsgi]\nlisten = 2\nini = :common\n[common]\nidle=9\n",
    "windows": "; shop\r\n[uwsgi]\r\n\tprocesses=4\r\n   threads =  2  \r\n",
    "signed": "[uwsgi]\nprio = -5\nprocesses = +4\n",
}


@pytest.mark.parametrize("name", USUAL)
def test_usual_ini(tmp_path, monkeypatch, name):
    """What people write and uWSGI reads as it is meant is not refused."""
    monkeypatch.setenv("REQUESTS", "100")
    path = tmp_path / "mine.ini"
    path.write_bytes(USUAL[name].encode())
    preflight.check_numbers(preflight.read(str(path)))
    assert confirmed(path)


@pytest.mark.parametrize("path", [*INIS, *PARTS], ids=lambda path: path.stem)
def test_own_inis(path):
    """No ini of this project has a number that is none, or a second section."""
    preflight.check_numbers(preflight.read(str(path)))
