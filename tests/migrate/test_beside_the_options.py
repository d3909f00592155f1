"""What follows from a configuration beside its options: the interface, the start, defaults."""

from __future__ import annotations

import pytest

from lab.cli.migrate.migration import migrated
from lab.errors import UsageError

UVICORN = "gunicorn -k uvicorn.workers.UvicornWorker shop:app"


@pytest.mark.parametrize(
    ("command", "to", "interface"),
    [
        ("granian shop:app", "uwsgi", "RSGI"),
        ("granian shop:app", "gunicorn", "RSGI"),
        ("granian --interface asgi shop:app", "uwsgi", "ASGI"),
        ("granian --interface asginl shop:app", "uwsgi", "ASGI"),
        (UVICORN, "uwsgi", "ASGI"),
    ],
)
def test_a_server_that_cannot_serve_the_application_is_refused(command, to, interface):
    """In one line, with what to do instead."""
    with pytest.raises(UsageError, match=f"serves an {interface} application, which") as raised:
        migrated(command, to, {})
    way = "a2wsgi" if interface == "ASGI" else "write --interface wsgi or asgi"
    assert way in str(raised.value)
    assert "\n" not in str(raised.value)


def test_asgi_stays_asgi():
    """Granian is told, and so is gunicorn, by its worker class."""
    assert "--interface asgi" in migrated(UVICORN, "granian", {}).text
    made = migrated("granian --interface asgi shop:app", "gunicorn", {})
    assert 'worker_class = "asgi"' in made.text


def test_asgi_is_known_without_an_application(tmp_path):
    """A gunicorn.conf.py mostly has none, and its worker class says it."""
    path = tmp_path / "gunicorn.conf.py"
    path.write_text('worker_class = "uvicorn.workers.UvicornWorker"\n')
    assert "--interface asgi" in migrated(str(path), "granian", {}).text


@pytest.mark.parametrize(
    ("name", "text", "to"),
    [
        ("gunicorn.conf.py", "workers = 2\n", "uwsgi"),
        ("gunicorn.conf.py", "workers = 2\n", "granian"),
        ("uwsgi.ini", "[uwsgi]\nhttp-socket = :80\n", "gunicorn"),
    ],
)
def test_an_application_that_nobody_named_is_to_be_named(tmp_path, name, text, to):
    """In the command that starts it, or in the script."""
    path = tmp_path / name
    path.write_text(text)
    migration = migrated(str(path), to, {})
    assert "MODULE:CALLABLE" in f"{migration.start} {migration.text}"


@pytest.mark.parametrize("command", ["gunicorn shop:app", "granian --interface wsgi shop:app"])
def test_uwsgi_has_room_for_headers_and_says_that_it_closes(command):
    """Its default is 4,096 bytes for all, and http-socket closes without a word."""
    text = migrated(command, "uwsgi", {}).text
    assert "\nbuffer-size = 32768\n" in text
    assert "\nadd-header = Connection: close\n" in text


def test_the_uwsgi_protocol_says_nothing_of_connections(tmp_path):
    """Only HTTP has that header to say."""
    path = tmp_path / "gunicorn.conf.py"
    path.write_text('bind = "127.0.0.1:8000"\nprotocol = "uwsgi"\n')
    assert "add-header" not in migrated(str(path), "uwsgi", {}).text


@pytest.mark.parametrize("mask", ["0o117", "79", "'0117'", "'0o117'"])
def test_a_mask_becomes_the_mode_that_it_leaves(tmp_path, mask):
    """Of gunicorn's umask: 117 leaves 660, however it is written."""
    path = tmp_path / "gunicorn.conf.py"
    path.write_text(f"bind = 'unix:/run/shop.sock'\numask = {mask}\n")
    assert "\nchmod-socket = 660\n" in migrated(str(path), "uwsgi", {}).text
    assert "--uds-permissions 0660" in migrated(str(path), "granian", {}).text


@pytest.mark.parametrize("mode", ["432", "0660", "0o660"])
def test_the_mode_of_granian_is_read_as_it_reads_it(mode):
    """Without a 0 in front it is decimal."""
    command = f"granian --interface wsgi --uds /run/x --uds-permissions {mode} shop:app"
    assert "\nchmod-socket = 660\n" in migrated(command, "uwsgi", {}).text


@pytest.mark.parametrize(
    ("each", "together"), [(8_190, 32_768), (50_000, 50_000), (99_999, 65_535)]
)
def test_a_bound_of_each_header_leaves_room_for_all(each, together):
    """And is no larger than uWSGI takes."""
    command = f"gunicorn --limit-request-field_size {each} shop:app"
    assert f"\nbuffer-size = {together}\n" in migrated(command, "uwsgi", {}).text


def test_workers_that_took_turns_differ_in_age():
    """uWSGI would replace them all at once."""
    command = "granian --interface wsgi --workers-lifetime 3600 shop:app"
    assert "\nmax-worker-lifetime-delta = 60\n" in migrated(command, "uwsgi", {}).text


def test_a_number_of_cpus_is_told_as_the_host_s(tmp_path):
    """With what is multiplied and added."""
    path = tmp_path / "gunicorn.conf.py"
    path.write_text("workers = cpu_count() * 2 + 1\nwsgi_app = 'shop:app'\n")
    made = migrated(str(path), "uwsgi", {})
    assert "\nprocesses = %(%k * 2 + 1)\n" in made.text
    assert "ignores the limit of a container" in made.text


def made_of(tmp_path, name, text, to):
    """Return what a file becomes."""
    path = tmp_path / name
    path.write_text(text)
    return migrated(str(path), to, {})


def lost(migration):
    """Return what is lost, as it was written."""
    return [note.was for note in migration.translation.lost]


def test_an_address_that_is_computed_is_lost(tmp_path):
    """And is not the default: nobody would look for it there."""
    text = "host = name()\nbind = host\nwsgi_app = 'shop:app'\n"
    migration = made_of(tmp_path, "gunicorn.conf.py", text, "uwsgi")
    assert "bind = host" in lost(migration)
    assert "http-socket" not in migration.text


@pytest.mark.parametrize("to", ["gunicorn", "granian"])
@pytest.mark.parametrize(
    ("lines", "line", "number"),
    [
        ("http-socket = 127.0.0.1:80%k", "http-socket = 127.0.0.1:80%k", ":80"),
        ("port = 9%k\nhttp = :%(port)", "http = :%(port)", ":9"),
        ("chdir = /srv/%k\nsocket = app.sock", "socket = app.sock", "app.sock"),
        ("mount = /=shop%k:app", "mount = /=shop%k:app", "shop"),
        ("wsgi-file = /srv/shop%k.py", "wsgi-file = /srv/shop%k.py", "srv"),
        ("threads = 1%k", "threads = 1%k", "threads = 1%k\n"),
    ],
)
def test_the_cpus_of_this_machine_are_in_no_value(tmp_path, to, lines, line, number):
    """Only a number that is those CPUs, or a sum or product of them, is one elsewhere, too."""
    migration = made_of(tmp_path, "uwsgi.ini", f"[uwsgi]\n{lines}\n", to)
    assert line in lost(migration)
    assert number not in migration.text


def test_a_comment_behind_a_port_is_no_port(tmp_path):
    """To uWSGI, which reads the number."""
    text = "[uwsgi]\nmodule = shop\nhttp-socket = :8000  # all\n"
    assert 'bind = "0.0.0.0:8000"\n' in made_of(tmp_path, "uwsgi.ini", text, "gunicorn").text


@pytest.mark.parametrize(
    ("word", "code"),
    [
        ("${PORT:=8000}", '(os.environ.get("PORT") or "8000")'),
        ("${PORT:-8000}", '(os.environ.get("PORT") or "8000")'),
        ("${PORT-8000}", 'os.environ.get("PORT", "8000")'),
    ],
)
def test_a_default_of_a_shell_is_one(word, code):
    """In each of its spellings; with a colon it holds for an empty variable, too."""
    migration = migrated(f'granian --interface wsgi --port "{word}" shop:app', "gunicorn", {})
    assert code in migration.text


def test_nproc_of_a_shell_is_the_number_of_cpus():
    """It is the same elsewhere, and not a command that nobody copies."""
    migration = migrated('granian --interface wsgi --workers "$(nproc)" shop:app', "uwsgi", {})
    assert "\nprocesses = %k\n" in migration.text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("uwsgi.ini", "[uwsgi]\nhttp-socket = :80\nwsgi-file = django.wsgi\n"),
        ("gunicorn.conf.py", "wsgi_app = 'bin/shop:app'\n"),
    ],
)
def test_a_file_that_no_import_finds_is_lost(tmp_path, name, text):
    """Its name would be read as that of a module."""
    migration = made_of(tmp_path, name, text, "granian")
    assert any("shop" in line or "django" in line for line in lost(migration))
    assert migration.text.rstrip().endswith("MODULE:CALLABLE")


def test_a_script_for_granian_is_lost_elsewhere():
    """It does not start there either."""
    migration = migrated("granian --interface wsgi /usr/bin/shop-api:application", "uwsgi", {})
    assert lost(migration) == ["/usr/bin/shop-api:application"]


def test_the_folder_of_a_file_is_one_of_imports(tmp_path):
    """Where it is not below the folder that is served from."""
    text = "[uwsgi]\nhttp-socket = :80\nchdir = {}\nwsgi-file = /srv/shop/wsgi.py\n"
    migration = made_of(tmp_path, "uwsgi.ini", text.format("/opt"), "gunicorn")
    assert '\npythonpath = "/srv/shop"\n' in migration.text
    migration = made_of(tmp_path, "uwsgi.ini", text.format("/srv"), "gunicorn")
    assert "pythonpath" not in migration.text
    assert 'wsgi_app = "shop.wsgi:application"' in migration.text


def test_a_keepalive_of_one_is_on(tmp_path):
    """For the time of the router, which is 60 s."""
    text = "[uwsgi]\nmodule = shop\nhttp = :80\nhttp-keepalive = 1\n"
    assert "\nkeepalive = 60\n" in made_of(tmp_path, "uwsgi.ini", text, "gunicorn").text


def test_uwsgi_looks_for_changes_each_second():
    """Of `true` it would read the number 0, and never look."""
    assert "\npy-autoreload = 1\n" in migrated("gunicorn --reload shop:app", "uwsgi", {}).text


def test_a_folder_of_files_may_have_a_variable(tmp_path):
    """It was left out, and granian did not start."""
    text = "[uwsgi]\nmodule = shop\nhttp = :80\nstatic-map = /static=$(ROOT)/s\n"
    migration = made_of(tmp_path, "uwsgi.ini", text, "granian")
    assert '--static-path-mount "${ROOT}/s"' in migration.text
