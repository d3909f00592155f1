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
"""The servers whose outcomes are shown for each request."""

VERDICTS = {
    "right": "right",
    "handled": "handled although invalid",
    "refused": "valid, answered wrongly",
    "wrong": "wrong answer",
    "silent": "no reply",
    "malformed": "malformed reply",
}

INTRO = """\
# Malformed requests

How one application answers malformed requests on three servers: `tuned` on uWSGI's
`http-socket`, `tuned` on uWSGI's HTTP router, and the production stack, with nginx in front. Put
nginx in front for these reasons:

- **uWSGI repeats the request's protocol in its status line.** The reply to
  `GET /9 Set-Cookie: a=b` begins with `Set-Cookie: a=b 200 OK`: the client sets a header of the
  reply.
- **uWSGI never refuses.** It closes the connection without a reply, or hands the request to the
  application.
- **uWSGI guesses at framing.** It takes `+5`, `0x5`, `5, 3` and 2^64 + 5 for lengths, and ignores
  an unknown transfer coding. A proxy that guesses otherwise sees other requests.
- **uWSGI accepts what HTTP requires to be refused**: no Host, two Hosts, a blank before a colon,
  a NUL.
- **One byte ends a worker.** The article's five profiles are vulnerable: [test
  yours](#one-header-ends-a-worker).

[`requests.toml`](../../tests/corpus/requests.toml) has the bytes of each request, the right
outcomes and the reason. The [table of all requests](../../studies/results/malformed.csv) has the
outcomes. Tests compare it with a running server.

```console
$ .venv/bin/python studies/malformed.py                       # the table: half a minute
$ .venv/bin/python studies/malformed.py --mutations 200000    # and damaged requests
```
"""

HEADER = """\
## One header ends a worker

uWSGI sets `wsgi.url_scheme` from the header `X-Forwarded-Proto`, whoever sends it. A value that
is not UTF-8 ends the worker with a segmentation fault before the application sees the request
(`plugins/python/wsgi_subhandler.c`, every release from 2.0.8 to 2.0.31, and the repository of
September 2025). Without a master the worker stays dead. A master restarts about one worker per
second, so a few requests/s keep a small service down. Right replies in {seconds:.0f} seconds of
`tuned` with {workers} workers, to four clients that ask again ten milliseconds after each reply:

{table}

```console
$ .venv/bin/python studies/one_header.py
```

**Test your own server.** The request ends a worker, so ask a test instance:

```sh
curl -i -H $'X-Forwarded-Proto: \\xff' http://127.0.0.1:8080/
```

Your server is vulnerable if uWSGI's log says `Segmentation Fault`. The reply is then empty
(`curl: (52)`), or a 502 of the proxy. [UW408](lint.md#uw408) of `lab lint` finds it in the
configuration.

**Protect it in uWSGI**, with one line in the ini. Every value but `http` and `https` becomes
`http`:

```ini
route-if-not = regexp:${{HTTP_X_FORWARDED_PROTO}};^(https?)?\\z setscheme:http
```

The line needs a uWSGI with PCRE: `uwsgi --help` lists `--route-if-not`. The profiles have three
lines without a regular expression instead ([`scheme.ini`](../../uwsgi/scheme.ini)), which cost a
third: 2,600 instructions per request in user space, not 9,400 (counted once; not stored).

**Or protect it in the proxy.** In nginx:

```nginx
uwsgi_param HTTP_X_FORWARDED_PROTO $scheme;         # with uwsgi_pass
proxy_set_header X-Forwarded-Proto $scheme;         # with proxy_pass
```

A `location` with a line of its own inherits none of these lines: repeat them there.

**At a socket for `uwsgi_pass`, `UWSGI_SCHEME` comes before the header.** Only a program that may
write to the socket can send it. Never set it from a client's value.

uWSGI decodes everything else as Latin-1, which has every byte. [A
test](../../tests/corpus/test_bytes.py) tries all 256 bytes in each header that uWSGI interprets,
the path, the query, the protocol and a name, on every profile and peer.
"""

DAMAGED = """\
## Damaged at random

The same requests after one to four random changes: bytes flipped, inserted, deleted or
duplicated, ends exchanged, a header added. {count:,} of them went through each of five servers
(`--seed {seed}`), counted by the first outcome. Port 8081 answers Prometheus:
"""

WORDS = """\
A number is the status of a reply. The words are:

- *closed*: the server ended the connection without a byte.
- *unfinished*: the server did so after the client had ended its side.
- *timeout*: neither a reply nor an end in 15 seconds.
- *http09*: a reply without a status line, as in HTTP/0.9.
- *malformed*: the status line, a header or the framing is not HTTP.
"""

ONE_BY_ONE = """\
## Request by request

The requests that at least one of them answers wrongly. The [table of all
requests](../../studies/results/malformed.csv) has the reasons. **Bold** is wrong; `code` is the
first line of a malformed reply. An outcome behind a comma is the HTTP router's, where it differs.
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
    valid = any(allowed.startswith("200") for allowed in request.allowed)
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
        outcomes = [(door, stored["outcomes"][request.name][door.name]) for door in TABLED]
        cells = [
            cell
            for door, outcome in outcomes
            for cell in (_said(outcome), verdict(request, outcome, door))
        ]
        rows.writerow([request.group, request.name, *cells, request.why])
    return text.getvalue()


def _said(outcome: dict[str, str]) -> str:
    """Return an outcome, and the first line of a malformed reply."""
    line = outcome.get("said", "").encode("unicode_escape").decode()
    return f"{outcome['outcome']}: {line}" if line else outcome["outcome"]


def _counts(stored: dict[str, Any]) -> Iterator[str]:
    requests = corpus.read()
    yield f"Of {len(requests)} requests ({_versions(stored)}):"
    yield ""
    yield _row("", *(door.name for door in TABLED))
    yield _row("---", *["---:"] * len(TABLED))
    outcomes = stored["outcomes"]
    verdicts = [
        Counter(verdict(request, outcomes[request.name][door.name], door) for request in requests)
        for door in TABLED
    ]
    for key, text in VERDICTS.items():
        yield _row(text, *(str(counts[key]) for counts in verdicts))
    yield ""


def _one_header() -> str:
    stored = json.loads(ONE_HEADER.read_text(encoding="utf-8"))
    right = {(row["rate"], row["rule"]): row["right"] for row in stored["rows"]}
    rows = [_row("bad requests/s", "without its rule", "as it is"), _row(*["---:"] * 3)]
    rows += [
        _row(str(rate), f"{right[rate, False]:,}", f"{right[rate, True]:,}")
        for rate in sorted({rate for rate, _ in right})
    ]
    table = "\n".join(rows)
    return HEADER.format(table=table, seconds=stored["seconds"], workers=stored["workers"])


def _versions(stored: dict[str, Any]) -> str:
    versions = [f"{name} {text}" for name, text in stored["versions"].items() if name != "date"]
    return ", ".join([*versions, stored["versions"]["date"]])


def _mutations(stored: dict[str, Any]) -> Iterator[str]:
    if "mutations" not in stored:
        return
    run = stored["mutations"]
    yield DAMAGED.format(count=run["count"], seed=run["seed"])
    doors = {door.name: run["doors"][door.name] for door in DOORS if door.name in run["doors"]}
    yield _row("", *doors)
    yield _row("---", *["---:"] * len(doors))
    names = sorted({name for door in doors.values() for name in door["outcomes"]})
    for name in names:
        counts = [door["outcomes"].get(name, 0) for door in doors.values()]
        yield _row(name, *(f"{count:,}" for count in counts))
    yield _row("processes that died", *(str(door["deaths"]) for door in doors.values()))
    yield ""


def _tables(stored: dict[str, Any]) -> Iterator[str]:
    yield ONE_BY_ONE.rstrip()
    wrong = [
        request
        for request in corpus.read()
        if _wrong_somewhere(request, stored["outcomes"][request.name])
    ]
    for group, requests in groupby(wrong, key=lambda request: request.group):
        yield ""
        yield f"### {group[0].upper()}{group[1:]}"
        yield ""
        yield _row("request", SOCKET.name, FRONT.name)
        yield _row(*["---"] * 3)
        for request in requests:
            outcomes = stored["outcomes"][request.name]
            socket, router, front = (_cell(request, outcomes[door.name], door) for door in TABLED)
            yield _row(request.name, socket if socket == router else f"{socket}, {router}", front)


def _wrong_somewhere(request: Request, outcomes: dict[str, dict[str, str]]) -> bool:
    return any(verdict(request, outcomes[door.name], door) != "right" for door in TABLED)


def _cell(request: Request, outcome: dict[str, str], door: Door) -> str:
    words = outcome["outcome"].split()
    text = f"{len(words)} x {words[0]}" if len({*words}) == 1 < len(words) else " ".join(words)
    if "said" in outcome:
        line = outcome["said"].encode("unicode_escape").decode()
        text = f"`{line if len(line) <= 40 else line[:37] + '...'}`"
    return text if verdict(request, outcome, door) == "right" else f"**{text}**"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
