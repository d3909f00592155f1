"""A run is stored for the documentation without a trace of where it was made."""

from dataclasses import replace

import pytest

from lab.bench.store.folder import FORMAT, RunHeader, RunWriter, encode_trial, read_run
from lab.errors import ResultsError
from lab.model.plan import Better, CounterRun, Role
from tests.kit import builders as make
from tools import store_run


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """Return the folder that runs are stored in, an empty one."""
    monkeypatch.setattr(store_run, "RUNS", tmp_path / "stored")
    return tmp_path / "stored"


def made(checkout, command="lab run", first="profiles/peers/x.toml"):
    """Return the folder of a run that was made in *checkout*, a peer being its first profile."""
    run = make.ladder_run({"x": (2000, 4e-4), "y": (2000, 4e-4)}, blocks=2)
    paths = (checkout / first, checkout / "profiles" / "y.ini")
    profiles = tuple(
        replace(profile, path=path) for profile, path in zip(run.plan.profiles, paths, strict=True)
    )
    arms = tuple(map(make.arm, profiles))
    plan = replace(run.plan, arms=arms)
    writer = RunWriter(
        checkout / "results", RunHeader(FORMAT, command, "engine", 0.0, plan, {"here": {}}, {})
    )
    counter = replace(profiles[0], name="x~y", path=writer.folder / "counter" / "x~y.ini")
    toggled = make.arm(counter, role=Role.COUNTER)
    writer.write_header(counters=(CounterRun("x", "router", "y", toggled, "cpu", Better.LOWER),))
    for trial in run.trials:
        writer.append(trial)
    writer.close()
    return writer.folder


def test_its_paths_are_the_projects(tmp_path, stored):
    """Whatever checkout it was made in: the profiles' paths, and those of its counter-runs."""
    folder = made(tmp_path / "elsewhere")
    run = read_run(store_run.store(folder, "ladder"))
    assert [str(profile.path) for profile in run.plan.profiles] == [
        "profiles/peers/x.toml", "profiles/y.ini",
    ]  # fmt: skip
    assert str(run.counters[0].arm.profile.path) == "counter/x~y.ini"
    assert [encode_trial(trial) for trial in run.trials] == [
        encode_trial(trial) for trial in read_run(folder).trials
    ]
    assert str(tmp_path) not in (stored / "ladder" / "run.json").read_text()
    assert sorted(path.name for path in stored.iterdir()) == ["ladder"]


@pytest.mark.parametrize(
    "command",
    [
        "lab run --seed 7 --results /x",
        "lab run --results=/x --seed 7",
        "lab run --results '/a b' --seed 7",
    ],
)
def test_where_its_results_lay_is_left_out(tmp_path, stored, command):
    """However the option was written, and wherever it stood."""
    run = read_run(store_run.store(made(tmp_path / "elsewhere", command), "ladder"))
    assert run.command == "lab run --seed 7"


def test_a_stored_run_can_be_stored_again(tmp_path, stored):
    """Source and target may be the same folder."""
    target = store_run.store(made(tmp_path / "elsewhere"), "ladder")
    files = {path.name: path.read_bytes() for path in target.iterdir()}
    store_run.store(target, "ladder")
    assert {path.name: path.read_bytes() for path in target.iterdir()} == files


def test_a_run_that_cannot_be_stored_leaves_the_old_one(tmp_path, stored):
    """And nothing half written beside it."""
    target = store_run.store(made(tmp_path / "elsewhere"), "ladder")
    files = {path.name: path.read_bytes() for path in target.iterdir()}
    damaged = made(tmp_path / "other")
    (damaged / "trials.ndjson").write_text("{\n")
    with pytest.raises(ResultsError, match="damaged"):
        store_run.store(damaged, "ladder")
    assert {path.name: path.read_bytes() for path in target.iterdir()} == files
    assert [path.name for path in stored.iterdir()] == ["ladder"]


def test_a_run_of_no_checkout_is_refused(tmp_path, stored):
    """Its paths would be this machine's."""
    folder = made(tmp_path / "elsewhere", first="own/x.ini")
    header = folder / "run.json"
    header.write_text(header.read_text().replace("/profiles/y.ini", "/own/y.ini"))
    with pytest.raises(ResultsError, match="none of its profiles lies in a checkout"):
        store_run.store(folder, "ladder")
    assert not stored.exists()
