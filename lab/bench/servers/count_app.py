"""
Call an application as its server would, without one, so often that its work can be counted.

Run by the Python of the application's environment as `python count_app.py QUESTION`, in the
server's folder and with its variables. So it needs nothing but the standard library of Python 3.8.

QUESTION is {"module", "callable", "path", "environ": {...}, "body", "status", "warm_up",
"requests", "ready", "go", "begin", "end"}: the first three as in `ask_app.py`. When the warm-up is
over it writes the file "ready", which holds what is wrong, or nothing; then it waits until the file
"go" is there. It looks for the files "begin" and "end" before and after the requests: marks for who
counts system calls.
"""

from __future__ import annotations

import gc
import io
import json
import os
import sys
import time
from typing import Any

from ask_app import load  # type: ignore[import-not-found] # it lies beside this script


def main() -> None:
    """Call it, and end without waiting for threads that the application has started."""
    question = json.loads(sys.argv[1])
    del sys.path[0]
    sys.path[:0] = question["path"]
    sys.argv[:] = ["uwsgi"]
    application = _loaded(question["module"], question["callable"])
    base = {**question["environ"], "wsgi.errors": sys.stderr, "wsgi.version": (1, 0)}
    body = question["body"].encode("latin-1")
    seen: list[str] = []

    def start_response(status: str, _headers: object, _error: object = None) -> Any:
        seen[:] = [status]
        return lambda _data: None

    def call() -> None:
        parts = application({**base, "wsgi.input": io.BytesIO(body)}, start_response)
        for _ in parts:
            pass
        if hasattr(parts, "close"):
            parts.close()

    for _ in range(question["warm_up"]):
        call()
    # A full collection, by chance among the counted requests, would be more than a change.
    gc.collect()
    gc.freeze()
    wrong = "" if seen[0].startswith(str(question["status"])) else f"it answers {seen[0]}"
    with open(question["ready"] + ".part", "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(wrong)
    os.replace(question["ready"] + ".part", question["ready"])  # noqa: PTH105
    while not os.path.exists(question["go"]):  # noqa: PTH110
        time.sleep(0.02)
    os.path.exists(question["begin"])  # noqa: PTH110
    for _ in range(question["requests"]):
        call()
    os.path.exists(question["end"])  # noqa: PTH110
    os._exit(0)


def _loaded(name: str, wanted: str) -> Any:
    application = getattr(load(name), wanted[: len(wanted) - 2 * wanted.endswith("()")])
    return application() if wanted.endswith("()") else application


if __name__ == "__main__":
    main()
