"""Orders to Locust's workers, and their answers."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.kit.lab_process import ROOT

CODE = """
import json
from types import SimpleNamespace
from lab.errors import GeneratorError
from lab.locust.crew import Crew

answers = []
crew = Crew(SimpleNamespace(user_count=0, send_message=lambda _, answer: answers.append(answer)))

def order(op):
    crew.obey(SimpleNamespace(data={"op": op, "number": len(answers), "arguments": {}}))

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
