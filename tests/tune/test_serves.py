"""What is pasted starts under the real server, and is obeyed there."""

from __future__ import annotations

import subprocess

import pytest

from lab.cli.tune.missing import MissingSettings, missing
from lab.config.configuration import Known
from lab.config.reading import read
from tests.kit.client import ask
from tests.kit.lab_process import until
from tests.lint.test_uwsgi_serves import serving
from tests.migrate.servers import server

UWSGI = (
    "processes = 2\nmax-worker-lifetime = 3600\nmax-requests = 500",
    "master = true\ndie-on-term = true\nharakiri = 90\nworker-reload-mercy = 30",
    "master = true\nlazy = true\nevil-reload-on-rss = 900\npy-autoreload = 1",
    "http = 127.0.0.1:0\nmaster = true\nharakiri = 90\nlisten = 20",
)


def lacking(name: str, *, container: bool = True) -> MissingSettings:
    """Return what a configuration lacks, which is something."""
    missing_settings = missing(read(name, Known(), container=container))
    assert missing_settings.lacks
    assert not missing_settings.by_hand
    return missing_settings


@pytest.mark.parametrize("text", UWSGI)
def test_an_ini_with_all_of_it_starts_and_answers(text, tmp_path):
    """With strict, so that each option is one."""
    ini = tmp_path / "uwsgi.ini"
    ini.write_text(f"[uwsgi]\nhttp-socket = {tmp_path}/http\n{text}\nmodule = served:one\n")
    after = lacking(str(ini)).after.texts[ini]
    assert "\nstrict = true\n" in after
    with serving(tmp_path, after.partition("/http\n")[2]) as (path, log):
        assert ask(path, path="/x").body == b"one /x"
        assert "unknown config directive" not in log.read_text()


def test_a_gunicorn_file_with_all_of_it_starts_and_answers(tmp_path):
    """Its jitter and its folder for heartbeats."""
    conf = tmp_path / "gunicorn.conf.py"
    conf.write_text("workers = 2\nmax_requests = 50\nreload = True\n")
    missing_settings = lacking(str(conf))
    assert [lack.code for lack in missing_settings.lacks] == ["GU005", "GU006", "GU011"]
    conf.write_text(missing_settings.after.texts[conf])
    with server("gunicorn", tmp_path, "--config", str(conf)) as served:
        until(lambda: len(served.workers) == 2, "two workers")


def test_a_command_with_all_of_it_starts_and_answers(tmp_path):
    """As a shell takes it; the last line is the command."""
    missing_settings = lacking("granian --workers 2 --reload --interface wsgi a:app")
    text = missing_settings.after.texts[missing_settings.after.file]
    done = subprocess.run(
        ["sh", "-c", text.replace("\ngranian ", "\necho ")],
        capture_output=True,
        text=True,
        check=True,
    )
    words = done.stdout.split()
    assert words == ["--workers", "2", "--interface", "wsgi", "a:app", "--respawn-failed-workers"]
    kept = [word for word in words if word not in {"--interface", "wsgi", "a:app"}]
    with server("granian", tmp_path, *kept) as served:
        until(lambda: len(served.workers) == 2, "two workers")
