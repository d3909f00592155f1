"""The wire `echo`: what is sent on a connection, and how what came back differs from it."""

from __future__ import annotations

import hashlib

from lab.model.wording import counted, shown

CLOSE = 24
"""Bytes that are shown of a difference."""


def message(number: int, size: int, lines: int = 1) -> bytes:
    r"""
    Return what connection *number* sends each time, and is to get back.

    Every line begins with the number and goes on with pseudo-random text that no other connection
    has, so that a server which mixes two of them is found wherever it does.

    Args:
        number: Of the connection; no two of a load have the same.
        size: Bytes of a line.
        lines: Of more than one, each ends with a newline.

    >>> message(7, 12), message(7, 6, 2)
    (b'7 112a104bd5', b'7 112\n7 4bd\n')
    """
    text = hashlib.shake_256(b"%d" % number).hexdigest(size * lines).encode()
    pieces = [b"%d %b" % (number, text[at * size : (at + 1) * size]) for at in range(lines)]
    if lines == 1:
        return pieces[0][:size]
    return b"".join(piece[: size - 1] + b"\n" for piece in pieces)


def difference(sent: bytes, back: bytes) -> str:
    """
    Say where *back* is not what was sent.

    >>> difference(b"1 abcdef", b"1 abXdef")
    "byte 4 of 8: 'Xdef' came back instead of 'cdef'"
    >>> difference(b"1 abcdef", b"1 ab"), difference(b"1 abcdef", b"1 abcdef1 a")
    ('4 of 8 bytes came back', "3 bytes more than the 8 that were sent: '1 a'")
    """
    both = min(len(sent), len(back))
    # The highest bit in which they differ: a loop over 100 KiB would take milliseconds.
    unlike = int.from_bytes(sent[:both], "big") ^ int.from_bytes(back[:both], "big")
    at = both - (unlike.bit_length() + 7) // 8
    came, meant = shown(back[at : at + CLOSE]), shown(sent[at : at + CLOSE])
    if at < both:
        return f"byte {at:,} of {len(sent):,}: {came} came back instead of {meant}"
    if len(back) > both:
        more = counted(len(back) - both, "byte")
        return f"{more} more than the {both:,} that were sent: {came}"
    return f"{both:,} of {len(sent):,} bytes came back"
