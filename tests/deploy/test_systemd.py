"""The units of deploy/systemd: valid, contained, and in step with the profiles."""

import os
import re
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import psutil
import pytest

from lab.bench.machine.programs import environment
from tests.faults.parts import SERVE, session
from tests.faults.stacks import Instance
from tests.kit.client import ask
from tests.kit.lab_process import ROOT, until

FOLDER = ROOT / "deploy/systemd"
INSTANCE, NGINX = "fibonacci@.service", "fibonacci-nginx.service"
PRODUCTION = (ROOT / "profiles/production.ini").read_text()
INSTALLED = "/opt/fibonacci"
"""Where the units expect the checkout."""


def found(name):
    """Return the path of a program of systemd or of an administrator; skip where there is none."""
    path = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


def settings(name):
    """Return the settings of a unit; of one that stands there twice, both values."""
    values = {}
    for line in (FOLDER / name).read_text().splitlines():
        if re.match(r"\w+=", line):
            key, _, value = line.partition("=")
            values[key] = f"{values[key]} {value}" if key in values else value
    return values


@pytest.fixture(params=[INSTANCE, NGINX])
def unit(request):
    """Return the settings of one of the services."""
    return settings(request.param)


@pytest.fixture
def installed(tmp_path):
    """Return a folder with the units, made for this checkout."""
    for path in [*FOLDER.glob("*.service"), *FOLDER.glob("*.target")]:
        text = path.read_text().replace(INSTALLED, str(ROOT))
        text = text.replace(f"{ROOT}/.venv/bin/fibonacci", SERVE[0])
        (tmp_path / path.name).write_text(text)
    return tmp_path


def analyze(folder, *words):
    """Run systemd-analyze on units of a folder, and return what it says."""
    return subprocess.run(
        [found("systemd-analyze"), *words],
        env=os.environ | {"SYSTEMD_UNIT_PATH": f"{folder}:"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_systemd_finds_no_fault(installed):
    """systemd knows each setting of the units, and has nothing to say of them."""
    found("nginx")
    units = sorted(str(path) for path in installed.iterdir())
    done = analyze(installed, "verify", *units)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_systemd_finds_a_fault(installed):
    """A mistyped setting is told: the test before would fail."""
    path = installed / INSTANCE
    path.write_text(path.read_text().replace("KillMode=", "KilMode="))
    assert "KilMode" in analyze(installed, "verify", str(path)).stderr


@pytest.mark.parametrize("name", ["fibonacci@a.service", NGINX])
def test_what_could_be_broken_into_is_little(installed, name):
    """systemd's own measure of exposure, of which 10 is the most, is below 2."""
    done = analyze(installed, "security", "--offline=yes", "--threshold=20", "--no-pager", name)
    if "unrecognized option" in done.stderr:
        pytest.skip("systemd before 250 measures only what it runs")
    assert done.returncode == 0, done.stdout + done.stderr


def test_nobody_is_root(unit):
    """A service runs as a user of its own, without a capability, and cannot become another one."""
    assert unit["User"] == unit["Group"] == "fibonacci"
    assert unit["CapabilityBoundingSet"] == ""
    assert unit["NoNewPrivileges"] == "yes"
    assert unit["ProtectSystem"] == "strict"


def test_the_folders_are_made_for_that_user():
    """What the units write to is what tmpfiles.d makes, and sysusers.d makes the user."""
    made = {
        words[1]: words[2:5]
        for words in map(str.split, (FOLDER / "fibonacci.tmpfiles").read_text().splitlines())
        if words[0] == "d"
    }
    assert made == {
        "/run/fibonacci": ["0700", "fibonacci", "fibonacci"],
        "/var/log/fibonacci": ["2750", "fibonacci", "adm"],
    }
    assert settings(INSTANCE)["ReadWritePaths"] == "/run/fibonacci"
    assert settings(NGINX)["ReadWritePaths"] == "/run/fibonacci /var/log/nginx"
    assert settings(NGINX)["BindPaths"] == "/var/log/fibonacci:/var/log/nginx"
    assert re.search(r"(?m)^u fibonacci ", (FOLDER / "fibonacci.sysusers").read_text())


def test_nginx_writes_only_there(nginx):
    """Its configuration names no other folder."""
    paths = re.findall(r"(?:pid|_log|_temp_path) (/\S+)", nginx)
    assert {path.rpartition("/")[0] for path in paths} == {"/run/fibonacci", "/var/log/nginx"}


def test_each_instance_has_the_socket_that_nginx_looks_for(nginx):
    """The target's instances, by the unit's SOCKET, are those of nginx's configuration."""
    names = re.findall(r"fibonacci@(\w+)\.service", settings("fibonacci.target")["Wants"])
    template = re.search(r"SOCKET=(\S+)", settings(INSTANCE)["Environment"])[1]
    sockets = {template.replace("%i", name) for name in names}
    assert sockets == set(re.findall(r"server unix:(\S+)", nginx))


def test_a_stop_waits_for_the_longest_request(nginx):
    """The signal is the one that finishes requests, to the first process, with time for it."""
    instance, front = settings(INSTANCE), settings(NGINX)
    assert (instance["KillSignal"], instance["KillMode"]) == ("SIGTERM", "mixed")
    assert "hook-master-start = unix_signal:15 gracefully_kill_them_all" in PRODUCTION
    assert (front["KillSignal"], front["KillMode"]) == ("SIGQUIT", "mixed")
    harakiri = int(re.search(r"(?m)^harakiri = (\d+)$", PRODUCTION)[1])
    assert int(instance["TimeoutStopSec"]) > harakiri
    longest = int(re.search(r"worker_shutdown_timeout (\d+)s;", nginx)[1])
    assert int(front["TimeoutStopSec"]) > longest
    # systemd stops in the reverse of this order.
    assert {"fibonacci@a.service", "fibonacci@b.service"} <= set(front["After"].split())


def test_a_worker_without_memory_does_not_end_its_instance():
    """By default systemd stops the whole service when the kernel has killed one process."""
    assert settings(INSTANCE)["OOMPolicy"] == "continue"


def test_the_units_run_the_profiles_as_they_are():
    """What is started is production.ini and production.nginx.conf of the checkout."""
    instance, front = settings(INSTANCE), settings(NGINX)
    assert instance["WorkingDirectory"] == INSTALLED
    assert instance["ExecStart"] == f"{INSTALLED}/.venv/bin/fibonacci serve production"
    assert f"-c {INSTALLED}/profiles/production.nginx.conf" in front["ExecStart"]
    assert "daemon off;" in front["ExecStart"]


def test_an_instance_says_when_it_serves(tmp_path):
    """uWSGI tells systemd READY=1 (Type=notify), from the process started, and obeys SIGTERM."""
    assert settings(INSTANCE)["Type"] == "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
        supervisor.bind(str(tmp_path / "notify"))
        supervisor.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        supervisor.settimeout(20)
        variables = {"SOCKET": str(tmp_path / "a.sock"), "NOTIFY_SOCKET": str(tmp_path / "notify")}
        process = psutil.Popen(
            (*SERVE, "production"),
            cwd=ROOT,
            env=environment(**variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            message = b""
            while b"READY=1" not in message:
                message, credentials, *_ = supervisor.recvmsg(4096, socket.CMSG_SPACE(12))
            # struct ucred: NotifyAccess=main, the default, takes it from no other process.
            assert int.from_bytes(credentials[0][2][:4], "little") == process.pid
            # It says so just before it has its own answer to SIGTERM; until then a stop is a 30.
            assert settings(INSTANCE)["SuccessExitStatus"] == "30"
            until(Instance(tmp_path / "a.sock").workers, "its statistics")
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0
        finally:
            for leftover in session(process.pid):
                leftover.kill()


def log_of(stack, path):
    """Ask, and return the log in which the request stands."""
    assert ask(stack.address, path=path).status == 200
    return until(
        lambda: [
            log.name
            for log in stack.folder.glob("access.log*")
            if f"GET {path} " in log.read_text()
        ],
        "the line of the request",
    )


def rotation(stack):
    """Return logrotate's configuration for the folder of a stack."""
    text = (FOLDER / "fibonacci.logrotate").read_text()
    text = text.replace("/var/log/fibonacci", str(stack.folder)).replace(
        "/run/fibonacci", str(stack.folder)
    )
    return re.sub(r"(?m)^    su .*\n", "", text).replace(
        "    daily\n", "    daily\n    nocompress\n"
    )


def test_nginx_goes_on_in_a_new_log(stack):
    """After a rename and what stands in `postrotate`, lines are in a new file; none is lost."""
    assert log_of(stack, "/71") == ["access.log"]
    (stack.folder / "access.log").rename(stack.folder / "access.log.old")
    assert log_of(stack, "/72") == ["access.log.old"]
    script = re.search(r"postrotate\n(.*?)\n *endscript", rotation(stack), re.DOTALL)[1]
    subprocess.run(["sh", "-ec", script], check=True)
    until((stack.folder / "access.log").exists, "a new log")
    # A worker that has not looked yet writes one more line into the old one.
    until(lambda: log_of(stack, "/73")[0] == "access.log", "a line in it")


def test_logrotate_takes_the_file(stack):
    """logrotate itself renames nginx's logs by it, and nginx writes on."""
    program = found("logrotate")
    path = stack.folder / "logrotate.conf"
    path.write_text(rotation(stack))
    path.chmod(0o644)
    assert log_of(stack, "/81") == ["access.log"]
    state = stack.folder / "logrotate.state"
    done = subprocess.run(
        [program, "--force", "--state", str(state), str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    assert "GET /81 " in (stack.folder / "access.log.1").read_text()
    until(lambda: log_of(stack, "/82")[0] == "access.log", "a line in the new one")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes users, and folders for them")
def test_user_and_folders_are_made(tmp_path):
    """systemd's tools make the user and both folders, closed to others, from the two files."""
    for tool, name in (("sysusers", "fibonacci.sysusers"), ("tmpfiles", "fibonacci.tmpfiles")):
        create = ["--create"] if tool == "tmpfiles" else []
        command = [found(f"systemd-{tool}"), *create, f"--root={tmp_path}"]
        (tmp_path / "etc").mkdir(exist_ok=True)
        (tmp_path / "etc/group").touch()
        if tool == "tmpfiles":
            with (tmp_path / "etc/group").open("a") as group:
                group.write("adm:x:4:\n")
        folder = tmp_path / f"etc/{tool}.d"
        folder.mkdir()
        shutil.copy(FOLDER / name, folder / "fibonacci.conf")
        done = subprocess.run(
            [*command, "fibonacci.conf"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    for path, mode in (("run/fibonacci", 0o700), ("var/log/fibonacci", 0o2750)):
        state = Path(tmp_path / path).stat()
        assert state.st_mode & 0o7777 == mode
        assert state.st_uid != 0
