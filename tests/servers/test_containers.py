"""
An ini of a container, here: its folders, its users, its variables and its certificate are not.

Each ini is a few lines of what such files have, and is served by a real uWSGI beside a stand-in.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace

import pytest
from click.testing import CliRunner

from lab.bench import profiles
from lab.bench.machine.programs import binary
from lab.bench.profiles import asking
from lab.bench.servers.fetch import fetch
from lab.bench.servers.runner import ServerRunner
from lab.bench.trials.available import available, import_applications
from lab.bench.trials.plan import arm_of
from lab.bench.trials.same_application import remarks
from lab.cli.options.execution import application
from lab.cli.options.table import Job
from lab.cli.show import show_command
from lab.errors import LabError, ProfileError, ServerStartError, UsageError
from lab.model.plan import Load
from tests.kit.environments import empty

APP = """
def application(environ, start):
    start("200 OK", [("Content-Length", "5")])
    return [b"pears"]
"""
BEGINS = "[uwsgi]\nhttp-socket = :8000\nmaster = true\nneed-app = true\n"
SERVES = f"{BEGINS}chdir = /nowhere/app\nmodule = shop.wsgi\n"

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")


@pytest.fixture
def image(tmp_path, monkeypatch):
    """Return a function that writes the ini of a container, and returns what is asked of it."""
    (tmp_path / "src/shop").mkdir(parents=True)
    (tmp_path / "src/shop/wsgi.py").write_text(APP)
    (tmp_path / "docker").mkdir()
    monkeypatch.chdir(tmp_path)

    def written(text, *others, **options):
        (tmp_path / "docker/uwsgi.ini").write_text(text)
        return Job(profiles=("docker/uwsgi.ini", *others), **options)

    return written


def found(job):
    """Return what can be compared of what is asked, its workload, and the remarks on it."""
    chosen, _, subject = available(job.profiles, application(job))
    return (
        chosen,
        subject,
        list(remarks([installation.profile for installation in chosen], None, subject)),
    )


def served(job, folder, number=0):
    """Return what a profile answers, with its options."""
    chosen, subject, _ = found(job)
    import_applications(chosen, subject)
    profile = chosen[number].profile
    workload = arm_of(profile, subject, Load()).workload
    (folder / "trial").mkdir()
    with ServerRunner().start(profile, workload, folder / "trial", None) as server:
        return fetch(server.endpoint, "/", 5.0)[2], dict(profile.options)


def refusal(job, folder):
    """Return what keeps an ini from being served, in all of its lines."""
    with pytest.raises(LabError) as raised:
        served(job, folder)
    return str(raised.value)


def test_a_folder_stands_for_the_one_of_the_container(image, tmp_path):
    """--chdir alone: what is served must be there, and not what stands in the file."""
    assert refusal(image(SERVES), tmp_path).endswith("or say which folder it is here: --chdir PATH")
    job = image(SERVES, chdir=tmp_path / "src")
    assert served(job, tmp_path)[0] == b"pears"
    assert found(job)[2][0].startswith(
        f"uwsgi.ini: changed in the private copy: chdir = /nowhere/app -> {tmp_path}/src; "
    )


def test_what_lies_in_that_folder_moves_with_it(image, tmp_path):
    """A file to serve, and where modules are; another folder of the container does not."""
    text = f"{BEGINS}chdir = /nowhere/\nwsgi-file = /nowhere/shop/wsgi.py\n"
    text += "pythonpath = /nowhere\npythonpath = /nowhere-else\n"
    body, options = served(image(text, chdir=tmp_path / "src"), tmp_path)
    assert (body, options["pythonpath"]) == (b"pears", "/nowhere-else")


def test_an_ini_without_a_folder_gets_the_one_that_is_named(image, tmp_path):
    """As where the image has a WORKDIR."""
    job = image(f"{BEGINS}module = shop.wsgi\n", chdir=tmp_path / "src")
    assert served(job, tmp_path)[0] == b"pears"


@pytest.mark.parametrize("more", [{"app": "shop.wsgi:application"}, {"workload": "hello"}])
def test_a_folder_that_is_not_used_need_not_be_there(image, tmp_path, more):
    """--app and --workload serve something else, from elsewhere."""
    job = image(SERVES, chdir=tmp_path / "src" if "app" in more else None, **more)
    assert served(job, tmp_path)[0] != b""


def test_a_command_starts_in_the_folder(image, tmp_path):
    """--chdir is the folder of a command in quotes, unless the command or --cwd names another."""
    job = Job(profiles=("gunicorn shop.wsgi:application",), chdir=tmp_path / "src")
    assert served(job, tmp_path)[0] == b"pears"
    with pytest.raises(UsageError, match=r"is a command, which starts in --cwd: give one of them"):
        found(replace(job, cwd=tmp_path))
    for option in ("--chdir=/nowhere", "--chdir /nowhere"):
        command = f"gunicorn {option} shop.wsgi:application"
        with pytest.raises(UsageError, match=r"src: gunicorn\S* has --chdir\S*: change it there"):
            found(replace(job, profiles=(command,)))


def test_a_folder_must_exist(image, tmp_path):
    """As of an ini."""
    with pytest.raises(UsageError, match="no such folder"):
        application(image(SERVES, chdir=tmp_path / "none"))


def test_a_variable_of_the_container_is_an_option_as_in_the_container(image, tmp_path):
    """What the ini makes of it counts; of the profiles beside it none has it."""
    text = f"{SERVES}processes = $(UWSGI_WORKERS)\nif-env = UWSGI_HARAKIRI\nthreads = 2\nendif =\n"
    assert refusal(image(text, chdir=tmp_path / "src"), tmp_path).endswith(
        "set it to the value in your container: --env UWSGI_WORKERS=VALUE"
    )
    env = ("UWSGI_WORKERS=2", "UWSGI_HARAKIRI=7")
    job = image(text, "tuned", chdir=tmp_path / "src", env=env)
    body, options = served(job, tmp_path)
    assert body == b"pears"
    assert {name: options[name] for name in ("workers", "processes", "harakiri", "threads")} == {
        "workers": "2", "processes": "2", "harakiri": "7", "threads": "2",
    }  # fmt: skip
    chosen, _, remark_lines = found(job)
    assert dict(chosen[1].profile.options)["harakiri"] == "30"
    assert "workers = 2 (UWSGI_WORKERS of --env)" in remark_lines[0]


def test_a_file_of_variables_is_the_containers_too(image, tmp_path):
    """What an ini of the user's is served with, profiles of ours alone are not."""
    (tmp_path / ".env").write_text("UWSGI_THREADS=3\n")
    job = image(SERVES, chdir=tmp_path / "src", env_file=tmp_path / ".env")
    assert served(job, tmp_path)[1]["threads"] == "3"
    ours = application(Job(profiles=("tuned",), env_file=tmp_path / ".env"))
    assert ours.runtime.variables.names == ()
    with pytest.raises(UsageError, match="it goes with an ini of yours"):
        application(Job(profiles=("tuned",), env=("UWSGI_THREADS=3",)))


def test_uwsgi_has_such_variables_before_what_its_file_says(image, tmp_path):
    """So the lab does: the last value counts, and %(x) means the first."""
    image(f"{SERVES}processes = 4\n")
    path = tmp_path / "docker/uwsgi.ini"
    done = subprocess.run(
        [binary(), *asking.ASKING, "--ini", path],
        env={"UWSGI_PROCESSES": "2"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = (done.stdout + done.stderr).splitlines()
    assert lines.index("processes = 2") < lines.index("processes = 4")
    text = f"{SERVES}cheaper = %(processes)\nprocesses = 4\n"
    job = image(text, chdir=tmp_path / "src", env=("UWSGI_PROCESSES=2",))
    options = found(job)[0][0].profile.options
    assert [pair for pair in options if pair[0] in ("processes", "cheaper")] == [
        ("processes", "2"), ("cheaper", "2"), ("processes", "4"),
    ]  # fmt: skip


def test_a_variable_that_reaches_beyond_the_trial_is_left_out(image, tmp_path):
    """It is no more than the same option in the file, and uWSGI is not asked with it."""
    env = (f"UWSGI_SPOOLER={tmp_path}/jobs", "UWSGI_LOGTO=/nowhere/log", "UWSGI_NONESUCH=1")
    job = image(SERVES, chdir=tmp_path / "src", env=env)
    body, options = served(job, tmp_path)
    assert body == b"pears"
    assert "nonesuch" not in options
    assert f"left out: spooler = {tmp_path}/jobs (would take over real jobs)" in found(job)[2][1]
    assert not (tmp_path / "jobs").exists()


@pytest.mark.parametrize("http", ["http = :8080\n", ""])
def test_a_certificate_of_the_container_is_not_asked_for(image, tmp_path, http):
    """`https` becomes `http` before uWSGI loads anything for it."""
    text = f"[uwsgi]\n{http}https = :8443,/nowhere/a.crt,/nowhere/a.key\nmodule = shop.wsgi\n"
    assert served(image(text, chdir=tmp_path / "src"), tmp_path)[0] == b"pears"


def test_what_uwsgi_reads_as_no_number_is_served_as_it_reads_it(image, tmp_path):
    """As `cheaper = true`, which is 0; the warning says what it is and what was meant."""
    job = image(f"{SERVES}processes = 2\ncheaper = true\n", chdir=tmp_path / "src")
    assert served(job, tmp_path)[1]["cheaper"] == "0"
    chosen, subject, _ = found(job)
    (warning,) = profiles.warnings(chosen[0].profile, subject.runtime, chosen[0].reading)
    assert "uwsgi.ini:8: cheaper = true: uWSGI reads a number here, and takes this for 0" in warning


@pytest.mark.parametrize(("line", "env"), [("processes = 0\n", ()), ("", ("UWSGI_WORKERS=0",))])
def test_an_ini_without_a_worker_is_refused(image, tmp_path, line, env):
    """uWSGI starts none and says nothing of it, and no request is answered."""
    message = refusal(image(f"{BEGINS}module = shop.wsgi\n{line}", env=env), tmp_path)
    assert ": no worker is started, so nothing answers; write 1 or more; --drop " in message


def test_an_option_is_left_out(image, tmp_path):
    """It is named, and nothing is refused because of it."""
    text = f"{SERVES}home = /nowhere/venv\nlisten = 1000000\nprocesses = many\n"
    message = refusal(image(text, chdir=tmp_path / "src"), tmp_path)
    assert message.endswith("; --drop processes leaves it out")
    drop = ("home", "listen", "processes")
    job = image(text, chdir=tmp_path / "src", drop=drop)
    assert served(job, tmp_path)[0] == b"pears"
    assert found(job)[2][1] == (
        "uwsgi.ini: left out: home = /nowhere/venv (--drop); listen = 1000000 (--drop); "
        "processes = many (--drop)"
    )


@pytest.mark.parametrize(
    ("line", "flags"),
    [
        ("home = /nowhere/venv", "--python PATH; or --drop home leaves it out"),
        ("virtualenv = /nowhere/venv", "--python PATH; or --drop virtualenv leaves it out"),
        ("home = $(VENV)", "--env VENV=VALUE"),
        ("listen = 1000000", "or --drop listen leaves it out"),
        ("chroot = /nowhere", "leave it out: --drop chroot"),
    ],
)
def test_a_refusal_names_the_flag_that_helps(image, tmp_path, line, flags):
    """In the message about the line."""
    message = refusal(image(f"{SERVES}{line}\n", chdir=tmp_path / "src"), tmp_path)
    assert f"uwsgi.ini:7: {line}: " in message
    assert message.endswith(flags)


def test_an_option_to_drop_must_be_there(image, tmp_path):
    """A name that is mistyped drops nothing."""
    job = image(SERVES, chdir=tmp_path / "src", drop=("giud",))
    with pytest.raises(UsageError, match="--drop giud: no configuration of yours has it"):
        found(job)


@pytest.mark.parametrize(
    ("line", "drop", "hint"),
    [
        ("need-plugins = python3", "needplugins", "; it has need-plugins"),
        ("virtualenv = /nowhere/venv", "home", "; it has virtualenv"),
    ],
)
def test_an_option_of_another_spelling_is_named(image, tmp_path, line, drop, hint):
    """Of a like name, or of the same meaning."""
    job = image(f"{SERVES}{line}\n", chdir=tmp_path / "src", drop=(drop,))
    with pytest.raises(UsageError, match=f"--drop {drop}: no configuration of yours has it{hint}$"):
        found(job)


def test_what_is_shown_must_have_what_is_dropped(image, tmp_path):
    """`lab show` refuses a name that is mistyped as `lab run` does."""
    image(SERVES)
    done = CliRunner().invoke(show_command, ["docker/uwsgi.ini", "--drop", "modul"])
    assert isinstance(done.exception, UsageError)
    assert "--drop modul: no configuration of yours has it; it has module" in str(done.exception)


def test_options_of_an_ini_alone_are_dropped(image, tmp_path):
    """A gunicorn.conf.py is a program, and none of its lines is left out."""
    (tmp_path / "gunicorn.conf.py").write_text('wsgi_app = "shop.wsgi"\nworkers = 2\n')
    with pytest.raises(UsageError, match="--drop workers: it leaves out options of an ini alone"):
        found(Job(profiles=("gunicorn.conf.py",), drop=("workers",)))


@pytest.mark.parametrize(
    ("name", "value", "flag"),
    [
        ("CHEAPER", "8", "or --drop cheaper leaves it out"),
        ("CHDIR", "/nowhere", "--chdir PATH"),
        ("HOME", "/nowhere", "--drop home leaves it out"),
        ("PROCESSES", "two", "--drop processes leaves it out"),
    ],
)
def test_a_refusal_names_the_variable_that_is_the_option(image, tmp_path, name, value, flag):
    """It stands in no line of the ini, and another variable before it is not meant."""
    env = ("UWSGI_WORKERS=4", f"UWSGI_{name}={value}")
    message = refusal(image(f"{BEGINS}module = shop.wsgi\n", env=env), tmp_path)
    assert f"docker/uwsgi.ini: {name.lower()} = {value} (UWSGI_{name} of --env): " in message
    assert message.endswith(flag)


@pytest.mark.parametrize(
    ("text", "chdir", "said"),
    [
        (f"{BEGINS}module = shops.wsgi\n", "docker", "(--chdir names another folder)"),
        (f"{BEGINS}module = shops.wsgi\n", None, "(name another by --chdir PATH, or by `chdir` in"),
    ],
)
def test_a_folder_without_the_module_is_told_with_the_flag(image, tmp_path, text, chdir, said):
    """Whether a folder was named or not: the ini of a container often has none."""
    assert said in refusal(image(text, chdir=chdir and tmp_path / chdir), tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a socket to somebody else")
def test_an_owner_of_the_socket_whom_this_machine_has_not_is_told_with_the_flag(image, tmp_path):
    """He is no `uid`, which is left out otherwise."""
    text = f"{BEGINS}module = shop.wsgi\nsocket = /run/s\nchown-socket = nobody-here:nobody-here\n"
    message = refusal(image(text, chdir=tmp_path / "src"), tmp_path)
    assert "unable to find user nobody-here" in message
    assert "--drop chown-socket" in message


def test_an_environment_of_the_container_is_not_asked_for_where_one_is_named(image, tmp_path):
    """--python stands for `home`."""
    python = empty(tmp_path / "venv")
    job = image(f"{SERVES}home = /nowhere/venv\n", chdir=tmp_path / "src", python=python)
    assert served(job, tmp_path)[0] == b"pears"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("module = shop.wsgi\nneed-plugins = nosuch", "there is none: --drop need-plugins"),
        ("mount = /=/nowhere/x.py", "no application that is here: name it, --app MODULE:CALLABLE"),
        ("", "no application that is here: name it, --app MODULE:CALLABLE --chdir PATH"),
        ("wsgi-file = /nowhere/x.py", "as it is here: --app MODULE:CALLABLE --chdir PATH"),
        ("wsgi-file = $(SITE)/wsgi.py", "value in your container: --env SITE=VALUE"),
    ],
)
def test_what_is_not_here_is_told_with_the_flag(image, tmp_path, lines, said):
    """Where uWSGI or the import says so, and no reading of the ini."""
    message = refusal(image(f"{BEGINS}{lines}\n", chdir=tmp_path / "src"), tmp_path)
    assert said in message


GUNICORN = 'wsgi_app = "shop.wsgi"\nworkers = 1\n'


@pytest.mark.parametrize("said", ['chdir = "/nowhere/app"\n', ""])
def test_a_folder_stands_for_that_of_a_gunicorn_conf_py(image, tmp_path, said):
    """--chdir alone, whether the file has one or not; without it the message names it."""
    (tmp_path / "gunicorn.conf.py").write_text(GUNICORN + said)
    job = Job(profiles=("gunicorn.conf.py",), chdir=tmp_path / "src")
    assert served(job, tmp_path)[0] == b"pears"
    assert f"{tmp_path}/src" in found(job)[2][0]


def test_a_folder_that_a_gunicorn_conf_py_names_is_told_with_the_flag(image, tmp_path):
    """Before anything is started there."""
    (tmp_path / "gunicorn.conf.py").write_text(f'{GUNICORN}chdir = "/nowhere/app"\n')
    job = Job(profiles=("gunicorn.conf.py", "gunicorn-sync"))
    message = "there is no folder /nowhere/app here; say which it is: --chdir PATH"
    assert message in refusal(job, tmp_path)


def test_an_include_of_the_folder_that_it_is_started_in_is_found_there(image, tmp_path):
    """--cwd names that folder, as the image's WORKDIR is one; the message says so."""
    (tmp_path / "base.ini").write_text("[uwsgi]\nthreads = 3\n")
    text = f"{SERVES}include = base.ini\n"
    assert refusal(image(text, chdir=tmp_path / "src"), tmp_path).endswith(": --cwd PATH")
    job = image(text, chdir=tmp_path / "src", cwd=tmp_path)
    body, options = served(job, tmp_path)
    assert (body, options["threads"]) == (b"pears", "3")


def test_an_include_that_is_not_here_is_named_with_its_line(image, tmp_path):
    """uWSGI says the file alone."""
    job = image(f"{SERVES}include = /nowhere/common.ini\n", chdir=tmp_path / "src")
    with pytest.raises(
        ProfileError,
        match=r"uwsgi\.ini:7: include = /nowhere/common\.ini: the "
        "file",
    ):
        found(job)


@root_only
@pytest.mark.parametrize("option", ["uid", "gid"])
def test_a_user_of_the_container_is_told_above_what_is_removed_afterwards(image, tmp_path, option):
    """`vacuum` removes a socket that was never made, and says so last; that is not the reason."""
    text = f"{SERVES}vacuum = true\nsocket = /nowhere/s\n{option} = nobody-here\n"
    job = image(text, chdir=tmp_path / "src")
    with pytest.raises(ServerStartError) as raised:
        served(job, tmp_path)
    first, advice, *_ = raised.value.problem.splitlines()
    assert first == f"{'user' if option == 'uid' else 'group'} nobody-here not found."
    assert "--drop uid (and --drop gid) serves as you" in advice


@root_only
def test_another_plugin_that_is_not_there_is_no_reason(image, tmp_path):
    """`plugins` goes on without one that is built in, as Debian's inis have it."""
    text = f"{SERVES}plugins = python3\nuid = nobody-here\n"
    assert "user nobody-here not found" in refusal(image(text, chdir=tmp_path / "src"), tmp_path)


def test_a_log_of_uwsgis_own_variables_is_no_template(image, tmp_path):
    """`${msg}` of an encoder is uWSGI's; the vacuum of a pidfile keeps uWSGI from being asked."""
    text = f"{SERVES}vacuum = true\npidfile = /nowhere/pid\nlogger = stdio\n"
    job = image(f"{text}log-encoder = format ${{msgnl}}\n", chdir=tmp_path / "src")
    assert served(job, tmp_path)[0] == b"pears"
