"""
Count what the linter finds in configurations of others.

    .venv/bin/python studies/public_lint.py FOLDER --collected 2026-11-23

Every file in FOLDER whose name is one of uWSGI's or gunicorn's is linted by itself, as `lab lint
FILE` does it. Stored is in how many files each rule finds something, remarks apart, and why files
were not read: no name of a file or a project. docs/reference/lint-evidence.md shows the counts.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from lab.config.configuration import Known  # noqa: E402
from lab.config.reading import find  # noqa: E402
from lab.errors import ProfileError  # noqa: E402
from lab.lint.flaw import Severity  # noqa: E402
from lab.lint.lint import lint  # noqa: E402

RESULTS = ROOT / "studies" / "results" / "public_lint.json"


def counted(folder: Path) -> dict[str, Any]:
    """Return by server how many files were read, how many are clean, and which rules find what."""
    known = Known(confined=(folder,))
    servers: dict[str, dict[str, Any]] = {}
    refused: Counter[str] = Counter()
    for name in find(folder):
        try:
            linted = lint(name, known)
        except ProfileError as error:
            refused[_reason(str(error), name)] += 1
            continue
        counts = {flaw.code for flaw in linted.flaws if flaw.severity is not Severity.REMARK}
        server = servers.setdefault(
            linted.config.server,
            {"files": 0, "without_findings": 0, "rules": Counter(), "remarks": Counter()},
        )
        server["files"] += 1
        server["without_findings"] += not counts
        server["rules"].update(counts)
        server["remarks"].update({flaw.code for flaw in linted.flaws} - counts)
    for server in servers.values():
        for kind in ("rules", "remarks"):
            server[kind] = dict(sorted(server[kind].items(), key=lambda it: (-it[1], it[0])))
    return {"servers": servers, "not_read": dict(refused.most_common())}


def _reason(message: str, name: str) -> str:
    """Return why a file was not read, without its name and what stands in it."""
    reason = re.sub(r"^:?\d*: ", "", message.removeprefix(name))
    return re.split(r", because it has|:|'", reason)[0].strip()


def main() -> None:
    """Count, store and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--collected", required=True, help="when the files were collected")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    with contextlib.chdir(folder):  # a Dockerfile beside the linter says nothing of them
        result = counted(folder)
    result |= {"collected": arguments.collected, "version": version("uwsgi-fibonacci-lab")}
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
