"""Reading profiles: what is found, what is refused, and how."""

import shutil

import pytest

from lab.bench import profiles
from lab.bench.machine import project
from lab.bench.profiles import asking
from lab.bench.trials.available import look
from lab.errors import ProfileError
from tests.kit.lab_process import ROOT
from tests.kit.uwsgi_options import confirmed
from tools.pages import profiles as pages


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return an empty folder that takes the place of profiles/."""
    for name in ("profiles", "peers"):
        monkeypatch.setattr(project, name, lambda: tmp_path)
    return tmp_path


def write(folder, name, text):
    """Write a file, and return its path."""
    path = folder / name
    path.write_text(text)
    return path


def test_unknown_name_suggests_the_closest():
    """A mistyped name is answered with the one that was probably meant."""
    with pytest.raises(ProfileError, match="tunde: the profile does not exist; did you mean tuned"):
        profiles.read("tunde")


def test_missing_file():
    """A path that leads nowhere is named."""
    with pytest.raises(ProfileError, match=r"nowhere/x\.ini: the file does not exist"):
        profiles.read("nowhere/x.ini")


def test_missing_summary(folder):
    """A profile of this project without a summary is refused, with the line it needs."""
    write(folder, "a.ini", "[uwsgi]\nhttp = :1\n")
    with pytest.raises(ProfileError, match=r"a\.ini: has no summary; .*summary = "):
        profiles.read("a")


def test_unknown_against(folder):
    """A profile that is against nothing there is refused, with the line."""
    write(folder, "a.ini", "[lab]\nsummary = A\nagainst = b\n[uwsgi]\nhttp = :1\n")
    with pytest.raises(
        ProfileError,
        match=r"a\.ini:3: against names b: the profile does not "
        "exist",
    ):
        profiles.read("a")


def test_circle(folder):
    """Two profiles that are against each other are refused, with the circle."""
    for name, other in ("ab", "ba"):
        write(folder, f"{name}.ini", f"[lab]\nsummary = X\nagainst = {other}\n[uwsgi]\nhttp = :1\n")
    with pytest.raises(ProfileError, match=r"b\.ini:3: against is a circle: a -> b -> a"):
        profiles.ladder("a")


def test_unknown_key(folder):
    """A key of [lab] that means nothing is refused, with the line."""
    write(folder, "a.ini", "[lab]\nsumary = A\n[uwsgi]\nhttp = :1\n")
    with pytest.raises(ProfileError, match=r"a\.ini:2: .*'sumary'"):
        profiles.read("a")


def test_mistyped_option(folder):
    """A mistyped option is refused in uWSGI's words, with file and line, also of an include."""
    write(folder, "part.ini", "[uwsgi]\n; one\nprocesess = 4\n")
    write(folder, "a.ini", "[lab]\nsummary = A\n[uwsgi]\nstrict = true\nini = %dpart.ini\n")
    with pytest.raises(ProfileError) as caught:
        confirmed(profiles.described("a").path)
    assert (caught.value.path.name, caught.value.line) == ("part.ini", 3)
    assert "unknown config directive: procesess" in str(caught.value)


def test_missing_include(folder):
    """A file that cannot be included is named, with the line that includes it."""
    write(folder, "a.ini", "[lab]\nsummary = A\n[uwsgi]\nini = %dgone.ini\n")
    with pytest.raises(ProfileError, match=r"a\.ini:4: ini = %dgone\.ini: the file does not exist"):
        profiles.read("a")


def test_own_ini(tmp_path):
    """A user's own ini is a profile without any section of ours."""
    path = write(tmp_path, "mine.ini", "; My shop\n[uwsgi]\nhttp = :$(PORT)\nchdir = %dsite\n")
    profile = profiles.read(str(path))
    assert (profile.name, profile.summary, profile.against) == ("mine", "My shop", None)
    assert profile.options == (("http", ":{port}"), ("chdir", "{here}/site"))


def test_shell_does_not_leak_into_a_profile(monkeypatch):
    """BIND, PORT, WSGI_APP and uWSGI's own variables of the shell change no profile."""
    before = profiles.read("tuned")
    for name, value in {"PORT": "9", "WSGI_APP": "x:y", "UWSGI_PROCESSES": "9"}.items():
        monkeypatch.setenv(name, value)
    assert profiles.read("tuned") == before


def test_digest_is_the_same_in_every_checkout(tmp_path, monkeypatch):
    """The digest depends on what a profile sets, not on the folder that it lies in."""
    here = {name: profiles.read(name).digest for name in ("baseline", "tuned", "gunicorn-sync")}
    for part in ("profiles", "uwsgi"):
        shutil.copytree(ROOT / part, tmp_path / part)
    monkeypatch.setattr(project, "root", lambda: tmp_path)
    assert {name: profiles.read(name).digest for name in here} == here
    assert len(set(here.values())) == 3


def test_keepalive():
    """Of ours these promise to keep a client's connection open; of the peers all but these."""
    read = [profiles.read(name) for name in profiles.find()]
    peers = [profile for profile in read if profile.path.parent == project.peers()]
    assert [profile.name for profile in read if profile.keepalive and profile not in peers] == [
        "http-keepalive",
        "http11-socket",
        "http11-threads",
        "production",
    ]
    assert {profile.name for profile in peers if not profile.keepalive} == {
        "flask-psycopg-uwsgi",
        "gunicorn-sync",
        "gunicorn-sync-2",
        "gunicorn-sync-6",
        "gunicorn-sync-grequests",
    }


@pytest.mark.parametrize(("value", "keeps"), [("1", True), ("0", False)])
def test_http_keepalive_is_a_number(tmp_path, value, keeps):
    """`http-keepalive` promises it, unless the number is 0."""
    path = write(tmp_path, "a.ini", f"[uwsgi]\nhttp = :$(PORT)\nhttp-keepalive = {value}\n")
    assert profiles.read(str(path)).keepalive is keeps


def test_peer():
    """A peer is its commands and the native configuration beside it."""
    peer = profiles.read("gunicorn-sync")
    assert (peer.server, peer.against, peer.peer.needs) == (
        "command",
        "tuned",
        "pip install gunicorn",
    )
    assert peer.commands[0][0] == "gunicorn"
    assert "\nworkers = " in dict(peer.options)["gunicorn-sync.conf.py"]


def test_peer_without_commands(folder):
    """A peer whose `run` is one text instead of a list of commands is refused, with the line."""
    write(folder, "a.toml", 'summary = "A"\nrun = "gunicorn x"\n')
    with pytest.raises(ProfileError, match=r"a\.toml:2: run must be a list of commands"):
        profiles.read("a")


def test_a_stack_runs_the_ini_of_its_name(folder):
    """A TOML beside an ini of the same name is the profile, and the ini a part of it."""
    write(folder, "a.ini", "[uwsgi]\nsocket = /run/a.sock\n")
    write(folder, "a.toml", 'summary = "A"\nrun = [["x", "{here}/a.ini"]]\n')
    assert profiles.find()[0] == "a"
    stack = profiles.read("a")
    assert (stack.server, dict(stack.options)["a.ini"]) == (
        "command",
        "[uwsgi]\nsocket = /run/a.sock\n",
    )


def test_text_to_replace_must_be_there(folder):
    """A [replace] that its files have outgrown is refused, instead of doing nothing."""
    write(folder, "a.conf", "listen 80;\n")
    lines = 'summary = "A"\nrun = [["x"]]\nfill = ["a.conf"]\n[replace]\n"listen 90" = "x"\n'
    write(folder, "a.toml", lines)
    with pytest.raises(ProfileError, match=r"a\.toml:5: \[replace\] has 'listen 90'"):
        profiles.read("a")


def test_a_profile_is_confirmed_whoever_waits_for_uwsgi(monkeypatch):
    """Inside Locust gevent does, as soon as it ends: then there is no process left to end."""
    path = profiles.described("tuned").path
    killpg = asking.os.killpg

    def gone(group, number):
        killpg(group, number)
        raise ProcessLookupError

    monkeypatch.setattr(asking.os, "killpg", gone)
    assert confirmed(path) == profiles.read("tuned").options


def test_page_is_current():
    """docs/reference/profiles.md is what `python -m tools.pages` writes now."""
    assert pages.PAGE.read_text() == pages.render()


def test_what_an_ini_serves_and_needs(folder):
    """Its interfaces in order, its own applications, and the plug-ins that it needs."""
    write(
        folder,
        "a.ini",
        "[lab]\nsummary = A\ninterface = asyncio, wsgi\nneeds = plug-in nosuch, plug-in python\n"
        "app.outbound = a.b:c\n[uwsgi]\nhttp-socket = :$(PORT)\n",
    )
    profile = profiles.described("a")
    assert (profile.interfaces, profile.apps) == (("asyncio", "wsgi"), (("outbound", "a.b:c"),))
    assert look("a").missing == "uWSGI is built without plug-in nosuch: make setup"


def test_what_an_ini_serves_is_part_of_its_digest(folder):
    """Two that serve different applications are two profiles."""
    text = "[lab]\nsummary = A\n{}[uwsgi]\nhttp-socket = :$(PORT)\n"
    digests = []
    for line in ("", "app.x = a:b\n", "app.x = a:c\n", "interface = asyncio\n"):
        write(folder, "a.ini", text.format(line))
        digests.append(profiles.read("a").digest)
    assert len(set(digests)) == 3
    assert digests[0] == digests[3]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("needs = gevent", "needs names plug-ins: needs = plug-in asyncio"),
        ("app = a:b", r"\[lab\] knows against, app.WORKLOAD, interface, needs, reply, summary"),
        ("interface =", "interface is empty"),
    ],
)
def test_what_a_section_cannot_say(folder, line, problem):
    """With its line."""
    write(folder, "a.ini", f"[lab]\nsummary = A\n{line}\n[uwsgi]\nhttp = :1\n")
    with pytest.raises(ProfileError, match=rf"a\.ini:3: .*{problem}"):
        profiles.read("a")


PEER = 'summary = "A"\nrun = [["a", "{here}/shared.py"]]\n'


def test_what_a_peer_says_of_itself(folder):
    """All of it optional."""
    text = (
        'interface = ["tornado", "wsgi"]\nbacking = ["postgres"]\nversion = ["a", "-v"]\n'
        'python = ">=3.9,<3.12"\nended = "2026-05-05: gone"\nsuccessor = "b"\nvenv = "old"\n'
        'build = ["cc", "-o", "{built}", "{here}/a.c"]\n'
        '[app]\ndb = "app.db:pool"\n'
    )
    write(folder, "a.toml", PEER + text)
    profile = profiles.read("a")
    assert profile.interfaces == ("tornado", "wsgi")
    assert profile.apps == (("db", "app.db:pool"),)
    assert (profile.peer.backing, profile.version) == (("postgres",), ("a", "-v"))
    peer = profile.peer
    assert (peer.python, peer.ended, peer.successor) == (">=3.9,<3.12", "2026-05-05: gone", "b")
    assert (peer.venv, peer.build) == ("old", ("cc", "-o", "{built}", "{here}/a.c"))
    assert dict(profile.options)["app"] == "app.wsgi:app"
    write(folder, "a.toml", PEER)
    assert profiles.read("a").interfaces == ("wsgi",)
    assert profiles.read("a").digest != profile.digest


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('interface = "wsgi"', "interface must be a list of texts"),
        ("backing = [1]", "backing must be a list of texts"),
        ('version = "a -v"', "version must be a list of texts"),
        ('python = "3.12"', 'python must be as in "<3.12" or'),
        ("ended = 2026-05-05", "ended must be a text"),
        ('build = "make"', "build must be a list of texts"),
        ('fill = ["b.conf"]', "fill names b.conf, which is no file beside it"),
        (
            'intreface = ["wsgi"]',
            "a peer knows against, app, articles, backing, .*, not 'intreface'",
        ),
    ],
)
def test_what_a_peer_cannot_say(folder, line, problem):
    """With its line."""
    write(folder, "a.toml", f"{PEER}{line}\n")
    with pytest.raises(ProfileError, match=rf"a\.toml:3: {problem}"):
        profiles.read("a")


@pytest.mark.parametrize(
    "line", ["", 'fill = ["shared.py"]\n', 'build = ["cc", "{here}/shared.py"]\n']
)
def test_a_source_that_peers_share_is_part_of_their_digest(folder, line):
    """Though it has not their name; a comment in it is not."""
    run = PEER.replace("{here}", "x") if line else PEER
    digests = []
    for text in ("x = 1\n", "x = 2\n", "# Two.\nx = 2\n"):
        write(folder, "shared.py", text)
        write(folder, "a.toml", run + line)
        digests.append(profiles.read("a").digest)
    assert digests[0] != digests[1] == digests[2]
    assert dict(profiles.read("a").options)["shared.py"].startswith("# Two.")


def test_a_successor_is_a_profile():
    """Of this project's peers: whoever reads of it finds it."""
    read = [profiles.described(name) for name in profiles.find()]
    assert {profile.peer.successor for profile in read} - {""} <= set(profiles.find())
