"""A disk that is full, or must not be written: said in a line, and nothing of before is lost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from lab.bench.store.folder import FORMAT, RunHeader, RunWriter, write_text
from lab.errors import ResultsError
from tests.hygiene.conftest import write_peer
from tests.kit.lab_process import BIN, ROOT, compare, run, started, trials, until
from tests.kit.scripted import plan

SIZES = ("--connections", "4", "--window", "0.1", "--warmup", "0.1")
HELLO = ("--workload", "hello", *SIZES)

AS_ROOT = "unshare --user --map-root-user --mount python -m pytest tests/hygiene/test_full_disk.py"
"""Anybody may mount in namespaces of their own, where the kernel allows those."""


@pytest.fixture
def disk(tmp_path):
    """Return what mounts a disk of 1 MB in a folder; it is unmounted at the end."""
    mounted = []

    def mount(folder):
        folder.mkdir()
        command = ("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder))
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            why = done.stderr.partition("\n")[0]
            pytest.skip(f"a small disk cannot be mounted: {why} (without root: {AS_ROOT})")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(("umount", "-l", str(folder)), check=True)


def leave(folder, kilobytes):
    """Fill the disk of *folder* until so much is left."""
    free = shutil.disk_usage(folder).free
    with (folder / "filler").open("wb", buffering=0) as file, suppress(OSError):
        file.write(b"x" * (free - kilobytes * 1024))


def earlier_run(results):
    """Leave a run of before under *results*; return what gives its files' contents."""
    writer = RunWriter(results, RunHeader(FORMAT, "lab run a", "engine", 0.0, plan("a"), {}, {}))
    writer.write_header()
    writer.close()
    return lambda: {path.name: path.read_bytes() for path in writer.folder.iterdir()}


@pytest.mark.parametrize(
    ("left", "files"), [(0, ("run.json",)), (40, ("summary.json", "report.md", "report.html"))]
)
def test_a_full_disk_is_told(tmp_path, disk, marked, left, files):
    """At the start, and at the report: the file is named, the run of before is as it was."""
    results = disk(tmp_path / "results")
    before = (earlier := earlier_run(results))()
    leave(results, left)
    peer = write_peer(tmp_path, "none")
    done = run("lab", "run", peer, *HELLO, "--blocks", "1", cwd=tmp_path)
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert any(f"/{name}: cannot be written" in done.stderr for name in files), done.stderr
    assert "Traceback" not in done.stderr
    assert not marked()
    assert earlier() == before


@pytest.mark.costly
def test_a_disk_that_fills_up_keeps_the_finished_trials(tmp_path, disk, marked):
    """The run ends at the first trial that has no room; those before it are reported."""
    results = disk(tmp_path / "results")
    peer = write_peer(tmp_path, "none")
    with started("lab", "run", peer, *HELLO, "--blocks", "50", cwd=tmp_path) as lab:
        until(lambda: trials(tmp_path), "the first trial")
        leave(results, 0)
        finished = trials(tmp_path)
        assert lab.wait(60) == 1
    output = (tmp_path / "output").read_text()
    assert "/trials.ndjson: " in output
    assert "the trials before this one are intact" in output
    assert "Traceback" not in output
    assert not marked()
    assert trials(tmp_path)[: len(finished)] == finished
    report = json.loads(run("lab", "report", "--json", cwd=tmp_path).stdout)
    kept = {(trial["slot"]["block"], trial["slot"]["position"]) for trial in trials(tmp_path)}
    assert report["trials"]["measured"] == len(kept)


@pytest.mark.slow
def test_a_log_without_room_does_not_stop_its_server(tmp_path, disk, monkeypatch):
    """uWSGI's request log ends where the disk does; every request is answered all the same."""
    folder = disk(tmp_path / "tmp")
    monkeypatch.setenv("TMPDIR", str(folder))
    leave(folder, 16)
    compare("lab", "run", "baseline", *SIZES, "--blocks", "1", cwd=tmp_path)
    for trial in trials(tmp_path):
        assert trial["failure"] is None
        (window,) = trial["windows"]
        assert window["errors"] == {}
        # Less than a byte a request: the warm-up's lines have filled the disk.
        assert trial["readings"]["server.logged"] < window["ok"]


def test_a_temporary_file_without_room_is_named(tmp_path, disk, monkeypatch, marked):
    """A configuration that is filled in for the trial, on a disk of 8 kB; and nothing is left."""
    folder = disk(tmp_path / "tmp")
    monkeypatch.setenv("TMPDIR", str(folder))
    leave(folder, 8)
    peer = Path(write_peer(tmp_path, "none"))
    peer.write_text(f'fill = ["none.conf"]\n{peer.read_text()}')
    peer.with_suffix(".conf").write_text("#" * 65536)
    done = run("lab", "run", str(peer), *HELLO, "--blocks", "1", cwd=tmp_path)
    assert done.returncode == 1
    message = done.stderr.splitlines()[-1]
    assert message.startswith(f"lab: {folder}/lab-"), done.stderr
    assert "/none.conf: cannot be written: No space left on device" in message
    assert not marked()
    assert [path.name for path in folder.iterdir()] == ["filler"]


def test_a_folder_that_must_not_be_written_is_named(tmp_path, marked):
    """Before anything is measured; /proc takes no file, not even root's."""
    peer = write_peer(tmp_path, "none")
    done = run("lab", "run", peer, *HELLO, "--results", "/proc/results", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("lab: /proc/results: cannot be written: ")
    assert not marked()


@pytest.mark.costly
@pytest.mark.parametrize(
    ("words", "status"), [(["list"], 1), (["lint", "profiles/tuned.ini"], 2)], ids=["list", "lint"]
)
def test_an_output_that_cannot_be_written_is_told(words, status):
    """In one line, as of `lab list > file` on a disk that is full; 1 of the linter is findings."""
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device
        done = subprocess.run(
            [BIN / "lab", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            cwd=ROOT,
        )
    assert done.returncode == status
    assert done.stderr == "lab: the output could not be written: No space left on device\n"


@pytest.mark.costly
@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["list"], 0),
        (["list", "--json"], 0),
        (["--help"], 0),
        (["report", "ladder", "--markdown"], 0),
        (["report", "ladder", "--fail-if", "cpu(tuned/baseline) > 0.01"], 99),
    ],
)
def test_an_output_that_nobody_reads_any_more_ends_in_silence(words, status):
    """As of `lab list | head -1`; the exit status is the command's, as it is without `head`."""
    words += ["--results", "docs/runs"] * (words[0] == "report")
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as pipe:  # noqa: PTH123 - a descriptor
        done = subprocess.run(
            [BIN / "lab", *words], stdout=pipe, stderr=subprocess.PIPE, text=True, check=False,
            cwd=ROOT,
        )  # fmt: skip
    assert done.returncode == status
    assert "rror" not in done.stderr
    assert status or not done.stderr


def test_what_is_no_file_is_written_to_and_not_replaced(tmp_path):
    """`--html /dev/stdout` prints; a rename would have put a file in the device's place."""
    link = tmp_path / "full"
    link.symlink_to("/dev/full")
    with pytest.raises(ResultsError, match="full: cannot be written: No space left on device"):
        write_text(link, "text")
    assert link.readlink() == Path("/dev/full")
