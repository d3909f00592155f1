"""Revisions of a git repository, each in a folder of its own; the repository stays as it is."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from lab.errors import UsageError

SECONDS = 300.0
"""That one command of git's may take."""

UNASKED = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
"""Variables by which git asks nobody, and writes nothing that it need not."""


def repository_of(folder: Path) -> Path | None:
    """Return the repository that a folder belongs to; None where it belongs to none."""
    found = _git(folder, "rev-parse", "--show-toplevel")
    return Path(found) if found else None


def commit_of(repository: Path, name: str) -> str | None:
    """Return the commit that a revision names; None where it names none."""
    if name.startswith("-"):  # git would take it for an option
        return None
    return _git(repository, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")


def check_out(repository: Path, commit: str, folder: Path) -> None:
    """
    Put the files of *commit* into *folder*, which must not be there yet.

    It is a clone that borrows the repository's objects. A worktree would be named in the
    repository, also after the lab was killed.

    Raises:
        UsageError: git could not.
    """
    source = _git(repository, "rev-parse", "--path-format=absolute", "--git-common-dir")
    words = ("clone", "--quiet", "--shared", "--no-checkout", str(source), str(folder))
    _must(repository, *words)
    _must(folder, "-c", "advice.detachedHead=false", "checkout", "--quiet", "--detach", commit)
    if (folder / ".gitmodules").is_file():
        _must(folder, "submodule", "--quiet", "update", "--init", "--recursive")


def commits_between(repository: Path, old: str, new: str) -> list[str]:
    """Return the first lines of the commits that *new* has and *old* has not, the newest first."""
    found = _git(repository, "log", "--format=%h %s", f"{old}..{new}")
    return found.splitlines() if found else []


def changed_files(repository: Path, old: str, new: str) -> int:
    """Return how many files differ between two commits."""
    found = _git(repository, "diff", "--name-only", old, new)
    return len(found.splitlines()) if found else 0


def _git(folder: Path, *words: str) -> str | None:
    """Return what git says; None where it fails, or is not installed."""
    try:
        done = _run(folder, words)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _must(folder: Path, *words: str) -> None:
    try:
        done = _run(folder, words)
    except FileNotFoundError:
        raise UsageError("git is not installed: apt-get install git, or name folders") from None
    if done.returncode:
        said = re.sub(r"\s+", " ", done.stderr).strip()[-500:]
        raise UsageError(f"git {words[0]} failed: {said}")


def _run(folder: Path, words: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    # Hooks of the repository, and programs that its settings name, are the user's own.
    return subprocess.run(
        ("git", "-C", str(folder), "-c", "core.hooksPath=/dev/null", *words),
        env=os.environ | UNASKED,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=SECONDS,
        check=False,
    )
