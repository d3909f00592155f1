"""Good files of production, reduced from what public projects do well, pass without a finding."""

import subprocess
from pathlib import Path

import pytest

from lab.config.configuration import Known
from lab.config.reading import in_container
from lab.lint.flaw import Severity
from lab.lint.lint import lint
from tests.kit.lab_process import BIN

GOOD = Path(__file__).with_name("good")

FILES = sorted(path for path in GOOD.glob("*/*") if path.is_file())


@pytest.mark.parametrize("path", FILES, ids=[f"{path.parent.name}-{path.name}" for path in FILES])
def test_by_default_it_passes(path):
    """Nothing but remarks, of a machine's files and of a container's; and each is strict."""
    known = Known(confined=(GOOD,))
    linted = lint(str(path), known, container=path.parent.name == "container")
    counted = [flaw.message for flaw in linted.flaws if flaw.severity is not Severity.REMARK]
    assert not counted
    assert linted.config.server != "uWSGI" or linted.config.on("strict")


def test_all_servers_are_among_them():
    """uWSGI's ini and YAML, gunicorn's module, granian's command."""
    assert {path.suffix for path in FILES} == {".ini", ".yaml", ".py", ".granian"}


@pytest.mark.parametrize("path", sorted(GOOD.glob("*/gunicorn.conf.py")), ids=str)
def test_gunicorn_takes_its_file(path, tmp_path):
    """`--check-config` loads it and the application."""
    (tmp_path / "shop.py").write_text("def app(environ, start):\n    return []\n")
    command = [BIN / "gunicorn", "--check-config", "--config", path, "shop:app"]
    assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 0


@pytest.mark.parametrize("folder", ["docker", "deploy"])
def test_a_folder_called_docker_is_a_container_s(folder, tmp_path, monkeypatch):
    """So that a port that an image opens is a remark."""
    monkeypatch.chdir(tmp_path)
    assert in_container(tmp_path / folder / "uwsgi.ini") is (folder == "docker")


@pytest.mark.parametrize(
    ("address", "container", "severity"),
    [(":8000", False, "dangerous"), (":8000", True, "remark"), (":$(PORT)", False, "remark")],
)
def test_a_port_that_others_publish_is_a_remark(address, container, severity, tmp_path):
    """UW310: of a container, or of a platform that gives the port."""
    path = tmp_path / "uwsgi.ini"
    path.write_text(f"[uwsgi]\nhttp-socket = {address}\nmodule = shop:app\n")
    flaws = lint(str(path), Known(), container=container).flaws
    assert [flaw.severity for flaw in flaws if flaw.code == "UW310"] == [severity]
