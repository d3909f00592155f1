"""docs/malformed.md, from the outcomes that benchmarks/malformed.py has stored."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from tests.corpus import corpus
from tests.corpus.client import Outcome
from tests.corpus.corpus import WRONG_BODY, Request

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "malformed.json"
PAGE = ROOT / "docs" / "malformed.md"
COMMAND = "python benchmarks/malformed.py"

SOCKET, ROUTER, FRONT = DOORS = ("http-socket", "HTTP router", "behind nginx")

VERDICTS = {
    "right": "right",
    "handled": "handled although invalid",
    "refused": "valid, and not answered rightly",
    "wrong": "another answer than the right one",
    "silent": "closed or left without a word",
    "malformed": "malformed reply",
}

INTRO = """\
# Malformed requests

What a server does with a request that no client should send decides whether a stranger can put
words into its replies, or hide a request from the proxy in front. This page shows it for one
application behind three doors: `tuned` on uWSGI's `http-socket`, the same through uWSGI's HTTP
router, and the production stack with nginx in front. It is why production means nginx in front:

- **uWSGI repeats the request's protocol in its status line.** `GET /9 Set-Cookie: a=b` is answered
  with the line `Set-Cookie: a=b 200 OK`: what the client sent comes back as a header.
- **It never refuses.** What its parser cannot read it closes without a word, so the client cannot
  tell a mistake of its own from a dead server; most of the rest it hands to the application.
- **It guesses at framing.** `+5`, `0x5`, `5, 3` and 2^64 + 5 are taken for lengths, and an unknown
  transfer coding for none. A proxy that guesses otherwise sees other requests than uWSGI does.
- **It takes what HTTP demands to be refused**: no Host, two of them, a blank before a colon, a NUL.

The requests are [`tests/corpus/requests.toml`](../tests/corpus/requests.toml), byte by byte, each
with the outcomes that are right and the reason. The tests play all of them behind nginx, where each
outcome must be a right one, and on `http-socket`, where each that is not must stand in this table.

```console
$ .venv/bin/python benchmarks/malformed.py                       # the table: half a minute
$ .venv/bin/python benchmarks/malformed.py --mutations 200000    # and damaged requests
```
"""

DAMAGED = """\
## Damaged at random

The same requests after one to four random changes each: bytes flipped, inserted, deleted,
duplicated, ends exchanged. {count:,} of them for each door, seed {seed}, counted by the first
reply or by what came instead of one:
"""

WORDS = """\
In the tables below a number is the status of a reply; the words are:

- *closed*: the server ended the connection without a byte.
- *unfinished*: it did so after the client had said that no more would come.
- *timeout*: neither a reply nor an end in 15 seconds.
- *http09*: the answer without a status line, as HTTP/0.9 has it.
- *malformed*: bytes that are no HTTP reply, by their status line, a header or the framing.
"""

UNFINISHED = """
Behind nginx the client waits for a second before it says that no more will come; on `http-socket`
it does not wait, because uWSGI holds a worker as long as the client does.
"""

ONE_BY_ONE = """\
## Request by request

**Bold** is what is not right there; `code` is the first line of a malformed reply.
"""


def read() -> dict[str, Any]:
    """Return what is stored."""
    stored: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return stored


def verdict(request: Request, stored: dict[str, str], door: str) -> str:
    """Return the key of `VERDICTS` for a stored outcome."""
    outcome = Outcome(stored["outcome"])
    front = door == FRONT
    if outcome.word in request.allowed or (not front and outcome.word in request.elsewhere):
        return "right"
    if outcome.word == "malformed":
        return "malformed"
    if outcome.word == WRONG_BODY:
        return "wrong"
    if not outcome.word[0].isdigit():
        return "silent"
    valid = any(each.startswith("200") for each in request.allowed)
    return "refused" if valid else "handled"


def render(stored: dict[str, Any]) -> str:
    """
    Return the page.

    Raises:
        ValueError: A request has no stored outcome.
    """
    new = {request.name for request in corpus.read()} ^ stored["outcomes"].keys()
    if new:
        raise ValueError(f"{RESULTS.name} is out of date ({', '.join(new)}): run {COMMAND}")
    return "\n".join([INTRO, *_counts(stored), WORDS, *_mutations(stored), *_tables(stored)]) + "\n"


def _counts(stored: dict[str, Any]) -> Iterator[str]:
    requests = corpus.read()
    yield f"Of {len(requests)} requests ({_versions(stored)}):"
    yield ""
    yield _row("", *DOORS)
    yield _row("---", *["---:"] * len(DOORS))
    verdicts = {
        door: Counter(verdict(each, stored["outcomes"][each.name][door], door) for each in requests)
        for door in DOORS
    }
    for key, text in VERDICTS.items():
        yield _row(text, *(str(verdicts[door][key]) for door in DOORS))
    yield ""


def _versions(stored: dict[str, Any]) -> str:
    said = [f"{name} {text}" for name, text in stored["versions"].items() if name != "date"]
    return ", ".join([*said, stored["versions"]["date"]])


def _mutations(stored: dict[str, Any]) -> Iterator[str]:
    if "mutations" not in stored:
        return
    run = stored["mutations"]
    yield DAMAGED.format(count=run["count"], seed=run["seed"])
    doors = {door: run["doors"][door] for door in DOORS if door in run["doors"]}
    yield _row("", *doors)
    yield _row("---", *["---:"] * len(doors))
    names = sorted({name for each in doors.values() for name in each["outcomes"]})
    for name in names:
        counts = [each["outcomes"].get(name, 0) for each in doors.values()]
        yield _row(name, *(f"{count:,}" for count in counts))
    yield _row("processes that died", *(str(each["deaths"]) for each in doors.values()))
    yield UNFINISHED


def _tables(stored: dict[str, Any]) -> Iterator[str]:
    yield ONE_BY_ONE.rstrip()
    for group, requests in groupby(corpus.read(), key=lambda each: each.group):
        yield ""
        yield f"### {group[0].upper()}{group[1:]}"
        yield ""
        yield _row("request", *DOORS, "why")
        yield _row(*["---"] * (len(DOORS) + 2))
        for request in requests:
            found = stored["outcomes"][request.name]
            cells = [_cell(request, found[door], door) for door in DOORS]
            yield _row(request.name, *cells, request.why)


def _cell(request: Request, found: dict[str, str], door: str) -> str:
    words = found["outcome"].split()
    text = f"{len(words)} x {words[0]}" if len({*words}) == 1 < len(words) else " ".join(words)
    if "said" in found:
        line = found["said"].encode("unicode_escape").decode()
        text = f"`{line if len(line) <= 40 else line[:37] + '...'}`"
    return text if verdict(request, found, door) == "right" else f"**{text}**"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
