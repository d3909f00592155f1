"""granian's command in senses, and back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from lab.config.configuration import Config
from lab.config.granian.command import PROGRAM, TABLE, default_threads, interface_of
from lab.config.interface import WSGI
from lab.config.script import beside_command, check_certain
from lab.config.script_writer import ScriptWriter, listens_on_first, write_one_address
from lab.config.spot import Setting
from lab.config.vocabulary import values
from lab.config.vocabulary.addresses import of_host_and_port
from lab.config.vocabulary.senses import Spelling, senses
from lab.config.vocabulary.service import (
    Address,
    Application,
    SenseSetting,
    Service,
    application_of,
    collected,
    no_module,
    one_line,
    sorted_out,
    with_defaults,
    without,
    written,
)
from lab.config.vocabulary.translation import Note, OptionLine, Translation, Translator, adapted
from lab.config.vocabulary.values import Expression
from lab.config.words import OFF

NO_THREADS = "blocking-threads is not set"
HALF = "granian then runs up to half of backpressure, or of backlog / workers, as threads"
WRITE = "write --blocking-threads"
RELATIVE = (
    "granian binds a relative path in the folder that it is started in, and the new server in its "
    "working directory: write the absolute path"
)

KEEPS = "left out: connections are kept, and --no-http1-keep-alive closes them"

OF_ASGI = ("event-loop", "websockets")
"""Keys of meanings that an application of WSGI does not have."""

CALLED = "the application is called by it"

HELD = frozenset({"host", "port", "uds", "factory", "interface", "static-path-route"})


def service_of(config: Config) -> Service:
    """Return what a command asks for."""
    known = (_resolved(setting, config) for setting in config.settings)
    config = replace(config, settings=tuple(known))
    routes = [setting.value for setting in config.settings if setting.option == "static-path-route"]
    settings = [
        route for route in _with_routes(config.settings, routes) if route.option not in HELD
    ]
    ambiguous = [one_line(f"static-path-route = {path}") for path in routes if "=" in path]
    by_sense, rest = collected(
        PROGRAM,
        settings,
        lambda name: name,
        values.of_shell,
        lambda setting: setting.value not in OFF,
    )
    by_sense = _modes(by_sense)
    called = config.last("interface")
    if called is not None and called.value == "asginl":
        off = (Expression.of("off"),)
        by_sense["lifespan"] = SenseSetting(senses()["lifespan"], off, True, written(called))
    gone, unknown = sorted_out(PROGRAM, rest)
    application, interface = _application(config), interface_of(config)
    by_sense, idle = without(by_sense, OF_ASGI if interface == WSGI else ("threads",))
    derived, lost = _default_threads(config, by_sense) if interface == WSGI else ({}, [])
    return Service(
        PROGRAM,
        application,
        (_address(config),),
        with_defaults(PROGRAM, by_sense, "granian"),
        gone,
        unknown,
        idle,
        extra=(
            *lost,
            *no_module(TABLE.target(config), application),
            *(
                (path, "granian ends the URL path at its =: use a path without =")
                for path in ambiguous
            ),
        ),
        unclear=frozenset({"threads"} if lost else ()),
        derived=derived,
        interface=interface,
        facts=frozenset({"keeps-connections off"} if _closes(by_sense) else ()),
        needless=tuple((written(setting), CALLED) for setting in config.all("interface")),
    )


def _default_threads(
    config: Config, senses_set: Mapping[str, SenseSetting]
) -> tuple[dict[str, SenseSetting], list[tuple[str, str]]]:
    """Return the threads that granian starts where the command has no number, or why unknown."""
    if "threads" in senses_set:
        return {}, []
    options = map(config.last, ("workers", "backlog", "backpressure"))
    unknown = [option.option for option in options if option and not option.value.isdecimal()]
    if unknown:
        return {}, [(NO_THREADS, f"{HALF}; {' and '.join(unknown)} is unknown: {WRITE}")]
    number = default_threads(config)
    was = f"{NO_THREADS}: up to {number} threads (granian's default)"
    sense, value = senses()["threads"], Expression.of(str(number))
    return {sense.key: SenseSetting(sense, (value,), True, was, implied=True)}, []


def _closes(senses_set: Mapping[str, SenseSetting]) -> bool:
    """Return whether it closes each connection after its reply."""
    keeps = senses_set.get("keeps-connections")
    return keeps is not None and not keeps.on


def _resolved(setting: Setting, config: Config) -> Setting:
    """Return a setting with its value, where the variables in it are known."""
    value = values.of_shell(setting)
    text = value.with_values(values.words_in(config.known.environ)).text
    if text is None or value.text is not None:
        return setting
    return replace(setting, value=text, raw=text)


def _modes(by_sense: dict[str, SenseSetting]) -> dict[str, SenseSetting]:
    """Return the same with the mode of the socket in octal: without a 0 in front it is decimal."""
    mode = by_sense.get("socket-mode")
    if mode is None or not re.fullmatch("(0o?)?[0-9]+", text := mode.value.text or ""):
        return by_sense
    with suppress(ValueError):
        octal = f"{int(text, 8 if text.startswith('0') else 10):o}"
        return by_sense | {"socket-mode": replace(mode, values=(Expression.of(octal),))}
    return by_sense


def _with_routes(settings: Sequence[Setting], routes: list[str]) -> Iterator[Setting]:
    """Yield the settings, each folder of files with the path that it answers."""
    waiting = [*routes]
    for setting in settings:
        if setting.option != "static-path-mount":
            yield setting
            continue
        route = waiting.pop(0) if waiting else "/static"
        if "=" in route:
            continue  # another server would end the path there
        yield replace(setting, value=f"{route}={setting.value}", raw=f"{route}={setting.raw}")


def _application(config: Config) -> Application | None:
    served = TABLE.target(config)
    if served is None:
        return None
    name, colon, called = served.value.partition(":")
    factory = config.first("factory") is not None
    callable_ = (called if colon else "app") + "()" * factory
    module = (
        name.removesuffix(".py").replace("/", ".").lstrip(".") if name.endswith(".py") else name
    )
    return application_of(module, callable_, served.value)


def _address(config: Config) -> Address:
    uds, host, port = config.last("uds"), config.last("host"), config.last("port")
    certificate, key = config.last("ssl-certificate"), config.last("ssl-keyfile")
    files = [values.of_shell(name).text or "" for name in (certificate, key) if name]
    tls = (files[0], files[1]) if len(files) > 1 else None
    nothing = Expression.of("")
    if uds is not None:
        path = values.of_shell(uds)
        moves = config.last("working-dir") and not str(path).startswith("/")
        elsewhere = RELATIVE if moves else ""
        return Address("http", nothing, nothing, path, written(uds), tls, elsewhere=elsewhere)
    return of_host_and_port(host, port, tls, PROGRAM)


def special(made: Translation, sense_setting: SenseSetting, column: Spelling) -> bool:
    """Write what is more than a word in its command."""
    if write := _SPECIAL.get(sense_setting.sense.key):
        write(made, sense_setting, column)
        return True
    if WRITER.write_environment(made, sense_setting):
        return True
    match sense_setting.sense.key:
        case "keeps-connections" if not sense_setting.on:
            made.changed.append(Note(sense_setting.was, KEEPS))
        case "backlog" if sense_setting.implied:
            # Without this limit it would be that of the threads, too.
            if "blocking-threads" in {line.option for line in made.lines}:
                return False
        case "header-bytes":
            made.changed.append(Note(sense_setting.was, column.lost or column.says))
        case "http-versions":
            text = sense_setting.value.text
            says = "granian accepts HTTP/2 without TLS, too" if text != "1" else ""
            made.write(sense_setting, column.names[0], sense_setting.value, says)
        case "time-limit" | "requests-limit":
            if sense_setting.value.text != "0":
                made.drop(sense_setting, column.lost)
        case _:
            return False
    return True


def _socket_mode(made: Translation, sense_setting: SenseSetting, column: Spelling) -> None:
    digits = sense_setting.value.parts if sense_setting.value.text != "" else ("666",)
    made.write(sense_setting, column.names[0], Expression(("0", *digits)))


def _keepalive(made: Translation, sense_setting: SenseSetting, column: Spelling) -> None:
    """Write the time of an idle connection, which is also that for headers."""
    if sense_setting.implied:
        return  # what is not visible in the configuration says so
    headers = senses()["read-time"]
    if sense_setting.value.text == "0":
        made.write(sense_setting, "no-http1-keep-alive")
    elif headers.key in made.service.senses:
        made.changed.append(Note(sense_setting.was, f"left out: {column.says}"))
    else:
        spelling = replace(headers.columns[PROGRAM], says=column.says)
        value, says = adapted(sense_setting.value, spelling)
        made.write(sense_setting, spelling.names[0], value, says)


def _static(made: Translation, sense_setting: SenseSetting, column: Spelling) -> None:
    for value in sense_setting.values:
        first = value.parts[0]
        route, equals, begun = first.partition("=") if isinstance(first, str) else ("", "", "")
        if not equals:
            made.drop(sense_setting, "this is not /PATH=FOLDER")
            continue
        made.write(sense_setting, "static-path-route", Expression.of(route), column.says)
        folder = Expression(tuple(part for part in (begun, *value.parts[1:]) if part))
        made.lines.append(OptionLine("static-path-mount", folder, sense_setting.was))


def _has_no_lifespan(service: Service) -> bool:
    """Return whether an application gets no lifespan events."""
    lifespan = service.senses.get("lifespan")
    return lifespan is not None and lifespan.value.text == "off"


def _lifespan(made: Translation, sense_setting: SenseSetting, _column: Spelling) -> None:
    is_off = _has_no_lifespan(made.service)
    becomes = "--interface asginl" if is_off else "not needed: lifespan events are sent"
    made.same.append(Note(sense_setting.was, becomes))


_SPECIAL = {
    "keepalive": _keepalive,
    "lifespan": _lifespan,
    "socket-mode": _socket_mode,
    "static": _static,
}
"""Key of a meaning -> function that writes it."""


def _begins(service: Service) -> str:
    return f"granian --interface {'asginl' if _has_no_lifespan(service) else service.interface}"


WRITER = ScriptWriter(PROGRAM, _begins, ("GRANIAN_",))


def added(made: Translation) -> None:
    """Say where it listens: at one address, by HTTP."""
    write_one_address(made, ("--uds", "--host, --port"))


TRANSLATOR = Translator(
    PROGRAM,
    service_of,
    WRITER.files,
    added,
    special,
    WRITER.words,
    partial(check_certain, TABLE),
    partial(beside_command, TABLE),
    listens_on_first,
)
