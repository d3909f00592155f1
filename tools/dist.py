"""
Build a release into dist/, and check it: `make dist`.

The source distribution compiles the extension where it is installed; the wheel is pure Python, for
any Python and machine. Both are built from the last commit, twice, and must be the same, byte for
byte.
"""

from __future__ import annotations

import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "dist"

INSIDE = (
    "app/*.py", "app/*.json", "app/*.txt",
    "fib/*.py", "fib/py.typed", "fib/_core_c.pxd", "fib/*.pyi",
    "lab/*.py", "lab/py.typed", "lab/*.toml", "lab/*.json", "lab/report/templates/*",
    "lab/locust/templates/*", "lab/carried/loadtests/*", "lab/carried/profiles/*",
    "lab/carried/uwsgi/*.ini", "*.data/data/share/fibonacci/profiles/*.ini", "*.dist-info/*",
)  # fmt: skip
"""What the wheel may have."""

NEEDED = (
    "app/wsgi.py", "fib/_core.py", "lab/cli/lint/command.py", "lab/report/templates/report.html",
    "lab/carried/profiles/tuned.ini", "lab/carried/profiles/peers/granian.toml",
    "lab/carried/loadtests/workloads/fib.toml", "lab/carried/uwsgi/common.ini",
)  # fmt: skip
"""What it must have."""

SOURCES = (
    "setup.py",
    "pyproject.toml",
    "fib/_core_c.pxd",
    "profiles/tuned.ini",
    "uwsgi/common.ini",
)
"""What the source distribution must have, to be built from."""


def main() -> None:
    """Build twice, compare, check, and leave both files in dist/."""
    epoch = _git("log", "-1", "--format=%ct").decode().strip()
    first, second = _built(epoch), _built(epoch)
    for name, content in first.items():
        if content != second[name]:
            sys.exit(f"dist: {name} is not the same when it is built again")
    for name, content in first.items():
        problems = list(_wheel(content) if name.endswith(".whl") else _source(content))
        if problems:
            sys.exit(f"dist: {name}: {'; '.join(problems)}")
    shutil.rmtree(TARGET, ignore_errors=True)
    TARGET.mkdir()
    for name, content in first.items():
        (TARGET / name).write_bytes(content)
    files = [str(TARGET / name) for name in first]
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *files], check=True)
    for name, content in first.items():
        print(f"dist/{name}: {len(content):,} bytes")


def _git(*words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True).stdout


def _built(epoch: str) -> dict[str, bytes]:
    """Return the files of a release, by name, built from the last commit."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(_git("archive", "HEAD"))) as commit:
            commit.extractall(folder, filter="data")
        out = Path(folder, "out")
        environ = os.environ | {"SOURCE_DATE_EPOCH": epoch, "FIB_BUILD": "pure"}
        build = [sys.executable, "-m", "build", "--outdir", str(out), folder]
        subprocess.run(build, env=environ, check=True, stdout=subprocess.DEVNULL)
        return {
            path.name: _dated(path, int(epoch)) if path.suffix == ".gz" else path.read_bytes()
            for path in sorted(out.iterdir())
        }


def _dated(path: Path, epoch: int) -> bytes:
    """Return a source distribution with one time for all, and nobody's name."""
    packed = io.BytesIO()
    with tarfile.open(path) as source, tarfile.open(fileobj=packed, mode="w") as target:
        for member in sorted(source.getmembers(), key=lambda tar_info: tar_info.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = epoch, 0, 0, "", ""
            member.pax_headers = {}
            target.addfile(member, source.extractfile(member) if member.isfile() else None)
    return gzip.compress(packed.getvalue(), mtime=epoch)


def _wheel(content: bytes) -> Iterable[str]:
    """Yield what is wrong with the files of a wheel."""
    with zipfile.ZipFile(io.BytesIO(content)) as wheel:
        names = wheel.namelist()
    yield from (f"{path} is missing" for path in NEEDED if path not in names)
    for name in names:
        if not any(fnmatch(name, pattern) for pattern in INSIDE) or "__pycache__" in name:
            yield f"{name} was not expected"


def _source(content: bytes) -> Iterable[str]:
    """Yield what is missing of a source distribution."""
    with tarfile.open(fileobj=io.BytesIO(content)) as source:
        names = {name.partition("/")[2] for name in source.getnames()}
    yield from (f"{path} is missing" for path in SOURCES if path not in names)


if __name__ == "__main__":
    main()
