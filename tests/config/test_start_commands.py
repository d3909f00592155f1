"""Start commands of servers in files of other programs: where they stand, and what uses them."""

from pathlib import Path

import pytest

from lab.bench import profiles
from lab.cli.migrate import reader as migrate
from lab.config import reading, sources
from lab.config.configuration import Known
from lab.config.shell import start_of
from lab.config.sources import procfile
from lab.config.spot import Spot
from lab.config.start import StartCommand, Surroundings
from lab.errors import ProfileError

PROCFILE = """\
# granian in a comment
release: python manage.py migrate
web: cd shop && A=1 exec gunicorn app:app --workers 4 --bind 0.0.0.0:$PORT 2>&1
worker: celery -A gunicorn
api: granian --interface wsgi 'a;b' app:app
other: daphne app:app
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Return a Procfile in the current folder."""
    monkeypatch.chdir(tmp_path)
    path = Path("Procfile")
    path.write_text(PROCFILE)
    return path


def test_the_servers_of_a_procfile_have_their_places(file):
    """Nothing else is one: no comment, no other program, no word behind another program."""
    web, api, other = procfile.starts(file, PROCFILE)
    assert (web.name, web.program, web.spot) == ("web", "gunicorn", Spot(file, 3, 17))
    assert web.text == "A=1 gunicorn app:app --workers 4 --bind 0.0.0.0:$PORT"
    assert web.place(Spot(file, 1, 14)) == Spot(file, 3, 35)
    assert (web.folder, web.alone, web.surroundings.in_shell) == (Path("shop"), False, True)
    assert (api.text, api.alone) == ("granian --interface wsgi 'a;b' app:app", True)
    assert (other.name, other.program) == ("other", "daphne")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("poetry run gunicorn a:b", "gunicorn a:b"),
        ("python -m granian a:b & wait", "granian a:b"),
        ("gunicorn a:b > log", "gunicorn a:b"),
        ("gunicorn -w 2>&1", "gunicorn -w"),
        ("pip install gunicorn", None),
        ("echo gunicorn; gunicorn a:b", "gunicorn a:b"),
        ("gunicorn 'a:b", None),
        ("gunicorn -w $(nproc | head) a:b", None),
        ("celery -A shop", None),
        ("su -s /bin/sh -c 'exec gunicorn a:b' www", "gunicorn a:b"),
        ("su - www -c 'cd shop && gunicorn a:b'", "gunicorn a:b"),
        ("runuser -l www --command 'gunicorn a:b'", "gunicorn a:b"),
        ("runuser -u www -- gunicorn -c a.py a:b", "gunicorn -c a.py a:b"),
        ("exec taskset -c 3 gunicorn a:b", "taskset -c 3 gunicorn a:b"),
        ("numactl -C 3 gunicorn a:b", "numactl -C 3 gunicorn a:b"),
        ("(cd shop && gunicorn a:b)", "gunicorn a:b"),
        ("(cd shop; (exec gunicorn a:b)) & wait", "gunicorn a:b"),
        ("a=(gunicorn a:b)", None),
        ("serve() { (gunicorn a:b); }", "gunicorn a:b"),
    ],
)
def test_the_command_of_a_server_in_a_line(line, text):
    """Between the operators of a shell; what is not certain is none."""
    start = start_of("web", line, Spot(Path("x"), 1, 1), Surroundings())
    assert (start and start.text) == text


def test_what_surrounds_a_command_is_known(tmp_path):
    """What the caller names, a variable or a folder, wins."""
    around = Surroundings(container=True, environ={"A": "1", "B": "2"}, folder=tmp_path, user="www")
    start = StartCommand("web", "granian", (), Spot(Path("x"), 1, 1), "", surroundings=around)
    known = start.known(Known(environ={"B": "3"}))
    assert (known.container, known.root, known.cwd) == (True, False, tmp_path)
    assert known.environ == {"A": "1", "B": "3"}
    assert start.known(Known(cwd=Path("/there"))).cwd == Path("/there")


def test_a_start_command_is_read_by_its_name(file):
    """Where there are several; a file with one alone needs no name."""
    config = reading.read("Procfile:api", Known())
    assert (config.server, config.start.name) == ("granian", "api")
    assert config.start.place(config.last("interface").spot).line == 5
    for name, message in (
        ("Procfile", "starts 3 servers: name Procfile:web or Procfile:api or Procfile:other"),
        ("Procfile:wob", "has no server wob: name Procfile:web or"),
        ("Procfile:other", "is a command of daphne, a server that lab does not check"),
    ):
        with pytest.raises(ProfileError, match=message):
            reading.read(name, Known())
    file.write_text("web: granian a:b\n")
    assert reading.read("Procfile", Known()).start.name == "web"
    file.write_text("web: celery a:b\n")
    with pytest.raises(ProfileError, match="starts no server that lab knows"):
        reading.read("Procfile", Known())


def test_a_link_out_of_the_folder_is_not_read(file, tmp_path_factory):
    """Unless the user says that the file is theirs: findings quote what stands there."""
    secret = tmp_path_factory.mktemp("elsewhere") / "secret"
    secret.write_text("web: granian --secret hunter2 a:b\n")
    file.unlink()
    file.symlink_to(secret)
    with pytest.raises(ProfileError, match="lies outside of this folder"):
        reading.read("Procfile", Known().for_files(trusted=False))
    assert reading.read("Procfile", Known().for_files(trusted=True)).start.name == "web"


def test_a_command_beside_others_is_not_translated(file):
    """A translation needs all that its line does; words before the server are named."""
    with pytest.raises(ProfileError, match="its line has more than one command"):
        migrate.read("Procfile:web", {})
    file.write_text("web: poetry run granian --interface wsgi a:b\n")
    (note,) = migrate.around("Procfile", migrate.read("Procfile", {}))
    assert note.was == "poetry run"


def test_files_that_a_command_names_lie_in_its_folder(file):
    """And gunicorn reads the one of that folder by itself."""
    shop = file.parent / "shop"
    shop.mkdir()
    (shop / "gunicorn.conf.py").write_text("timeout = 7\nworkers = 9\n")
    config = reading.read("Procfile:web", Known())
    timeout = config.last("timeout")
    assert (timeout.value, timeout.spot.file) == ("7", shop / "gunicorn.conf.py")
    assert config.last("workers").value == "4"
    file.write_text("web: gunicorn -c other.py a:b\n")
    (file.parent / "other.py").write_text("timeout = 8\n")
    assert reading.read("Procfile", Known()).last("timeout").value == "8"


def test_a_folder_has_its_start_commands(file):
    """But for what is for development."""
    (file.parent / "sub").mkdir()
    (file.parent / "sub" / "Procfile.prod").write_text("web: granian a:b\n")
    (file.parent / "sub" / "Procfile.dev").write_text("web: granian a:b\n")
    (file.parent / "sub" / "Procfile.txt.bak").write_text("web: granian a:b\n")
    names = list(reading.find(Path()))
    assert names == ["Procfile:web", "Procfile:api", "Procfile:other", "sub/Procfile.prod:web"]


def test_a_start_command_is_served_from_a_private_copy(file):
    """In its folder, without what stands around it in its line."""
    profile = profiles.read("Procfile:web")
    (command,) = profile.commands
    assert command[-6:] == ("gunicorn", "--bind", "{host}:{port}", "app:app", "--workers", "4")
    assert profile.cwd == Path("shop").absolute()
    assert profiles.is_users_own("Procfile:web")
    for name in ("Procfile", "Procfile:wob"):
        with pytest.raises(ProfileError, match="name Procfile:web or Procfile:api"):
            profiles.read(name)
    file.write_text("web: gunicorn --workers $N a:b\n")
    with pytest.raises(ProfileError, match=r"\$N: only a shell knows what it stands for"):
        profiles.read("Procfile")


def test_a_script_of_a_server_is_served_as_well(file):
    """It is that server's configuration, and its one command is what is measured."""
    script = file.with_name("start.sh")
    script.write_text("#!/bin/sh\nexec granian --interface wsgi app:app\n")
    (command,) = profiles.read(str(script)).commands
    assert (command[0], command[-1]) == ("granian", "app:app")


def test_every_kind_of_file_has_its_own_names():
    """A name of a file is that of one kind at most, and of no server."""
    assert sources.of_file("Procfile") is procfile
    assert sources.of_file("Procfile.dev") is procfile
    assert sources.of_file("uwsgi.ini") is None
    assert all(kind.CALLED and kind.starts(Path("x"), "") == () for kind in sources.kinds())
