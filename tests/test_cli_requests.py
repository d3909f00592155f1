"""A mix of requests from the command line to the report, and where its secrets are not."""

from __future__ import annotations

import json
from base64 import b64decode

import pytest

from lab.model.runtime import without_values
from tests.kit.lab_process import SITES, SMALL, compare, header, run, trials

SHOP = """\
### weight: 3
GET /mine
Cookie: id=...
### status: 302
POST /cart
Content-Type: application/json

{"item": 3}
### weight: 2
GET /login/
"""
SITE = ("--app", "shop_site:application", "--chdir", str(SITES), "--no-confirm")


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """Return the folder in which two profiles were asked for a mix, and what was printed."""
    folder = tmp_path_factory.mktemp("mix")
    (folder / "shop.http").write_text(SHOP)
    mix = ("--requests", "shop.http", "--cookie", "id=hunter2", "--writes")
    done = compare("lab", "run", "tuned", "bare", *SITE, *mix, *SMALL, cwd=folder)
    return folder, done.stdout, done.stderr


@pytest.mark.slow
def test_a_mix_is_measured_and_each_request_has_its_row(compared):
    """All replies are right; what was read, and what varies, is said before the first trial."""
    folder, printed, stderr = compared
    for trial in trials(folder):
        window = trial["windows"][0]
        assert window["errors"] == {}
        assert (
            sum(sum(request["latency"].values()) for request in window["requests"]) == window["ok"]
        )
    assert "p50 of each request, and its errors" in printed
    assert "shop.http: 3 requests; requests.http of the run's folder has them" in stderr
    assert "/login/: 64 of 261 bytes differ from reply to reply (csrfmiddlewaretoken)" in stderr


@pytest.mark.slow
def test_a_secret_is_in_no_file_of_a_run(compared):
    """Its name is, so that the run can be repeated."""
    folder, *_ = compared
    run_folder = next(folder.glob("results/*"))
    assert all(b"hunter2" not in path.read_bytes() for path in run_folder.iterdir())
    assert "Cookie: id=...\n" in (run_folder / "requests.http").read_text()
    assert "--cookie id=..." in json.loads((run_folder / "run.json").read_text())["command"]
    assert run("lab", "report", str(run_folder), cwd=folder).returncode in {0, 3}


@pytest.mark.slow
def test_a_body_is_posted_as_it_is_typed(tmp_path):
    """With its headers, and every reply is checked."""
    body = ("--path", "/cart", "--status", "302", "--data", '{"item": 3}')
    headers = ("--header", "Content-Type: application/json", "--cookie", "sessionid=3f9c")
    compare("lab", "run", "tuned", *SITE, *body, *headers, "--writes", *SMALL, cwd=tmp_path)
    (request,) = header(tmp_path)["plan"]["arms"][0]["workload"]["requests"]
    assert b64decode(request["expect"]["body"]) == b'application/json {"item": 3}'
    assert all(trial["windows"][0]["errors"] == {} for trial in trials(tmp_path))


def test_a_command_is_recorded_without_its_secrets():
    """However an option is typed."""
    words = (
        "run",
        "--cookie=a=1",
        "--cook",
        "b=2",
        "--header",
        "Cookie: c=3; d=4",
        "--header=X: y",
    )
    assert without_values(words) == (
        "run", "--cookie=a=...", "--cook", "b=...", "--header", "Cookie: c=...; d=...",
        "--header=X: y",
    )  # fmt: skip
