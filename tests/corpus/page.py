"""
docs/reference/malformed.md, from the outcomes that studies/malformed.py has stored.

The page has the requests that some door answers wrongly; the table of all of them is malformed.csv.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from tests.corpus import corpus
from tests.corpus.client import Outcome
from tests.corpus.corpus import WRONG_BODY, Request
from tests.corpus.doors import DOORS, FRONT, ROUTER, SOCKET, Door
from tests.kit.lab_process import ROOT

RESULTS = ROOT / "studies" / "results" / "malformed.json"
TABLE = RESULTS.with_suffix(".csv")
ONE_HEADER = ROOT / "studies" / "results" / "one_header.json"
PAGE = ROOT / "docs" / "reference" / "malformed.md"
COMMAND = "python studies/malformed.py"

TABLED = (SOCKET, ROUTER, FRONT)
"""The doors whose outcomes are shown for each request."""

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

How a server treats a request that no client should send decides whether a stranger can put
words into its replies, or hide a request from the proxy in front. This page shows it for one
application behind three doors: `tuned` on uWSGI's `http-socket`, the same through uWSGI's HTTP
router, and the production stack with nginx in front. The reasons for nginx in front are these:

- **uWSGI repeats the request's protocol in its status line.** `GET /9 Set-Cookie: a=b` is answered
  with the line `Set-Cookie: a=b 200 OK`: what the client sent comes back as a header.
- **It never refuses.** On what its parser cannot read it closes the connection without a reply, so
  the client cannot tell its own mistake from a dead server; most of the rest it hands to the
  application.
- **It guesses at framing.** It takes `+5`, `0x5`, `5, 3` and 2^64 + 5 for lengths, and an unknown
  transfer coding for none. A proxy that guesses otherwise sees other requests than uWSGI does.
- **It accepts what HTTP requires to be refused**: no Host, two of them, a blank before a colon, a
  NUL.
- **One byte ends a worker**, unless the configuration prevents it, as every profile here does but
  the article's five: [is yours open?](#one-header-ends-a-worker)

The requests are [`tests/corpus/requests.toml`](../../tests/corpus/requests.toml), byte by byte,
each with the outcomes that are right and the reason. The tests play all of them behind nginx, where
each outcome must be right, and on `http-socket`, where each wrong one must stand in the stored
[table of all requests](../../studies/results/malformed.csv).

```console
$ .venv/bin/python studies/malformed.py                       # the table: half a minute
$ .venv/bin/python studies/malformed.py --mutations 200000    # and damaged requests
```
"""

HEADER = """\
## One header ends a worker

uWSGI sets a WSGI application's `wsgi.url_scheme` from the header `X-Forwarded-Proto`, whoever
sends it. Its Python plugin decodes the value as UTF-8, does not check the result, and
puts what may be NULL into a dictionary: `plugins/python/wsgi_subhandler.c`, in every release
from 2.0.8 (2014), which began to read that header, to 2.0.31, and in the repository of September
2025. A segmentation fault ends the worker before the application has seen the request, so
nothing in the application, in any framework, can prevent it. Without a master the worker is gone
for good, and with the article's configurations so is the service. A master starts a worker again,
but only about one per second, so a few requests/s keep a small service down. Right replies
in {seconds:.0f} seconds of `tuned` with {workers} workers, to four clients that ask again ten
milliseconds after each reply:

{table}

```console
$ .venv/bin/python studies/one_header.py
```

**Test your own server.** Ask a test instance, not the one that customers use, because
this ends one of its workers:

```sh
curl -i -H $'X-Forwarded-Proto: \\xff' http://127.0.0.1:8080/
```

It is vulnerable if the reply is empty (`curl: (52)`), or a 502 of the proxy in front, and uWSGI's
log says `Segmentation Fault`. A proxy in front of two or more instances may have got its answer
from another one: the log decides.

`lab lint` reports it as [UW408](lint.md#uw408): dangerous where any host reaches the port.

**Protect it in uWSGI**, with one line in the ini. What is not exactly `http` or `https` becomes
`http`; what your proxy says stays:

```ini
route-if-not = regexp:${{HTTP_X_FORWARDED_PROTO}};^(https?)?\\z setscheme:http
```

It needs internal routing, which uWSGI has where it was built with PCRE; `uwsgi --help` lists
`--route-if-not` then. The profiles here write the same as three lines without a regular expression
([`scheme.ini`](../../uwsgi/scheme.ini)), which cost a third of it per request: 2,600 instructions
in user space instead of 9,400 (counted once; not stored).

**Or protect it in the proxy**, which should never let a client choose the scheme. In nginx:

```nginx
uwsgi_param HTTP_X_FORWARDED_PROTO $scheme;         # with uwsgi_pass
proxy_set_header X-Forwarded-Proto $scheme;         # with proxy_pass
```

A block of nginx inherits such lines from the level above only if it has none of its own: one
`uwsgi_param` in a `location` removes all of them, and makes that location vulnerable.

**At a socket for `uwsgi_pass` one more variable does it**: `UWSGI_SCHEME`, which comes before that
header. No client can send it, only who may write to the socket, in production nginx and root; so
set it from nothing that a client says.

uWSGI decodes the other parts of a request as Latin-1, which knows every byte. [A
test](../../tests/corpus/test_bytes.py) tries all 256 bytes in each header that uWSGI interprets, in
the path, the query, the protocol and a name, on every profile and peer; the same test shows
what the article's configurations do.
"""

DAMAGED = """\
## Damaged at random

The same requests after one to four random changes each: bytes flipped, inserted, deleted,
duplicated, ends exchanged, a header added that uWSGI interprets, with any bytes. {count:,} of them
through each of five doors, seed {seed} (each run draws its own; `--seed` repeats one), counted by
the first reply or by what came instead of one. `http11-socket` is `tuned` with that front end;
port 8081 is where the production stack answers Prometheus. A request that ended a process would be
looked for, made as small as it can be, and kept:
"""

WORDS = """\
In the tables a number is the status of a reply; the words are:

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

The requests that at least one door answers wrongly; the [table of all
requests](../../studies/results/malformed.csv) has the others. **Bold** is wrong; `code` is the
first line of a malformed reply.
"""


def read() -> dict[str, Any]:
    """Return what is stored."""
    stored: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return stored


def verdict(request: Request, stored: dict[str, str], door: Door) -> str:
    """Return the key of `VERDICTS` for a stored outcome."""
    outcome = Outcome(stored["outcome"])
    if outcome.word in request.allowed or (not door.nginx and outcome.word in request.elsewhere):
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
    parts = [INTRO, _one_header(), *_counts(stored), WORDS, *_mutations(stored), *_tables(stored)]
    return "\n".join(parts) + "\n"


def table(stored: dict[str, Any]) -> str:
    """Return the outcomes of all requests as CSV, each with its verdict."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    doors = [title for door in TABLED for title in (door.name, f"{door.name}: verdict")]
    rows.writerow(["group", "request", *doors, "why"])
    for request in corpus.read():
        found = [(door, stored["outcomes"][request.name][door.name]) for door in TABLED]
        cells = [
            cell for door, each in found for cell in (_said(each), verdict(request, each, door))
        ]
        rows.writerow([request.group, request.name, *cells, request.why])
    return text.getvalue()


def _said(found: dict[str, str]) -> str:
    """Return an outcome, and the first line of a malformed reply."""
    line = found.get("said", "").encode("unicode_escape").decode()
    return f"{found['outcome']}: {line}" if line else found["outcome"]


def _counts(stored: dict[str, Any]) -> Iterator[str]:
    requests = corpus.read()
    yield f"Of {len(requests)} requests ({_versions(stored)}):"
    yield ""
    yield _row("", *(door.name for door in TABLED))
    yield _row("---", *["---:"] * len(TABLED))
    outcomes = stored["outcomes"]
    verdicts = [
        Counter(verdict(each, outcomes[each.name][door.name], door) for each in requests)
        for door in TABLED
    ]
    for key, text in VERDICTS.items():
        yield _row(text, *(str(counts[key]) for counts in verdicts))
    yield ""


def _one_header() -> str:
    stored = json.loads(ONE_HEADER.read_text(encoding="utf-8"))
    right = {(each["rate"], each["rule"]): each["right"] for each in stored["rows"]}
    rows = [_row("bad requests/s", "without its rule", "as it is"), _row(*["---:"] * 3)]
    rows += [
        _row(str(rate), f"{right[rate, False]:,}", f"{right[rate, True]:,}")
        for rate in sorted({rate for rate, _ in right})
    ]
    table = "\n".join(rows)
    return HEADER.format(table=table, seconds=stored["seconds"], workers=stored["workers"])


def _versions(stored: dict[str, Any]) -> str:
    said = [f"{name} {text}" for name, text in stored["versions"].items() if name != "date"]
    return ", ".join([*said, stored["versions"]["date"]])


def _mutations(stored: dict[str, Any]) -> Iterator[str]:
    if "mutations" not in stored:
        return
    run = stored["mutations"]
    yield DAMAGED.format(count=run["count"], seed=run["seed"])
    doors = {door.name: run["doors"][door.name] for door in DOORS if door.name in run["doors"]}
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
    wrong = [
        each for each in corpus.read() if _wrong_somewhere(each, stored["outcomes"][each.name])
    ]
    for group, requests in groupby(wrong, key=lambda each: each.group):
        yield ""
        yield f"### {group[0].upper()}{group[1:]}"
        yield ""
        yield _row("request", *(door.name for door in TABLED), "why")
        yield _row(*["---"] * (len(TABLED) + 2))
        for request in requests:
            found = stored["outcomes"][request.name]
            cells = [_cell(request, found[door.name], door) for door in TABLED]
            yield _row(request.name, *cells, request.why)


def _wrong_somewhere(request: Request, found: dict[str, dict[str, str]]) -> bool:
    return any(verdict(request, found[door.name], door) != "right" for door in TABLED)


def _cell(request: Request, found: dict[str, str], door: Door) -> str:
    words = found["outcome"].split()
    text = f"{len(words)} x {words[0]}" if len({*words}) == 1 < len(words) else " ".join(words)
    if "said" in found:
        line = found["said"].encode("unicode_escape").decode()
        text = f"`{line if len(line) <= 40 else line[:37] + '...'}`"
    return text if verdict(request, found, door) == "right" else f"**{text}**"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
