"""The two versions of an application that `lab ab` compares: where they lie, and what runs them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from lab.bench import profiles
from lab.bench.machine import checkout, packages, temporary
from lab.bench.trials.pair import NEW, OLD, naming
from lab.cli.options.runtime import runtime
from lab.config import reading
from lab.errors import ProfileError, UsageError
from lab.model.runtime import without_secrets
from lab.model.wording import counted, in_a_line

INSTALL = (
    "of a revision, by requirements.txt, else a lock file (uv, Poetry, Pipenv, PDM), else pip "
    "install ."
)

FOLDERS = ("a", "b")
"""Names of the folders that revisions are checked out into: paths of one length, as they are in
code objects and caches."""

PATH = re.compile(r"[~/]|\.{1,2}(/|$)")
"""How a name begins that is a folder's, also where a revision is called so."""

SHOWN = 6
"""Commits and packages that are named; of more the number is told."""


@dataclass(frozen=True, slots=True)
class VersionsJob:
    """What was asked for."""

    old: str
    new: str
    config: str
    install: str | None
    setup: str | None
    env: Sequence[str]
    env_file: Path | None
    env_old: Sequence[str]
    env_new: Sequence[str]
    pythons: Sequence[Path]


@dataclass(frozen=True, slots=True)
class Version:
    """One version of the application."""

    given: str
    """As it was typed."""
    environment: str
    """The one that was named for it; empty without."""
    folder: Path
    config: str
    python: Path | None
    """Its virtual environment; None for the lab's own."""
    env: Sequence[str]
    commit: str = ""
    """Empty of a folder."""
    repository: checkout.Repository | None = None
    packages: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return it as in "main (4f2c1a9)"; of a commit's name its beginning."""
        suffix = f" with {self.environment}" if self.environment else ""
        if self.commit == self.given:
            return f"{self.commit[:9]}{suffix}"
        return (
            f"{self.given} ({self.commit[:9]}){suffix}" if self.commit else f"{self.given}{suffix}"
        )

    def differs(self, new: Version) -> Iterator[str]:
        """Yield what is compared, and in what the two differ, in lines."""
        yield f"{OLD}: {self}; {NEW}: {new}"
        if self.repository is not None and self.commit and new.commit:
            commits = checkout.commits_between(self.repository, self.commit, new.commit)
            number = checkout.changed_files(self.repository, self.commit, new.commit)
            yield f"{counted(len(commits), 'commit')}, {counted(number, 'file')} changed"
            behind = checkout.commits_between(self.repository, new.commit, self.commit)
            if commits and behind:
                yield (
                    f"{OLD} has {counted(len(behind), 'commit')} that {NEW} has not, and {NEW} "
                    "gets the blame or the praise for lacking them: compare with $(git merge-base "
                    f"{self.given} {new.given})"
                )
        changed = packages.differing(self.packages, new.packages)
        if changed:
            more = f" and {len(changed) - SHOWN} more" if len(changed) > SHOWN else ""
            yield f"packages: {', '.join(changed[:SHOWN])}{more}"


@contextmanager
def versions(
    request: VersionsJob, *, swapped: bool, say: Callable[[str], None]
) -> Iterator[tuple[Version, Version]]:
    """
    Make both versions ready to be served, and remove what was made for it at the end.

    Args:
        request: What was asked for.
        swapped: Whether the old revision gets the second folder.
        say: Told in a line what takes a while.

    Raises:
        UsageError: One of them is neither a revision nor a folder, or has no such configuration.
        LabError: An environment cannot be made.
    """
    if len(request.pythons) > 2:
        raise UsageError("--python: give it once for both versions, or twice")
    pythons = (*request.pythons, *request.pythons)[:2] or (None, None)
    folders = FOLDERS[::-1] if swapped else FOLDERS
    with ExitStack() as stack:
        stack.enter_context(temporary.swept())
        place = stack.enter_context(temporary.folder())
        make = partial(_version, request, say)
        with naming(OLD):
            old = make(request.old, pythons[0], place / folders[0], request.env_old)
        with naming(NEW):
            new = make(request.new, pythons[1], place / folders[1], request.env_new)
        if (old.python is None) != (new.python is None):
            listed, other = (new, old) if old.python is None else (old, new)
            raise UsageError(
                f"{listed.given} has an environment of its own, and {other.given} would run in the "
                "lab's: --install COMMAND makes one for each, --python PATH names one"
            )
        if old.commit and old.commit == new.commit:
            say(f"{request.old} and {request.new} are the same commit: this shows the noise alone")
        yield old, new


def _version(  # noqa: PLR0917 - each of its own kind
    request: VersionsJob,
    say: Callable[[str], None],
    given: str,
    python: Path | None,
    place: Path,
    own_env: Sequence[str],
) -> Version:
    folder, commit, repository = Path(given).expanduser(), "", checkout.repository_of(Path.cwd())
    # A branch may hold a folder with the name of a revision.
    named = repository is not None and checkout.commit_of(repository, given)
    if folder.is_dir() and (not named or PATH.match(given)):
        folder, repository = folder.resolve(), None
    else:
        folder, commit = _checked_out(repository, given, place, say)
    config = _config(request.config, given, folder, place if commit else None)
    named = str(python or "")
    made = None
    if python is None:
        made = _made(request, say, given, folder, place, is_commit=bool(commit))
    python = made or python
    if request.setup:
        env = (*request.env, *own_env)
        started = runtime(python, env=env, env_file=request.env_file, users_config=True)
        packages.run_setup(request.setup, folder, started)
        if made:  # it may have installed more
            packages.note(made)
    listed = packages.packages_of(python) if python else {}
    return Version(given, named, folder, config, python, own_env, commit, repository, listed)


def _made(
    request: VersionsJob,
    say: Callable[[str], None],
    given: str,
    folder: Path,
    place: Path,
    *,
    is_commit: bool,
) -> Path | None:
    """Return an environment that is made for a version; None where nothing says of what."""
    install = request.install
    try:
        install = install or (packages.usual_installation(folder) if is_commit else None)
    except UsageError as error:
        raise UsageError(f"{in_a_line(given)}: {error}") from None
    if install is None:
        if is_commit:
            say(f"{given}: nothing says what it needs, so it runs in the lab's own environment")
        return None
    making = partial(say, f"{given}: {without_secrets(install)}")
    alone = request.setup is not None
    return packages.environment_for(folder, install, _beside(place), making, alone=alone)


def _beside(place: Path) -> Path:
    """Return where a version's own environment lies."""
    return place.with_name(f"env-{place.name}")


def _checked_out(
    repository: checkout.Repository | None, given: str, place: Path, say: Callable[[str], None]
) -> tuple[Path, str]:
    """Return the folder of a revision, as seen from the one that is current, and its commit."""
    commit = checkout.commit_of(repository, given) if repository else None
    if commit is None or repository is None:
        raise UsageError(_unknown(given, repository))
    checkout.check_out(repository, commit, place)
    missing = checkout.not_brought(place)
    if missing:
        say(
            f"{given}: Git LFS keeps {counted(len(missing), 'file')} elsewhere, such as "
            f"{missing[0]}, and is not installed: apt-get install git-lfs, git lfs install"
        )
    folder = place / repository.below
    if not folder.is_dir():
        raise UsageError(f"{given} has no folder {repository.below}")
    if not folder.resolve().is_relative_to(place.resolve()):
        raise UsageError(f"{given}: {repository.below} is a link that leads out of the checkout")
    return folder, commit


def _unknown(given: str, repository: checkout.Repository | None) -> str:
    given = in_a_line(given)
    if repository is None:
        return f"{given}: the folder does not exist, and no git repository here"
    text = f"{given}: it is neither a folder nor a revision of {repository}"
    if checkout.is_shallow(repository):
        return (
            f"{text}, whose history was not fetched whole: git fetch --unshallow; in GitHub's "
            "actions/checkout fetch-depth: 0, in GitLab GIT_DEPTH: 0"
        )
    return f"{text}: git log names them"


def _config(config: str, given: str, folder: Path, root: Path | None) -> str:
    """
    Return the configuration of one version: a file of its own, or what is the same for both.

    Args:
        config: As it was typed: a profile of ours, or what `lab.config.reading.named` takes.
        given: The version, as it was typed.
        folder: The version's.
        root: The checkout that a relative file must lie in; None: any place.
    """
    if config in profiles.find():
        return config
    given = in_a_line(given)
    try:
        source = reading.named(config, folder=folder)
    except ProfileError as error:
        problem = str(error).partition(": ")[2]
        raise UsageError(f"--config {config}: in {given}: {problem}") from None
    if source.command and source.start is None:
        return config
    if source.start is not None and source.start.folder.resolve() != folder.resolve():
        problem = f"its command runs in {source.start.folder}: give it in quotes, with --chdir"
        raise UsageError(f"--config {config}: {problem} FOLDER")
    inside = root is None or source.path.resolve().is_relative_to(root.resolve())
    if not inside and not Path(config).is_absolute():
        raise UsageError(f"--config {config}: in {given} it leads out of the checkout")
    section = source.start.name if source.start else source.section
    return ":".join(filter(None, (str(source.path), section)))
