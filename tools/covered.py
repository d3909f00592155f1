"""
Say how much of the packages that need no server the tests run: `make coverage`.

Lines and branches, of all processes that these tests start. A package below its floor fails. Where
a server, a kernel or a network decides what happens, as in `lab.bench.servers`, the share says
little.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

FLOORS = {"analysis": 95, "config": 84, "lint": 96, "model": 90, "report": 95}
"""Package -> percent at the least."""

TESTS = (
    "tests/analysis",
    "tests/lint",
    "tests/report",
    "tests/profiles/test_private.py",
    "tests/test_sweep.py",
    "tests/test_thresholds.py",
)

LEFT_OUT = (
    "tests/analysis/test_margin.py",
    "tests/lint/test_acting_files.py",
    "tests/lint/test_hostile.py",
    "tests/lint/test_uwsgi_serves.py",
)
"""Which take long: simulations, and thousands of processes."""

CONFIG = """
[run]
source = {package}
branch = true
parallel = true
# pytest's workers, and the commands that tests start.
patch = subprocess
data_file = {data}
"""

COUNTS = ("covered_lines", "covered_branches", "num_statements", "num_branches")


def main() -> None:
    """Run the tests, print the table, and end with 1 if one fails, or a package is too low."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "coverage.ini")
        config.write_text(CONFIG.format(package=ROOT / "lab", data=f"{folder}/data"))
        coverage = (sys.executable, "-m", "coverage")
        rcfile = f"--rcfile={config}"
        left = (f"--deselect={path}" for path in LEFT_OUT)
        pytest = ("pytest", "-q", "-n", "auto", "--dist", "worksteal", *TESTS, *left)
        tests = subprocess.run((*coverage, "run", rcfile, "-m", *pytest), cwd=ROOT, check=False)
        subprocess.run((*coverage, "combine", rcfile, "-q"), cwd=ROOT, check=True)
        shares = f"{folder}/shares.json"
        subprocess.run((*coverage, "json", rcfile, "-q", "-o", shares), cwd=ROOT, check=True)
        files = json.loads(Path(shares).read_text())["files"]
    by_package = shares_of({name: content["summary"] for name, content in files.items()})
    print(f"{'package':10} {'covered':>8} {'floor':>6}")
    for package, floor in FLOORS.items():
        below = "  below" * (by_package[package] < floor)
        print(f"{package:10} {by_package[package]:7.1f}% {floor:5}%{below}")
    too_low = any(by_package[package] < floor for package, floor in FLOORS.items())
    sys.exit(tests.returncode or too_low)


def shares_of(files: dict[str, dict[str, int]]) -> dict[str, float]:
    """Return the percent of lines and branches covered in each package."""
    counts: dict[str, Counter[str]] = {package: Counter() for package in FLOORS}
    for name, summary in files.items():
        package = Path(name).parts[1]
        if package in counts:
            counts[package].update({key: summary[key] for key in COUNTS})
    return {
        package: 100 * (count["covered_lines"] + count["covered_branches"])
        / (count["num_statements"] + count["num_branches"])
        for package, count in counts.items()
    }  # fmt: skip


if __name__ == "__main__":
    main()
