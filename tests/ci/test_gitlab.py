"""GitLab's recipe: its script as a runner executes it, for a merge request."""

from __future__ import annotations

import os
import subprocess

import pytest
import yaml

from tests.kit.lab_process import ROOT

JOB = yaml.safe_load((ROOT / "templates" / "performance.gitlab-ci.yml").read_text())["performance"]
LAB = """#!/bin/sh
printf '%s\\n' "$@" > words
echo '## Performance: new / old' > performance.md
exit {status}
"""


def run_script(folder, status, **variables):
    """Run the job's script with a lab that ends with a status."""
    (folder / "bin").mkdir()
    (folder / "bin" / "lab").write_text(LAB.format(status=status))
    (folder / "bin" / "lab").chmod(0o755)
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", "\n".join(JOB["script"])],
        cwd=folder, capture_output=True, text=True, check=False,
        env={"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", **variables},
    )  # fmt: skip


@pytest.mark.parametrize("status", [0, 3, 99, 1])
def test_the_job_ends_as_the_comparison_does(tmp_path, status):
    """Of which only 3 may be; what is kept is what was written."""
    done = run_script(tmp_path, status, CI_MERGE_REQUEST_DIFF_BASE_SHA="4f2c1a9")
    assert done.returncode == status
    assert JOB["allow_failure"] == {"exit_codes": [3]}
    assert (tmp_path / JOB["artifacts"]["paths"][0]).is_file()
    assert (tmp_path / "words").read_text().endswith("\n4f2c1a9\nHEAD\n")


def test_merged_results_are_compared_with_what_they_were_merged_with(tmp_path):
    """As the target may have moved on."""
    run_script(tmp_path, 0, CI_MERGE_REQUEST_TARGET_BRANCH_SHA="91be07d",
               CI_MERGE_REQUEST_DIFF_BASE_SHA="4f2c1a9")  # fmt: skip
    assert (tmp_path / "words").read_text().endswith("\n91be07d\nHEAD\n")
