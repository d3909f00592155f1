"""Numbers of 1 to 10,000 digits: answered exactly or refused cheaply, with and without nginx."""

import asyncio
import random

import pytest

from lab.bench.workloads import fibonacci_body
from tests.corpus.client import ask
from tests.corpus.corpus import expand

LIMIT = 100
EDGES = (4300, 4301, 8174, 8175, 10_000)
"""The most digits that Python turns into a number, the most that nginx takes, and one more each."""
LONGER = sorted({*range(LIMIT + 1, 10_000, 83), *EDGES})
GROUP = 10
"""Lengths that are measured together: a process's CPU time is counted in steps of 10 ms."""
CPU = 0.020
"""Seconds for a request that is refused; what it asks for would cost up to 1.6 s."""


@pytest.fixture(params=["front", "direct"])
def server(request):
    """Run it with nginx in front, and without."""
    return request.getfixturevalue(request.param)


def _ask(server, numbers):
    """Ask for numbers one after the other, and return the outcomes."""

    async def in_turn():
        requests = [expand(f"GET /{number} HTTP/1.1\r\n{{rest}}") for number in numbers]
        return [await ask(server.address, request) for request in requests]

    return asyncio.run(in_turn())


def _number(digits):
    return random.Random(digits).randrange(10 ** (digits - 1), 10**digits)


def test_up_to_the_limit_the_answer_is_exact(server):
    """From 1 to 100 digits each answer is that of an independent recurrence, byte for byte."""
    numbers = [_number(digits) for digits in range(1, LIMIT + 1)]
    outcomes = _ask(server, numbers)
    wrong = [
        number
        for number, outcome in zip(numbers, outcomes, strict=True)
        if (outcome.word, outcome.bodies) != ("200", (fibonacci_body(number),))
    ]
    assert wrong == []


def test_above_it_the_refusal_is_cheap(server):
    """101 to 10,000 digits: 400 or 414 in less than 1 kB; ten lengths take less than 200 ms CPU."""
    for at in range(0, len(LONGER), GROUP):
        group = LONGER[at : at + GROUP]
        before = server.cpu()
        # As text: Python itself turns no integer of more than 4300 digits into one.
        outcomes = _ask(server, ["7" * digits for digits in group])
        used = server.cpu() - before
        assert {outcome.word for outcome in outcomes} <= {"400", "414"}, group
        assert max(len(outcome.bodies[0]) for outcome in outcomes) < 1000, group
        assert used < GROUP * CPU, group
