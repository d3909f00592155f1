"""What the documentation says is true: its commands run, its figures are those of a stored run."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from itertools import chain
from pathlib import Path

import pytest

from lab.bench import profiles
from lab.cli.commands import cli
from tests.documented import (
    ELSEWHERE,
    HERE,
    NOT_RUN,
    PAGES,
    commands,
    how,
    inline,
    listed,
    scripts,
    unknown,
    words_of,
)
from tests.kit.cases import cases
from tests.kit.lab_process import BIN, ROOT, SITES, SMALL, run
from tests.kit.running import running
from tools.pages import directives
from tools.pages.files import DOCS, RUNS

COMMANDS = sorted({command for page in PAGES for command in commands(page.read_text())})
PROFILES = frozenset(profiles.find())


def run_as(kind):
    """Return the documented commands that are run in one way; see `how`."""
    return [command for command in COMMANDS if how(command) == kind]


@cases("page", PAGES)
def test_every_command_is_run_or_named_as_not_run(page):
    """What is new gets a line in `tests/documented.py`: which test runs it, or why none does."""
    assert unknown(page.read_text()) == []


def test_a_new_command_would_be_seen():
    """In whatever way a page writes it."""
    page = (
        "text\n```console\n$ rm one\nrm: cannot\n$ rm \\\n    two   # why\n```\n"
        "- item\n\n  ```sh\n  # a remark\n  rm three\n  ```\n"
        "```yaml\njobs:\n  test:\n    steps:\n      - run: rm four\n      - run: |\n"
        "          rm five\n          rm six  # why\n```\n"
        "```yaml\njob:\n  script:\n    - rm seven\n```\n```text\n$ rm eight\n```\n"
    )
    expected = {"one", "two", "three", "four", "five", "six", "seven", "eight"}
    assert {*unknown(page)} == {f"rm {name}" for name in expected}
    assert unknown("```console\n$ lab list\n```\n") == []


def test_the_table_of_commands_is_true():
    """Each entry stands on a page, once, with a reason or a test that there is."""
    assert [command for command in listed() if command not in COMMANDS] == []
    assert len(set(listed())) == len(listed())
    assert all(NOT_RUN)
    for name in ELSEWHERE:
        path, _, function = name.partition("::")
        tree = ast.parse((ROOT / path).read_text())
        assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@cases("command", COMMANDS)
def test_a_documented_command_is_one_that_there_is(command):
    """Its program is there, its options are known, and so are its profiles and files."""
    program, *words = words_of(command)
    name = Path(program).name
    if name == "make":
        done = subprocess.run(
            ["make", "-n", *words], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    elif name == "lab":
        context = cli.commands[words[0]].make_context(words[0], words[1:])
        ours = [profile for profile in context.params.get("names", ()) if not _is_own(profile)]
        assert set(ours) <= PROFILES
    elif program.startswith(".venv") and command not in chain(*NOT_RUN.values()):
        assert (BIN / name).exists()
        # A path that begins with a slash is the reader's own.
        paths = [word for word in words if re.match(r"[^/.:-]+/[^:]*$", word)]
        assert not [path for path in paths if not (ROOT / path).exists()]
        if name == "python" and (options := {word for word in words if word.startswith("--")}):
            assert options <= set(_run(["python", *paths, "--help"], ROOT).stdout.split())


@cases("page", PAGES)
def test_a_command_in_a_sentence_is_one_that_there_is(page):
    """Its options are known; what it is given may be in capitals, or left out."""
    for command in inline(page.read_text()):
        _, name, *words = words_of(command)
        if name == "COMMAND":
            continue
        known = [
            option
            for param in (cli, cli.commands[name])
            for parameter in param.params
            for option in (*parameter.opts, *parameter.secondary_opts, "--help", "-h")
        ]
        options = [word.partition("=")[0] for word in words if word.startswith("-")]
        assert set(options) <= set(known), f"{command}: {set(options) - set(known)}"


@pytest.mark.parametrize("command", run_as("says"))
def test_what_needs_no_server_does_what_it_says(command, tmp_path):
    """As it is written; of a run it is told where the stored ones are."""
    words = _with_site_of_tests(words_of(command), tmp_path)
    of_runs = {"report", "compare"} & {words[1]}
    extra = ["--results", str(RUNS)] if of_runs else []
    done = _run([*words, *extra], tmp_path if of_runs else ROOT)
    assert done.returncode in (0, 1 if words[1] == "check" else 3), done.stderr


@pytest.fixture(scope="module")
def served():
    """Run what the pages serve; return where it answers."""
    with running("tuned") as tuned:
        yield tuned.server.endpoint.address


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
@pytest.mark.parametrize("command", run_as("asks"))
def test_a_documented_request_is_answered(command, served):
    """With what stands below it on the page, where something does."""
    here = re.sub("|".join(HERE), served, command)
    done = subprocess.run(
        ["bash", "-c", f"{here} --silent --show-error --fail"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    below = re.compile(rf"^\$ {re.escape(command)}(?:  .*)?\n(?!\$ |```)(.*)", re.MULTILINE)
    shown = [line for page in PAGES for line in below.findall(page.read_text())]
    assert [line for line in shown if line not in done.stdout] == []


@pytest.mark.parametrize(("status", "ends"), [(0, 0), (3, 0), (99, 99), (1, 1)])
def test_a_script_of_a_pipeline_ends_as_its_page_says(tmp_path, status, ends):
    """A machine that cannot tell is a warning; what a comparison ends with else, the step does."""
    lab = tmp_path / ".venv" / "bin" / "lab"
    lab.parent.mkdir(parents=True)
    lab.write_text(f"#!/bin/sh\nexit {status}\n")  # a report ends as its run does
    lab.chmod(0o755)
    page = (DOCS / "how-to" / "ci.md").read_text()
    status_scripts = [script for script in scripts(page) if "status" in script]
    assert len(status_scripts) == 1
    for script in status_scripts:
        done = subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=tmp_path, env={"GITHUB_STEP_SUMMARY": str(tmp_path / "summary")},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == ends
        assert ("too noisy to tell" in done.stdout) == (status == 3)


def test_a_pipeline_compares_the_version_before_with_the_one_after(tmp_path):
    """The ini of the page serves its own checkout, whatever else the command says."""
    page = (DOCS / "how-to" / "ci.md").read_text()
    command = next(candidate for candidate in commands(page) if "before.ini" in candidate)
    ini = re.search("```ini\n(.*?)```", page, re.DOTALL)[1]
    for name in ("before", "after"):
        (tmp_path / f"{name}.ini").write_text(ini.replace("before", name))
        (tmp_path / name / "shop").mkdir(parents=True)
        (tmp_path / name / "shop" / "wsgi.py").write_text(
            "def application(environ, start):\n"
            f"    open({str(tmp_path / name)!r} + '.asked', 'w').close()\n"
            "    start('200 OK', [])\n"
            "    return [b'item']\n"
        )
    done = run("lab", *words_of(command)[1:], *SMALL, cwd=tmp_path)
    assert done.returncode in (0, 3, 99), done.stderr
    assert {path.stem for path in tmp_path.glob("*.asked")} == {"before", "after"}, command


@pytest.mark.slow
@pytest.mark.parametrize("command", run_as("compares"))
def test_a_documented_comparison_runs(command, tmp_path):
    """In a small size."""
    words = words_of(command)
    done = _small([*words, "-u", "8"] if "locust" in words[0] else words, tmp_path)
    if "no profile can run here" in done.stderr:
        pytest.skip(done.stderr.strip())  # such as: make peers
    assert done.returncode in (0, 3, 99), done.stderr


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("command", run_as("stresses"))
def test_a_documented_stress_test_runs(command, tmp_path):
    """Without its faults: the load and what is counted are the same."""
    words = _with_site_of_tests(words_of(command), tmp_path)
    done = run("lab", *words[1:], "--fault", "none", cwd=tmp_path, timeout=240)
    assert done.returncode in (0, 3), done.stderr


def _with_site_of_tests(words, folder):
    """Replace the reader's own application, and configurations, by one of tests/sites here."""
    serves = "--app" in words or any(map(_is_own, words[2:]))
    if words[1] == "lint" or not serves:
        return words
    quoted = [word for word in words[2:] if " " in word]
    app, place = "flask_site:application", SITES
    if "uvicorn" in words:
        app, place = "loadtests.workloads.hello._asgi:app", ROOT
    named = ["--app", app, "--chdir", str(place)] * ("--app" in words)
    named += ["--chdir", str(folder)] * ("--chdir" in words and bool(quoted))
    path = [] if words[1] == "show" else ["--path", "/where/Ulm"]
    python = ["--python", str(BIN.parent)] if "--python" in words else []
    for option in ("--app", "--path", "--chdir", "--python", "--env-file"):
        if option in words:
            del words[words.index(option) : words.index(option) + 2]
    (folder / "shop").mkdir()
    site = f"import sys\nsys.path.insert(0, {str(SITES)!r})\n"
    (folder / "shop/wsgi.py").write_text(f"{site}from flask_site import application\n")
    for position, word in enumerate(words):
        replacement = folder / Path(word).name
        if word.endswith(".ini"):
            replacement.write_text(
                f"[uwsgi]\nsocket = {folder}/live.sock\nmodule = flask_site:application\n"
                f"chdir = {SITES}\nneed-app = true\nstats = :9191\n"
            )
        elif word.endswith(".conf.py"):
            replacement.write_text(f'wsgi_app = "flask_site:application"\nchdir = {str(SITES)!r}\n')
        words[position] = str(replacement) if replacement.is_file() else word
    return [*words, *named, *path, *python]


def _is_own(word):
    """Return whether a word of a command is a configuration of the reader's."""
    return word.endswith((".ini", ".conf.py", ".toml", "Dockerfile")) or " " in word


def _small(words, folder):
    """Run a comparison in a copy's worth of time: one block, two profiles where it has them all."""
    words = [word for word in _with_site_of_tests(words, folder) if word != "--quick"]
    if "--minutes" in words:  # blocks stand in its place
        place = words.index("--minutes")
        del words[place : place + 2]
    if words[0].endswith("lab") and (len(words) == 2 or words[2].startswith("--")):
        words.insert(2, "tuned")  # instead of the whole ladder
    words = [word.replace("loadtests/", str(ROOT / "loadtests")) for word in words]
    return _run([*words, *SMALL], folder)


def _run(words, cwd):
    return run(Path(words[0]).name, *words[1:], cwd=cwd)


LINKING = directives.pages()


@cases("page", LINKING)
def test_every_link_to_a_file_leads_somewhere(page):
    """Relative links of a page exist."""
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@cases("page", LINKING)
def test_every_table_of_a_run_is_that_run(page):
    """The tables are what the stored runs say: `python -m tools.pages` puts them there."""
    text = page.read_text()
    assert directives.fill(text) == text
