"""Revisions of a git repository, each in a folder of its own; the repository stays as it is."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from lab.errors import UsageError
from lab.system import children

SECONDS = 300.0
"""That one command of git's may take."""

UNASKED = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
"""Variables by which git asks nobody, and writes nothing that it need not."""

OF_ANOTHER = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX",
              "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_ALTERNATE_OBJECT_DIRECTORIES")  # fmt: skip
"""Variables that name a repository, whatever folder git is started in: a hook of git's has them."""

LFS = b"version https://git-lfs.github.com/spec/"
"""How a file begins that stands for one that Git LFS keeps elsewhere."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A git repository, as it is seen from one of its folders."""

    folder: Path
    """Its top folder; its only one where it is bare."""
    below: str
    """The folder that it is seen from, as seen from the top: "services/shop/", or empty."""
    store: Path
    """Where git keeps what it knows, for all worktrees."""

    def __str__(self) -> str:
        """Return its top folder."""
        return str(self.folder)


def repository_of(folder: Path) -> Repository | None:
    """
    Return the repository that a folder belongs to; None where it belongs to none.

    Raises:
        UsageError: There is one that git refuses, as one of another user.
    """
    try:
        done = _run(folder, ("rev-parse", "--path-format=absolute", "--git-common-dir"))
    except OSError:  # git is not installed
        return None
    if done.returncode:
        if "dubious ownership" in done.stderr:
            raise UsageError(
                f"git refuses {folder}, which is another user's: "
                f"git config --global --add safe.directory {folder}"
            )
        return None
    store = Path(done.stdout.strip())
    top = _git(folder, "rev-parse", "--show-toplevel")
    below = _git(folder, "rev-parse", "--show-prefix") or ""
    return Repository(Path(top) if top else store, below, store)


def commit_of(repository: Repository, name: str) -> str | None:
    """Return the commit that a revision names; None where it names none."""
    if name.startswith("-"):  # git would take it for an option
        return None
    return _git(repository.folder, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")


def is_shallow(repository: Repository) -> bool:
    """Return whether only the last commits of it were fetched."""
    return (repository.store / "shallow").is_file()


def check_out(repository: Repository, commit: str, folder: Path) -> None:
    """
    Put the files of *commit* into *folder*, which must not be there yet.

    It is a clone that borrows the repository's objects. A worktree would be named in the
    repository, also after the lab was killed.

    Raises:
        UsageError: git could not.
    """
    _must(repository.folder, "clone", "--quiet", "--shared", "--no-checkout",
          str(repository.store), str(folder))  # fmt: skip
    _borrow(repository.store, folder / ".git")
    _fetch_as(repository, folder)
    _must(folder, "-c", "advice.detachedHead=false", "checkout", "--quiet", "--detach", commit)
    url = _git(repository.folder, "config", "remote.origin.url")
    if url:  # by which addresses such as ../other.git are read
        _must(folder, "config", "remote.origin.url", url)
    _add_submodules(repository.store, folder)


def _borrow(store: Path, copy: Path) -> None:
    """Let a copy read all objects of a store: of a shallow one git copies its branches only."""
    borrowed = copy / "objects" / "info" / "alternates"
    if not borrowed.is_file():
        borrowed.write_text(f"{store / 'objects'}\n", encoding="utf-8")
    if (store / "shallow").is_file():
        shutil.copy(store / "shallow", copy / "shallow")


def _fetch_as(repository: Repository, folder: Path) -> None:
    """Let a copy of a partial clone fetch what that lacks from where that would."""
    kept = ("remote.origin.promisor", "remote.origin.partialclonefilter", "remote.origin.url")
    found = {key: _git(repository.folder, "config", key) for key in kept}
    if found[kept[0]]:
        for key, value in {**found, "core.repositoryformatversion": "1",
                           "extensions.partialClone": "origin"}.items():  # fmt: skip
            _must(folder, "config", key, value or "")


def _add_submodules(store: Path, folder: Path) -> None:
    """
    Check out the submodules of *folder*, from the repository's own copies where it has them.

    A job of CI has no right to fetch another repository again, and has it here already.
    """
    listed = _git(folder, "config", "--file", ".gitmodules", "--get-regexp", r"\.path$") or ""
    for line in listed.splitlines():
        key, _, path = line.partition(" ")
        name = key.removeprefix("submodule.").removesuffix(".path")
        own = store / "modules" / name
        entry = _git(folder, "ls-tree", "HEAD", "--", path) or ""
        if not entry.startswith("160000 "):  # listed, and no part of this commit
            continue
        commit = entry.split()[2]
        has_own = ".." not in Path(name).parts and own.is_dir()
        if has_own and _git(own, "cat-file", "-t", commit) == "commit":
            check_out(Repository(own, "", own), commit, _emptied(folder / path))
        else:
            _must(folder, "submodule", "--quiet", "update", "--init", "--recursive", "--", path)


def _emptied(place: Path) -> Path:
    """Return a submodule's place without the empty folder that stands for it."""
    if place.is_symlink() or not place.is_dir():
        raise UsageError(f"{place}: it is no folder, and .gitmodules has it as one")
    place.rmdir()
    return place


def not_brought(folder: Path) -> list[str]:
    """Return the files that Git LFS keeps elsewhere and has not brought, as it is not installed."""
    listed = _git(folder, "ls-files", "-z", ":(attr:filter=lfs)") or ""
    return [name for name in listed.split("\0") if name and _stands_for(folder / name)]


def _stands_for(file: Path) -> bool:
    if file.is_symlink() or not file.is_file():
        return False
    with file.open("rb") as content:
        return content.read(len(LFS)) == LFS


def commits_between(repository: Repository, old: str, new: str) -> list[str]:
    """Return the first lines of the commits that *new* has and *old* has not, the newest first."""
    found = _git(repository.folder, "log", "--format=%h %s", f"{old}..{new}")
    return found.splitlines() if found else []


def changed_files(repository: Repository, old: str, new: str) -> int:
    """Return how many files differ between two commits."""
    found = _git(repository.folder, "diff", "--name-only", old, new)
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
        done = children.ended(_command(folder, words), folder, _environ(), SECONDS)
    except subprocess.TimeoutExpired:
        raise UsageError(f"git {words[0]} has not ended within {SECONDS:g} s") from None
    if done.returncode:
        said = re.sub(r"\s+", " ", done.stdout).strip()[-500:]
        raise UsageError(f"git {words[0]} failed: {said}")


def _run(folder: Path, words: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        _command(folder, words),
        env=_environ(),
        capture_output=True,
        text=True,
        errors="replace",
        timeout=SECONDS,
        check=False,
    )


def _command(folder: Path, words: tuple[str, ...]) -> tuple[str, ...]:
    # Hooks of the repository, and programs that its settings name, are the user's own.
    return ("git", "-C", str(folder), "-c", "core.hooksPath=/dev/null", *words)


def _environ() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k not in OF_ANOTHER} | UNASKED
