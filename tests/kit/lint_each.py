"""
Lint many configurations in one process, as `lab lint` does, and say of each how it went.

    python lint_each.py NAMES.json         prints a line of JSON for each name

The first thing that it opens after its own start is BEGINS, which there is not: what a trace has
before that is Python's start and the lab's own modules.
"""

import contextlib
import gc
import io
import json
import resource
import sys
import time
from pathlib import Path

BEGINS = "/the-linter-begins"

WARM = ["a.ini", "a.yaml", "a.json", "a.xml", "gunicorn.conf.py", "granian a:b"]
"""Read first, so that all modules are imported."""


def lint(name):
    """Return what `lab lint NAME` prints and ends with, and its seconds of CPU."""
    from lab.cli import main

    printed, began = io.StringIO(), time.process_time()
    sys.argv = ["lab", "lint", "--", name]
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            main()
            status = 0
        except SystemExit as ended:
            status = ended.code
        except BaseException as error:  # noqa: BLE001 - what nobody should see
            status = f"Traceback: {error!r}"
    gc.enable()
    return {
        "name": name,
        "status": status,
        "printed": printed.getvalue()[:400],
        "seconds": time.process_time() - began,
        "kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }


def run(names):
    """Lint each."""
    for name in WARM:
        lint(name)
    with contextlib.suppress(OSError):
        Path(BEGINS).open().close()
    for name in names:
        print(json.dumps(lint(name)), flush=True)  # noqa: T201 - it is a program


if __name__ == "__main__":
    run(json.loads(Path(sys.argv[1]).read_text()))
