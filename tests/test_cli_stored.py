"""The commands that read stored runs, as a user types them; none of them starts a server."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.kit.lab_process import ROOT, run

LADDER = str(ROOT / "docs" / "runs" / "ladder")


@pytest.fixture
def another_machine(tmp_path):
    """The stored ladder, as if another processor had run it."""
    copy = tmp_path / "elsewhere"
    shutil.copytree(LADDER, copy)
    header = json.loads((copy / "run.json").read_text())
    for environment in header["environments"].values():
        environment["cpu"]["model"] = "Another CPU"
    (copy / "run.json").write_text(json.dumps(header))
    return str(copy)


def test_a_run_compared_with_itself_is_the_same(tmp_path):
    """`lab compare RUN RUN` finds no difference, in Markdown, with exit status 0."""
    done = run("lab", "compare", LADDER, LADDER, "--markdown", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "| tuned |" in done.stdout
    assert "better" not in done.stdout.split("\n\n")[1]


def test_runs_of_two_machines_are_refused(tmp_path, another_machine):
    """It ends with a line that names what differs, and both values."""
    done = run("lab", "compare", LADDER, another_machine, cwd=tmp_path)
    assert done.returncode not in (0, 99)
    assert "Another CPU" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("limit", "status"),
    [
        ("cpu(http-socket/baseline) > 0.05", 99),
        ("cpu(tuned/baseline) > 1.05", 0),
        ("errors(tuned) > 0", 0),
    ],
)
def test_a_threshold_is_an_exit_status(tmp_path, limit, status):
    """--fail-if ends with 99 where the whole interval lies beyond, and says why on stderr."""
    done = run("lab", "report", LADDER, "--fail-if", limit, cwd=tmp_path)
    assert done.returncode == status, done.stderr
    assert limit.partition(" ")[0] in done.stderr


@pytest.fixture
def limited(tmp_path):
    """The stored ladder, as if it had been run with a limit that it crosses."""
    copy = tmp_path / "limited"
    shutil.copytree(LADDER, copy)
    header = json.loads((copy / "run.json").read_text())
    header["plan"]["thresholds"] = ["cpu(http-socket/baseline) > 0.05"]
    (copy / "run.json").write_text(json.dumps(header))
    return str(copy)


def test_a_run_keeps_its_limits(tmp_path, limited):
    """The report of a red run says which limit is crossed, and ends as the run did."""
    done = run("lab", "report", limited, cwd=tmp_path)
    assert done.returncode == 99, done.stderr
    assert "failed: --fail-if 'cpu(http-socket/baseline) > 0.05'" in done.stderr
    assert "exit 99: regression: a limit of --fail-if is crossed" in done.stdout
    done = run("lab", "report", limited, "--markdown", cwd=tmp_path)
    assert (
        "## Thresholds\n\n| fail if |  | why |\n| --- | --- | --- |\n"
        "| cpu(http-socket/baseline) > 0.05 | failed | "
    ) in done.stdout
    run("lab", "report", limited, "--html", "page.html", cwd=tmp_path)
    assert "<h2>Thresholds</h2>" in (tmp_path / "page.html").read_text()


def test_a_limit_is_judged_at_each_value(tmp_path):
    """And the value is named: in a line, in Markdown, and on the page of all values."""
    words = (str(ROOT / "docs" / "runs" / "payload-sizes"), "--fail-if")
    limit = "cpu(http-go/http-uvloop) > 0.01"
    done = run("lab", "report", *words, limit, "--markdown", cwd=tmp_path)
    assert done.returncode == 99
    assert [line.split(": ")[0] for line in done.stderr.splitlines()][:2] == ["size 1k", "size 10k"]
    assert f"| size | fail if |  | why |\n| --- | --- | --- | --- |\n| 1k | {limit} | failed |" in (
        done.stdout
    )
    run("lab", "report", *words, limit, "--html", "page.html", cwd=tmp_path)
    assert "<h2>Thresholds</h2>" in (tmp_path / "page.html").read_text()


def test_other_limits_replace_those_of_the_run(tmp_path, limited):
    """As when a limit was too narrow."""
    limit = "cpu(tuned/baseline) > 1.05"
    done = run("lab", "report", limited, "--fail-if", limit, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(f"passed: --fail-if '{limit}'")


def test_a_threshold_that_means_nothing_is_refused(tmp_path):
    """A metric that there is none of is named, with those that there are."""
    done = run("lab", "report", LADDER, "--fail-if", "velocity(tuned/baseline) > 1", cwd=tmp_path)
    assert done.returncode not in (0, 99)
    assert "velocity" in done.stderr
    assert "throughput" in done.stderr


def test_a_report_is_one_page(tmp_path):
    """`lab report RUN --html FILE` writes a page under 500 KB that needs no network."""
    done = run("lab", "report", LADDER, "--html", "page.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "page.html").read_text()
    assert len(page) < 500_000
    assert 'src="http' not in page
    assert "<svg" in page
