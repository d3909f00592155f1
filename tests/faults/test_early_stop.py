"""A server that is asked to stop while it starts does so, as one that is deployed by mistake."""

from contextlib import ExitStack

import pytest

from lab.bench.machine import project
from lab.bench.servers.ports import free_port
from tests.kit.lab_process import alive, until

from .parts import serving

LOADING = """
import pathlib, time
pathlib.Path(__file__).with_suffix(".begun").touch()
while True:
    time.sleep(0.01)
"""


@pytest.fixture(params=[pytest.param("safety", marks=pytest.mark.slow), "tuned", "production"])
def start(tmp_path, request):
    """Return a function that starts a profile, with lines added, and its output in `log`."""
    with ExitStack() as started:

        def start(added="", **variables):
            ini = tmp_path / "mine.ini"
            ini.write_text(f"[uwsgi]\nini = {project.profiles() / request.param}.ini\n{added}\n")
            known = {"SOCKET": str(tmp_path / "a.sock"), "PORT": str(free_port()), "PROCESSES": "2"}
            with (tmp_path / "log").open("w") as log:
                return started.enter_context(serving(ini, log, log, **known | variables))

        yield start


def test_while_its_application_is_loaded(start, tmp_path):
    """uWSGI would ignore SIGTERM until the import is over."""
    (tmp_path / "loading.py").write_text(LOADING)
    process = start(WSGI_APP="loading:app", WSGI_CHDIR=str(tmp_path))
    until((tmp_path / "loading.begun").exists, "the import")
    process.terminate()
    assert process.wait(5) == 30  # what uWSGI ends with when a signal ends it


def test_while_its_workers_are_forked(start, tmp_path):
    """A worker that does not yet know what to do on SIGHUP must not miss the one that ends it."""
    process = start("hook-post-fork = exec:sleep 2")
    until(lambda: "(master-start)" in (tmp_path / "log").read_text(), "the end of the start")
    workers = process.children()
    assert len(workers) == 2
    process.terminate()
    assert process.wait(5) == 0
    assert not alive(workers)
