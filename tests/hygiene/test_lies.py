"""Servers that are right until they are measured: no figure of theirs is ever printed."""

from __future__ import annotations

import os
import threading
from contextlib import ExitStack, contextmanager

import pytest

from tests.hygiene.conftest import PEER, write_peer
from tests.kit.lab_process import run, summary, trials
from tests.kit.replies import PONG
from tests.kit.socket_server import replying

LIES = {
    "status": "status",
    "body": "body",
    "truncated": "truncated",
    "closed": "closed",
    "reset": "reset",
    "refused": "refused",
}
"""Fault of tests/hygiene/peer.py -> class of error that it must be counted as."""

SIZES = ("--workload", "hello", "--connections", "8", "--blocks", "1", "--window", "0.2",
         "--warmup", "0.1")  # fmt: skip


@contextmanager
def stale_server(place):
    """Serve the right reply on each port that the file *place* will name, as a server of before."""
    ended = threading.Event()

    def serve():
        served = set()
        with ExitStack() as servers:
            while not ended.wait(0.01):
                port = int(place.read_text()) if place.exists() else None
                if port not in {None, *served}:
                    servers.enter_context(replying(PONG, port=port))
                    served.add(port)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.fixture(scope="module")
def lied(tmp_path_factory):
    """Return the folder and the command of one run of an honest server and all the others."""
    folder = tmp_path_factory.mktemp("lies")
    names = [write_peer(folder, fault) for fault in ("none", *LIES, "dies")]
    (folder / "unstartable.toml").write_text(
        'summary = "Refuse to start"\n'
        'run = [["{python}", "-c", "raise SystemExit(\'line one\\\\nno licence found\')"]]\n'
    )
    partner = folder / "partner"
    (folder / "widowed.toml").write_text(
        'summary = "Go on without the second command"\nkeepalive = true\n'
        f'run = [["sh", "-c", "echo $$ > {partner}; echo partner is up; exec sleep 60"], '
        f'["{{python}}", "{PEER}", "{{port}}", "widowed", "Pong!", "{partner}"]]\n'
    )
    names += [str(folder / f"{name}.toml") for name in ("unstartable", "widowed")]
    names.append(write_peer(folder, "absent", str(folder / "port")))
    with stale_server(folder / "port"):
        done = run("lab", "run", *names, *SIZES, "--full", cwd=folder)
    assert "Traceback" not in done.stderr
    return folder, done


def last_trial(folder, profile):
    """Return the trial of *profile* that counts."""
    return [trial for trial in trials(folder) if trial["slot"]["arm"] == profile][-1]


def row(folder, profile):
    """Return what the summary says of *profile*."""
    return next(
        candidate for candidate in summary(folder)["profiles"] if candidate["name"] == profile
    )


@pytest.mark.parametrize(("fault", "kind"), LIES.items())
def test_a_lie_is_counted_by_its_class_and_has_no_figure(lied, fault, kind):
    """The trial does not count; the report gives class and number, as they were recorded."""
    folder, done = lied
    (window,) = last_trial(folder, fault)["windows"]
    assert max(window["errors"], key=window["errors"].get) == kind
    summary_row = row(folder, fault)
    assert (summary_row["valid"], summary_row["values"]) == (0, {})
    reasons = {finding["gate"]: finding["reason"] for finding in summary_row["findings"]}
    assert f"{window['errors'][kind]:,} {kind}" in reasons["errors"]
    assert table_row(done.stdout, fault)[:5] == ["-"] * 5


def table_row(text, profile):
    """Return the cells of *profile* in the table of measurements."""
    table = text.partition("\nMeasured\n")[2].partition("\n\n")[0]
    return next(line.split()[1:] for line in table.splitlines() if line.startswith(profile))


def test_a_broken_server_fails_the_command(lied):
    """With 1, which says that no quieter machine would help; the banner names who it was."""
    folder, done = lied
    assert done.returncode == summary(folder)["exit_code"] == 1
    never, always, *_ = summary(folder)["banners"]
    assert never.startswith("Did not start: unstartable, absent.")
    assert always.startswith(f"Failed in every trial: {', '.join(LIES)}, dies, widowed.")


def test_the_others_are_measured(lied):
    """All have their trial, and the honest one has only right replies."""
    folder, _ = lied
    done = {(trial["slot"]["arm"], trial["slot"]["role"]) for trial in trials(folder)}
    names = {"none", *LIES, "dies", "unstartable", "widowed", "absent"}
    assert done == {("none", "a/a")} | {(name, "profile") for name in names}
    (window,) = last_trial(folder, "none")["windows"]
    assert window["ok"] > 0
    assert window["errors"] == {}


@pytest.mark.parametrize(
    ("name", "what", "log"),
    [
        (
            "dies",
            "the server ended before the window's end: python ended with exit status 3",
            "out of memory in row 7",
        ),
        (
            "widowed",
            "the server ended before the window's end: sh ended with signal 9",
            "partner is up",
        ),
        ("unstartable", "python ended with exit status 1", "no licence found"),
    ],
)
def test_a_dead_server_is_told_with_the_end_of_its_log(lied, name, what, log):
    """In the trial, in the report, and at once on standard error."""
    folder, done = lied
    trial = last_trial(folder, name)
    assert trial["failure"] == what
    assert trial["log"][-1] == log
    assert log in done.stderr
    reasons = {finding["gate"]: finding["reason"] for finding in row(folder, name)["findings"]}
    assert reasons["server died"] == f"{what}; its log ends: {log}"


def test_another_servers_right_reply_is_no_figure(lied):
    """A server of before that still has the port answers well, and is named by its process."""
    folder, _ = lied
    trial = last_trial(folder, "absent")
    assert f"comes from another server: process {os.getpid()}" in trial["failure"]
    assert trial["windows"] == []
