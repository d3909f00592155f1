"""
What can go wrong, each with the exit code that tells a script about it.

Every error is raised where the facts are known, carries them as attributes, and its message says
what happened, where, and what to do. Only `lab.cli` and `lab.locust` catch them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path


class LabError(Exception):
    """Anything that stops the lab; the message is for the person who typed the command."""

    exit_code = 1

    @property
    def lines(self) -> tuple[str, ...]:
        """The message, and what was noted beside it."""
        return str(self), *getattr(self, "__notes__", ())

    folder: Path | None = None
    """The run's folder with the trials that were finished; None where there is none."""


class UsageError(LabError):
    """The request itself cannot be carried out as asked."""

    exit_code = 2


class FileError(LabError):
    """A file cannot be read or written, or says what cannot be meant."""

    def __init__(self, path: Path | str, problem: str, line: int | None = None) -> None:
        self.path = Path(path)
        self.line = line
        where = f"{path}:{line}" if line is not None else path
        # What stands in the file, or is its name, makes no line of its own.
        super().__init__(f"{where}: {problem}".replace("\n", r"\n"))


class ProfileError(FileError):
    """A profile cannot be read or resolved."""

    exit_code = 2


class WorkloadError(FileError):
    """A workload cannot be read."""

    exit_code = 2


class MissingError(LabError):
    """A program is not installed, or was built without what is needed."""


def log_lines(log: Sequence[str] | None, whole: Path | str | None) -> Iterator[str]:
    """
    Yield the last lines of a server's log, and where the whole log is.

    Args:
        log: The last lines; empty for an empty log, None to omit them.
        whole: The file with the whole log; None: it is not kept.
    """
    if log is not None and not log:
        yield "Its log is empty."
    if whole is not None:
        yield f"Its whole log: {whole}"
    if log:
        yield from ("Its last log lines:", *log)


class ServerStartError(LabError):
    """
    A server ended, or gave no correct reply, before its deadline.

    Who has a place for the log writes it there, and says so in `kept`.
    """

    def __init__(self, profile: str, problem: str, log: str = "", explained: bool = False) -> None:
        """
        Say what happened.

        Args:
            profile: The name of the profile.
            problem: Lines that say what is wrong, the most important one first.
            log: The output of the server, or its end.
            explained: Whether *problem* is the whole explanation, so that the log adds nothing.
        """
        self.profile = profile
        self.problem = problem
        self.log = log
        self.explained = explained
        self.kept: Path | None = None
        super().__init__(profile, problem)

    @property
    def last_lines(self) -> tuple[str, ...] | None:
        """The end of the log; None if the problem is explained and the log is kept in a file."""
        if self.log and self.explained and self.kept:
            return None
        return tuple(self.log.splitlines()[-(5 if self.explained else 20) :])

    def __str__(self) -> str:
        message = f"profile {self.profile}: {self.problem}"
        return "\n".join((message, *log_lines(self.last_lines, self.kept)))


class OtherReplyError(ServerStartError):
    """A server runs and answers, and its reply is not the one that was asked for."""


class ApplicationError(ServerStartError):
    """An application cannot be imported, or is none that its server can serve."""

    def __init__(self, problem: str, log: str) -> None:
        super().__init__("application", problem, log, explained=True)

    @property
    def last_lines(self) -> None:
        """Nothing: the problem says all."""

    def __str__(self) -> str:
        return "\n".join((self.problem, *log_lines(None, self.kept)))


class BackingError(LabError):
    """A backing service does not start, or has ended and does not start again."""

    def __init__(self, name: str, problem: str, log: str) -> None:
        lines = log_lines(log.splitlines()[-20:], None)
        super().__init__("\n".join((f"backing service {name}: {problem}", *lines)))


class GeneratorError(LabError):
    """The load generator itself failed, as opposed to the server under load."""


class LoadGivenUpError(GeneratorError):
    """The load generator ended early because of what the server did, such as a reset."""


class WorkersChangedError(GeneratorError):
    """Processes that made the load of a run have ended, cannot be reached, or are new."""


class ResultsError(FileError):
    """A run's folder cannot be read or written."""


class UnmeasuredError(LabError):
    """This machine could not measure what was to be the base of the rest."""

    exit_code = 3


class TooFewSamplesError(LabError):
    """A statistic needs more samples than there are."""

    exit_code = 3

    def __init__(self, have: int, need: int) -> None:
        self.have = have
        self.need = need
        super().__init__(f"{have} valid blocks, at least {need} are needed")


class Interrupted(LabError):  # noqa: N818 - it is an event, not a fault
    """
    A signal asked the lab to end; everything measured so far is kept.

    Who knows what that is says so in `kept`.
    """

    exit_code = 130

    def __init__(self, signal_name: str) -> None:
        self.signal_name = signal_name
        self.kept = ""
        super().__init__(signal_name)

    def __str__(self) -> str:
        text = f"interrupted by {self.signal_name}"
        return f"{text}; {self.kept}" if self.kept else text
