"""Files for CI, ours and those that others copy: what GitHub's and GitLab's own checkers say."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
import yaml

from tests.kit.lab_process import BIN, ROOT

WORKFLOWS = (
    "templates/performance.yml", ".github/workflows/check.yml", ".github/workflows/performance.yml",
    ".github/workflows/site.yml",
)  # fmt: skip
ACTIONS = ("action.yml", "ab/action.yml")
FORMS = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob(".github/ISSUE_TEMPLATE/*.yml"))
GITLAB = ("templates/lint.yml", "templates/performance.gitlab-ci.yml")
OURS = re.compile(r"uses: YOU/uwsgi-fibonacci-lab\S*@main")
"""This project's own action, whose commit its reader chooses."""

ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"


def ended(*command, cwd):
    """Run a checker; it finds nothing."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def scripts():
    """Return each shell script of the files, by its file and name."""
    by_name = {}
    for name in ACTIONS:
        for step in yaml.safe_load((ROOT / name).read_text())["runs"]["steps"]:
            if "run" in step:
                by_name[f"{name}: {step['name']}"] = step["run"]
    for name in WORKFLOWS:
        for job in yaml.safe_load((ROOT / name).read_text())["jobs"].values():
            for step in job["steps"]:
                if "run" in step:
                    by_name[f"{name}: {step['run']}"] = step["run"]
    job = yaml.safe_load((ROOT / GITLAB[1]).read_text())["performance"]
    by_name[GITLAB[1]] = "\n".join((*job["before_script"], *job["script"]))
    return by_name


@pytest.mark.costly
@pytest.mark.parametrize(
    ("schema", "name"),
    [
        *(("vendor.github-actions", name) for name in ACTIONS),
        *(("vendor.github-workflows", name) for name in WORKFLOWS),
        *(("vendor.github-issue-forms", name) for name in FORMS),
        *(("vendor.gitlab-ci", name) for name in GITLAB),
    ],
)
def test_a_file_for_ci_is_as_its_schema_asks(schema, name, tmp_path):
    """Of a template with inputs what is left when they are filled in."""
    text = (ROOT / name).read_text()
    _, inputs, job = text.partition("\n---\n")
    text = re.sub(r"\$\[\[ inputs\.\w+ \]\]", "x", job) if inputs else text
    (tmp_path / "file.yml").write_text(text)
    ended(BIN / "check-jsonschema", "--builtin-schema", schema, "file.yml", cwd=tmp_path)


@pytest.mark.parametrize("name", [*WORKFLOWS, *ACTIONS])
def test_what_comes_from_a_pull_request_is_no_code(name, tmp_path):
    """Nor has a step more rights than it needs, nor an action a version that may change."""
    text = OURS.sub(f"uses: YOU/uwsgi-fibonacci-lab@{'0' * 40}", (ROOT / name).read_text())
    folder = tmp_path / (".github/workflows" if name in WORKFLOWS else "")
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / ("action.yml" if name in ACTIONS else "file.yml")
    file.write_text(text)
    ended(BIN / "zizmor", "--offline", "--min-severity", "medium", file, cwd=tmp_path)


@pytest.mark.parametrize("name", scripts())
def test_a_step_has_no_expression_in_its_script(name):
    """What GitHub puts there before the shell reads it would be code."""
    assert "${{" not in scripts()[name]


@pytest.mark.parametrize("name", scripts())
def test_a_step_is_sound_shell(name, tmp_path):
    """As the runner starts it."""
    (tmp_path / "script").write_text(f"#!/bin/bash\nset -eo pipefail\n{scripts()[name]}")
    ended(BIN / "shellcheck", "script", cwd=tmp_path)


@pytest.mark.slow
def test_a_workflow_is_sound(tmp_path):
    """By actionlint, which also knows the inputs of the actions."""
    go = shutil.which("go")
    if go is None:
        pytest.skip("no go, which fetches actionlint")
    command = (go, "run", ACTIONLINT, "-shellcheck", BIN / "shellcheck", *WORKFLOWS)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if "proxy" in done.stderr or "dial tcp" in done.stderr:
        pytest.skip("actionlint cannot be fetched")
    assert done.returncode == 0, done.stdout + done.stderr
