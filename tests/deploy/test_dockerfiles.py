"""The rules that our images keep."""

import json
import re
from fnmatch import fnmatch

import pytest

from app import serve
from tests.deploy.conftest import DOCKERFILES, instructions, last_stage
from tests.kit.lab_process import ROOT


@pytest.fixture(params=DOCKERFILES, ids=lambda path: path.name)
def dockerfile(request):
    """Return the path of one of them."""
    return request.param


def test_they_run_as_a_user_given_by_number(dockerfile):
    """Kubernetes refuses a name under runAsNonRoot, because it cannot tell whether it is root."""
    users = [rest for word, rest in last_stage(dockerfile) if word == "USER"]
    assert users == ["65534:65534"]


def test_nothing_is_run_by_a_shell(dockerfile):
    """Signals reach the program itself, because no shell stands in between."""
    for word, rest in last_stage(dockerfile):
        if word in ("ENTRYPOINT", "CMD"):
            assert isinstance(json.loads(rest), list), rest
        if word == "HEALTHCHECK" and rest != "NONE":
            assert isinstance(json.loads(rest.partition("CMD")[2]), list), rest


def test_their_bases_are_pinned(dockerfile):
    """A base image has the tag of a minor version, and nothing is fetched from an address."""
    all_instructions = instructions(dockerfile)
    bases = [rest for word, rest in all_instructions if word == "ARG"]
    assert len(bases) == 1
    assert re.fullmatch(r"\w+=[\w/]+:\d+\.\d+[\w.-]*", bases[0])
    assert {rest.split()[0] for word, rest in all_instructions if word == "FROM"} == {
        "${" + bases[0].partition("=")[0] + "}"
    }
    assert not [
        word
        for word, rest in all_instructions
        if word == "ADD" or (word == "RUN" and "://" in rest)
    ]


def test_servers_say_how_they_are(dockerfile):
    """An image that serves has a health check; Locust's is for the one who starts it to choose."""
    checks = [rest for word, rest in last_stage(dockerfile) if word == "HEALTHCHECK"]
    # The lab's is made of the service's, whose check it must not have.
    expected = {"locust.Dockerfile": [], "lab.Dockerfile": ["NONE"]}.get(dockerfile.name)
    assert checks == expected if expected is not None else len(checks) == 1


def test_what_is_installed_has_a_hash(dockerfile):
    """pip installs what the requirements' hashes name, or wheels that were made of that."""
    for word, rest in instructions(dockerfile):
        if word == "RUN":
            for command in rest.split("&&"):
                if re.search(r"pip (--python \S+ )?(install|wheel)", command):
                    assert "--require-hashes" in command or "--no-index" in command, command


def test_what_they_copy_is_in_the_build_context(dockerfile):
    """.dockerignore lets through what a Dockerfile copies."""
    allowed = [line[1:] for line in ignored() if line.startswith("!")]
    for word, rest in instructions(dockerfile):
        if word == "COPY" and "--from" not in rest:
            for source in rest.split()[:-1]:
                assert (ROOT / source).exists(), source
                assert any(
                    source == allowed_path or source.startswith(allowed_path + "/")
                    for allowed_path in allowed
                )


def ignored():
    """Return the patterns of .dockerignore."""
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_the_build_context_holds_what_is_copied_and_nothing_else():
    """Everything is ignored first, so a new file in the checkout cannot get into an image."""
    copied = {
        source
        for path in DOCKERFILES
        for word, rest in instructions(path)
        if word == "COPY" and "--from" not in rest
        for source in rest.split()[:-1]
    }
    patterns = ignored()
    assert patterns[0] == "*"
    for allowed_path in (line[1:] for line in patterns if line.startswith("!")):
        assert any(
            source == allowed_path or source.startswith(allowed_path + "/") for source in copied
        ), allowed_path


def test_nothing_that_was_built_here_gets_into_an_image():
    """An extension or bytecode of this machine's Python would shadow the image's own."""
    patterns = ignored()[1:]
    for built in ("fib/_core_c.cpython-311-x86_64-linux-gnu.so", "fib/_core_c.json"):
        assert any(fnmatch(built, pattern) for pattern in patterns), built
    assert "**/__pycache__" in patterns


def test_the_service_is_started_by_the_launcher():
    """The image's entry point is `fibonacci serve`, and `tuned` is what it serves unless told."""
    stage = dict(last_stage(ROOT / "Dockerfile"))
    assert json.loads(stage["ENTRYPOINT"]) == ["python", "-m", "app.serve", "serve"]
    assert json.loads(stage["CMD"]) == ["tuned"]


def test_what_the_image_is_started_with_is_a_profile(compose, containers):
    """compose.yaml and the Deployment name the profile of an instance."""
    started = [compose["services"][service]["command"] for service in ("app-a", "app-b")]
    started += [containers[container]["args"] for container in ("a", "b")]
    assert started == [["production"]] * 4
    assert serve.locate("production") == str(ROOT / "profiles/production.ini")
