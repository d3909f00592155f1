"""What a configuration asks for, in senses: what readers fill and writers print."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from lab.config.interface import WSGI
from lab.config.spot import Setting
from lab.config.vocabulary.senses import Gone, Sense, Spelling, by_option, gone_of, senses
from lab.config.vocabulary.values import Expression
from lab.model.wording import in_a_line

LONGEST = 400
"""Characters of an option's text that are shown."""

IS_DEFAULT = "not needed: this is the default"
"""Why an option is not translated: the new server does the same without it."""


@dataclass(frozen=True, slots=True)
class SenseSetting:
    """What a configuration says of one sense."""

    sense: Sense
    values: tuple[Expression, ...]
    """One, or of a list all; none of a switch."""

    on: bool
    """Of a switch."""

    was: str
    """How it is written there; of a default what holds without a word."""

    implied: bool = False
    """Whether nothing is written, and it is the server's default."""

    @property
    def value(self) -> Expression:
        """The value that counts: the last."""
        return self.values[-1]

    @property
    def is_list(self) -> bool:
        """Whether all of its values count."""
        return self.sense.kind == "list"

    def entry(self, value: Expression) -> str:
        """Return how one value of a list is shown, as a list may be long."""
        return one_line(f"{self.was.partition(' = ')[0]}: {value}")


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens: host and port, or the path of a UNIX socket."""

    protocol: str
    """"http", or another one's name."""

    host: Expression
    port: Expression
    path: Expression | None
    was: str
    tls: tuple[str, str] | None = None
    """Files of certificate and key; an empty name is one that is not known."""

    of_clients: tuple[str, str] = ("", "")
    """Ciphers, and the file of the CA of clients, with ! before it if each client needs one."""

    lost: str = ""
    """Why no other server can be given it; empty where one can."""

    elsewhere: str = ""
    """Where the old server may listen instead, and what to do; empty: the address is certain."""

    @property
    def parts(self) -> tuple[Expression, ...]:
        """All that is written of it."""
        where = Expression((*self.host.parts, ":", *self.port.parts))
        return (self.path or where, *map(Expression.of, self.tls or ()))

    @property
    def local(self) -> bool:
        """Whether only this machine reaches it."""
        return self.path is not None or self.host.text in {"127.0.0.1", "localhost", "::1"}


@dataclass(frozen=True, slots=True)
class Application:
    """What is served; module and callable are names of Python's, and nothing else."""

    module: str
    callable: str
    was: str

    @property
    def factory(self) -> bool:
        """Whether the callable makes the application."""
        return self.callable.endswith("()")

    def __str__(self) -> str:
        """Return it as package.module:callable."""
        return f"{self.module}:{self.callable}"


@dataclass(frozen=True)
class Service:
    """All that a configuration asks for."""

    program: str
    application: Application | None
    addresses: tuple[Address, ...]
    senses: Mapping[str, SenseSetting]
    """By the sense's key; defaults that others must be told as well."""

    gone: tuple[tuple[str, Gone], ...] = ()
    """What nobody else has anything for, each as it is written."""

    unknown: tuple[str, ...] = ()
    """Options of neither a sense nor a known way out, as they are written."""

    idle: tuple[str, ...] = ()
    """What had no effect, or is no option of its server's, as it is written."""

    open: tuple[str, ...] = ()
    """What the machine that serves decides, and was decided here to read it."""

    needless: tuple[tuple[str, str], ...] = ()
    """What other servers need no option for: as it is written, and why."""

    extra: tuple[tuple[str, str], ...] = ()
    """What is lost for another reason: as it is written, and the way out."""

    unclear: frozenset[str] = frozenset()
    """Keys of senses that are set to what is not known, so that nothing is written for them."""

    interface: str = WSGI
    """How the application is called; see `lab.config.interface`."""

    ignored: frozenset[str] = frozenset()
    """Keys of senses that its server ignores with the other options as they are."""

    derived: Mapping[str, SenseSetting] = field(default_factory=dict)
    """Defaults that follow from other options of its server, which a translation writes."""

    facts: frozenset[str] = frozenset()
    """What else decides how the server behaves, by names that its `[cases]` use."""

    @property
    def is_wsgi(self) -> bool:
        """Whether it is called by WSGI: by any other, a loop serves as many requests as come."""
        return self.interface == WSGI

    @property
    def is_alone(self) -> bool:
        """Whether there is one worker."""
        workers = self.senses.get("workers")
        return "workers" not in self.unclear and (workers is None or workers.value.number == 1)

    def number(self, key: str) -> int | None:
        """Return the number that is said of a sense; None where none is, or a variable."""
        sense_setting = self.senses.get(key)
        return sense_setting.value.number if sense_setting and sense_setting.values else None

    def is_on(self, key: str) -> bool:
        """Return whether a switch is on."""
        sense_setting = self.senses.get(key)
        return sense_setting is not None and sense_setting.on


Read = Callable[[Setting], Expression]
IsOn = Callable[[Setting], bool]
Idle = tuple[str, ...]
"""What has no effect, as it is written."""


def application_of(module: str, called: str, was: str) -> Application | None:
    """Return what is served; None where that is no name of a module and of what it holds."""
    whole = f"{module}:{called}"
    named = re.fullmatch(r"[\w.][\w.-]*:[\w.]+(\(\))?", whole) and in_a_line(whole) == whole
    return Application(module, called, one_line(was)) if named else None


def keys_of(program: str, options: Iterable[str]) -> frozenset[str]:
    """Return the keys of the senses that options have; some have none."""
    known = by_option(program)
    return frozenset(known[option].key for option in options if option in known)


def no_module(
    named: Setting | None, application: Application | None
) -> tuple[tuple[str, str], ...]:
    """Return what is lost where a setting names an application that no import finds."""
    if named is None or not named.value or application is not None:
        return ()
    return (
        (written(named), "this is not the name of a module: write MODULE:CALLABLE as in Python"),
    )


def collected(
    program: str,
    settings: Iterable[Setting],
    known: Callable[[str], str],
    value_of: Read,
    is_on: IsOn,
) -> tuple[dict[str, SenseSetting], list[Setting]]:
    """
    Return what *settings* say, by sense, and those of no sense.

    Of several of one sense that is no list the last counts; what was said names all of them.

    Args:
        program: Whose they are.
        settings: The settings.
        known: Returns one name for all spellings of an option.
        value_of: Returns the value of one.
        is_on: Returns whether one switches something on.
    """
    options = by_option(program)
    options = {known(name): sense for name, sense in options.items()} | dict(options)
    settings_by_sense: dict[str, list[Setting]] = {}
    rest: list[Setting] = []
    for setting in settings:
        sense = options.get(setting.option) or options.get(known(setting.option))
        if sense is None:
            rest.append(setting)
        else:
            settings_by_sense.setdefault(sense.key, []).append(setting)

    def sense_setting(sense: Sense, settings: list[Setting]) -> SenseSetting:
        column, last = sense.columns[program], settings[-1]
        was = one_line(", ".join(dict.fromkeys(map(written, settings))))
        if sense.kind == "switch":
            opposite = known(last.option) in map(known, column.opposite)
            return SenseSetting(sense, (), is_on(last) != opposite, was)
        values = tuple(map(value_of, settings if sense.kind == "list" else settings[-1:]))
        if column.unit == "ms":
            values = tuple(value.in_seconds for value in values)
        return SenseSetting(sense, values, True, was)

    return {
        key: sense_setting(senses()[key], settings) for key, settings in settings_by_sense.items()
    }, rest


def written(setting: Setting) -> str:
    """Return an option and its value as one line."""
    return one_line(" = ".join(filter(None, (setting.option, setting.raw))))


def one_line(text: str) -> str:
    """Return a text without ends of lines, cut where it is long: each entry of a list has it."""
    cut = f"{text[:LONGEST]} ..." if len(text) > LONGEST else text
    return re.sub(r"\s+", " ", cut)


def with_defaults(
    program: str, sense_settings: Mapping[str, SenseSetting], name: str
) -> dict[str, SenseSetting]:
    """Add what holds where nothing is written, and others must be told."""
    all_sense_settings = dict(sense_settings)
    for sense in senses().values():
        column = sense.columns.get(program)
        if column is None or not (column.implied or column.always) or sense.key in sense_settings:
            continue
        on = column.always or column.implied == "true"
        values = () if sense.kind == "switch" else (Expression.of(column.implied),)
        if column.always and sense.kind != "switch":
            continue
        was = _default(sense, column, name, on=on)
        all_sense_settings[sense.key] = SenseSetting(sense, values, on, was, implied=True)
    return all_sense_settings


def _default(sense: Sense, column: Spelling, name: str, *, on: bool) -> str:
    """
    Return what a server does where nothing is written, with the option that says otherwise.

    >>> gunicorn = senses()["time-limit"].columns["gunicorn"]
    >>> _default(senses()["time-limit"], gunicorn, "gunicorn", on=True)
    "timeout = 30 (gunicorn's default)"
    """
    means = sense.means if on else sense.off
    option = next(iter((*column.names, *column.opposite)), "")
    if not option:
        return f"{name}, always: {means}"
    if sense.kind != "switch":
        return f"{option} = {column.implied} ({name}'s default)"
    switch = "on" if on == bool(column.names) else "off"
    return f"{option} is {switch} ({name}'s default): {means}"


def without(
    sense_settings: Mapping[str, SenseSetting], keys: Collection[str]
) -> tuple[dict[str, SenseSetting], Idle]:
    """Return what is said of other senses, and what is written of *keys*, which has no effect."""
    kept = {key: sense_setting for key, sense_setting in sense_settings.items() if key not in keys}
    return kept, tuple(
        sense_settings[key].was
        for key in keys
        if key in sense_settings and not sense_settings[key].implied
    )


def sorted_out(
    program: str, rest: Iterable[Setting]
) -> tuple[tuple[tuple[str, Gone], ...], tuple[str, ...]]:
    """Return of what has no sense that of which the way out is known, and the others."""
    gone: list[tuple[str, Gone]] = []
    unknown: list[str] = []
    for setting in rest:
        known = gone_of(program, setting.option)
        if known is None:
            unknown.append(written(setting))
        else:
            gone.append((written(setting), known))
    return tuple(dict.fromkeys(gone)), tuple(dict.fromkeys(unknown))


def split_address(value: Expression) -> tuple[Expression, Expression]:
    """
    Return the host and the port of "host:port"; the host is empty where none is said.

    >>> [each.text for each in split_address(Expression.of(":80"))]
    ['', '80']
    """
    marks = [part if isinstance(part, str) else f"\0{at}\0" for at, part in enumerate(value.parts)]
    host, _, port = "".join(marks).rpartition(":")
    return _back(host, value), _back(port, value)


def _back(text: str, value: Expression) -> Expression:
    pieces = re.split("\0(\\d+)\0", text)
    parts = [value.parts[int(piece)] if at % 2 else piece for at, piece in enumerate(pieces)]
    return Expression(tuple(part for part in parts if part != "")) if text else Expression.of("")
