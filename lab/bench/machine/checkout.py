"""Revisions of a git repository, each in a folder of its own; the repository stays as it is."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.bench.machine import children
from lab.errors import UsageError

SECONDS = 300.0
"""That one command of git's may take."""

SETTINGS = (
    "advice.detachedHead=false",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",  # its daemon would outlive the copy
    "gc.auto=0",
    "log.showSignature=false",  # its lines would count as commits
    "protocol.ext.allow=never",
    "protocol.file.allow=user",  # no submodule is a copy of what else lies on this machine
    "safe.bareRepository=explicit",
)
"""
Settings of every command.

A branch may hold a folder that git takes for a bare repository, and would start programs that its
configuration names. So git takes a bare repository only where `--git-dir` names it.
"""

UNASKED = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C",
           "GIT_NO_REPLACE_OBJECTS": "1"}  # fmt: skip
"""Variables by which git asks nobody, writes nothing that it need not, and reads what a commit's
name says."""

OF_ANOTHER = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX",
              "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
              "GIT_CONFIG", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE",
              "GIT_SHALLOW_FILE", "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS",
              "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS")  # fmt: skip
"""Variables that name a repository, whatever folder git is started in, as a hook of git's has them,
or change what a path means."""

NO_FETCH = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
"""Variables by which git fetches nothing; git before 2.45 knows the second alone."""

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

    @property
    def words(self) -> tuple[str, ...]:
        """Words by which git works in this repository, and looks for no other."""
        bare = ("--git-dir", ".") if self.folder == self.store else ()
        return ("-C", str(self.folder), *bare)


def repository_of(folder: Path) -> Repository | None:
    """
    Return the repository that a folder belongs to; None where it belongs to none.

    Raises:
        UsageError: There is one that git refuses, as one of another user; or a bare one within
            another repository, as a branch may hold it.
    """
    try:
        done = _run(folder, ("rev-parse", "--path-format=absolute", "--git-common-dir"))
    except OSError:  # git is not installed
        return None
    if "cannot use bare repository" in done.stderr:
        return _bare_repository_of(folder)
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


def _bare_repository_of(folder: Path) -> Repository | None:
    """Return the bare repository that a folder lies in, unless another repository holds it."""
    places = (folder.resolve(), *folder.resolve().parents)
    bare = next((place for place in places if (place / "HEAD").is_file()), None)
    if bare is None:
        return None
    around = repository_of(bare.parent)
    if around is not None:
        raise UsageError(
            f"{bare} looks like a bare repository, and lies within {around}: git would start the "
            "programs that its configuration names. Call lab ab from another folder"
        )
    return Repository(bare, "", bare)


def commit_of(repository: Repository, name: str) -> str | None:
    """Return the commit that a revision names; None where it names none."""
    if name.startswith("-"):  # git would take it for an option
        return None
    commit = _git(repository, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    return None if commit is None or commit.startswith("^") else commit


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
    try:
        _borrow(repository.store, folder / ".git")
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written: {error.strerror}") from error
    _fetch_as(repository, folder)
    _must(folder, "checkout", "--quiet", "--detach", commit)
    url = _git(repository, "config", "remote.origin.url")
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
    settings = {key: _git(repository, "config", key) for key in kept}
    if settings[kept[0]]:
        for key, value in {**settings, "core.repositoryformatversion": "1",
                           "extensions.partialClone": "origin"}.items():  # fmt: skip
            _must(folder, "config", key, value or "")


def _add_submodules(store: Path, folder: Path) -> None:
    """
    Check out the submodules of *folder*, from the repository's own copies where it has them.

    A job of CI has no right to fetch another repository again, and has it here already.
    """
    commits = _submodules(folder)
    listed = commits and _git(
        folder, "config", "--blob", "HEAD:.gitmodules", "--null", "--get-regexp", r"\.path$"
    )
    for entry in (listed or "").split("\0"):
        key, _, path = entry.partition("\n")
        commit = commits.pop(path, None)
        if commit is None:  # listed, and no part of this commit, or listed twice
            continue
        copy = _copy_of(store, key.removeprefix("submodule.").removesuffix(".path"))
        # git would fetch a commit that a partial clone lacks.
        if copy and _git(copy, "cat-file", "-t", commit, **NO_FETCH) == "commit":
            check_out(copy, commit, _emptied(folder, path))
        else:
            _must(folder, "submodule", "--quiet", "update", "--init", "--recursive", "--", path)


def _submodules(folder: Path) -> dict[str, str]:
    """Return path -> commit of the submodules that HEAD has."""
    entries = (_git(folder, "ls-tree", "-r", "-z", "HEAD") or "").split("\0")
    parts = (entry.partition("\t") for entry in entries if entry.startswith("160000 "))
    return {path: kind.split()[2] for kind, _, path in parts}


def _copy_of(store: Path, name: str) -> Repository | None:
    """
    Return the repository's copy of a submodule; None where it has none.

    The name is the branch's: it may be a path that leads to a folder of the branch.
    """
    modules = (store / "modules").resolve()
    place = (modules / name).resolve()
    if modules not in place.parents or not (place / "HEAD").is_file():
        return None
    return Repository(place, "", place)


def _emptied(folder: Path, path: str) -> Path:
    """Return a submodule's place without the empty folder that stands for it."""
    place = folder / path
    if place.resolve() != folder.resolve() / path or not place.is_dir():
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
    log = _git(repository, "log", "--format=%h %s", f"{old}..{new}", "--")
    return log.splitlines() if log else []


def changed_files(repository: Repository, old: str, new: str) -> int:
    """Return how many files differ between two commits."""
    output = _git(repository, "diff", "--name-only", old, new, "--")
    return len(output.splitlines()) if output else 0


def _git(where: Repository | Path, *words: str, **environ: str) -> str | None:
    """Return what git prints; None where it fails, or is not installed."""
    try:
        done = _run(where, words, environ)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _end_of(output: str, most: int = 500) -> str:
    """Return the last lines of an output as one, at least one of them."""
    lines = [" ".join(line.split()) for line in output.splitlines()]
    while len(lines) > 1 and len(" ".join(lines)) > most:
        del lines[0]
    return " ".join(filter(None, lines))[:most]


def _must(folder: Path, *words: str) -> None:
    try:
        done = children.ended(_command(folder, words), folder, _environ(), SECONDS)
    except subprocess.TimeoutExpired:
        raise UsageError(f"git {words[0]} has not ended within {SECONDS:g} s") from None
    if done.returncode:
        last_lines = _end_of(done.stdout)
        raise UsageError(f"git {words[0]} failed: {last_lines}")


def _run(
    where: Repository | Path, words: tuple[str, ...], environ: Mapping[str, str] = {}
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        _command(where, words),
        env={**_environ(), **environ},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=SECONDS,
        check=False,
    )


def _command(where: Repository | Path, words: tuple[str, ...]) -> tuple[str, ...]:
    # Programs that the user's settings name, such as filters, are the user's own.
    place = where.words if isinstance(where, Repository) else ("-C", str(where))
    settings = (word for setting in SETTINGS for word in ("-c", setting))
    return ("git", *place, *settings, *words)


def _environ() -> dict[str, str]:
    environ = {k: v for k, v in os.environ.items() if k not in OF_ANOTHER} | UNASKED
    if allowed := environ.get("GIT_ALLOW_PROTOCOL"):  # which counts before all settings
        allowed = ":".join(name for name in allowed.split(":") if name != "ext")
        environ["GIT_ALLOW_PROTOCOL"] = allowed or "none"
    return environ
