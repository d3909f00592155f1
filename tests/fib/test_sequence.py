"""The contract of the sequence, held against a recurrence that shares nothing with it."""

import json
import sys

import pytest

import fib
from tests.kit.replies import NINE_THOUSAND

ALGORITHMS = ["loop", "get"]


def oracle(number):
    """Tell what the article's function returns, written as its text describes it."""
    sequence = [0, 1]
    while sequence[-1] < number:
        sequence.append(sequence[-1] + sequence[-2])
    return sequence


def edges(digits):
    """Yield every number up to 10**digits at which an answer or a digit count changes."""
    elements = [0, 1]
    while elements[-1] <= 10**digits:
        elements.append(elements[-1] + elements[-2])
    bases = {
        *elements[:-1],
        *(2**k for k in range((10**digits).bit_length())),
        *(10**k for k in range(digits + 1)),
    }
    return sorted(n for base in bases for n in (base - 1, base, base + 1))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_answer_of_a_hundred_digits_is_that_of_the_recurrence(core, algorithm):
    """At each element, each power of 2 and of 10, and their neighbours, both builds are right."""
    answer = getattr(core, algorithm)
    assert [n for n in edges(101) if answer(n) != oracle(n)] == []


def test_the_text_is_what_the_json_encoder_writes(core):
    """get_json is byte for byte json.dumps of the sequence, below and above the table's end."""
    wrong = [n for n in edges(101) if core.get_json(n) != json.dumps(oracle(n)).encode()]
    assert wrong == []


def test_the_last_index_counts_from_zero(core):
    """last_index is the k of the F(k) that ends the answer."""
    assert [n for n in edges(101) if core.last_index(n) != len(oracle(n)) - 1] == []


def test_a_thousand_digits_are_answered_correctly(core):
    """Far beyond the table the three algorithms still agree with the recurrence."""
    for number in (10**999, 7 * 10**999 + 1, 10**1000 - 1):
        expected = oracle(number)
        assert core.loop(number) == core.get(number) == expected
        assert core.get_json(number) == json.dumps(expected).encode()
        assert core.last_index(number) == len(expected) - 1


def test_nine_thousand_gives_the_article_s_answer(core):
    """The example that every page shows has 22 elements and ends at 10946."""
    assert core.get_json(9000) == NINE_THOUSAND
    assert core.last_index(9000) == 21


@pytest.mark.parametrize("number", [-(10**200), -5, -1, 0, 1, True, False])
def test_no_answer_is_shorter_than_two_elements(core, number):
    """Negative numbers, 0 and 1 are all answered [0, 1]."""
    assert core.loop(number) == core.get(number) == [0, 1]
    assert core.get_json(number) == b"[0, 1]"
    assert core.last_index(number) == 1


@pytest.mark.parametrize("value", [2.5, 9000.0, float("inf"), "9000", b"9", None, [9]])
@pytest.mark.parametrize("function", ["loop", "get", "get_json", "last_index"])
def test_only_integers_are_taken(core, function, value):
    """A float, infinity, text and None are refused by both builds alike."""
    with pytest.raises(TypeError):
        getattr(core, function)(value)


def test_whatever_is_an_integer_to_python_is_taken(core):
    """An object with __index__, such as a numpy integer, is answered like its integer."""

    class Nine:
        def __index__(self):
            return 9

    assert core.loop(Nine()) == core.get(Nine()) == [0, 1, 1, 2, 3, 5, 8, 13]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("number", [9000, 10**101])
def test_an_answer_belongs_to_the_caller(core, algorithm, number):
    """Changing a returned list does not change the next answer."""
    answer = getattr(core, algorithm)
    answer(number).clear()
    assert answer(number) == oracle(number)


def test_digits_beyond_python_s_limit_are_an_error(core):
    """An element that Python does not turn into text is a ValueError, as in json.dumps."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        with pytest.raises(ValueError, match="640 digits"):
            core.get_json(10**700)
    finally:
        sys.set_int_max_str_digits(limit)


def test_the_package_offers_the_chosen_build():
    """The functions of the package are those of the build that it reports."""
    assert fib.get(8) == [0, 1, 1, 2, 3, 5, 8]
    assert fib.get_json(8) == b"[0, 1, 1, 2, 3, 5, 8]"
    assert fib.loop(8) == fib.get(8)
    assert fib.last_index(8) == 6
