"""Environments with real packages, made once for all tests that ask for one; they take minutes."""

import subprocess
import sys
from pathlib import Path

import pytest

FLASK = "flask==3.1.3"


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """Return a function that makes a virtual environment, with our Python, and its packages."""
    folder = tmp_path_factory.mktemp("environments")

    def made(name, *packages):
        environment = folder / name
        _run(sys.executable, "-m", "venv", str(environment))
        _run(str(environment / "bin" / "pip"), "install", "--quiet", *packages)
        return environment

    return made


@pytest.fixture(scope="session")
def httpbin(made):
    """An environment with httpbin, and with a uWSGI of its own."""
    return made("httpbin", "httpbin==0.10.4", "uwsgi==2.0.31")


@pytest.fixture(scope="session")
def tutorial(made, tmp_path_factory):
    """An environment with the application of Flask's tutorial, and without any uWSGI."""
    environment = made("tutorial", FLASK)
    folder = tmp_path_factory.mktemp("flask")
    pip = str(environment / "bin" / "pip")
    options = ("--quiet", "--no-deps", "--no-binary", ":all:", "--dest", str(folder))
    _run(pip, "download", *options, FLASK)
    (archive,) = folder.glob("flask-*.tar.gz")
    _run("tar", "--extract", "--file", str(archive), "--directory", str(folder))
    (source,) = folder.glob("flask-*/examples/tutorial")
    _run(pip, "install", "--quiet", str(source))
    return environment


@pytest.fixture(scope="session")
def wagtail(made, tmp_path_factory):
    """An environment with Wagtail and gunicorn, and a new site of its own, its database filled."""
    environment = made("wagtail", "wagtail==8.0.1", "gunicorn==27.0.1")
    folder = tmp_path_factory.mktemp("wagtail")
    _run(str(environment / "bin" / "wagtail"), "start", "mysite", cwd=folder)
    site = folder / "mysite"
    _run(str(environment / "bin" / "python"), "manage.py", "migrate", cwd=site)
    return environment, site


def _run(*command: str, cwd: Path | None = None) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
