"""A migration, whole: the new configuration, and the lists of what it changes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lab.cli.migrate.nginx import lines_of
from lab.cli.migrate.reader import around, read
from lab.config import servers
from lab.config.configuration import Known
from lab.config.servers import TRANSLATABLE, check_serves
from lab.config.spot import Setting
from lab.config.vocabulary.quoting import shell_file
from lab.config.vocabulary.senses import senses
from lab.config.vocabulary.service import Address
from lab.config.vocabulary.translation import Note, Translation
from lab.config.vocabulary.values import Cpus, Expression
from lab.errors import UsageError
from lab.model.wording import counted

HIDDEN = "not visible in the configuration"
"""The list of differences that stand in no configuration."""

DIFFERS = 4
"""Exit status where an option has no equivalent, or behaves differently."""


@dataclass(frozen=True, slots=True)
class Migration:
    """What one configuration becomes for another server."""

    translation: Translation
    before: str
    """The server that it is for, and the one that it is made for, as their projects write them."""
    after: str
    file: str
    """What the new configuration is called."""
    text: str
    environment: str
    """Lines NAME=value beside it; empty without any."""
    start: str
    """The command that starts it."""
    nginx: tuple[str, ...]
    script: str = ""
    """Prints the words of the new command; see `Files`."""

    @property
    def lists(self) -> Mapping[str, tuple[Note, ...]]:
        """The four lists, by what they are called."""
        made = self.translation
        return {
            "the same": tuple(made.same),
            "behaves differently": tuple(made.changed),
            "no equivalent": tuple(made.lost),
            HIDDEN: tuple(made.hidden),
        }

    @property
    def environment_file(self) -> str:
        """What the file of environment variables is called, as the script reads it."""
        return f"{self.translation.to}.env"

    @property
    def open(self) -> tuple[str, ...]:
        """Conditions that only the machine that serves decides."""
        return self.translation.service.open

    @property
    def status(self) -> int:
        """The exit status."""
        made = self.translation
        return DIFFERS if made.changed or made.lost or self.open else 0

    @property
    def concurrency(self) -> str:
        """Requests that are served at once, before and after, in words; empty where not known."""
        service = self.translation.service
        meanings = service.senses
        inside = "greenlets" if "greenlets" in meanings else "threads"
        if inside not in meanings or service.unclear & {"workers", inside}:
            return ""
        workers = meanings["workers"].value if "workers" in meanings else Expression.of("1")
        number = meanings[inside].value
        before = _product(workers, number)
        if inside == "greenlets" and not self._names(inside):
            return f"{before} before; NO EQUIVALENT has what to do after"
        after = _product(self._written("workers", workers), self._written(inside, number))
        if before == after:
            return f"{before}, before and after"
        return f"{before} before, {after} after"

    @property
    def shared_addresses(self) -> tuple[Address, ...]:
        """Where both servers listen; empty where it is not certain where the old one does."""
        addresses = self.translation.service.addresses
        if any(address.elsewhere for address in addresses):
            return ()
        return TRANSLATABLE[self.translation.to].translator.listens(addresses)

    def _written(self, key: str, value: Expression) -> Expression:
        """Return the value that a meaning has in the new configuration; else *value*."""
        names = self._names(key)
        lines = (line.value for line in self.translation.lines if line.option in names)
        return next(filter(None, lines), value)

    def _names(self, key: str) -> Collection[str]:
        """Return the options of the new server that have a meaning; none where it has none."""
        column = senses()[key].columns.get(self.translation.to)
        return column.names if column else ()


def _product(workers: Expression, threads: Expression) -> str:
    """Return how many requests so many workers and threads serve at once, in words."""
    if workers.number is not None and threads.number is not None:
        return f"{workers} x {threads} = {counted(workers.number * threads.number, 'request')}"
    match workers.parts:
        case (Cpus() as cpus,) if threads.number is not None:
            more = cpus.plus * threads.number
            added = f" and {more:,} more" if more else ""
            return f"{counted(cpus.times * threads.number, 'request')} per CPU{added}"
    both = (f"({number})" if " " in str(number) else str(number) for number in (workers, threads))
    return f"{' x '.join(both)} requests"


def migrated(
    name: str,
    to: str,
    environ: Mapping[str, str],
    file: str = "",
    *,
    drop: Collection[str] = (),
    chdir: Path | None = None,
    trusted: bool = False,
    known: Known | None = None,
) -> Migration:
    """
    Return what a configuration becomes for another server.

    Args:
        name: A file or a command in quotes.
        to: Program of the other server.
        environ: Environment variables whose values are known.
        file: What the new configuration is called; empty for the usual name.
        drop: Options that are left out.
        chdir: Folder that stands for the one that it serves from; None for that itself.
        trusted: Whether what it names outside of the caller's folder is read.
        known: What is known besides; its `overlay` may have the file.

    Raises:
        ProfileError: It cannot be read.
        UsageError: It is for that server, or for an application that the server does not serve.
    """
    config = read(name, environ, trusted=trusted, known=known)
    before, after = servers.of_config(config), TRANSLATABLE[to]
    if before is after:
        raise UsageError(f"{name} is a configuration of {after.name}: --to another one")
    settings = (setting for setting in config.settings if setting.option not in drop)
    if chdir is not None:
        settings = (_moved(setting, chdir) for setting in settings)
    config = replace(config, settings=tuple(settings))
    made = after.translator.translation(before.translator.service(config))
    made.lost += around(name, config)
    check_serves(name, made.service, to)
    file = file or after.output
    files = after.translator.write(made, shell_file(file))
    return Migration(
        made,
        before.name,
        after.name,
        file,
        files.text,
        files.environment,
        files.command,
        lines_of(made, speaks_uwsgi=after.speaks_uwsgi),
        files.script,
    )


def _moved(setting: Setting, chdir: Path) -> Setting:
    """Return a setting; one that names the folder to serve from with another one."""
    named = any(setting.option in column.names for column in senses()["chdir"].columns.values())
    return replace(setting, value=str(chdir), raw=str(chdir)) if named else setting
