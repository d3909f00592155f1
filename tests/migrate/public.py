"""
Translate the configurations of a folder, and start each result under its server.

    .venv/bin/python -m tests.migrate.public FOLDER

FOLDER has configurations at any depth, and texts `*commands.txt` with one command a line. Each that
can be read is translated to both other servers. The result is linted as it is. Then it is started
with a stub for its application, in a folder of its own, at a free port, and asked once. Left out
are users, TLS, and what needs a package that is not here. A danger that the linter finds is
explained where the lists name what it advises. Ends with 1 if anything fails.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from lab.cli.migrate.migration import Migration, migrated
from lab.cli.migrate.reader import read
from lab.config import servers
from lab.config.configuration import Known
from lab.config.servers import TRANSLATABLE
from lab.errors import LabError, ProfileError
from lab.lint.flaw import Flaw, Severity
from lab.lint.lint import lint
from tests.kit.lab_process import until

from .moved import here, stub, variables
from .servers import begun, exchanged, exchanged_at, request, uwsgi_packet

COLUMNS = ("translated", "started", "answered", "lint errors", "dangers")


@dataclass
class Tried:
    """What became of one configuration on one other server."""

    name: str
    to: str
    failure: str = ""
    """Why it is not translated."""
    started: bool = False
    answered: bool = False
    errors: list[Flaw] = field(default_factory=list)
    dangers: list[Flaw] = field(default_factory=list)
    log: str = ""

    @property
    def right(self) -> bool:
        """Whether nothing failed."""
        return self.answered and not self.errors and not self.dangers

    @property
    def row(self) -> tuple[str, ...]:
        """A cell for each of COLUMNS."""
        marks = [not self.failure, self.started, self.answered]
        cells = ["yes" if mark else "NO" for mark in marks]
        return (*cells, str(len(self.errors)), str(len(self.dangers)))


OF_AN_ADDRESS = frozenset({"UW310", "UW408"})
"""Rules about an address that any host reaches: a translation keeps the old one."""


def configurations(folder: Path) -> Iterator[str]:
    """Yield the files of a folder, and the commands of its lists."""
    for path in sorted(file for file in folder.rglob("*") if file.is_file()):
        if path.name.endswith("commands.txt"):
            yield from filter(None, path.read_text().splitlines())
        else:
            yield str(path)


def tried(name: str, to: str) -> Tried:
    """Return what becomes of a configuration on another server."""
    outcome = Tried(name, to)
    try:
        made = migrated(name, to, {})
    except LabError as error:
        outcome.failure = str(error)
        return outcome
    with tempfile.TemporaryDirectory() as folder:
        _lint(made, Path(folder), outcome)
    with tempfile.TemporaryDirectory() as folder:
        _start(name, Path(folder), outcome)
    return outcome


def _lint(made: Migration, folder: Path, outcome: Tried) -> None:
    """Lint a result as it is; granian's is the command of its script."""
    path = folder / made.file
    path.write_text(made.text)
    command = made.text.rpartition("exec ")[2].replace("\\\n", " ")
    flaws = lint(command if made.file.endswith(".sh") else str(path), Known()).flaws
    lists = [f"{note.was} {note.becomes}" for notes in made.lists.values() for note in notes]
    explanations = "\n".join([*lists, *(line.says for line in made.translation.lines)])
    outcome.errors += [flaw for flaw in flaws if flaw.severity is Severity.ERROR]
    dangers = (flaw for flaw in flaws if flaw.severity is Severity.DANGEROUS)
    outcome.dangers += [flaw for flaw in dangers if not _explained(flaw, explanations)]


def _explained(danger: Flaw, explanations: str) -> bool:
    """Return whether a danger, or what it advises, such as an option, stands in what is said."""
    if danger.code in OF_AN_ADDRESS:
        return True
    _, _, advice = danger.message.partition(": ")
    first = advice.partition(",")[0]
    return (first != "" and first in explanations) or any(
        option in explanations for option in re.findall(r"[a-z]+(?:[-_.][a-z]+)+", advice)
    )


def _start(name: str, folder: Path, outcome: Tried) -> None:
    """Start a result as it can be started here, and ask it once."""
    config = read(name, {})
    service = here(servers.of_config(config).translator.service(config), folder)
    writer = TRANSLATABLE[outcome.to]
    made = writer.translator.translation(service)
    stub(service, folder)
    files = writer.translator.write(made, writer.output)
    (folder / writer.output).write_text(files.text)
    if files.environment:
        (folder / f"{writer.output.removesuffix('.sh')}.env").write_text(files.environment)
    words = files.command.split()
    (address,) = service.addresses
    speaks = writer.speaks_uwsgi and address.protocol == "uwsgi"
    sent = uwsgi_packet(HTTP_HOST="x") if speaks else request()
    with begun(words, folder, dict(variables(service, folder))) as process:
        with suppress(AssertionError):
            until(lambda: process.poll() is not None or _asked(address, sent), "a reply", 30)
        outcome.started = process.poll() is None
        outcome.answered = outcome.started and _asked(address, sent)
        outcome.log = (folder / "log").read_text(errors="replace")


def _asked(address, sent: bytes) -> bool:
    with suppress(OSError):
        if address.path is not None:
            return b"the stub" in exchanged_at(address.path.text, sent)
        return b"the stub" in exchanged(int(address.port.text), sent)
    return False


def main(folder: Path) -> int:
    """Print the table; return 0 where nothing failed."""
    results, unread = [], []
    for name in configurations(folder):
        try:
            config = read(name, {})
            server = servers.of_config(config)
            interface = server.translator.service(config).interface
        except ProfileError as error:
            unread.append(str(error))
            continue
        for to, other in TRANSLATABLE.items():
            if to != server.program and interface in other.interfaces:
                results.append(tried(name, to))
                print(_line(results[-1], folder), flush=True)
    print("\n".join(f"not read: {reason}" for reason in unread))
    for to in TRANSLATABLE:
        print(_summary(to, [outcome for outcome in results if outcome.to == to]))
    return int(not results or not all(outcome.right for outcome in results))


def _line(outcome: Tried, folder: Path) -> str:
    """Return a row of the table, and below it why it is not right."""
    name = outcome.name.removeprefix(f"{folder}/")
    lines = [f"{name[-60:]:<60} {outcome.to:<9} {' '.join(f'{cell:>4}' for cell in outcome.row)}"]
    lines += [outcome.failure] if outcome.failure else []
    lines += [f"    {flaw.code} {flaw.message}" for flaw in (*outcome.errors, *outcome.dangers)]
    if not outcome.answered:
        lines += [f"    {line}" for line in outcome.log.splitlines()[-6:]]
    return "\n".join(lines)


def _summary(to: str, results: list[Tried]) -> str:
    """Return how many of a server's results are as they should be, by column."""
    translated = sum(not outcome.failure for outcome in results)
    started = sum(outcome.started for outcome in results)
    answered = sum(outcome.answered for outcome in results)
    errors = sum(len(outcome.errors) for outcome in results)
    dangers = sum(len(outcome.dangers) for outcome in results)
    return (
        f"to {to}: {len(results)}, translated {translated}, started {started}, answered "
        f"{answered}, lint errors {errors}, dangers unexplained {dangers}"
    )


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
