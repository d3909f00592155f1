"""hypercorn's settings in senses, and its command."""

from __future__ import annotations

from collections.abc import Iterator

from lab.config import script
from lab.config.configuration import Config
from lab.config.hypercorn.command import CONFIG, PROGRAM, TABLE, interface_of, is_file, target
from lab.config.hypercorn.file import PYTHON, TOML
from lab.config.interface import WSGI
from lab.config.script_writer import CommandWords, ScriptWriter
from lab.config.spot import Setting
from lab.config.vocabulary import values
from lab.config.vocabulary.addresses import as_http, host_and_port, of_bind
from lab.config.vocabulary.quoting import as_shell
from lab.config.vocabulary.senses import Spelling, senses
from lab.config.vocabulary.service import (
    IS_DEFAULT,
    Address,
    Application,
    SenseSetting,
    Service,
    application_of,
    collected,
    keys_of,
    no_module,
    one_line,
    sorted_out,
    with_defaults,
    written,
)
from lab.config.vocabulary.translation import Note, Translation, Translator, adapted
from lab.config.vocabulary.values import Expression
from lab.config.words import OFF
from lab.errors import ProfileError

DEFAULT = "127.0.0.1:8000"

COMPUTED = "the value is computed, and lab does not run it: write the value"

NO_MASK = "lab does not know this mask: set the permissions of the socket's folder"

NO_QUIC = "HTTP/3, which no other of these servers speaks: let the proxy speak it to clients"

OWNER = "it owns the UNIX socket only; hypercorn's processes run as the user that starts them"

IN_COMMAND = "not needed: the command names the application, which then counts"

NO_NAME = "hypercorn does not know this name and ignores it"

IN_FILE = (
    "the command line has no option for it: write {} = {} in a TOML file, and name the file by "
    "--config"
)

HELD = frozenset(
    {"bind", "insecure_bind", "quic_bind", "application_path", "accesslog", "errorlog"}
)
HELD |= {"umask", "user", "group", "cert_reqs", "verify_mode", "include_server_header"}
"""Settings that are read by themselves."""

REQUIRED = {"CERT_NONE": "0", "CERT_OPTIONAL": "1", "CERT_REQUIRED": "2"}
"""Modes of the module ssl -> their numbers."""


def service_of(config: Config) -> Service:
    """Return what a command or a file asks for."""
    known = [one for one in config.settings if one.option in TABLE.options and one.option != CONFIG]
    others = [one for one in config.settings if one.option not in TABLE.options]
    computed = [one for one in known if _value(one) is None]
    plain = [one for one in known if one not in computed]
    settings = [one for one in plain if one.option not in HELD]
    by_sense, rest = collected(PROGRAM, settings, str, _known_value, _is_on)
    last = {one.option: one for one in plain}
    by_sense |= _logs(last) | _mode(last)
    tls = _tls(last)
    idle: list[str] = []
    if tls is None:
        dropped = [key for key in by_sense if key.startswith(("certificate", "client-"))]
        idle += [by_sense.pop(key).was for key in (*dropped, *({"ciphers"} & by_sense.keys()))]
    asks = last.get("verify_mode") or last.get("cert_reqs")
    number = REQUIRED.get(asks.value, asks.value) if asks else "0"
    if asks and number in {"1", "2"} and "client-ca" in by_sense:
        sense = senses()["client-required"]
        by_sense[sense.key] = SenseSetting(sense, (), number == "2", written(asks))
    elif asks:
        idle.append(written(asks))
    idle += [written(one) for one in plain if one.option == "insecure_bind" and tls is None]
    in_file = [one for one in plain if one.option == "application_path"]
    header = last.get("include_server_header")
    if header is not None and not _is_on(header):
        sense = senses()["server-header"]
        by_sense[sense.key] = SenseSetting(sense, (), False, written(header))
    rest += (one for one in others if not is_file(one.spot.file))
    gone, unknown = sorted_out(PROGRAM, rest)
    served = target(config)
    application = _application(served)
    by_sense = with_defaults(PROGRAM, by_sense, "hypercorn")
    del by_sense["keeps-connections"]  # every server does, unless it is told otherwise
    off = (key for key, one in by_sense.items() if one.sense.kind == "switch" and not one.on)
    unclear = {one.option for one in computed}
    return Service(
        PROGRAM,
        application,
        () if "bind" in unclear else tuple(_addresses(plain, tls)),
        by_sense,
        gone,
        unknown,
        tuple(idle),
        extra=(
            *((written(one), COMPUTED) for one in computed),
            *((written(one), NO_QUIC) for one in plain if one.option == "quic_bind"),
            *((written(last[name]), OWNER) for name in ("user", "group") if name in last),
            *((written(one), NO_MASK) for one in _other_masks(last)),
            *no_module(served, application),
        ),
        needless=(
            *((written(one), NO_NAME) for one in others if one.spot.file.suffix == TOML),
            *((written(one), IS_DEFAULT) for one in _defaults(last)),
            *((written(one), IN_COMMAND) for one in in_file),
        ),
        unclear=keys_of(PROGRAM, unclear),
        interface=interface_of(config),
        facts=frozenset(f"{key} off" for key in off),
    )


def _value(setting: Setting) -> Expression | None:
    """Return the value of a setting; None where only running the file would tell."""
    if setting.spot.file.suffix == TOML or (setting.spot.file.suffix == PYTHON and setting.value):
        return Expression.of(setting.value)
    if setting.spot.file.suffix == PYTHON:
        return values.of_python(setting.raw)
    return values.of_shell(setting)


def _known_value(setting: Setting) -> Expression:
    value = _value(setting)
    assert value is not None
    return value


def _is_on(setting: Setting) -> bool:
    return setting.value.lower() not in OFF


def _logs(last: dict[str, Setting]) -> dict[str, SenseSetting]:
    """Return what is logged where; - is the standard output, no file."""
    made = {}
    if access := last.get("accesslog"):
        is_file = access.value != "-"
        made["access-log"] = SenseSetting(
            senses()["access-log"], (), True, written(access), implied=is_file
        )
        if is_file:
            file = senses()["access-file"]
            made[file.key] = SenseSetting(file, (_known_value(access),), True, written(access))
    if (errors := last.get("errorlog")) and errors.value != "-":
        file = senses()["log-file"]
        made[file.key] = SenseSetting(file, (_known_value(errors),), True, written(errors))
    return made


def _defaults(last: dict[str, Setting]) -> Iterator[Setting]:
    """Yield the settings that say what holds without them."""
    for name, value in {"errorlog": "-", "include_server_header": "true"}.items():
        if name in last and last[name].value == value:
            yield last[name]


def _mode(last: dict[str, Setting]) -> dict[str, SenseSetting]:
    """Return the mode of the socket that a mask leaves."""
    mask = last.get("umask")
    if mask is None or not mask.value.isdecimal():
        return {}
    mode = Expression.of(f"{0o777 & ~int(mask.value):o}")
    sense = senses()["socket-mode"]
    return {sense.key: SenseSetting(sense, (mode,), True, written(mask))}


def _other_masks(last: dict[str, Setting]) -> Iterator[Setting]:
    """Yield a mask that is no number in decimal."""
    mask = last.get("umask")
    if mask is not None and not mask.value.isdecimal():
        yield mask


def _tls(last: dict[str, Setting]) -> tuple[str, str] | None:
    """Return certificate and key; None: plain HTTP."""
    if not {"certfile", "keyfile"} <= last.keys():
        return None
    return _known_value(last["certfile"]).text or "", _known_value(last["keyfile"]).text or ""


def _addresses(settings: list[Setting], tls: tuple[str, str] | None) -> Iterator[Address]:
    """Yield where it listens; the other addresses than those of `bind` count with TLS only."""
    binds = [one for one in settings if one.option == "bind"]
    for one in binds:
        value = _known_value(one)
        was = one_line(f"bind: {value}") if binds[1:] else written(one)
        yield of_bind(value, "http", was, tls)
    if not binds:
        yield of_bind(Expression.of(DEFAULT), "http", f"{PROGRAM}'s default", tls)
    for one in settings if tls else ():
        if one.option == "insecure_bind":
            yield of_bind(_known_value(one), "http", written(one), None)


def _application(served: Setting | None) -> Application | None:
    """Return what is served; a name without an attribute has one that is called app."""
    if served is None:
        return None
    text = served.value.removeprefix("asgi:") if served.value.count(":") > 1 else served.value
    module, colon, called = text.partition(":")
    return application_of(module, called if colon else "app", served.value)


def special(made: Translation, sense_setting: SenseSetting, column: Spelling) -> bool:
    """Write what is more than a word in its command."""
    if WRITER.write_environment(made, sense_setting):
        return True
    key = sense_setting.sense.key
    if write := _SPECIAL.get(key):
        return write(made, sense_setting, column)
    option = _FILE_ONLY.get(key)
    if option is None:
        return False
    value = sense_setting.value if sense_setting.values else str(sense_setting.on).lower()
    if sense_setting.sense.kind == "switch" and sense_setting.on:
        if not sense_setting.implied:
            made.same.append(Note(sense_setting.was, IS_DEFAULT))
    elif not sense_setting.implied or str(value) != column.implied:
        made.drop(sense_setting, IN_FILE.format(option, value))
    return True


_FILE_ONLY = {
    "date-header": "include_date_header",
    "header-bytes": "h11_max_incomplete_size",
    "http2-frame": "h2_max_inbound_frame_size",
    "http2-headers": "h2_max_header_list_size",
    "http2-streams": "h2_max_concurrent_streams",
    "requests-jitter": "max_requests_jitter",
    "server-header": "include_server_header",
    "ws-bytes": "websocket_max_message_size",
}
"""Key of a meaning -> the name that only a file has, or that the command reads wrongly."""


def _access_log(made: Translation, sense_setting: SenseSetting, _column: Spelling) -> bool:
    if "access-file" in made.service.senses:
        return True  # its file is the option that switches it on
    if sense_setting.on:
        made.write(sense_setting, "accesslog", Expression.of("-"))
    elif not sense_setting.implied:
        made.same.append(Note(sense_setting.was, IS_DEFAULT))
    return True


def _file(made: Translation, sense_setting: SenseSetting, _column: Spelling) -> bool:
    option = "accesslog" if sense_setting.sense.key == "access-file" else "errorlog"
    made.write(sense_setting, option, sense_setting.value)
    return True


def _socket_mode(made: Translation, sense_setting: SenseSetting, _column: Spelling) -> bool:
    text = sense_setting.value.text or ""
    try:
        mask = 0o777 & ~int(text, 8)
    except ValueError:
        return False
    made.write(sense_setting, "umask", Expression.of(str(mask)))
    return True


def _event_loop(made: Translation, sense_setting: SenseSetting, _column: Spelling) -> bool:
    loop = sense_setting.value.text
    if loop == "uvloop":
        made.write(sense_setting, "worker_class", sense_setting.value)
    elif loop in {"asyncio", "none"}:
        made.same.append(Note(sense_setting.was, IS_DEFAULT))
    elif loop == "auto":
        says = "left out: hypercorn takes asyncio, also where uvloop is installed"
        made.changed.append(Note(sense_setting.was, f"{says}; --worker-class uvloop takes it"))
    else:
        return False
    return True


def _client_required(made: Translation, sense_setting: SenseSetting, _column: Spelling) -> bool:
    mode = "CERT_REQUIRED" if sense_setting.on else "CERT_OPTIONAL"
    made.write(sense_setting, "verify_mode", Expression.of(mode))
    return True


def _log_level(made: Translation, sense_setting: SenseSetting, _column: Spelling) -> bool:
    if (sense_setting.value.text or "").lower() != "trace":
        return False
    made.write(sense_setting, "loglevel", Expression.of("debug"))
    return True


def _stop_time(made: Translation, sense_setting: SenseSetting, column: Spelling) -> bool:
    """Write it, with what several workers do."""
    value, says = adapted(sense_setting.value, column)
    made.write(sense_setting, column.names[0], value, "" if made.service.is_alone else says)
    return True


def _ping(made: Translation, sense_setting: SenseSetting, _column: Spelling) -> bool:
    seconds = sense_setting.value.text or ""
    if seconds and not seconds.isdecimal():
        made.drop(sense_setting, IN_FILE.format("websocket_ping_interval", seconds))
        return True
    return False


_SPECIAL = {
    "access-file": _file,
    "access-log": _access_log,
    "client-required": _client_required,
    "event-loop": _event_loop,
    "log-file": _file,
    "log-level": _log_level,
    "socket-mode": _socket_mode,
    "stop-time": _stop_time,
    "ws-ping": _ping,
}
"""Key of a meaning -> function that writes it, and returns whether it did."""


def _listening(service: Service) -> CommandWords:
    """Yield the words for the addresses."""
    for address in service.addresses:
        if address.path is not None:
            yield f"--bind {as_shell(Expression(('unix:', *address.path.parts)))}", address.was
        elif address.host.text == "":
            yield f"--bind {as_shell(Expression(('0.0.0.0:', *address.port.parts)))}", address.was
        else:
            yield f"--bind {as_shell(host_and_port(address))}", address.was


def _target(application: Application) -> CommandWords:
    """Yield the word for the application; a call in it makes it."""
    yield as_shell(Expression.of(str(application))), application.was


def _word(option: str) -> str:
    """Return the word of the command, without dashes."""
    return next(iter(TABLE.spelt(option, "1")), option).removeprefix("--")


WRITER = ScriptWriter(PROGRAM, lambda _: PROGRAM, ("HYPERCORN_",), _word, _listening, _target)


def added(made: Translation) -> None:
    """Say where it listens."""
    for address in made.service.addresses:
        if address.protocol == "http" and not address.elsewhere:
            made.same.append(Note(address.was, "--bind"))
        elif address.protocol != "http":
            says = "hypercorn speaks HTTP only, so nginx needs proxy_pass instead of uwsgi_pass"
            made.changed.append(Note(address.was, says))


def _check_certain(config: Config) -> None:
    """
    Refuse a script whose command is one of several, and an application of WSGI.

    Raises:
        ProfileError: It is one.
    """
    if is_file(config.file):
        return
    script.check_certain(TABLE, config)
    served = target(config)
    if served is not None and interface_of(config) == WSGI:
        problem = "serves an application of WSGI: lab translates hypercorn's ASGI alone"
        raise ProfileError(config.file, problem, served.spot.line)


def _around(config: Config) -> list[Note]:
    return [] if is_file(config.file) else script.beside_command(TABLE, config)


TRANSLATOR = Translator(
    PROGRAM,
    service_of,
    WRITER.files,
    added,
    special,
    WRITER.words,
    _check_certain,
    _around,
    as_http,
)
