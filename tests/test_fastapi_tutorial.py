"""docs/tutorials/fastapi.md: what it promises of the Dockerfile on it is true."""

from __future__ import annotations

import re

import pytest

from tests.kit.lab_process import BIN, SMALL, run
from tools.pages.files import DOCS
from tools.pages.migration import configuration

PAGE = "tutorials/fastapi"

APPLICATION = """
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

app = Starlette(routes=[Route("/items/{number:int}", lambda request: JSONResponse({"price": 47}))])
"""


@pytest.fixture
def shop(tmp_path):
    """Return a folder with the page's Dockerfile and an application."""
    name, text = configuration(PAGE)
    (tmp_path / name).write_text(text)
    (tmp_path / "app").mkdir()
    (tmp_path / "app/main.py").write_text(APPLICATION)
    return tmp_path


def test_the_findings_are_what_the_command_prints(shop):
    """Word for word."""
    page = (DOCS / f"{PAGE}.md").read_text()
    printed = re.search(r"\$ \.venv/bin/lab lint Dockerfile\n((?s:.*?))```", page)[1]
    done = run("lab", "lint", "Dockerfile", cwd=shop)
    assert done.stdout == printed
    assert done.returncode == 1


def test_a_dry_run_names_what_it_would_try(shop, tmp_path_factory):
    """From any folder."""
    words = ("lab", "tune", str(shop / "Dockerfile"), "--dry-run")
    done = run(*words, cwd=tmp_path_factory.mktemp("elsewhere"))
    for name in ("workers: ", "loop: ", "http = ", "log: "):
        assert name in done.stdout


@pytest.mark.peers
def test_servers_are_compared(shop, tmp_path_factory):
    """The line of the Dockerfile is served in its folder, by the packages of an environment."""
    words = (
        "lab",
        "run",
        str(shop / "Dockerfile"),
        "uvicorn",
        "granian-asgi",
        "--path",
        "/items/3",
    )
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    done = run(*words, "--python", str(BIN.parent), *SMALL, cwd=elsewhere)
    assert done.returncode in {0, 3}, done.stderr
    assert "3 profiles" in done.stderr
    assert "server died" not in done.stdout
