"""From what one configuration asks for to what another server is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from lab.config.configuration import Config
from lab.config.interface import ASGI, WSGI
from lab.config.vocabulary import environment
from lab.config.vocabulary.addresses import GLOB, refused_as_uwsgi
from lab.config.vocabulary.behaviour import Deployment, differences, of_service
from lab.config.vocabulary.quoting import NUL, refused_by_ini
from lab.config.vocabulary.senses import Spelling, by_option, name_of, senses
from lab.config.vocabulary.service import IS_DEFAULT, Address, SenseSetting, Service, without
from lab.config.vocabulary.values import Cpus, Expression

COUNTED = "also obeys a container's CPU limit; {} does not"
"""What differs where CPUs are counted: the writers do it by functions of their own."""

COUNTS = {"uwsgi": "%k", "gunicorn": "cpu_count()"}
"""Program -> how its configurations count CPUs."""

UNKNOWN = "lab knows no equivalent: look it up in the options of the new server"

OF_SOCKETS = ("socket-mode", "socket-owner")
NO_SOCKET = "left out: it has no effect without a UNIX socket"

ONE_TLS = (
    "the server speaks TLS on all of its addresses or on none: start a second one for this address"
)

OTHER_FOLDER = (
    "one of the servers gives a character in it another meaning: use a name without *?[\\,:"
)

AROUND = "this is outside of the command: do it where you start the new server"
"""What becomes of words and lines beside a command."""

NOT_KNOWN = "lab does not know yet how else the two servers differ; try the new one first"
"""What is said in place of the differences, which are those of WSGI."""


@dataclass(frozen=True, slots=True)
class OptionLine:
    """One option of the other server."""

    option: str
    value: Expression | None
    """None of a switch."""

    was: str
    says: str = ""
    """What it means there, where that is something else."""

    number: bool = False
    """Whether the value is a whole number."""


@dataclass(frozen=True, slots=True)
class Words:
    """How the options of a server are written."""

    form: str = "{} = {}"
    """Of an option and its value."""

    name: Callable[[str], str] = str
    """Returns how an option is called where it is written."""

    yes: str = "true"
    """The value of a switch that is on."""

    no: str = "false"
    """That of one that is off, where no switch means the opposite."""

    mixes_tls: bool = True
    """Whether it may speak TLS at some of its addresses, and plain HTTP at others."""

    folders: str = GLOB
    """Signs that no folder of imports may have there, as they mean something else."""

    variable: Callable[[str], str] = environment.refused_by_uwsgi
    """Returns why it cannot set an environment variable of a name, empty where it can."""

    sets_first: bool = False
    """Whether it sets environment variables before its other values are read, as a shell does."""

    address: Callable[[Address], str] = refused_as_uwsgi
    """Returns why it cannot listen at an address, empty where it can."""

    refused: Callable[..., str] = refused_by_ini
    """Returns why its language cannot have a value, empty where it can; `number` says of what."""


@dataclass(frozen=True, slots=True)
class Note:
    """One line of a list: what was there, and what becomes of it."""

    was: str
    becomes: str


@dataclass
class Translation:
    """What another server is told, and what that changes."""

    service: Service
    to: str
    words: Words
    lines: list[OptionLine] = field(default_factory=list)
    same: list[Note] = field(default_factory=list)
    changed: list[Note] = field(default_factory=list)
    lost: list[Note] = field(default_factory=list)
    hidden: list[Note] = field(default_factory=list)

    def write(
        self,
        sense_setting: SenseSetting,
        option: str,
        value: Expression | None = None,
        says: str = "",
    ) -> None:
        """Add an option, and to the list what becomes of what was said."""
        column = sense_setting.sense.columns.get(self.to)
        if column and not self.service.is_wsgi:
            column = replace(column, **column.asgi)
        explains = column.explains if column and option in column.names else ""
        comment = "; ".join(filter(None, (says, explains)))
        self.lines.append(
            OptionLine(option, value, sense_setting.was, comment, sense_setting.sense.is_number)
        )
        shown = self.words.form.format(
            self.words.name(option), self.words.yes if value is None else value
        ).strip()
        if sense_setting.implied:
            return  # what nobody wrote is no change of theirs: it is told beside the line
        if says:
            self.changed.append(Note(sense_setting.was, f"{shown}: {says}"))
        else:
            known = f"{shown}: {explains}" if explains else shown
            self.same.append(Note(sense_setting.was, known))

    def write_variables(self, sense_setting: SenseSetting, where: str, unset: str) -> None:
        """Add to the lists where variables are set, and what it is without one that they read."""
        for value in sense_setting.values:
            names = sorted(environment.reads(value))
            if self.service.program == "uwsgi" and names:
                texts = ", ".join(f"$({name})" for name in names)
                says = f"{where}: without {', '.join(names)} {unset}; uWSGI kept the text {texts}"
                self.changed.append(Note(sense_setting.entry(value), says))
            else:
                self.same.append(Note(sense_setting.entry(value), where))

    def drop(self, sense_setting: SenseSetting, why: str) -> None:
        """Add to the list what cannot be carried over."""
        self.lost.append(
            Note(
                sense_setting.was,
                why if sense_setting.implied else f"{sense_setting.sense.means}: {why}",
            )
        )


@dataclass(frozen=True, slots=True)
class Files:
    """A translation, as it is written for one server."""

    text: str
    """The configuration file."""

    command: str
    """Starts the server."""

    environment: str = ""
    """The file of environment variables beside it; empty: none is needed."""

    script: str = ""
    """
    A script for sh that prints words with a NUL behind each word: NAME=VALUE of the environment,
    an empty word, and the command. Empty: a file has the configuration.
    """


@dataclass(frozen=True, slots=True)
class Translator:
    """How configurations of one server are translated into meanings, and meanings into them."""

    program: str

    service: Callable[[Config], Service]
    """Returns what a configuration asks for, in meanings that servers share."""

    write: Callable[[Translation, str], Files]
    """Returns a translation in the server's language; the text is the file's name in a shell."""

    write_defaults: Callable[[Translation], None] = lambda _made: None
    """Writes what a configuration leaves to defaults that differ for this server."""

    write_meaning: Callable[[Translation, SenseSetting, Spelling], bool] = lambda *_: False
    """Writes a meaning that takes more than one line; returns whether it did."""

    words: Words = field(default_factory=Words)
    """How the server's options are written."""

    check_certain: Callable[[Config], None] = lambda _config: None
    """Raises ProfileError if it is not certain what a configuration starts."""

    around: Callable[[Config], list[Note]] = lambda _config: []
    """Returns what stands around the command in a file, and is no part of the configuration."""

    listens: Callable[[tuple[Address, ...]], tuple[Address, ...]] = lambda addresses: addresses
    """Returns where the server listens of the addresses, each with the protocol that it speaks."""

    def translation(self, service: Service) -> Translation:
        """Return what *service* becomes for this server."""
        service = _without_socket(replace(service, senses={**service.senses, **service.derived}))
        lost: dict[Note, None] = {}
        kept = _writable(service, self.words, lost)
        made = Translation(kept, self.program, self.words, lost=list(lost))
        for key in senses():
            sense_setting = made.service.senses.get(key)
            column = sense_setting.sense.columns.get(self.program) if sense_setting else None
            if column is not None and not service.is_wsgi:
                column = replace(column, **column.asgi)
            if (
                sense_setting is not None
                and column is not None
                and not self.write_meaning(made, sense_setting, column)
            ):
                _carry(made, sense_setting, column)
        if (app := service.application) is not None:
            made.same.append(Note(app.was, str(app)))
        self.write_defaults(made)
        made.changed += [
            Note(address.was, address.elsewhere)
            for address in made.service.addresses
            if address.elsewhere
        ]
        for was, known in service.gone:
            (made.same if known.needless else made.lost).append(Note(was, known.instead))
        made.same += [Note(was, why) for was, why in service.needless]
        made.same += [Note(was, "left out: it has no effect") for was in service.idle]
        made.lost += [Note(was, UNKNOWN) for was in service.unknown]
        made.lost += [Note(was, instead) for was, instead in service.extra]
        made.hidden += _differences(service, self._deployment(made))
        return made

    def _deployment(self, made: Translation) -> Deployment:
        """Return a translation as the server follows it, with its defaults."""
        defaults: dict[str, Expression | None] = {}
        for sense in senses().values():
            column = sense.columns.get(self.program, Spelling())
            if column.always or column.implied == "true":
                defaults[sense.key] = None
            elif column.implied and column.implied != "false":
                defaults[sense.key] = Expression.of(column.implied)
        options = by_option(self.program)
        written = {
            options[line.option].key: self._in_unit(line)
            for line in made.lines
            if line.option in options and not self._switches_off(line)
        }
        off = {options[line.option].key for line in made.lines if self._switches_off(line)}
        values = {key: value for key, value in (defaults | written).items() if key not in off}
        facts = frozenset(f"{key} off" for key in off)
        addresses = self.listens(made.service.addresses)
        return Deployment(self.program, addresses, values, facts=facts)

    def _in_unit(self, line: OptionLine) -> Expression | None:
        """Return the value of a line in the unit of its meaning."""
        column = by_option(self.program)[line.option].columns[self.program]
        return line.value.in_seconds if line.value and column.unit == "ms" else line.value

    def _switches_off(self, line: OptionLine) -> bool:
        sense = by_option(self.program).get(line.option)
        if sense is None or sense.kind != "switch":
            return False
        off = line.value is not None and line.value.text == self.words.no
        return off != (line.option in sense.columns[self.program].opposite)


def _differences(service: Service, after: Deployment) -> Iterator[Note]:
    """Yield in what two servers differ though no option shows it."""
    if service.interface not in {WSGI, ASGI}:
        yield Note(f"an {service.interface.upper()} application", NOT_KNOWN)
        return
    names = name_of(service.program), name_of(after.program)
    for about, old, new, ask in differences(of_service(service), after, service.interface):
        yield Note(about, f"{names[0]}: {old}; {names[1]}: {new}. Check: {ask}")


def _without_socket(service: Service) -> Service:
    """Return the same without what is about UNIX sockets, where all addresses are TCP."""
    listens = service.addresses
    if not listens or any(address.path or address.lost for address in listens):
        return service
    settings = [service.senses[key] for key in OF_SOCKETS if key in service.senses]
    kept, _ = without(service.senses, OF_SOCKETS)
    needless = tuple((setting.was, NO_SOCKET) for setting in settings)
    return replace(service, senses=kept, needless=(*service.needless, *needless))


def _writable(service: Service, words: Words, lost: dict[Note, None]) -> Service:
    """Return the same without the values that the language written cannot have: they are *lost*."""

    def kept(value: Expression, was: str, *, number: bool = False) -> bool:
        reason = NUL if "\0" in was else words.refused(value, number=number)
        if reason:
            lost[Note(was, reason)] = None
        return not reason

    reasons = [(address, address.lost or words.address(address)) for address in service.addresses]
    lost |= {Note(address.was, why): None for address, why in reasons if why}
    addresses = tuple(
        address
        for address, why in reasons
        if not why and all(kept(part, address.was) for part in address.parts)
    )
    if not words.mixes_tls and any(address.tls for address in addresses):
        plain = [address.was for address in addresses if not address.tls]
        lost |= dict.fromkeys(Note(was, ONE_TLS) for was in plain)
        addresses = tuple(address for address in addresses if address.tls)
    sense_settings = {}
    for key, sense_setting in service.senses.items():
        number = sense_setting.sense.is_number
        values = tuple(
            value
            for value in sense_setting.values
            if kept(
                value,
                sense_setting.entry(value) if sense_setting.is_list else sense_setting.was,
                number=number,
            )
        )
        if key == "pythonpath":
            signs = words.folders + (GLOB if service.program == "uwsgi" else "")
            other = [value for value in values if any(sign in str(value) for sign in signs)]
            lost |= dict.fromkeys(Note(sense_setting.entry(value), OTHER_FOLDER) for value in other)
            values = tuple(value for value in values if value not in other)
        if values or not sense_setting.values:
            sense_settings[key] = replace(sense_setting, values=values)
    unclear = service.unclear | (service.senses.keys() - sense_settings.keys())
    _set_variables(sense_settings, addresses, words, lost)
    return replace(service, senses=sense_settings, addresses=addresses, unclear=unclear)


def _set_variables(
    sense_settings: dict[str, SenseSetting],
    addresses: tuple[Address, ...],
    words: Words,
    lost: dict[Note, None],
) -> None:
    """Leave out the environment variables that the server cannot be given: they are *lost*."""
    every = sense_settings.pop("environment", None)
    if every is None:
        return
    values = [value for sense_setting in sense_settings.values() for value in sense_setting.values]
    values += [part for address in addresses for part in address.parts]
    others = set[str]().union(*map(environment.reads, values)) if words.sets_first else None
    reasons = [*environment.refused(every.values, words.variable, others)]
    pairs = [*zip(every.values, reasons, strict=True)]
    lost |= {Note(every.entry(value), reason): None for value, reason in pairs if reason}
    if kept := tuple(value for value, reason in pairs if not reason):
        sense_settings["environment"] = replace(every, values=kept)


def _carry(made: Translation, sense_setting: SenseSetting, column: Spelling) -> None:
    """Carry over one sense that is a line, a default, or lost."""
    if sense_setting.sense.key == "log-level":
        sense_setting = _with_known_level(sense_setting)
    if sense_setting.sense.kind == "switch":
        _carry_switch(made, sense_setting, column)
    elif column.always:
        made.same.append(Note(sense_setting.was, column.says or "not needed"))
    elif column.lost:  # also of an option that has words of its own on each server
        made.drop(sense_setting, column.lost)
    elif _is_refused(sense_setting.value, column):
        choices = ", ".join(column.choices)
        made.drop(sense_setting, f"{column.names[0]} takes one of {choices}")
    elif column.names:
        for value in sense_setting.values if sense_setting.is_list else (sense_setting.value,):
            one = (
                replace(sense_setting, was=sense_setting.entry(value))
                if len(sense_setting.values) > 1
                else sense_setting
            )
            counts = COUNTS.get(made.service.program, "nproc")
            if "$(" in sense_setting.was:
                counts = "nproc"  # also in a command of gunicorn
            made.write(one, column.names[0], *adapted(value, column, counts))


def _with_known_level(sense_setting: SenseSetting) -> SenseSetting:
    """Return the setting with its log level as all servers spell it."""
    level = (sense_setting.value.text or "").lower()
    level = {"warn": "warning", "fatal": "critical"}.get(level, level)
    return replace(sense_setting, values=(Expression.of(level),)) if level else sense_setting


def _is_refused(value: Expression, column: Spelling) -> bool:
    """Return whether the option of a server does not take a value."""
    return bool(column.choices) and value.text is not None and value.text not in column.choices


def _carry_switch(made: Translation, sense_setting: SenseSetting, column: Spelling) -> None:
    on_there = column.always or column.implied == "true"
    if sense_setting.on and column.always:
        if not sense_setting.implied:
            (made.changed if column.differs else made.same).append(
                Note(sense_setting.was, column.says or "not needed: the server always does this")
            )
    elif sense_setting.on == on_there:
        if not sense_setting.implied:
            made.same.append(Note(sense_setting.was, IS_DEFAULT))
    elif sense_setting.on and column.names:
        made.write(sense_setting, column.names[0], says=column.says)
    elif not sense_setting.on and column.opposite:
        made.write(sense_setting, column.opposite[0], says=column.says)
    elif not sense_setting.on and column.names:
        made.write(sense_setting, column.names[0], Expression.of(made.words.no), column.says)
    elif not sense_setting.on and column.always:
        made.changed.append(
            Note(sense_setting.was, f"{sense_setting.sense.means}: the server always does this")
        )
    elif sense_setting.on and column.lost:
        made.drop(sense_setting, column.lost)


def adapted(value: Expression, column: Spelling, counts: str = "") -> tuple[Expression, str]:
    """
    Return a value in the unit and the bounds of the other server, and what that changes.

    Args:
        value: The value.
        column: How the other server spells its sense.
        counts: How the old configuration counts CPUs, where it may.
    """
    if column.unit == "ms":
        value = value.times(1000)
    bounded = value.within(column.least, column.most)
    says = column.says
    if any(isinstance(part, Cpus) for part in value.parts):
        counted = COUNTED.format(counts)
        says = f"{counted}; {says}" if says else counted
    if bounded.number != value.number:
        bound = "at least" if bounded.number == column.least else "at most"
        explanation = f"it takes {bound} {bounded}, and {value} was asked for"
        says = f"{explanation}; {says}" if says else explanation
    return bounded, says
