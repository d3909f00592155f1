"""Orders to Locust's workers, and their answers."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.kit.lab_process import ROOT

CODE = """
import json
from types import SimpleNamespace
from lab.errors import GeneratorError
from lab.locust.crew import Crew

answers = []
crew = Crew(SimpleNamespace(user_count=0, send_message=lambda _, answer: answers.append(answer)))

def order(op):
    crew.obey(SimpleNamespace(data={"op": op, "number": len(answers), "lease": 9, "arguments": {}}))

def fail(error):
    def operation():
        raise error
    return operation

crew.operations = {
    **crew.operations,
    "short": fail(GeneratorError("too few descriptors")),
    "slip": fail(AttributeError("a slip in the code")),
}
order("close")
order("short")
try:
    order("slip")
except AttributeError as error:
    answers.append({"raised": str(error)})
print(json.dumps(answers))
"""
# In a process of its own: to import Locust patches the sockets of the one that does.

SILENT = """
from types import SimpleNamespace
from locust.runners import MasterRunner, WorkerNode, WorkerNodes
from lab.errors import GeneratorError
from lab.locust.generator import LocustGenerator

class Runner(MasterRunner):
    def __init__(self):
        self.clients, self.heard = WorkerNodes(), {}
        for name in ("load-1_a", "load-2_b"):
            self.clients[name] = WorkerNode(name)

    def register_message(self, name, listener):
        self.listener = listener

    def send_message(self, name, data):
        self.listener(SimpleNamespace(data={"number": data["number"], "worker": "load-1_a"}))

generator = LocustGenerator(Runner())
generator.begin("engine", same=True)
try:
    generator.order("describe", 0.05, address="127.0.0.1")
except GeneratorError as error:
    print(error)
"""


@pytest.mark.costly
def test_a_worker_that_does_not_answer_is_named():
    """By what Locust calls it, which begins with its host's name."""
    done = subprocess.run(
        [sys.executable, "-c", SILENT], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "Locust worker load-2_b did not answer in 0.05 s" in done.stdout, done.stderr
    assert "another version of this project" in done.stdout


@pytest.mark.costly
def test_what_an_order_cannot_do_is_its_answer_and_a_slip_is_not():
    """A worker that fails by a fault of ours shows its traceback."""
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    closed, short, slip = json.loads(done.stdout)
    assert (closed["number"], closed["window"]) == (0, None)
    assert short["error"] == "GeneratorError: too few descriptors"
    assert slip == {"raised": "a slip in the code"}
