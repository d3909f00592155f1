"""
Play malformed requests to uWSGI's http-socket, to its HTTP router, and to nginx in front of it.

    .venv/bin/python benchmarks/malformed.py                       # the corpus: half a minute
    .venv/bin/python benchmarks/malformed.py --mutations 200000    # and as many damaged ones

The requests and what is right for each are tests/corpus/requests.toml. Writes the outcomes to
benchmarks/results/malformed.json, and docs/malformed.md from them; `--page` writes the page only.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.corpus import corpus  # noqa: E402
from tests.corpus.corpus import WRONG_BODY  # noqa: E402
from tests.corpus.mutations import mutations  # noqa: E402
from tests.corpus.page import FRONT, PAGE, RESULTS, ROUTER, SOCKET, read, render  # noqa: E402
from tests.corpus.stand import FAILURES, Stand, Storm, router, stand  # noqa: E402

DOORS: dict[str, Callable[[], AbstractContextManager[Stand]]] = {
    SOCKET: lambda: stand("tuned"),
    ROUTER: router,
    FRONT: lambda: stand("production", workers=2),
}

FAILED = "500, 502, 503 or 504"


def main() -> None:
    """Play what is asked for, store it, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("--mutations", type=int, default=0, help="damaged requests for each door")
    parser.add_argument("--seed", type=int, default=1, help="which ones (default: %(default)s)")
    parser.add_argument("--page", action="store_true", help="only write the page again")
    options = parser.parse_args()
    if not options.page:
        stored = read() if RESULTS.exists() else {}
        stored |= {"versions": versions(), "outcomes": play()}
        if options.mutations:
            stored["mutations"] = {
                "count": options.mutations,
                "seed": options.seed,
                "doors": {
                    door: damage(door, options.mutations, options.seed) for door in (SOCKET, FRONT)
                },
            }
        RESULTS.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    PAGE.write_text(render(read()), encoding="utf-8")
    print(f"written: {PAGE.relative_to(ROOT)}")


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


def play() -> dict[str, dict[str, dict[str, str]]]:
    """Play the corpus to each door; return name, door, outcome."""
    requests = corpus.read()
    outcomes: dict[str, dict[str, dict[str, str]]] = {request.name: {} for request in requests}
    for door, start in DOORS.items():
        with start() as server:
            played = server.play(requests)
            for request in requests:
                outcome = played[request.name]
                wrong = request.judge(outcome, front=door == FRONT)
                word = WRONG_BODY if wrong and wrong.startswith(WRONG_BODY) else outcome.word
                said = {"said": outcome.said} if outcome.said else {}
                outcomes[request.name][door] = {"outcome": word, **said}
            check(server, door)
        print(f"{door}: {len(requests)} requests", file=sys.stderr)
    return outcomes


def damage(door: str, count: int, seed: int) -> dict[str, Any]:
    """Send damaged requests to a door; return what came back, and how many workers died."""
    damaged = mutations([request.raw for request in corpus.read()], count, seed)
    with DOORS[door]() as server:
        begun = monotonic()
        storm = server.storm(damaged, 1.0, 256) if door == FRONT else server.storm(damaged)
        seconds = monotonic() - begun
        deaths = check(server, door)
    print(f"{door}: {count:,} damaged requests in {seconds:.0f} s", file=sys.stderr)
    for sent, said in storm.malformed if door == FRONT else ():
        print(f"  malformed: {said!r} to {sent[:200]!r}", file=sys.stderr)
    return {"outcomes": summary(storm), "deaths": deaths}


def check(server: Stand, door: str) -> int:
    """Return how many processes died; end the program if the server does not answer any more."""
    if not server.answers():
        sys.exit(f"{door}: it does not answer any more")
    return server.deaths()


def summary(storm: Storm) -> dict[str, int]:
    """Count connections by their first status's class, or by the word; any failure is one."""
    counts: Counter[str] = Counter({FAILED: storm.failures()})
    for word, count in storm.words.items():
        first = word.split()[0]
        if first in ("501", "505"):
            counts["501 or 505"] += count
        elif first not in FAILURES:
            counts[f"{first[0]}xx" if first.isdigit() else first] += count
    return dict(counts)


if __name__ == "__main__":
    main()
