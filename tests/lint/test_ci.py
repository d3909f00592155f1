"""What other repositories take for their CI: the hook, GitHub's action, GitLab's template."""

import json
import os
import re
import subprocess

import pytest
import yaml

from lab.config import servers
from tests.kit.lab_process import BIN, ROOT, run

ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
WRONG = "[uwsgi]\nhttp-socket = 127.0.0.1:8080\nmodule = app:app\nprocesses = four\n"


@pytest.fixture
def repository(tmp_path):
    """Make a repository with a wrong ini, and what looks like one and is none."""
    folder = tmp_path / "shop"
    for name, text in {
        "deploy/uwsgi.ini": WRONG,
        "deploy/program_uwsgi.ini": "[program:uwsgi]\ncommand = uwsgi\n",
        "deploy/uwsgi-chart.yaml": "kind: Deployment\n",
        "docs/conf.py": "project = 'shop'\n",
        "node_modules/x/uwsgi.ini": WRONG,
        ".hidden/uwsgi.ini": WRONG,
        "venv/pyvenv.cfg": "home = /usr\n",
        "venv/uwsgi.ini": WRONG,
        "gunicorn_config.py": "worker_class = 'eventlt'\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def lint(folder, *words):
    """Run `lab lint` there."""
    return run("lab", "lint", *words, cwd=folder)


def test_a_folder_is_searched_for_configurations(repository):
    """By name, and of uWSGI's by what is in them; nothing hidden, or installed."""
    done = lint(repository, ".", "--format", "json")
    assert done.returncode == 1
    assert {finding["file"] for finding in json.loads(done.stdout)} == {
        "deploy/uwsgi.ini", "gunicorn_config.py",
    }  # fmt: skip


def test_a_folder_without_any_is_said(repository):
    """A job that lints nothing would be green for ever."""
    done = lint(repository, "docs")
    servers = "uWSGI, gunicorn, granian, uvicorn or hypercorn"
    assert (done.returncode, done.stderr) == (
        2, f"lab: docs has no configuration of {servers}: give the file\n",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "is_one"),
    [("uwsgi.ini", True), ("shop.uwsgi.ini", True), ("uwsgi.yml", True), ("gunicorn.conf.py", True),
     ("deploy/gunicorn_conf.py", True), ("prod.conf.py", True), ("conf.py", False),
     ("hypercorn.toml", True), ("shop.ini", False), ("uwsgi.ini.bak", False), ("uwsgi.py", False)],
)  # fmt: skip
def test_the_hook_takes_the_same_files(name, is_one):
    """As pre-commit looks for them: anywhere in a path."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    names = "|".join(server.file_pattern for server in servers.every() if server.file_pattern)
    assert hook["files"] == f"(?:^|/)(?:{names})"
    assert bool(re.search(hook["files"], name)) is is_one


def test_the_hook_is_one():
    """By pre-commit's own judgement."""
    command = [BIN / "pre-commit", "validate-manifest", ROOT / ".pre-commit-hooks.yaml"]
    assert subprocess.run(command, check=False).returncode == 0


@pytest.mark.slow
def test_the_hook_is_installed_and_judges(repository, tmp_path):
    """By pre-commit, from this repository and a package index, with what a repository has added."""
    for words in (("init", "-q"), ("add", "deploy", "docs")):
        subprocess.run(["git", *words], cwd=repository, check=True)
    done = subprocess.run(
        [BIN / "pre-commit", "try-repo", ROOT, "lab-lint", "--all-files"], cwd=repository,
        env=os.environ | {"PRE_COMMIT_HOME": str(tmp_path / "home")}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    if "No matching distribution" in done.stdout or "ConnectionError" in done.stdout:
        pytest.skip("no package index can be reached")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "\ndeploy/uwsgi.ini:4:1  UW003 error " in done.stdout
    assert "deploy/program_uwsgi.ini" not in done.stdout


def run_action(folder, **inputs):
    """Run the action's script as GitHub does, with the lab of these tests; return how it ended."""
    programs = folder.parent / "temp/lab-lint/bin"
    programs.mkdir(parents=True)
    (programs / "lab").symlink_to(BIN / "lab")
    step = ACTION["runs"]["steps"][1]
    given = {name: definition["default"] for name, definition in ACTION["inputs"].items()} | inputs
    input_names = {
        key: re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", value)[1]
        for key, value in step["env"].items()
    }
    environ = {
        "PATH": os.environ["PATH"],
        "RUNNER_TEMP": str(folder.parent / "temp"),
        "GITHUB_STEP_SUMMARY": str(folder.parent / "summary.md"),
        **{key: given[name] for key, name in input_names.items()},
    }
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder, env=environ, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_action_annotates_and_fails(repository):
    """With a table in the summary."""
    done = run_action(repository)
    assert done.returncode == 1
    assert "::error file=deploy/uwsgi.ini,line=4,col=1,title=UW003 error::" in done.stdout
    summary = (repository.parent / "summary.md").read_text()
    assert "| deploy/uwsgi.ini:4:1 | UW003 | error |" in summary


def test_the_action_may_only_show(repository):
    """With all findings for code scanning; what cannot be read fails all the same."""
    done = run_action(repository, fail="false", sarif="lint.sarif", arguments="--ignore\nUW3\n")
    assert done.returncode == 0
    log = json.loads((repository / "lint.sarif").read_text())
    codes = {finding["ruleId"] for finding in log["runs"][0]["results"]}
    assert "UW003" in codes
    assert not [code for code in codes if code.startswith("UW3")]


def test_the_action_fails_where_nothing_is_read(repository):
    """Whatever it is told of findings."""
    assert run_action(repository, fail="false", files="docs").returncode == 2


def test_a_name_is_a_name_to_the_action(repository):
    """Inputs are no part of its script."""
    done = run_action(repository, files="$(touch planted)\n`touch planted`\n; touch planted")
    assert done.returncode == 2
    assert not list(repository.rglob("planted"))
