"""uvicorn's command in senses, and back."""

from __future__ import annotations

from functools import partial

from lab.config import script
from lab.config.configuration import Config
from lab.config.interface import WSGI
from lab.config.script_writer import ScriptWriter, listens_on_first, write_one_address
from lab.config.spot import Setting
from lab.config.uvicorn.command import APPLICATION, PROGRAM, TABLE, interface_of, target
from lab.config.vocabulary import values
from lab.config.vocabulary.addresses import OPEN, lost_address, of_host_and_port
from lab.config.vocabulary.senses import Spelling, senses
from lab.config.vocabulary.service import (
    IS_DEFAULT,
    Address,
    Application,
    SenseSetting,
    Service,
    application_of,
    collected,
    no_module,
    sorted_out,
    with_defaults,
    written,
)
from lab.config.vocabulary.translation import Note, OptionLine, Translation, Translator, adapted
from lab.config.vocabulary.values import Expression
from lab.config.words import OFF
from lab.errors import ProfileError

CALLED = "not needed: the new server finds out how the application is called, or is told"

NO_PARENT = "with one worker there is no parent: let systemd or the container start it again"

HELD = frozenset({"host", "port", "uds", "fd", "factory", "interface", "ssl-cert-reqs", "http2"})
"""Options that are read by themselves."""

NO_HTTP2 = "HTTP/2 without TLS; let nginx speak HTTP/2 to clients"


def service_of(config: Config) -> Service:
    """Return what a command asks for."""
    settings = [one for one in config.settings if one.option not in {*HELD, APPLICATION}]
    by_sense, rest = collected(PROGRAM, settings, lambda name: name, values.of_shell, _is_on)
    gone, unknown = sorted_out(PROGRAM, rest)
    by_sense = with_defaults(PROGRAM, _with_clients(by_sense, config), "uvicorn")
    if "ws-ping" in by_sense and not by_sense["websockets"].on:
        by_sense = {key: one for key, one in by_sense.items() if not key.startswith("ws-")}
    workers = by_sense.get("workers")
    if workers is None or workers.value.number == 1:
        del by_sense["respawn"]
    del by_sense["keeps-connections"]  # every server does, unless it is told otherwise
    served = target(config)
    application = _application(config, served)
    off = (key for key, one in by_sense.items() if one.sense.kind == "switch" and not one.on)
    calls = [(written(one), CALLED) for one in config.all("interface")]
    return Service(
        PROGRAM,
        application,
        (_address(config),),
        by_sense,
        gone,
        unknown,
        extra=(
            *((written(one), NO_HTTP2) for one in config.all("http2")),
            *no_module(served, application),
        ),
        needless=tuple(calls),
        interface=interface_of(config),
        facts=frozenset(f"{key} off" for key in off),
    )


def _is_on(setting: Setting) -> bool:
    """Return whether a switch is on; that of WebSockets names what serves them."""
    return setting.value.lower() not in OFF and (setting.option, setting.value) != ("ws", "none")


def _with_clients(by_sense: dict[str, SenseSetting], config: Config) -> dict[str, SenseSetting]:
    """Return the same with what is asked of clients' certificates."""
    asks = config.last("ssl-cert-reqs")
    if asks is None or "client-ca" not in by_sense or asks.value not in {"1", "2"}:
        return {key: one for key, one in by_sense.items() if key != "client-ca"}
    sense = senses()["client-required"]
    return by_sense | {sense.key: SenseSetting(sense, (), asks.value == "2", written(asks))}


def _application(config: Config, served: Setting | None) -> Application | None:
    if served is None:
        return None
    module, _, called = served.value.partition(":")
    factory = "()" if config.first("factory") is not None else ""
    return application_of(module, called + factory, served.value)


def _address(config: Config) -> Address:
    uds, host, port, fd = map(config.last, ("uds", "host", "port", "fd"))
    certificate, key = config.last("ssl-certfile"), config.last("ssl-keyfile")
    files = [values.of_shell(one).text or "" for one in (certificate, key or certificate) if one]
    tls = (files[0], files[1]) if len(files) > 1 else None
    nothing = Expression.of("")
    if fd is not None:
        return lost_address("http", written(fd), OPEN)
    if uds is not None:
        return Address("http", nothing, nothing, values.of_shell(uds), written(uds), tls)
    return of_host_and_port(host, port, tls, PROGRAM)


def special(made: Translation, sense_setting: SenseSetting, column: Spelling) -> bool:
    """Write what is more than a word in its command."""
    if WRITER.write_environment(made, sense_setting):
        return True
    key = sense_setting.sense.key
    if key in _DEFAULTS and sense_setting.on:
        if not sense_setting.implied:
            made.same.append(Note(sense_setting.was, IS_DEFAULT))
    elif key in _DEFAULTS:
        made.write(sense_setting, column.opposite[0])
    elif key in _OFF and not sense_setting.on:
        option, value = _OFF[key]
        made.write(sense_setting, option, Expression.of(value))
    elif write := _SPECIAL.get(key):
        return write(made, sense_setting, column)
    else:
        return False
    return True


_DEFAULTS = frozenset({"proxy-headers", "server-header", "date-header"})
"""Keys of meanings that are on where nothing is written."""

_OFF = {
    "keeps-connections": ("timeout-keep-alive", "0"),
    "websockets": ("ws", "none"),
    "ws-deflate": ("ws-per-message-deflate", "false"),
}
"""Key of a meaning -> the option that switches it off, and its value."""


def _chdir(made: Translation, sense_setting: SenseSetting, column: Spelling) -> bool:
    made.lines.append(OptionLine("app-dir", sense_setting.value, sense_setting.was))
    made.changed.append(Note(sense_setting.was, f"--app-dir, for imports: {column.lost}"))
    return True


def _respawn(made: Translation, sense_setting: SenseSetting, _column: Spelling) -> bool:
    if not sense_setting.on or not made.service.is_alone:
        return False
    made.drop(sense_setting, NO_PARENT)
    return True


def _client_required(made: Translation, sense_setting: SenseSetting, _column: Spelling) -> bool:
    made.write(sense_setting, "ssl-cert-reqs", Expression.of("2" if sense_setting.on else "1"))
    return True


def _requests_limit(made: Translation, sense_setting: SenseSetting, column: Spelling) -> bool:
    """Write it, with what one worker alone does."""
    may_be_alone = made.service.is_alone or "workers" in made.service.unclear
    value, says = adapted(sense_setting.value, column)
    made.write(sense_setting, column.names[0], value, says if may_be_alone else "")
    return True


def _http_versions(made: Translation, sense_setting: SenseSetting, _column: Spelling) -> bool:
    if sense_setting.value.text != "1":
        return False
    made.same.append(Note(sense_setting.was, IS_DEFAULT))
    return True


_SPECIAL = {
    "chdir": _chdir,
    "client-required": _client_required,
    "http-versions": _http_versions,
    "requests-limit": _requests_limit,
    "respawn": _respawn,
}
"""Key of a meaning -> function that writes it, and returns whether it did."""


WRITER = ScriptWriter(PROGRAM, lambda _: PROGRAM, ("UVICORN_", *TABLE.defaults))


def added(made: Translation) -> None:
    """Say where it listens, and write what other servers do by default."""
    write_one_address(made, ("--uds", "--host, --port"))
    if "access-log" not in made.service.senses:
        made.lines.append(OptionLine("no-access-log", None, "no access log"))


def _check_certain(config: Config) -> None:
    """
    Refuse a script whose command is one of several, and an application of WSGI.

    Raises:
        ProfileError: It is one.
    """
    script.check_certain(TABLE, config)
    setting = config.last("interface")
    if setting is not None and interface_of(config) == WSGI:
        problem = "has --interface wsgi, which uvicorn deprecates: lab translates its ASGI alone"
        raise ProfileError(config.file, problem, setting.spot.line)


TRANSLATOR = Translator(
    PROGRAM,
    service_of,
    WRITER.files,
    added,
    special,
    WRITER.words,
    _check_certain,
    partial(script.beside_command, TABLE),
    listens_on_first,
)
