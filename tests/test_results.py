"""A run's folder: what is on disk after anything that can happen to it."""

from __future__ import annotations

import errno
import json
from dataclasses import replace
from pathlib import Path

import pytest

from lab.bench.store.environment import digest
from lab.bench.store.folder import FORMAT, RunHeader, RunWriter, encode_header, find_run, read_run
from lab.errors import Interrupted, ResultsError, UsageError
from lab.model.plan import Role
from lab.model.profile import Peer, PrivateCopy
from lab.model.runtime import Alteration
from tests.kit import builders as make

STORED = sorted(path.parent for path in Path(__file__).parents[1].glob("docs/runs/*/run.json"))

HERE = digest({"cores": 2})
TRIAL = replace(make.trial(name="a", position=0, role=Role.AA), environment=HERE)


@pytest.fixture
def header():
    """Return the header of a run of one profile."""
    plan = make.plan(make.profile("a"))
    return RunHeader(FORMAT, "lab run a", "engine", 0.0, plan, {HERE: {"cores": 2}}, {})


@pytest.fixture
def writer(tmp_path, header):
    """Return an open writer of a run under tmp_path."""
    writer = RunWriter(tmp_path, header)
    writer.write_header()
    yield writer
    writer.close()


def test_what_is_written_is_read_back_equal(writer, header):
    """Plan, environments and trials survive the disk."""
    writer.append(TRIAL)
    failed = replace(TRIAL, attempt=1, windows=(), readings={}, failure="no module\n  line two")
    writer.append(failed)
    run = read_run(writer.folder)
    assert run.plan == header.plan
    assert run.trials == (TRIAL, failed)
    assert run.environments == {HERE: {"cores": 2}}


PARTS = {
    "peer": Peer(commands=(("gunicorn", "{app}"),), fill=("a.py",), counters=(("gil", "b"),)),
    "private_copy": PrivateCopy(Path("/srv"), (Alteration("bind", ":80", "a free port"),)),
}


def test_a_profile_is_one_object_on_the_disk(tmp_path, header):
    """What a peer has, and a private copy, stands among its keys; and it is read back as it was."""
    plan = make.plan(replace(make.profile("a"), **PARTS), make.profile("b"))
    writer = RunWriter(tmp_path, replace(header, plan=plan))
    writer.write_header()
    writer.close()
    first, second = (
        arm["profile"]
        for arm in json.loads((writer.folder / "run.json").read_text())["plan"]["arms"]
    )
    assert "peer" not in first
    assert (first["commands"], first["own"], first["cwd"]) == (
        [["gunicorn", "{app}"]],
        True,
        "/srv",
    )
    assert (second["commands"], second["own"], second["altered"]) == ([], False, [])
    assert read_run(writer.folder).plan == plan


@pytest.mark.parametrize("stored", STORED, ids=lambda path: path.name)
def test_a_stored_profile_is_written_again_as_it_was(stored):
    """Each of its keys, with its value."""
    run, before = read_run(stored), json.loads((stored / "run.json").read_text())
    header = RunHeader(FORMAT, run.command, run.generator, 0.0, run.plan, run.environments, {})
    after = json.loads(encode_header(header))
    for one, other in zip(before["plan"]["arms"], after["plan"]["arms"], strict=True):
        assert {**other["profile"], **one["profile"]} == other["profile"]


def test_a_trial_is_on_disk_when_append_returns(writer):
    """Another process that looks now sees it whole."""
    writer.append(TRIAL)
    text = (writer.folder / "trials.ndjson").read_text()
    assert text.endswith("\n")
    assert json.loads(text)["slot"]["arm"] == "a"


def test_a_trial_counts_when_a_signal_comes_while_it_is_flushed(writer, monkeypatch):
    """Ctrl-C in the middle of the first trial's fsync must not discard the run that has it."""

    def interrupted(_file):
        raise Interrupted("SIGINT")

    assert not writer.has_trials
    monkeypatch.setattr("os.fsync", interrupted)
    with pytest.raises(Interrupted):
        writer.append(TRIAL)
    assert writer.has_trials
    assert read_run(writer.folder).trials == (TRIAL,)


def test_a_torn_last_line_is_left_out(writer):
    """A crash in the middle of a write costs that trial alone."""
    writer.append(TRIAL)
    with (writer.folder / "trials.ndjson").open("a") as file:
        file.write('{"slot": {"block"')
    assert read_run(writer.folder).trials == (TRIAL,)


def test_a_damaged_line_is_named(writer):
    """File, line and place are in the message."""
    writer.append(TRIAL)
    with (writer.folder / "trials.ndjson").open("a") as file:
        file.write('{"slot": {"block": "x"}}\n')
    with pytest.raises(ResultsError, match=r"trials\.ndjson:2: damaged: .*slot\.block"):
        read_run(writer.folder)


def test_a_trial_of_another_environment_is_refused(writer):
    """It was made on another machine, or after an upgrade: it belongs to another run."""
    writer.append(TRIAL)
    writer.append(replace(TRIAL, attempt=1, environment="0123456789abcdef"))
    message = r"trials\.ndjson:2: damaged: its environment, 0123456789ab, is none of run\.json's"
    with pytest.raises(ResultsError, match=message):
        read_run(writer.folder)


def test_a_trial_that_read_nothing_but_zeros_is_refused(writer):
    """A reading that could not be taken is absent; no server answers in no time, with no memory."""
    assert TRIAL.total("ok") > 0
    writer.append(replace(TRIAL, readings=dict.fromkeys(("elapsed", "server.cpu_user"), 0.0)))
    with pytest.raises(ResultsError, match=r"ndjson:1: damaged: readings: all 2 are 0, beside"):
        read_run(writer.folder)


def test_another_version_of_the_format_is_refused(writer):
    """An old folder is not misread."""
    path = writer.folder / "run.json"
    path.write_text(path.read_text().replace(f'"format": {FORMAT}', '"format": 99'))
    with pytest.raises(ResultsError, match="is a run of format 99"):
        read_run(writer.folder)


def test_a_full_disk_keeps_the_earlier_trials(writer, monkeypatch):
    """The message says so, and the file ends with the last whole trial."""
    writer.append(TRIAL)

    def full(_descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(ResultsError, match="No space left on device; the trials before"):
        writer.append(TRIAL)
    assert read_run(writer.folder).trials == (TRIAL,)


def test_two_runs_of_the_same_second_get_a_folder_each(tmp_path, header):
    """Two labs at once do not mix."""
    folders = set()
    for _ in range(3):
        writer = RunWriter(tmp_path, header)
        folders.add(writer.folder)
        writer.close()
    assert len(folders) == 3


def test_a_folder_that_cannot_be_made_is_named(tmp_path, header):
    """A file in the way is said to be one."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsError, match=r"file: cannot be written"):
        RunWriter(tmp_path / "file", header)


def test_a_run_is_found_by_path_name_or_as_the_latest(writer, tmp_path):
    """All three name the same folder."""
    for name in (str(writer.folder), writer.folder.name, "latest"):
        assert find_run(tmp_path, name).resolve() == writer.folder.resolve()


def test_a_run_that_is_not_there_is_an_error_that_helps(tmp_path):
    """Before the first run it says how to make one."""
    with pytest.raises(ResultsError, match="lab run --quick"):
        find_run(tmp_path, "latest")
    with pytest.raises(UsageError, match="nope: there is no such run, neither here nor in"):
        find_run(tmp_path, "nope")


def test_what_is_there_and_no_run_s_folder_is_said_to_be_none(writer, tmp_path):
    """A file, or a folder of runs."""
    for path in (writer.folder / "run.json", tmp_path):
        with pytest.raises(UsageError, match=f"{path}: is no run's folder: it has no run.json"):
            find_run(tmp_path, str(path))
