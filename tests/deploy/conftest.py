"""What is deployed, read as the tools that deploy it read it."""

import re

import pytest
import yaml

from tests.faults.stacks import production
from tests.kit.lab_process import ROOT

DOCKERFILES = [ROOT / "Dockerfile", *sorted((ROOT / "deploy").glob("*.Dockerfile"))]


def instructions(path):
    """Return a Dockerfile's instructions as (WORD, rest), lines joined, comments left out."""
    text = re.sub(r"^\s*#.*\n", "", path.read_text(), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    return [tuple(line.split(maxsplit=1)) for line in lines if line.strip()]


def last_stage(path):
    """Return the instructions of the stage that is shipped."""
    all_instructions = instructions(path)
    return all_instructions[
        max(i for i, (word, _) in enumerate(all_instructions) if word == "FROM") :
    ]


def manifests(name):
    """Return a file's manifests by kind and name."""
    documents = yaml.safe_load_all((ROOT / "deploy" / name).read_text())
    return {(manifest["kind"], manifest["metadata"]["name"]): manifest for manifest in documents}


@pytest.fixture(scope="session")
def compose():
    """Return compose.yaml."""
    return yaml.safe_load((ROOT / "compose.yaml").read_text())


@pytest.fixture(scope="session")
def deployment():
    """Return the Deployment."""
    return manifests("kubernetes.yaml")["Deployment", "fibonacci"]


@pytest.fixture(scope="session")
def containers(deployment):
    """Return the containers of the Deployment by name."""
    return {
        container["name"]: container
        for container in deployment["spec"]["template"]["spec"]["containers"]
    }


@pytest.fixture(scope="session")
def nginx():
    """Return nginx's configuration as the image has it."""
    return (ROOT / "profiles" / "production.nginx.conf").read_text()


@pytest.fixture(scope="session")
def stack(tmp_path_factory):
    """Run the production stack, with an access log that is written at once."""
    at_once = (("access.log json buffer=4k flush=1s;", "access.log json;"),)
    with production(tmp_path_factory.mktemp("stack"), replace=at_once) as started:
        yield started
