"""How many workers a container's limit is worth."""

import os

import pytest

from app.preflight import read
from app.serve import environment, processes
from lab.bench.machine import project

CPUS = 8


@pytest.fixture(autouse=True)
def _cpus(monkeypatch):
    """Let this machine have eight CPUs."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(CPUS)))


def write(root, files):
    """Write *files*, by their paths below *root*."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


V2 = {"proc/self/cgroup": "0::/pod/service\n"}
V1 = {"proc/self/cgroup": "5:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n1:name=systemd:/x\n"}
V1_FOLDER = "sys/fs/cgroup/cpu,cpuacct"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, CPUS),
        (V2, CPUS),
        (V2 | {"sys/fs/cgroup/pod/service/cpu.max": "max 100000\n"}, CPUS),
        (V2 | {"sys/fs/cgroup/pod/service/cpu.max": "50000 100000\n"}, 2),
        (V2 | {"sys/fs/cgroup/pod/service/cpu.max": "350000 100000\n"}, 4),
        (V2 | {"sys/fs/cgroup/pod/service/cpu.max": "3200000 100000\n"}, CPUS),
        (V2 | {"sys/fs/cgroup/pod/service/cpu.max": "garbage\n"}, CPUS),
        (V2 | {"sys/fs/cgroup/pod/service/cpu.max": "300000 0\n"}, CPUS),
        (V2 | {"sys/fs/cgroup/pod/service/cpu.max": ""}, CPUS),
        # The parent's limit is narrower than its own.
        (
            V2
            | {
                "sys/fs/cgroup/pod/service/cpu.max": "600000 100000\n",
                "sys/fs/cgroup/pod/cpu.max": "300000 100000\n",
            },
            3,
        ),
        # In a container the path is the host's, and its own group is the mount's root.
        (V2 | {"sys/fs/cgroup/cpu.max": "500000 100000\n"}, 5),
        # Version 2 beside version 1.
        (V2 | {"sys/fs/cgroup/unified/pod/cpu.max": "300000 100000\n"}, 3),
        (
            V1
            | {
                f"{V1_FOLDER}/docker/x/cpu.cfs_quota_us": "-1\n",
                f"{V1_FOLDER}/docker/x/cpu.cfs_period_us": "100000\n",
            },
            CPUS,
        ),
        (
            V1
            | {
                f"{V1_FOLDER}/docker/x/cpu.cfs_quota_us": "350000\n",
                f"{V1_FOLDER}/docker/x/cpu.cfs_period_us": "100000\n",
            },
            4,
        ),
        (
            V1
            | {
                "sys/fs/cgroup/cpu/docker/cpu.cfs_quota_us": "50000\n",
                "sys/fs/cgroup/cpu/docker/cpu.cfs_period_us": "100000\n",
            },
            2,
        ),
        (V1 | {f"{V1_FOLDER}/docker/x/cpu.cfs_quota_us": "350000\n"}, CPUS),
        # Another controller's quota is none of ours.
        (V1 | {"sys/fs/cgroup/memory/docker/x/cpu.cfs_quota_us": "100000\n"}, CPUS),
    ],
)
def test_limit(tmp_path, files, expected):
    """One worker for each CPU of the narrowest limit, two at the least; no limit, no change."""
    write(tmp_path, files)
    assert processes(tmp_path) == expected


@pytest.mark.parametrize("text", ["\n", "garbage\n", "0::\n", "::\n", "\xff\n"])
def test_unknown_groups_are_no_limit(tmp_path, text):
    """A list of groups that cannot be understood stops nothing: all CPUs count."""
    path = tmp_path / "proc/self/cgroup"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="latin-1")
    assert processes(tmp_path) == CPUS


def test_one_cpu(tmp_path, monkeypatch):
    """On one CPU there are two workers."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    assert processes(tmp_path) == 2


@pytest.mark.parametrize(("said", "expected"), [({}, str(CPUS)), ({"PROCESSES": "7"}, "7")])
@pytest.mark.parametrize("name", ["tuned", "production"])
def test_a_profile_gets_as_many_unless_told(name, said, expected):
    """PROCESSES is what the launcher counts, unless the environment has it."""
    options = tuple(read(str(project.profiles() / f"{name}.ini")))
    assert environment(options, said)["PROCESSES"] == expected


def test_a_profile_that_does_not_ask_gets_none():
    """The article's four processes stay four."""
    assert "PROCESSES" not in environment(tuple(read(str(project.profiles() / "cython.ini"))), {})
