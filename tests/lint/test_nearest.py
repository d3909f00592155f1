"""The option that a mistyped name is a form of."""

from __future__ import annotations

import difflib
import random

import pytest

from lab.config.gunicorn.reader import spellings
from lab.config.uwsgi.table import NOTHING, uwsgi_options

KNOWN = {
    "uwsgi": tuple(uwsgi_options().entries),
    "gunicorn": tuple(sorted(set(spellings().values()))),
}
LETTERS = "aeiorst-_\u00e9"
SEED = 3


def mistyped(name: str, dice: random.Random) -> str:
    """Return a name with up to four letters more, less or other."""
    letters = list(name)
    for _ in range(dice.randint(0, 4)):
        at = dice.randrange(len(letters) + 1)
        letters[at : at + dice.randint(0, 1)] = dice.choice(["", *LETTERS])
    return "".join(letters)


@pytest.mark.parametrize("server", KNOWN)
def test_what_is_left_out_before_is_what_difflib_leaves_out(server):
    """Only names with many letters in common are compared, and the answer stays the same."""
    known, dice = KNOWN[server], random.Random(SEED)
    names = [mistyped(dice.choice(known), dice) for _ in range(300)]
    closest = {name: difflib.get_close_matches(name, known, n=1, cutoff=0.8) for name in names}
    answers = {name: NOTHING.nearest(name, known) for name in names}
    assert answers == {name: next(iter(close), None) for name, close in closest.items()}
    assert None in answers.values()


def test_a_name_without_letters_has_none():
    """There is nothing to compare."""
    assert uwsgi_options().nearest("") is None


def test_options_by_their_length():
    """All of them, and no other."""
    options = uwsgi_options().of_length(4, 5)
    assert sorted(options) == sorted(name for name in KNOWN["uwsgi"] if len(name) in {4, 5})
