"""
What stays in replies that vary, as a pattern that the next ones must match.

A page with a token, a clock or a counter in it is another one each time, and most of it is not.
What several first replies have in common, in its order, is required from then on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import groupby

from lab.errors import UsageError
from lab.model.request import Expectation

LEAST_PART = 16
"""Bytes in a row that must be alike in all replies to be required: fewer are so by chance."""

LEAST_TOLD = 4
"""Bytes in a row that tell two pieces which vary apart, in the pattern that is suggested."""

MOST_COMPARED = 1 << 20
"""Bytes of a reply that are compared with another's: longer ones would take minutes."""

_TOKENS = re.compile(rb"\w+|\W+")
_BREAK = b""
"""Where something varies; it equals no token."""

_CLOCK = re.compile(rb"\A[\d\s:.,/TZ+-]*\d|\d[\d\s:.,/TZ+-]*\Z")
# Digits beside what varies: the hours of a clock whose seconds do, the thousands of a counter.

_NAMED = re.compile(rb"name=[\"']?([\w.-]+)")
_KEY = re.compile(rb"([\w-]+)[\"']?\s*[:=]\s*[\"']?\Z")


def expectation(name: str, expect: Expectation, bodies: Sequence[bytes]) -> Expectation:
    """
    Return what is required of the replies to a request from its first ones on.

    Args:
        name: What the request is called.
        expect: Their status, which has been seen.
        bodies: At least two, each whole.

    Raises:
        UsageError: They have too little in common; with the pattern that they may be judged by.
    """
    if len(set(bodies)) == 1:
        return replace(expect, body=bodies[0])
    if max(map(len, bodies)) > MOST_COMPARED:
        problem = f"its replies differ, and are longer than the {MOST_COMPARED:,} bytes of which"
        say = "what is alike is looked for: name what a correct one contains: --check 'REGEX'"
        raise UsageError(f"{name}: {problem} {say}")
    pieces = _stable(bodies)
    parts = [piece for piece in pieces if len(piece) >= LEAST_PART]
    required = sum(map(len, parts))
    pattern = _pattern(parts, bodies, required)
    if not parts or not all(re.search(pattern.encode(), body) for body in bodies):
        raise UsageError(
            f"{name}: nothing of it stays but {sum(map(len, pieces))} bytes: say what a correct "
            f"reply contains: --check {_quoted(_suggested(pieces, bodies))}"
        )
    names = ", ".join(dict.fromkeys(_names_of_what_varies(parts, bodies[0])))
    return replace(
        expect,
        pattern=pattern,
        varies=(
            f"{len(bodies[0]) - required:,} of {len(bodies[0]):,} bytes differ from reply to reply"
            f"{f' ({names})' if names else ''}; required are the "
            f"{'part that stays' if len(parts) == 1 else f'{len(parts)} parts that stay'}, status "
            f"{expect.status} and a length of {len(bodies[0]):,} +- {_spread(bodies, required):,}."
        ),
    )


def _stable(bodies: Sequence[bytes]) -> list[bytes]:
    """Return the pieces that all *bodies* have in this order, the longest ones that are found."""
    first, *others = [_TOKENS.findall(body) for body in bodies]
    common = _aligned(first, *others)
    if 2 * sum(map(len, common)) < len(bodies[0]):
        common = _matched(first, *others)
    joined = (b"".join(run) for differs, run in groupby(common, _BREAK.__eq__) if not differs)
    return [piece for stretch in joined if (piece := _CLOCK.sub(b"", stretch))]


def _aligned(*replies: Sequence[bytes]) -> list[bytes]:
    """Return the tokens that are the same at the same place: most pages keep their structure."""
    if len(set(map(len, replies))) > 1:
        return []
    return [column[0] if len(set(column)) == 1 else _BREAK for column in zip(*replies, strict=True)]


def _matched(first: Sequence[bytes], *others: Sequence[bytes]) -> list[bytes]:
    """Return the tokens that all have in this order, as well as difflib finds them."""
    common = list(first)
    for tokens in others:
        blocks = SequenceMatcher(None, common, tokens).get_matching_blocks()
        common = [
            token for block in blocks for token in (*common[block.a : block.a + block.size], _BREAK)
        ]
    return common


def _pattern(parts: Sequence[bytes], bodies: Sequence[bytes], required: int) -> str:
    """Return the expression that finds *parts* in their order, in a body of about that length."""
    usual, spread = len(bodies[0]), _spread(bodies, required)
    # Atomic: where a part is missing the search is over, and does not try all the others anew.
    parts_pattern = "".join(f"(?>.*?{_escaped(part)})" for part in parts)
    return rf"(?s)\A(?=.{{{max(required, usual - spread)},{usual + spread}}}\Z){parts_pattern}"


def _spread(bodies: Sequence[bytes], required: int) -> int:
    """Return by how much a right reply may differ in length from the first: as much as varies."""
    lengths = [len(body) for body in bodies]
    return max(lengths) - required + max(abs(length - lengths[0]) for length in lengths)


def _escaped(part: bytes) -> str:
    r"""
    Return an expression in ASCII for *part*.

    >>> _escaped("a.ü".encode())
    'a\\.\\xc3\\xbc'
    """
    text = re.escape(part.decode("latin-1"))
    return "".join(c if c.isascii() else f"\\x{ord(c):02x}" for c in text)


def _names_of_what_varies(parts: Sequence[bytes], body: bytes) -> Iterator[str]:
    """Yield what the page calls each piece that varies; nothing where it does not say."""
    for part in parts if not body.endswith(parts[-1]) else parts[:-1]:
        named = _NAMED.findall(part[-100:].rpartition(b"<")[2]) or _KEY.findall(part[-100:])
        yield from (name.decode() for name in named[-1:])


def _suggested(pieces: Sequence[bytes], bodies: Sequence[bytes]) -> str:
    """Return a pattern for the first piece that varies, with a little of what is around it."""
    before = pieces[0] if pieces and all(body.startswith(pieces[0]) for body in bodies) else b""
    rest = pieces[bool(before) :]
    after = next((piece for piece in rest if len(piece) >= LEAST_TOLD), b"")
    if not after and rest and all(body.endswith(rest[-1]) for body in bodies):
        after = rest[-1]
    varied = list(_between(before, after, bodies))
    around = before.splitlines()[-1].lstrip(b" \t{[(,") if before.strip() else b""
    return f"{_plain(around)}{_kind(varied)}{_plain(after[:1])}"


def _between(before: bytes, after: bytes, bodies: Sequence[bytes]) -> Iterator[bytes]:
    """Yield what stands between the two in each body."""
    for body in bodies:
        rest = body.removeprefix(before)
        yield rest[: rest.rfind(after) if rest.endswith(after) else rest.find(after)]


def _kind(pieces: Sequence[bytes]) -> str:
    """Return an expression for what all *pieces* consist of."""
    kinds = (("[0-9]", rb"[0-9]+"), ("[0-9a-f-]", rb"[0-9a-f-]+"), (r"[\w-]", rb"[\w-]+"))
    lengths = {len(piece) for piece in pieces}
    times = f"{{{lengths.pop()}}}" if len(lengths) == 1 else "+"
    fits = (kind for kind, one in kinds if all(re.fullmatch(one, piece) for piece in pieces))
    return f"{next(fits, '.')}{times}"


def _plain(part: bytes) -> str:
    """Return what is escaped in a pattern only where it must be: it is for people."""
    return re.sub(r"([\\.^$*+?{}\[\]|()])", r"\\\1", part.decode("utf-8", "replace"))


def _quoted(pattern: str) -> str:
    return f"'{pattern}'" if "'" not in pattern else f'"{pattern}"'
