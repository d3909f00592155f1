"""The way of docs/how-to/migrate.md from one server to another and back, while requests go on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab.bench.machine.programs import find_command
from lab.bench.servers.ports import free_port
from lab.cli.migrate.migration import migrated
from tests.kit.client import accepts, served
from tests.kit.lab_process import BIN, until
from tests.test_behind_nginx import NGINX, PARAMS, started
from tools.pages.files import DOCS
from tools.pages.migration import ini

NAME = "how-to/migrate"
PAGE = (DOCS / f"{NAME}.md").read_text()
STARTS = {
    "gunicorn": (str(BIN / "gunicorn"), "-c", "gunicorn.conf.py"),
    "granian": ("sh", "granian.sh"),
}

WSGI = """
try:
    import uwsgi
    NAME = b"old"
except ImportError:
    NAME = b"new"


def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [NAME]
"""


def here(text, folder):
    """Return a text of the page with its folders in *folder*."""
    for place in ("/srv/shop", "/run/shop", "/etc/nginx/shop"):
        text = text.replace(place, str(folder))
    return text


def steps(folder):
    """Return the page's commands by the file that each chooses, the way back last."""
    nginx = f"nginx -e stderr -p {folder} -c {folder}/nginx.conf"
    commands = re.findall(r"^\$ (ln -sfn (\w+)\.conf .*)$", PAGE, re.MULTILINE)
    return [(name, here(line, folder).replace("nginx -", f"{nginx} -")) for line, name in commands]


def prepared(folder, to):
    """Write what the page has for one server; return the port that nginx listens on."""
    for name in ("shop", "static"):
        (folder / name).mkdir()
    (folder / "shop" / "wsgi.py").write_text(WSGI)
    (folder / "uwsgi.ini").write_text(here(ini(NAME), folder))
    made = migrated(str(folder / "uwsgi.ini"), to, {})
    (folder / made.file).write_text(made.text.replace("uwsgi.sock", f"{to}.sock"))
    for row in re.findall(r"^\| `\w+\.conf` \|.*$", PAGE, re.MULTILINE):
        name, directives, *_ = re.findall("`(.*?)`", row)
        (folder / name).write_text(here(directives, folder))
    if made.nginx:
        lines = [line.removeprefix("+ ") for line in made.nginx if line.startswith("+ ")]
        (folder / "new.conf").write_text("\n".join(lines).replace("uwsgi.sock", f"{to}.sock"))
    shutil.copy(PARAMS, folder)
    port = free_port()
    server = re.search(r"```nginx\n(.*?)```", PAGE, re.DOTALL)[1].replace("80;", f"{port};")
    user = "user root;" if os.geteuid() == 0 else ""
    text = NGINX.format(folder=folder, user=user, server=here(server, folder))
    (folder / "nginx.conf").write_text(text)
    return port


@contextmanager
def asking(port):
    """Ask without a pause until the block ends; yield who answered, None for nobody, in order."""
    answers, ends = [], threading.Event()

    def ask():
        while not ends.is_set():
            reply = served(port)
            answers.append(reply and reply.body.decode())

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield answers
    finally:
        ends.set()
        thread.join()


def answered(answers, who):
    """Wait until the last hundred replies are of these alone."""
    seen = len(answers)
    until(
        lambda: len(answers) >= seen + 100 and {*answers[-100:]} == who,
        f"replies of {' and '.join(sorted(who))}: {Counter(answers)}",
    )


@pytest.mark.skipif(
    find_command("nginx") is None or not PARAMS.exists(), reason="nginx is not installed"
)
@pytest.mark.parametrize("to", STARTS)
def test_no_request_is_lost_on_the_way_there_and_back(tmp_path, monkeypatch, to):
    """Each command of the page moves the traffic to whom it says, the last one to uWSGI."""
    monkeypatch.setenv("PATH", f"{BIN}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    port = prepared(tmp_path, to)
    (_, first), *others = steps(tmp_path)
    subprocess.run(first.partition(" && ")[0], shell=True, check=True)
    nginx = ("nginx", "-e", "stderr", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf"))
    with (
        started(tmp_path, str(BIN / "uwsgi"), "uwsgi.ini"),
        started(tmp_path, *STARTS[to]),
        started(tmp_path, *nginx),
    ):
        until(lambda: served(port), "a reply")
        until(lambda: accepts(tmp_path / f"{to}.sock"), "the new server")
        with asking(port) as answers:
            for name, command in [("old", first), *others]:
                if name == "both" and to == "granian":
                    continue
                subprocess.run(command, shell=True, check=True, capture_output=True)
                answered(answers, {"old", "new"} if name == "both" else {name})
    assert None not in answers, (Counter(answers), Path(tmp_path / "log").read_text()[-2000:])
