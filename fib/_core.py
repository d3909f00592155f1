# cython: language_level=3, annotation_typing=False, freethreading_compatible=True
"""
The Fibonacci sequence, written once and built twice.

As `fib._core` the interpreter runs this file; as `fib._core_c` Cython has compiled it. Two module
names instead of one let both be imported by the same process, so that tests and benchmarks compare
them side by side, and leave no second source that could drift.

The C types are in `_core_c.pxd`, which Cython finds because it is named after the *compiled*
module. The annotations below are for people and mypy only: Cython is told not to read them.
"""

from __future__ import annotations

from operator import index
from typing import SupportsIndex

# Exactly this form. Assigning `cython` itself when it is missing would shadow the name that the
# compiler treats specially, and the compiled module would fail with a NameError.
try:
    import cython

    COMPILED: bool = cython.compiled
except ModuleNotFoundError:
    COMPILED = False

U64_TOP = 12200160415121876738
"""F(93), the largest Fibonacci number below 2**64: up to here C integers carry the loop."""

TABLE_DIGITS = 100
"""The table answers every number up to 10**TABLE_DIGITS: 482 elements, about 80 KiB."""


def loop(number: SupportsIndex) -> list[int]:
    """
    Return the sequence up to *number* by adding, as the article does.

    It exists to be compared with: its time is what compiling and C types can shorten. It grows
    with the number of elements, and `get` gives the same answer without it.

    Args:
        number: Any integer; a negative one is answered like 0.

    Returns:
        `[0, 1, 1, 2, ...]` up to the first element that is at least *number*, and never shorter
        than `[0, 1]`.

    Raises:
        TypeError: *number* is not an integer: 9000.0, "9000" and None are refused.
    """
    number = index(number)
    sequence = [0, 1]
    if number <= U64_TOP:
        _append_u64(sequence, max(number, 0))
    else:
        _append_u64(sequence, U64_TOP)
        _append_big(sequence, number)
    return sequence


def get(number: SupportsIndex) -> list[int]:
    """
    Return the sequence up to *number* from a table.

    Every answer is the beginning of the same list, so the work is to find where it ends, and to
    copy. This is the answer to "faster than compiling the loop": another algorithm, even in pure
    Python. Beyond 10**100 the table is continued by adding.

    Args:
        number: Any integer; a negative one is answered like 0.

    Returns:
        A new list, equal to what `loop` returns.

    Raises:
        TypeError: *number* is not an integer.
    """
    number = index(number)
    if number > _TOP:
        sequence = _TABLE[:]
        _append_big(sequence, number)
        return sequence
    return _TABLE[: _last(number) + 1]


def get_json(number: SupportsIndex) -> bytes:
    """
    Return the sequence up to *number* as JSON text.

    What `json.dumps` spends on each request - turning the same integers into the same digits - is
    spent once here: every answer is a prefix of one text, and a bracket. It exists because for
    short answers the encoder costs more than the sequence.

    Args:
        number: Any integer; a negative one is answered like 0.

    Returns:
        `json.dumps(get(number))`, byte for byte, in ASCII.

    Raises:
        TypeError: *number* is not an integer.
        ValueError: An element has more digits than `sys.get_int_max_str_digits()`, 4300 unless
            set: Python does not turn it into text.
    """
    number = index(number)
    if number > _TOP:
        more = [str(element) for element in get(number)[len(_TABLE) :]]
        return _TEXT + (", " + ", ".join(more) + "]").encode("ascii")
    return _TEXT[: _ENDS[_last(number)]] + b"]"


def last_index(number: SupportsIndex) -> int:
    """
    Return k such that the answer for *number* is F(0) ... F(k).

    Two numbers with the same k have the same answer, so k names a reply: a cache needs no more.

    Args:
        number: Any integer; a negative one is answered like 0.

    Returns:
        At least 1, because no answer is shorter than `[0, 1]`.

    Raises:
        TypeError: *number* is not an integer.
    """
    number = index(number)
    if number > _TOP:
        return len(get(number)) - 1
    return _last(number)


def _append_u64(sequence: list[int], number: int) -> int:
    """Continue the new *sequence* to *number*, which F(93) bounds, in C integers if compiled."""
    a = 0
    b = 1
    while b < number:
        a, b = b, a + b
        sequence.append(b)
    return 0


def _append_big(sequence: list[int], number: int) -> int:
    """Continue *sequence* to *number* in Python's integers, of any size."""
    # Positive indices: the compiled code needs no check for a negative one.
    a = sequence[len(sequence) - 2]
    b = sequence[len(sequence) - 1]
    while b < number:
        a, b = b, a + b
        sequence.append(b)
    return 0


def _last(number: int) -> int:
    """Find the index of the last element for *number*, which `_TOP` bounds."""
    if number < 2:
        return 1
    # Fibonacci numbers grow 1.618 times a step and one more bit is a factor of 2, so the first
    # element of that many bits is at most two steps away.
    k = _STARTS[number.bit_length()]
    while _TABLE[k] < number:
        k += 1
    return k


def _text_ends(texts: list[str]) -> list[int]:
    """Find, for each element, where its digits end in "[0, 1, 1, ...", in bytes."""
    ends = []
    at = len("[")
    for text in texts:
        at += len(text)
        ends.append(at)
        at += len(", ")
    return ends


def _bit_starts(table: list[int], bits: int) -> list[int]:
    """Find, for each bit length up to *bits*, the first element that can end an answer."""
    starts = []
    k = 1
    for length in range(bits + 1):
        while table[k] < (1 << length) >> 1:
            k += 1
        starts.append(k)
    return starts


_TABLE = loop(10**TABLE_DIGITS)
_TOP = _TABLE[len(_TABLE) - 1]
_TEXTS = [str(element) for element in _TABLE]
_TEXT = ("[" + ", ".join(_TEXTS)).encode("ascii")
_ENDS = _text_ends(_TEXTS)
_STARTS = _bit_starts(_TABLE, _TOP.bit_length())
del _TEXTS
