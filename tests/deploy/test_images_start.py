"""What the images of Locust and of the lab hold is enough for them to start."""

import json
import shutil
import subprocess

import pytest

from tests.deploy.conftest import last_stage
from tests.kit.lab_process import BIN, ROOT, SMALL, environment, trials
from tests.kit.running import running

LEFT_OUT = shutil.ignore_patterns("__pycache__", "peers")
"""What .dockerignore leaves out of the folders that it lets through; the images compile `fib`."""

STAGES = {
    "locust.Dockerfile": ("deploy/locust.Dockerfile",),
    "lab.Dockerfile": ("Dockerfile", "deploy/lab.Dockerfile"),
}
"""Dockerfile -> those whose last stages make its image, the base's first."""


@pytest.fixture(params=STAGES)
def image(request, tmp_path):
    """Return the name of a Dockerfile, and a folder with what its image has in /srv."""
    for stage in STAGES[request.param]:
        for word, rest in last_stage(ROOT / stage):
            if word == "COPY":
                *sources, target = rest.replace("--from=build", "").split()
                for source in sources:
                    copy(source.removeprefix("/build/"), tmp_path / "srv" / target)
    return request.param, tmp_path / "srv"


def copy(source, target):
    """Copy a file or a folder of the checkout; the environment is the one that runs the tests."""
    if source.endswith(".egg-info") or source == "/opt/venv":
        return
    if (ROOT / source).is_dir():
        shutil.copytree(ROOT / source, target, ignore=LEFT_OUT)
    else:
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / source, target)


def start(folder, words):
    """Run a command of an image in its folder, and return how it ended."""
    return subprocess.run(
        [BIN / words[0], *words[1:]], cwd=folder, env=environment() | {"PYTHONPATH": str(folder)},
        capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip


def command_of(name, word):
    """Return the last command of that word in an image's Dockerfile."""
    stage = last_stage(ROOT / STAGES[name][-1])
    return json.loads([rest for instruction, rest in stage if instruction == word][-1])


@pytest.mark.costly
def test_the_build_fails_where_no_profile_is_found(image):
    """Locust itself goes on, and its image would then end at its first start."""
    name, folder = image
    done = start(folder, command_of(name, "RUN"))
    assert (done.returncode, "--profiles" in done.stdout) == (0, True), done.stderr
    (folder / "profiles").rename(folder / "elsewhere")
    assert start(folder, command_of(name, "RUN")).returncode != 0


@pytest.mark.costly
@pytest.mark.parametrize("image", ["locust.Dockerfile"], indirect=True)
def test_it_loads_a_server_that_runs(image):
    """With the profiles as choices of its command line, and without a traceback."""
    name, folder = image
    with running("tuned") as server:
        address = "http://{}:{}".format(*server.address)
        words = ("--headless", "-u", "4", "-t", "1s", "-H", address)
        done = start(folder, [*command_of(name, "ENTRYPOINT"), *words])
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert " 0(0.00%)" in done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("image", ["lab.Dockerfile"], indirect=True)
def test_the_image_of_the_lab_compares(image, tmp_path):
    """It starts profiles of its base, and stores each trial."""
    name, folder = image
    results = ("--results", str(tmp_path / "results"))
    words = ("--headless", "--profiles", "listen", "tuned", *results, *SMALL)
    done = start(folder, [*command_of(name, "ENTRYPOINT"), *words])
    assert done.returncode in {0, 3}, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert all(trial["windows"] for trial in trials(tmp_path))
