"""What the documentation says is true: its commands run, its figures are those of a stored run."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from lab import profiles
from lab.cli.commands import cli
from tests.kit.lab_process import BIN, ROOT, SITES, SMALL, run
from tools.pages import directives
from tools.pages.files import RUNS

PAGES = directives.pages()


def _compares(command):
    """Whether it starts servers and loads them."""
    words = shlex.split(command)
    locust = words[0].endswith("locust") and "--headless" in words and "-H" not in words
    return locust or (words[0].endswith("lab") and words[1] == "run")


def commands():
    """Yield (page, command) of every line that begins with `$` in a console block."""
    for page in PAGES:
        for block in re.findall(r"```console\n(.*?)```", page.read_text(), re.DOTALL):
            for line in block.splitlines():
                if line.startswith("$ "):
                    yield page.name, line[2:].split("  #")[0].strip()


FOREIGN = frozenset({"cd", "curl", "docker", "journalctl", "kubectl", "nginx", "sudo"})
"""Programs that this project does not install: of their options nothing is known here."""

COMMANDS = sorted({words for _, words in commands()})
PROFILES = frozenset(profiles.find())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_documented_command_is_one_that_there_is(command, tmp_path):
    """Its options are known, and its profiles; what needs no server does what it says."""
    words = [word for word in shlex.split(command) if not re.match("[A-Z]+=", word)]
    program = Path(words[0]).name
    if program == "make":
        done = subprocess.run(
            ["make", "-n", *words[1:]], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    elif program == "lab" and words[1] in {"run", "selftest", "stress"}:
        context = cli.commands[words[1]].make_context(words[1], words[2:])
        own = [name for name in context.params.get("names", ()) if not name.endswith(".ini")]
        assert set(own) <= PROFILES
    elif program == "lab":
        extra = ["--results", str(RUNS)] if words[1] == "report" else []
        done = _run([*words, *extra], ROOT if words[1] != "report" else tmp_path)
        assert done.returncode in (0, 3), done.stderr
    else:
        # What `locust` takes is tried below, by a run.
        # A path that begins with a slash is the reader's own.
        paths = [word.removeprefix("$PWD/") for word in words if re.match(r"[^/.:-]+/[^:]*$", word)]
        assert not [each for each in paths if not (ROOT / each).exists()]
        assert program in FOREIGN or (BIN / program).exists()
        if program == "python" and (options := {each for each in words if each.startswith("--")}):
            assert options <= set(_run(["python", *paths, "--help"], ROOT).stdout.split())


def test_programs_of_others_are_those_that_are_documented():
    """A program that no page names any more, or that .venv has, is none of them."""
    named = {Path(shlex.split(each)[0]).name for each in COMMANDS}
    assert named >= FOREIGN
    assert not [each for each in FOREIGN if (BIN / each).exists()]


@pytest.mark.slow
@pytest.mark.parametrize("command", [each for each in COMMANDS if _compares(each)])
def test_a_documented_comparison_runs(command, tmp_path):
    """In a small size."""
    words = shlex.split(command)
    done = _small([*words, "-u", "8"] if "locust" in words[0] else words, tmp_path)
    assert done.returncode in (0, 3), done.stderr


def _small(words, tmp_path):
    """Run a comparison in a copy's worth of time: one block, two profiles where it has them all."""
    if "--app" in words:  # the reader's own application, which is one of tests/sites here
        for option in ("--app", "--path", "--chdir"):
            if option in words:
                del words[words.index(option) : words.index(option) + 2]
        own = tmp_path / "uwsgi.ini"
        own.write_text(
            "[uwsgi]\nhttp-socket = 127.0.0.1:$(PORT)\nmodule = flask_site:application\n"
            f"chdir = {SITES}\nneed-app = true\n"
        )
        words = [str(own) if word.endswith("uwsgi.ini") else word for word in words]
        words += ["--app", "flask_site:application", "--path", "/where/Ulm", "--chdir", str(SITES)]
    words = [word for word in words if word != "--quick"]
    if words[0].endswith("lab") and (len(words) == 2 or words[2].startswith("--")):
        words.insert(2, "tuned")  # instead of the whole ladder
    words = [word.replace("loadtests/", str(ROOT / "loadtests")) for word in words]
    return _run([*words, *SMALL], tmp_path)


def _run(words, cwd):
    return run(Path(words[0]).name, *words[1:], cwd=cwd)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page):
    """Relative links of a page exist."""
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_table_of_a_run_is_that_run(page):
    """The tables are what the stored runs say: `python -m tools.pages` puts them there."""
    text = page.read_text()
    assert directives.fill(text) == text
