"""UW118, tried on uWSGI with a real Python 3.13, which is built for it: half a minute."""

import os
import shutil
import subprocess

import pytest

from lab.config.configuration import Known
from tests.kit.client import ask
from tests.kit.lab_process import until
from tests.kit.linting import codes
from tests.lint.test_uwsgi_serves import serving

pytestmark = pytest.mark.slow

APPLICATION = "module = served:one\nmaster = true"


@pytest.fixture(scope="session")
def uwsgi_313(tmp_path_factory):
    """Return a uWSGI for Python 3.13: that of PYTHON313, or python3.13, or none."""
    python = os.environ.get("PYTHON313") or shutil.which("python3.13")
    if not python or subprocess.run([python, "-V"], capture_output=True, check=False).returncode:
        pytest.skip("there is no Python 3.13 here: PYTHON313=/path/to/python3.13")
    folder = tmp_path_factory.mktemp("python313")
    subprocess.run([python, "-m", "venv", folder], check=True)
    install = [folder / "bin/pip", "install", "--quiet", "--no-cache-dir", "uwsgi==2.0.31"]
    if subprocess.run(install, check=False).returncode:
        pytest.skip("uWSGI cannot be downloaded, or not be built with that Python")
    return folder / "bin/uwsgi"


@pytest.mark.parametrize("more", ["", "\nlazy-apps = true", "\nenable-threads = true"])
def test_each_worker_aborts_by_py_call_osafterfork(more, uwsgi_313, tmp_path):
    """The second one, too, and whenever the application is loaded."""
    text = f"{APPLICATION}\npy-call-osafterfork = true{more}"
    assert "UW118" in codes(text, known=Known(python=(3, 13)))
    with serving(tmp_path, text, uwsgi=uwsgi_313) as (_, log):
        until(lambda: log.read_text().count("Mutex_Unlock: unlocking") > 1, "another abort")
        assert "killed by signal 6" in log.read_text()


@pytest.mark.parametrize(
    "text",
    [
        APPLICATION,
        f"{APPLICATION}\npy-call-uwsgi-fork-hooks = true",
        f"{APPLICATION}\npy-call-osafterfork = true\npy-call-uwsgi-fork-hooks = true",
    ],
)
def test_workers_live_without_it_or_with_the_other_hooks(text, uwsgi_313, tmp_path):
    """They serve, as the linter says."""
    assert "UW118" not in codes(text, known=Known(python=(3, 13)))
    with serving(tmp_path, text, uwsgi=uwsgi_313) as (path, _):
        assert ask(path).body == b"one /"
