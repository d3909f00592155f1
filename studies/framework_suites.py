"""
Do Flask's and Werkzeug's own tests pass where both are compiled?

    .venv/bin/python studies/framework_suites.py     all of them (make test-framework)

Their source distributions, of the pinned versions and by the pinned hashes, bring their tests;
those run as they are, none left out or changed, once over the installed packages and once over what
`make framework` has compiled. A test that passes plain and not compiled is a regression, and ends
this with status 1. Writes studies/results/framework_suites.json. Takes 2 minutes.

The environment of the tests, with all that they can use, is .peers/framework.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from studies.instructions import interpreter  # noqa: E402
from tools.framework import MODULES, OVERLAY, PACKAGES, PINS, FrameworkError, check  # noqa: E402

RESULTS = ROOT / "studies" / "results" / "framework_suites.json"

PYTHON = ROOT / ".peers" / "framework" / "bin" / "python"

BUILDS: Mapping[str, Path | None] = {"plain": None, "compiled": OVERLAY}

LOADED = """
import importlib, sys
for name in sys.argv[1:]:
    print(importlib.import_module(name.replace("/", ".")).__file__.endswith(".so"))
"""


def outcomes(folder: Path, build: str) -> dict[str, str]:
    """Return test -> "passed", "failed" or "skipped", of the tests in a source distribution."""
    environment = os.environ | {
        "PYTHONPATH": str(BUILDS[build] or ""),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    _check_loaded(build, environment)
    report = folder / f"{build}.xml"
    command = [str(PYTHON), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout=20"]
    command += [f"--junitxml={report}"]
    subprocess.run(command, cwd=folder, env=environment, check=False)
    by_test: dict[str, str] = {}
    for case in ET.parse(report).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        tags = {child.tag for child in case}
        failed, skipped = tags & {"failure", "error"}, "skipped" in tags
        # An error at the end of a test is a second case of it.
        if failed or name not in by_test:
            by_test[name] = "failed" if failed else "skipped" if skipped else "passed"
    return by_test


def _check_loaded(build: str, environment: Mapping[str, str]) -> None:
    """Ascertain that what is to be tested is what is loaded."""
    command = [str(PYTHON), "-c", LOADED, *MODULES]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True, cwd=PYTHON.parent
    )
    if set(done.stdout.split()) != {str(build == "compiled")}:
        raise FrameworkError(f"{build}: it is something else that is imported")


def unpacked(package: str, folder: Path) -> Path:
    """Return the folder of a package's source distribution."""
    text = PINS.read_text(encoding="utf-8")
    entry = re.search(rf"^{package}==.*?(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)
    assert entry is not None
    wanted = folder / f"{package}.txt"
    wanted.write_text(entry[0], encoding="utf-8")
    command = [str(PYTHON), "-m", "pip", "--quiet", "--disable-pip-version-check", "download"]
    command += ["--no-deps", "--no-binary=:all:", "--no-build-isolation", "--require-hashes"]
    subprocess.run([*command, f"--dest={folder}", f"--requirement={wanted}"], check=True)
    with tarfile.open(next(folder.glob(f"{package}-*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    return next(path for path in folder.glob(f"{package}-*") if path.is_dir())


def compared(package: str, folder: Path) -> dict[str, Any]:
    """Run the tests of a package in both ways, and return what became of them."""
    sources = unpacked(package, folder)
    by_build = {build: outcomes(sources, build) for build in BUILDS}
    counts = {
        build: {
            kind: list(by_test.values()).count(kind) for kind in ("passed", "failed", "skipped")
        }
        for build, by_test in by_build.items()
    }
    plain, compiled = by_build["plain"], by_build["compiled"]
    return {
        "version": version(package),
        **counts,
        "failed plain": sorted(test for test, how in plain.items() if how == "failed"),
        "skipped plain": sorted(test for test, how in plain.items() if how == "skipped"),
        "regressions": sorted(
            test for test, how in plain.items() if how == "passed" and compiled.get(test) != how
        ),
    }


def main() -> int:
    """Run all, store the result, and say what regressed."""
    if sys.argv[1:]:
        print(__doc__)
        return 0 if sys.argv[1:] == ["--help"] else 2
    try:
        what = check()
        with tempfile.TemporaryDirectory() as name:
            by_package = {package: compared(package, Path(name)) for package in PACKAGES}
    except FrameworkError as error:
        print(error)
        return 3
    stored = {
        "compiled": what,
        "interpreter": interpreter(),
        "packages": by_package,
        "measured": time.strftime("%Y-%m-%d"),
    }
    RESULTS.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    regressions = [test for suite in by_package.values() for test in suite["regressions"]]
    for package, suite in by_package.items():
        print(f"{package} {suite['version']}: plain {suite['plain']}, compiled {suite['compiled']}")
    print("\n".join(["regressions:", *regressions]) if regressions else "no regression")
    return 1 if regressions else 0


if __name__ == "__main__":
    sys.exit(main())
