"""
Play malformed requests to uWSGI's http-socket, to its HTTP router, and to nginx in front of it.

    .venv/bin/python studies/malformed.py                       # the corpus: half a minute
    .venv/bin/python studies/malformed.py --mutations 200000    # and as many damaged ones a door

The requests and what is right for each are tests/corpus/requests.toml; the damaged ones go through
five doors, and are others each time unless --seed repeats a run. Writes the outcomes to
studies/results/malformed.json, and from them docs/reference/malformed.md and a table of all
requests, malformed.csv; `--page` writes these two only, and `--dry` nothing at all. A request that
ends a worker is looked for, made as small as it can be, and written below results/malformed/, as
its bytes and as an entry for the corpus.

Ends with status 1 where a server broke: a process died, a reply said that the server failed, its
log speaks of a fault, the next client was not answered; behind nginx also where an outcome is not
allowed, and where a damaged request got no HTTP, or silence although it was whole.
"""

from __future__ import annotations

import argparse
import json
import platform
import secrets
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.corpus import corpus  # noqa: E402
from tests.corpus.corpus import WRONG_BODY  # noqa: E402
from tests.corpus.culprit import Trap, culprit, save, shrink  # noqa: E402
from tests.corpus.doors import DOORS, FRONT, ROUTER, SOCKET, Door  # noqa: E402
from tests.corpus.mutations import mutations  # noqa: E402
from tests.corpus.page import PAGE, RESULTS, TABLE, read, render, table  # noqa: E402
from tests.corpus.play import faults  # noqa: E402
from tests.corpus.stand import FAILED, Stand, Storm  # noqa: E402

FOUND = ROOT / "results" / "malformed"
"""Where requests that end a worker are written."""

FAILURES = "500, 502, 503 or 504"

NEVER = ("malformed", "closed", "timeout")
"""What behind nginx may become of no request at all; one without an end is "unfinished"."""

AT_A_TIME = 20_000
"""Damaged requests, after which it is seen whether a process died."""


def main() -> int:
    """Play what is asked for, store it, and write the page; return 1 where a server broke."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[1])
    parser.add_argument("--mutations", type=int, default=0, help="damaged requests for each door")
    parser.add_argument("--seed", type=int, help="which ones (default: others each time)")
    parser.add_argument(
        "--page", action="store_true", help="only write the page and the table again"
    )
    parser.add_argument("--dry", action="store_true", help="write nothing, only judge")
    options = parser.parse_args()
    problems: list[str] = []
    if not options.page:
        stored = read() if RESULTS.exists() else {}
        stored |= {"versions": versions(), "outcomes": play(problems)}
        if options.mutations:
            seed = secrets.randbelow(2**32) if options.seed is None else options.seed
            print(f"{options.mutations:,} damaged requests a door, --seed {seed}", file=sys.stderr)
            doors = {door.name: damage(door, options.mutations, seed, problems) for door in DOORS}
            stored["mutations"] = {"count": options.mutations, "seed": seed, "doors": doors}
        if not options.dry:
            text = json.dumps(stored, indent=1, sort_keys=True)
            RESULTS.write_text(text + "\n", encoding="utf-8")
    if not options.dry:
        for path, text in ((PAGE, render(read())), (TABLE, table(read()))):
            path.write_text(text, encoding="utf-8")
            print(f"written: {path.relative_to(ROOT)}")
    for problem in problems:
        print(f"WRONG: {problem}")
    return 1 if problems else 0


def versions() -> dict[str, str]:
    """Return what the outcomes depend on, and the day."""
    nginx = subprocess.run(["nginx", "-v"], capture_output=True, text=True, check=True).stderr
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "uWSGI": version("uwsgi"),
        "nginx": nginx.strip().rpartition("/")[2],
        "Flask": version("flask"),
        "Python": platform.python_version(),
    }


def play(problems: list[str]) -> dict[str, dict[str, dict[str, str]]]:
    """Play the corpus to each door; return name, door, outcome, and add to *problems*."""
    requests = corpus.read()
    outcomes: dict[str, dict[str, dict[str, str]]] = {request.name: {} for request in requests}
    for door in (SOCKET, ROUTER, FRONT):
        with door.start() as server:
            played = server.play(requests)
            for request in requests:
                outcome = played[request.name]
                wrong = request.judge(outcome, front=door.nginx)
                word = WRONG_BODY if wrong and wrong.startswith(WRONG_BODY) else outcome.word
                detail = {"said": outcome.said} if outcome.said else {}
                outcomes[request.name][door.name] = {"outcome": word, **detail}
            wrong_ones = faults(requests, played) if door.nginx else []
            wrong_ones += [
                f"{name}: failed, {outcome}" for name, outcome in played.items() if outcome.failed()
            ]
            problems += [f"{door.name}: {fault}" for fault in wrong_ones + broken(server)]
        print(f"{door.name}: {len(requests)} requests", file=sys.stderr)
    return outcomes


def damage(door: Door, count: int, seed: int, problems: list[str]) -> dict[str, Any]:
    """
    Send damaged requests through a door until all are sent, or a process has died.

    Returns:
        What came back; what is wrong with it is added to *problems*.
    """
    raw = [door.aim(request.raw) for request in corpus.read()]
    damaged = mutations(raw, count, seed)
    storm, deaths = Storm(Counter(), []), 0
    begun = monotonic()
    with door.start() as server:
        while requests := list(islice(damaged, AT_A_TIME)):
            words, examples = door.storm(server, requests)
            storm.words.update(words)
            storm.examples.extend(examples)
            if deaths := server.deaths():
                break
        breakages = broken(server)
    problems += [f"{door.name}, damaged: {fault}" for fault in wrongs(storm, door) + breakages]
    if deaths:
        problems.append(f"{door.name}: {found_out(door, requests)}")
    sent = sum(storm.words.values())
    print(f"{door.name}: {sent:,} damaged in {monotonic() - begun:.0f} s", file=sys.stderr)
    return {"outcomes": summary(storm), "deaths": deaths}


def found_out(door: Door, suspects: Sequence[bytes], folder: Path = FOUND) -> str:
    """Look for the request that ended a worker, write it to *folder*, and say where."""
    print(f"{door.name}: a process died; looking for the request", file=sys.stderr)
    with Trap(door) as kills:
        killer = culprit(suspects, kills)
        if killer is None:
            return f"none of these {len(suspects):,} requests did it again by itself"
        files = save(folder, door, shrink(killer, kills))
    return f"one request ends a worker: {', '.join(map(str, files))}"


def broken(server: Stand) -> list[str]:
    """Return what broke in the server, one sentence each."""
    breakages = [] if server.answers() else ["it does not answer any more"]
    if deaths := server.deaths():
        breakages.append(f"{deaths} processes died")
    return breakages + [f"its log says {complaint!r}" for complaint in server.complaints()]


def wrongs(storm: Storm, door: Door) -> list[str]:
    """Return which outcomes no damaged request may have, one sentence each, with examples."""
    never = (FAILED, *NEVER) if door.nginx else (FAILED,)
    counts = [f"{storm.words[word]} x {word}" for word in never if storm.words[word]]
    examples = [example for example in storm.examples if example[0] in never]
    return counts + [f"{word}: {reply!r} to {sent[:200]!r}" for word, sent, reply in examples]


def summary(storm: Storm) -> dict[str, int]:
    """Count connections by their first status's class, or by the word; any failure is one."""
    counts: Counter[str] = Counter({FAILURES: storm.words[FAILED]})
    for word, count in storm.words.items():
        first = word.split()[0]
        if first in ("501", "505"):
            counts["501 or 505"] += count
        elif first != FAILED:
            counts[f"{first[0]}xx" if first.isdigit() else first] += count
    return dict(counts)


if __name__ == "__main__":
    sys.exit(main())
