"""The action `ab`: its steps as GitHub runs them, in a repository, with what `gh` would post."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
import yaml

from tests.kit.lab_process import BIN, ROOT, until

ACTION = yaml.safe_load((ROOT / "ab" / "action.yml").read_text())
APP = "def application(environ, start):\n    start('200 OK', [])\n    return [b'hello']\n"
INI = "[uwsgi]\nhttp-socket = :8000\nmodule = shop\nmaster = true\nneed-app = true\nchdir = %d\n"
HOSTILE = "$(touch${IFS}planted);`touch${IFS}planted`"
"""A branch's name that a shell must not read."""

LAB = """\
#!/bin/sh
echo "::add-mask::data of the application"
printf '%s\\n' "$@" > "$HOME/words"
for word; do [ "$before" = --markdown ] && file=$word; before=$word; done
[ {status} = 1 ] || echo "## Performance: new / old" > "$file"
exit {status}
"""
"""A lab that ends with a status, and without a result where a version does not run."""

GH = """\
#!{python}
import json, os, sys
home = os.environ["HOME"]
words = sys.argv[1:]
body = next((open(w[6:]).read() for w in words if w.startswith("body=@")), None)
with open(home + "/gh.ndjson", "a") as log:
    log.write(json.dumps({{"words": words, "body": body, "token": os.environ["GH_TOKEN"]}}) + "\\n")
if os.environ.get("FORBIDDEN"):
    sys.exit("gh: Resource not accessible by integration (HTTP 403)")
if "--jq" in words and os.path.exists(home + "/comment"):
    print(open(home + "/comment").read())
"""
"""What GitHub's command is asked, and its answer: the id of the comment that is there."""


def git(folder, *words):
    """Run git, and return what it says."""
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    command = ("git", *who, *words)
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def runner(tmp_path):
    """Return a runner with a pull request checked out: `main`, and a merge of the head into it."""
    work, temp = tmp_path / "work", tmp_path / "temp"
    work.mkdir()
    (temp / "lab-ab" / "bin").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gh").write_text(GH.format(python=BIN / "python"))
    (tmp_path / "bin" / "gh").chmod(0o755)
    # As any runner has, and no system where Python has a number in its name alone.
    (tmp_path / "bin" / "python3").symlink_to(os.path.realpath(sys.executable))
    git(work, "init", "-q", "-b", "main")
    (work / "shop.py").write_text(APP)
    (work / "uwsgi.ini").write_text(INI)
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", "one")
    base = git(work, "rev-parse", "HEAD").strip()
    git(work, "checkout", "-q", "-b", HOSTILE)
    (work / "shop.py").write_text(APP + "# the same\n")
    git(work, "commit", "-q", "-a", "-m", HOSTILE)
    # The base has moved on: what came to it is not the head's.
    git(work, "checkout", "-q", "main")
    git(work, "commit", "-q", "--allow-empty", "-m", "later")
    git(work, "update-ref", "refs/remotes/origin/main", "main")
    git(work, "checkout", "-q", "--detach", HOSTILE)
    return SimpleNamespace(folder=tmp_path, work=work, temp=temp, base=base)


def use_lab(runner, text=None):
    """Put the lab in its place: that of these tests, or a program of another text."""
    path = runner.temp / "lab-ab" / "bin" / "lab"
    path.unlink(missing_ok=True)
    if text is None:
        path.symlink_to(BIN / "lab")
    else:
        path.write_text(text)
        path.chmod(0o755)


def expand(text, runner, inputs, github, outputs):
    """Return a value with its expressions filled in, as far as the action uses them."""

    def value(match):
        room, _, name = match[1].partition(".")
        if room == "steps":
            return outputs.get(name.rpartition(".")[2], "")
        return str({"inputs": inputs, "github": github}[room].get(name, ""))

    return re.sub(r"\$\{\{ ([\w.-]+) \}\}", value, text)


def use(runner, *, head="shop/shop", event=True, variables=None, **given):
    """Run the action's scripts but the installation; return how they ended and what they said."""
    inputs = {name: definition["default"] for name, definition in ACTION["inputs"].items()}
    inputs |= {name.replace("_", "-"): value for name, value in given.items()}
    github = {
        "token": "secret",
        "event.pull_request.number": "7" if event else "",
        "event.pull_request.head.repo.full_name": head if event else "",
    }
    environ = {
        "PATH": f"{runner.folder / 'bin'}:{os.environ['PATH']}",
        "HOME": str(runner.folder),
        "RUNNER_TEMP": str(runner.temp),
        "GITHUB_STEP_SUMMARY": str(runner.folder / "summary.md"),
        "GITHUB_OUTPUT": str(runner.folder / "output"),
        "GITHUB_REPOSITORY": "shop/shop",
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_RUN_ID": "1",
        "GITHUB_BASE_REF": "main" if event else "",
        **(variables or {}),
    }
    outputs, printed, status = {}, "", 0
    for step in ACTION["runs"]["steps"]:
        if "run" not in step or step["name"] == "Install":
            continue
        if step["name"] == "Comment" and not (event and inputs["comment"] == "true"):
            continue
        fill = {k: expand(v, runner, inputs, github, outputs) for k, v in step["env"].items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=runner.work / inputs["working-directory"] if "working-directory" in step
            else runner.work,
            env=environ | fill, capture_output=True, text=True, check=False,
        )  # fmt: skip
        printed += done.stdout + done.stderr
        status = done.returncode
        if status:
            break
        written = (runner.folder / "output").read_text().split()
        outputs = dict(line.split("=", 1) for line in written)
    return status, printed


def posted(runner):
    """Return what `gh` was asked to write."""
    log = runner.folder / "gh.ndjson"
    calls = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return [call for call in calls if call["body"] is not None]


@pytest.mark.parametrize(
    ("status", "ends", "said"),
    [(0, 0, ""), (3, 0, "::warning title=lab ab::this runner could not tell"),
     (99, 99, "::error title=lab ab::a limit is crossed"),
     (1, 1, "::error title=lab ab::it ended with status 1"),
     (2, 2, "::error title=lab ab::it ended with status 2")],
)  # fmt: skip
def test_the_job_ends_as_the_comparison_does(runner, status, ends, said):
    """But for a runner that cannot tell, which is a warning; the comment is written before."""
    use_lab(runner, LAB.format(status=status))
    code, output = use(runner, config="uwsgi.ini")
    assert code == ends, output
    assert said in output
    (comment,) = posted(runner)
    assert comment["token"] == "secret"
    result = "## Performance: no result" if status == 1 else "## Performance: new / old"
    assert result in comment["body"]
    assert result in (runner.folder / "summary.md").read_text()


def test_a_comment_is_made_once_and_edited_from_then_on(runner):
    """Of the bot's own, and found by a mark of the application's."""
    use_lab(runner, LAB.format(status=0))
    use(runner, config="uwsgi.ini")
    (first,) = posted(runner)
    assert "POST" in first["words"]
    assert "repos/shop/shop/issues/7/comments" in first["words"]
    assert first["body"].startswith("<!-- lab ab: performance -->\n")
    assert "(https://github.example/shop/shop/actions/runs/1)" in first["body"]
    (runner.folder / "comment").write_text("12\n13")
    use(runner, config="uwsgi.ini")
    *_, second = posted(runner)
    assert "PATCH" in second["words"]
    assert "repos/shop/shop/issues/comments/12" in second["words"]
    log = (runner.folder / "gh.ndjson").read_text()
    assert "github-actions[bot]" in log
    assert "startswith(env.MARK)" in log


def test_a_fork_gets_no_comment(runner):
    """Its token could not write one."""
    use_lab(runner, LAB.format(status=0))
    code, output = use(runner, config="uwsgi.ini", head="stranger/shop")
    assert code == 0
    assert "No comment, as the head is of another repository" in output
    assert not posted(runner)


def test_a_job_without_the_right_to_comment_is_judged_all_the_same(runner):
    """With a warning."""
    use_lab(runner, LAB.format(status=99))
    code, output = use(runner, config="uwsgi.ini", variables={"FORBIDDEN": "1"})
    assert code == 99
    assert "::warning title=lab ab::no comment could be written" in output


def test_the_head_is_compared_with_what_it_left(runner):
    """Not with what its base has become; every other word is passed on as it is."""
    use_lab(runner, LAB.format(status=0))
    use(runner, config="uwsgi.ini", path="/a b", fail_if="cpu > 1.1\n\np99 > 2\n",
        arguments="--setup\ntrue; touch planted\n")  # fmt: skip
    words = (runner.folder / "words").read_text().splitlines()
    assert words[-3:] == ["--", runner.base, "HEAD"]
    assert words[1:9] == [
        "--path", "/a b", "--config", "uwsgi.ini", "--fail-if", "cpu > 1.1", "--fail-if", "p99 > 2",
    ]  # fmt: skip
    assert words[9:11] == ["--setup", "true; touch planted"]


def test_without_a_pull_request_the_old_revision_is_named(runner):
    """As on a push."""
    use_lab(runner, LAB.format(status=0))
    code, output = use(runner, config="uwsgi.ini", event=False)
    assert (code, "say which revision is the old one" in output) == (2, True)
    code, output = use(runner, config="uwsgi.ini", event=False, old="main")
    assert code == 0, output


def test_what_is_printed_is_no_command_to_the_runner(runner):
    """An application's output stands between a stop and its own token."""
    use_lab(runner, LAB.format(status=0))
    _, output = use(runner, config="uwsgi.ini")
    assert re.search(
        r"^::stop-commands::(\w{32})\n::add-mask::data of the application\n::\1::$",
        output, re.MULTILINE,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["base", "head", "old"])
def test_a_name_is_a_name(runner, name):
    """A branch may be called like a command."""
    use_lab(runner, LAB.format(status=0))
    git(runner.work, "update-ref", f"refs/remotes/origin/{HOSTILE}", "main")
    given = {"old": HOSTILE} if name == "old" else {}
    variables = {"base": {"GITHUB_BASE_REF": HOSTILE}, "head": {"GITHUB_HEAD_REF": HOSTILE}}
    code, output = use(runner, config="uwsgi.ini", variables=variables.get(name), **given)
    assert code == 0, output
    assert not list(runner.folder.rglob("planted"))


@pytest.mark.slow
def test_the_lab_is_installed_with_what_it_needs(runner):
    """From the repository of the action, as GitHub has it there, into a folder of the job."""
    source = runner.folder / "source"
    git(runner.folder, "clone", "-q", str(ROOT), str(source))
    step = ACTION["runs"]["steps"][0]
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=runner.work, capture_output=True, text=True, check=False,
        env=os.environ | {
            "RUNNER_TEMP": str(runner.temp), "SOURCE": str(source / "ab"), "FIB_BUILD": "pure",
            "WANTED": "gunicorn\n",
        },
    )  # fmt: skip
    if "No matching distribution" in done.stderr:
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stderr
    (runner.work / "gunicorn.conf.py").write_text("wsgi_app = 'shop'\n")
    small = "--blocks\n2\n--window\n0.3\n--warmup\n0.1"
    git(runner.work, "add", "-A")
    git(runner.work, "commit", "-q", "-m", "gunicorn")
    code, output = use(
        runner, config="gunicorn.conf.py", arguments=small, fail_if="cpu > 9", old="HEAD"
    )
    assert code == 0, output


@pytest.mark.slow
def test_two_versions_are_compared_in_a_repository(runner):
    """By the lab itself, with a branch that is called like a command."""
    use_lab(runner)
    small = "--blocks\n2\n--window\n0.3\n--warmup\n0.1\n--new-reply"
    code, output = use(
        runner, config="uwsgi.ini", arguments=small, fail_if="cpu > 9", old=HOSTILE,
        variables={"CI": "true"},
    )  # fmt: skip
    assert code == 0, output
    (comment,) = posted(runner)
    assert "| CPU, µs/request |" in comment["body"]
    assert until(lambda: list((runner.temp / "lab-ab-results").glob("*/run.json")), "the run")
    assert not list(runner.folder.rglob("planted"))
