"""uWSGI's inis in senses, and back."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath

from lab.config.configuration import Config
from lab.config.spot import Setting
from lab.config.uwsgi import APPLICATION, OFF
from lab.config.uwsgi.logic import OF_VARIABLE
from lab.config.uwsgi.mounts import FILES, mounted, served, unserved
from lab.config.uwsgi.reader import UNKNOWABLE, check_section
from lab.config.uwsgi.table import atoi
from lab.config.vocabulary import values
from lab.config.vocabulary.addresses import (
    ABSTRACT,
    below,
    host_and_port,
    lost_address,
    lost_by_uwsgi,
)
from lab.config.vocabulary.quoting import ini_comment, ini_lines
from lab.config.vocabulary.senses import Spelling, senses
from lab.config.vocabulary.service import (
    Address,
    SenseSetting,
    Service,
    collected,
    keys_of,
    no_module,
    one_line,
    sorted_out,
    split_address,
    with_defaults,
    written,
)
from lab.config.vocabulary.translation import Files, Note, OptionLine, Translation, Translator
from lab.config.vocabulary.values import Cpus, Expression, Variable

PROGRAM = "uwsgi"
PROTOCOLS = {
    "uwsgi": "uwsgi",
    "http": "http",
    "http11": "http",
    "router": "http",
    "fastcgi": "fastcgi",
    "scgi": "scgi",
}
"""Kind of a socket -> what is spoken there, whoever speaks it."""

ROOM = 32_768
"""Bytes for all headers of a request, where as many were served as had 8,190 each, or more."""

ROUTER_TIME = "60"
"""Seconds that the router waits without http-timeout (plugins/http/http.c)."""

APART = 60
"""Parts of a worker's age by which the next one's differs, as UW303 of the linter advises."""

HOST = "%k counts the CPUs of the host and ignores the limit of a container"
GRACEFUL = "unix_signal:15 gracefully_kill_them_all"

EMBEDDED = re.compile(r"python\d*|http|corerouter|logfile")
"""Plugins whose work the other servers do themselves."""

PLUGINS = frozenset({"plugin", "plugins", "need-plugin", "need-plugins"})

NO_PLUGIN = "not needed: the server does this without a plugin"
IS_DEFAULT = "not needed: this is the default"
NO_ROUTER = "left out: it has no effect without the router of `http`"
SPOKEN = "the protocol of the addresses of `socket`"
ZERO = "left out: 0 switches it off"
NO_MOUNT = "left out: it has no effect without a mount below a path"

MAGIC = re.compile(rf"(?<!%)(?:%%)*%[{UNKNOWABLE}]")
ELSEWHERE = "a variable in the value differs at each start or on each machine: write the value"

FOLDERS = frozenset(
    name for key in ("chdir", "pythonpath") for name in senses()[key].columns[PROGRAM].names
)
"""Options whose value is a folder, as %d.. makes one."""

LOGIC = re.compile(r"(if|for)(-.*)?|end(if|for)|else")
HELD = frozenset({"ini", "include", "set", "set-placeholder", "set-ph", "inherit", *APPLICATION})


def service_of(config: Config) -> Service:
    """Return what a configuration asks for."""
    table, plain = config.table, _plain(config)
    unclear = [setting for setting in plain if MAGIC.search(setting.raw)]
    plain = [setting for setting in plain if not MAGIC.search(setting.raw)]
    meanings, rest = collected(
        PROGRAM,
        [one for one in plain if not _is_graceful(one) and not _is_other_log(one)],
        table.canonical,
        lambda each: _value(each, config),
        lambda each: each.value.lower() not in OFF,
    )
    rest += filter(_is_other_log, plain)
    rest = [
        setting for setting in rest if setting.option not in {"protocol", *_placeholders(config)}
    ]
    idle = tuple(written(setting) for setting in rest if setting.option not in table.entries)
    rest = [setting for setting in rest if setting.option in table.entries]
    needless = {id(setting): why for setting in rest if (why := _needless(setting, config))}
    gone, unknown = sorted_out(
        PROGRAM, [setting for setting in rest if id(setting) not in needless]
    )
    addresses = tuple(_addresses(config))
    meanings |= _tls(addresses) | _files(meanings) | _beside(config, meanings)
    meanings = _finishing(meanings, plain)
    application = served(config)
    meanings, others = mounted(meanings, config, application)
    meanings, without_effect = _without_effect(meanings, config)
    kept = _adjusted(meanings, config)
    without_effect += [(meanings[key].was, ZERO) for key in meanings if key not in kept]
    return Service(
        PROGRAM,
        application,
        addresses,
        with_defaults(PROGRAM, kept, "uWSGI"),
        gone,
        unknown,
        idle,
        tuple(_open(config)),
        (
            *(
                (written(setting), needless[id(setting)])
                for setting in rest
                if id(setting) in needless
            ),
            *without_effect,
            *((written(setting), SPOKEN) for setting in config.all("protocol")),
        ),
        (
            *no_module(config.last("module", "wsgi") or config.last(*FILES), application),
            *_unread(config),
            *others,
            *((written(setting), ELSEWHERE) for setting in unclear),
        ),
        unclear=keys_of(PROGRAM, (table.canonical(setting.option) for setting in unclear)),
        facts=frozenset(kind for kind in ("router", "http11") if config.sockets(kind)),
    )


def _needless(setting: Setting, config: Config) -> str:
    """Return why no other server needs an option; empty: it may need one."""
    if setting.option in PLUGINS and all(
        map(EMBEDDED.fullmatch, setting.value.replace(",", " ").split())
    ):
        return NO_PLUGIN
    is_switch = config.table.entries[setting.option].argument == "no"
    return IS_DEFAULT if is_switch and setting.value.lower() in OFF else ""


def _without_effect(
    meanings: Mapping[str, SenseSetting], config: Config
) -> tuple[dict[str, SenseSetting], list[tuple[str, str]]]:
    """Return the meanings that have an effect, and those that have none, each with the reason."""
    why = {} if "prefix" in meanings else {"prefix-managed": NO_MOUNT}
    if config.sockets() and not config.sockets("router"):
        why |= dict.fromkeys(("router", "router-time", "gzip"), NO_ROUTER)
    if "access-log" in meanings and not meanings["access-log"].on:
        why |= {"access-file": "left out: it has no effect without an access log"}
    kept = {key: sense_setting for key, sense_setting in meanings.items() if key not in why}
    return kept, [(meanings[key].was, reason) for key, reason in why.items() if key in meanings]


def _files(meanings: Mapping[str, SenseSetting]) -> dict[str, SenseSetting]:
    """Return the log of a server in the background: the file that daemonize names."""
    daemon = meanings.get("background")
    if daemon is None or not daemon.on:
        return {}
    file, before = Expression.of(daemon.was.rpartition(" = ")[2]), meanings.get("log-file")
    was = f"{before.was}, {daemon.was}" if before else daemon.was  # which wins over logto
    return {"log-file": SenseSetting(senses()["log-file"], (file,), True, was)}


def _plain(config: Config) -> list[Setting]:
    """Return the options that are no address, no application and no logic."""
    table = config.table
    sockets = {id(socket) for socket in config.sockets()}
    return [
        setting
        for setting in config.settings
        if id(setting) not in sockets and table.canonical(setting.option) not in HELD
        if setting.option not in HELD and not LOGIC.fullmatch(setting.option)
        if setting.option in table.entries or setting.option not in config.named
    ]


def _placeholders(config: Config) -> set[str]:
    """Return the names that stand for a text, and are no options."""
    sets = config.all("set", "set-placeholder", "set-ph")
    return {setting.value.partition("=")[0].strip() for setting in sets}


def _is_graceful(setting: Setting) -> bool:
    """Return whether a hook lets the requests in flight finish at SIGTERM."""
    return setting.option == "hook-master-start" and setting.value == GRACEFUL


def _is_other_log(setting: Setting) -> bool:
    """Return whether a log of requests is no file of that name alone."""
    return setting.option == "req-logger" and not re.fullmatch("file:[^=,]+", setting.value)


def _finishing(
    meanings: Mapping[str, SenseSetting], settings: Sequence[Setting]
) -> dict[str, SenseSetting]:
    """Return the same with the hook that lets requests finish, in the place of die-on-term."""
    hook = next(filter(_is_graceful, settings), None)
    if hook is None:
        return dict(meanings)
    sense, stops = senses()["term-finishes"], meanings.get("term-stops")
    was = ", ".join([*([stops.was] if stops else []), written(hook)])
    kept = {key: setting for key, setting in meanings.items() if key != "term-stops"}
    return kept | {sense.key: SenseSetting(sense, (), True, was)}


def _value(setting: Setting, config: Config) -> Expression:
    value = values.of_ini(setting, config)
    if setting.option in FOLDERS and value.text is not None and ".." in value.text:
        return Expression.of(_folder(value.text))
    is_number = config.table.is_number(setting.option)
    return Expression.of(str(atoi(value.text))) if is_number and value.text is not None else value


def _folder(path: str) -> str:
    """Return a path without `..`, as far as it is then the same folder: a link may lead away."""
    plain = os.path.normpath(path)
    with suppress(OSError, ValueError):
        if Path(path).is_absolute() and Path(plain).samefile(path):
            return plain
    return path


def _adjusted(meanings: dict[str, SenseSetting], config: Config) -> dict[str, SenseSetting]:
    """Leave out what is no wish, as a limit of 0; http-keepalive = 1 is on, for http-timeout."""
    keep, router = meanings.get("keepalive"), config.last("http-timeout")
    if (file := meanings.get("access-file")) is not None:
        path = Expression.of((file.value.text or "").removeprefix("file:"))
        meanings = meanings | {"access-file": replace(file, values=(path,))}
    if keep is not None and keep.value.text == "1":
        idle = _value(router, config) if router else Expression.of(ROUTER_TIME)
        meanings = meanings | {"keepalive": replace(keep, values=(idle,))}
    off = {
        key
        for key, sense_setting in meanings.items()
        if sense_setting.values and sense_setting.sense.kind != "list"
    }
    return {
        key: sense_setting
        for key, sense_setting in meanings.items()
        if key not in off or sense_setting.value.text != "0"
    }


def _tls(addresses: Sequence[Address]) -> dict[str, SenseSetting]:
    """Return certificate and key, which stand in the address."""
    for address in addresses:
        if address.tls is not None:
            keys = ("certificate", "certificate-key", "ciphers", "client-ca")
            ciphers, ca = address.of_clients
            texts = (*address.tls, ciphers, ca.removeprefix("!"))
            required = SenseSetting(senses()["client-required"], (), ca[:1] == "!", address.was)
            return {
                key: SenseSetting(senses()[key], (Expression.of(text),), True, address.was)
                for key, text in zip(keys, texts, strict=True)
                if text
            } | ({"client-required": required} if ca[:1] == "!" else {})
    return {}


def _addresses(config: Config) -> Iterator[Address]:
    for kind, protocol in PROTOCOLS.items():
        for socket in config.sockets(kind):
            yield _address(socket, protocol, config)


def _address(setting: Setting, protocol: str, config: Config) -> Address:
    value = values.of_ini(setting, config)
    if why := lost_by_uwsgi(config.table.canonical(setting.option), value.text or str(value)):
        return lost_address(protocol, written(setting), why)
    if setting.option.startswith("https") and value.text is None:
        why = "the value has a variable beside the certificate and key: write the value"
        return lost_address(protocol, written(setting), why)
    first, *others = (value.text or "").split(",")
    tls = (others[0], others[1]) if setting.option.startswith("https") and len(others) > 1 else None
    ciphers, ca = [*others[2:], "", ""][:2] if tls else ("", "")
    of_clients = ciphers, ca
    if others:
        value = Expression.of(first)
    if (value.text is None or "/" in value.text or ":" not in value.text) and not _has_port(value):
        if any(flag.value.lower() not in OFF for flag in config.all("abstract-socket")):
            return lost_address(protocol, written(setting), ABSTRACT)
        folder = config.last("chdir")
        path = below(value, values.of_ini(folder, config) if folder else None)
        nothing = Expression.of("")
        return Address(protocol, nothing, nothing, path, written(setting), tls, of_clients)
    host, port = split_address(value)
    if host.text is not None:
        plain = host.text.removeprefix("[").removesuffix("]")
        host = Expression.of("" if plain == "*" else plain)
    if port.text is not None:  # what stands behind the number, such as a comment, does not count
        port = Expression.of(str(atoi(port.text)))
    return Address(protocol, host, port, None, written(setting), tls, of_clients)


def _has_port(value: Expression) -> bool:
    """Return whether a value with a variable is host:port."""
    return any(isinstance(part, str) and ":" in part for part in value.parts) and not any(
        isinstance(part, str) and "/" in part for part in value.parts
    )


def _beside(config: Config, said: Mapping[str, SenseSetting]) -> dict[str, SenseSetting]:
    """Return the folders of imports with that of a file which is served from elsewhere."""
    file, folder = config.last(*FILES), config.last("chdir")
    if file is None or config.last("module", "wsgi") or not file.value.startswith("/"):
        return {}
    path = PurePosixPath(file.value)
    if folder and path.is_relative_to(folder.value):
        return {}
    before = said.get("pythonpath")
    folders = (*(before.values if before else ()), Expression.of(str(path.parent)))
    was = f"{before.was}, {written(file)}" if before else written(file)
    return {"pythonpath": SenseSetting(senses()["pythonpath"], folders, True, was)}


def _unread(config: Config) -> Iterator[tuple[str, str]]:
    """Yield what is asked for and not read, or not translated, each with what to do."""
    if config.guesses and not config.guesses.startswith(OF_VARIABLE):  # which is a condition
        yield "the configuration is not read completely", config.guesses
    carried = {id(socket) for socket in config.sockets(*PROTOCOLS)}
    for setting in config.sockets():
        if id(setting) not in carried:
            yield written(setting), "no other server speaks this protocol: it is left out"
    yield from unserved(config)
    for file, setting in config.missing:
        yield written(setting), f"{file.name} does not exist: its options are not translated"
    for file, section, asks in config.absent:
        says = f"{file.name} has no such section: nothing of it is translated"
        yield written(asks) if asks else f"[{section}]", says


def _open(config: Config) -> Iterator[str]:
    """Yield what was assumed of the machine that serves; an ini decides if-opt by itself."""
    conditions = [setting for setting in config.settings if setting.option.startswith("if-")]
    asks_variable = [
        setting for setting in conditions if setting.option in {"if-env", "if-not-env"}
    ]
    names = dict.fromkeys(
        one_line(setting.value.partition("=")[0].strip()) for setting in asks_variable
    )
    if unset := [name for name in names if name not in config.known.environ]:
        if len(unset) == 1:
            assumed, value = f"the variable {unset[0]} is not set", unset[0]
        else:
            assumed, value = f"the variables {', '.join(unset)} are not set", "NAME"
        yield f"the translation assumes that {assumed}: give --env {value}=VALUE"
    others = [
        written(setting)
        for setting in conditions
        if setting not in asks_variable and setting.option not in {"if-opt", "if-not-opt"}
    ]
    if others:
        yield f"{', '.join(others)}: decided on this machine: compare it with the one that serves"


def special(made: Translation, sense_setting: SenseSetting, column: Spelling) -> bool:
    """Write what is more than a line in an ini."""
    if write := _SPECIAL.get(sense_setting.sense.key):
        write(made, sense_setting)
        return True
    cpus = [
        part for value in sense_setting.values for part in value.parts if isinstance(part, Cpus)
    ]
    if cpus and column.names:
        both = any(cpus.plus and cpus.times != 1 for cpus in cpus)
        left = f", and an ini cannot multiply and add: + {cpus[0].plus} is left out" * both
        value = Expression(tuple(map(_without_sum, sense_setting.value.parts)))
        made.write(sense_setting, column.names[0], value, f"{HOST}{left}")
        return True
    return False


def _without_sum(part: str | Variable | Cpus) -> str | Variable | Cpus:
    """Return a number of CPUs as an ini computes it, which cannot multiply and add."""
    return replace(part, plus=0) if isinstance(part, Cpus) and part.times != 1 else part


def _closes(made: Translation, sense_setting: SenseSetting) -> None:
    made.drop(sense_setting, "http-socket closes each connection after its reply")


def _stop(made: Translation, sense_setting: SenseSetting) -> None:
    says = "SIGTERM lets requests in flight finish; die-on-term would drop them"
    made.write(sense_setting, "hook-master-start", Expression.of(GRACEFUL), says)


def _header_bytes(made: Translation, sense_setting: SenseSetting) -> None:
    """Write room for all headers: a bound of each of them would be less for all together."""
    column = sense_setting.sense.columns[PROGRAM]
    made.write(
        sense_setting, column.names[0], sense_setting.value.within(ROOM, column.most), column.says
    )


def _greenlets(made: Translation, sense_setting: SenseSetting) -> None:
    made.write(
        sense_setting,
        "gevent",
        sense_setting.value,
        "this needs a uWSGI that was built with gevent",
    )
    # gunicorn patches before a worker imports the application, and after a preload of it.
    patch = "gevent-monkey-patch" if made.service.is_on("preload") else "gevent-early-monkey-patch"
    made.write(SenseSetting(sense_setting.sense, (), True, sense_setting.was), patch)


def _reload(made: Translation, sense_setting: SenseSetting) -> None:
    """Write the number of seconds between two looks: of a yes it would be 0."""
    if sense_setting.on:
        says = "a thread of each worker checks all files of all modules"
        made.write(sense_setting, "py-autoreload", Expression.of("1"), says)


def _prefix(made: Translation, sense_setting: SenseSetting) -> None:
    """Write the path with the application that is below it, which stands in no other line."""
    application = made.service.application
    if application is None:
        made.drop(sense_setting, "mount = /PATH=MODULE:CALLABLE")
        return
    if "=" in str(sense_setting.value):
        made.drop(sense_setting, "mount ends a path at its =: use a path without =")
        return
    below = Expression((*sense_setting.value.parts, f"={application}"))
    made.write(sense_setting, "mount", below, sense_setting.sense.columns[PROGRAM].says)


def _quiet(made: Translation, sense_setting: SenseSetting) -> None:
    """Write the three options without which one kind of lines or another is logged."""
    for option in sense_setting.sense.columns[PROGRAM].names:
        made.write(sense_setting, option)


def _nothing(_made: Translation, _said: SenseSetting) -> None:
    """Write nothing: it stands in another line, or costs more than it saves."""


def _in_address(made: Translation, sense_setting: SenseSetting) -> None:
    """Write nothing: it stands in the address."""
    if any(address.tls for address in made.service.addresses):
        says = "https-socket = ADDRESS,CERTIFICATE,KEY,CIPHERS,CA"
        made.same.append(Note(sense_setting.was, f"a part of {says}"))
    else:
        made.drop(sense_setting, "no address with TLS is written")


def _client_required(made: Translation, sense_setting: SenseSetting) -> None:
    if "client-ca" in made.service.senses:
        made.same.append(Note(sense_setting.was, "https-socket, with ! before the CA"))
    else:
        made.drop(sense_setting, "the CA is not known: write !CA at the end of https-socket")


def _access_file(made: Translation, sense_setting: SenseSetting) -> None:
    file = Expression(("file:", *sense_setting.value.parts))
    made.write(sense_setting, "req-logger", file)


def _background(made: Translation, sense_setting: SenseSetting) -> None:
    if sense_setting.on:
        file = made.service.senses.get("log-file")
        made.write(sense_setting, "daemonize", file.value if file else Expression.of("/dev/null"))
    else:
        made.same.append(Note(sense_setting.was, IS_DEFAULT))


def _sendfile(made: Translation, sense_setting: SenseSetting) -> None:
    says = "uWSGI always hands the files of wsgi.file_wrapper to the kernel"
    (made.same if sense_setting.on else made.changed).append(Note(sense_setting.was, says))


def _http_versions(made: Translation, sense_setting: SenseSetting) -> None:
    if sense_setting.value.text == "1":
        made.same.append(Note(sense_setting.was, "not needed: uWSGI speaks HTTP/1 only"))
    else:
        made.drop(sense_setting, sense_setting.sense.columns[PROGRAM].lost)


_SPECIAL = {
    "access-file": _access_file,
    "background": _background,
    "certificate": _in_address,
    "certificate-key": _in_address,
    "ciphers": _in_address,
    "client-ca": _in_address,
    "client-required": _client_required,
    "http-versions": _http_versions,
    "greenlets": _greenlets,
    "header-bytes": _header_bytes,
    "keepalive": _closes,
    "prefix": _prefix,
    "quiet-clients": _quiet,
    "reload": _reload,
    "sendfile": _sendfile,
    "term-finishes": _stop,
    "term-stops": _nothing,
    "turns": _nothing,
}
"""Key of a sense -> what writes it."""


def added(made: Translation) -> None:
    """Write what is the default of others: room for headers, and a word before it closes."""
    values = [part for address in made.service.addresses for part in address.parts]
    values += [line.value for line in made.lines if line.value is not None]
    parts = [part for value in values for part in value.parts]
    for name in sorted({part.name for part in parts if isinstance(part, Variable)}):
        says = "uWSGI runs the content of @( ) in its value: make sure that nobody else can set it"
        made.hidden.append(Note(f"the variable {name}", says))
    empty = {part.name for part in parts if isinstance(part, Variable) and part.empty}
    says = (
        "the default also applied to an empty value, and here the value stays empty: unset the "
        "variable"
    )
    made.lost += [Note(f"the variable {name}", says) for name in sorted(empty)]
    if not made.service.is_on("respawn"):
        says = (
            "without a master no worker is replaced, and neither harakiri nor a graceful stop works"
        )
        made.lines.append(OptionLine("master", None, "workers that died were not replaced", says))
        made.changed.append(Note("a worker that died ended the server", f"master = true: {says}"))
    age = made.service.number("age-limit")
    if age and "age-jitter" not in made.service.senses:
        says = (
            "without it all workers would be replaced at once, and no request would be answered "
            "meanwhile"
        )
        apart = Expression.of(str(max(1, age // APART)))
        line = OptionLine(
            "max-worker-lifetime-delta", apart, "workers were replaced one after the other", says
        )
        made.lines.append(line)
    if "header-bytes" not in made.service.senses:
        says = (
            "the default, 4,096 for all headers together, would close requests that were served "
            "before"
        )
        room = OptionLine(
            "buffer-size", Expression.of(str(ROOM)), "size of a request's headers", says
        )
        made.lines.append(room)
    for address in made.service.addresses:
        if not address.elsewhere:
            made.same.append(Note(address.was, _listen(address, made.service)[-1]))
    if any(address.protocol == "http" for address in made.service.addresses):
        says = "without this header a client would use the connection again"
        close = Expression.of("Connection: close")
        was = "http-socket closes each connection after its reply"
        made.lines.append(OptionLine("add-header", close, was, says))


def files(made: Translation, name: str) -> Files:
    """Return the ini and the command that starts uWSGI with it."""
    app = "" if made.service.application else " --module MODULE:CALLABLE"
    where = "" if made.service.addresses else " --http-socket HOST:PORT"
    return Files(text_of(made), f"uwsgi {name}{where}{app}")


def text_of(made: Translation) -> str:
    """Return the ini."""
    service = made.service
    lines = ["[uwsgi]"]
    for address in service.addresses:
        lines += ["", ini_comment(address.was), *_listen(address, service)]
    app = service.application
    if app is not None and "mount" not in {line.option for line in made.lines}:
        lines += ["", ini_comment(app.was), *ini_lines("module", Expression.of(app.module))]
        lines += ini_lines("callable", Expression.of(app.callable))
    for line in made.lines:
        says = [ini_comment(line.says)] if line.says else []
        value = Expression.of("true") if line.value is None else line.value
        lines += ["", ini_comment(line.was), *says, *ini_lines(line.option, value)]
    return "\n".join(lines) + "\n"


def _listen(address: Address, service: Service) -> list[str]:
    option = "socket" if address.protocol == "uwsgi" else "http-socket"
    if address.path is not None:
        return ini_lines(option, address.path)
    where = host_and_port(address).parts
    if address.tls is not None:
        files = "".join(f",{text}" for text in (*address.tls, *_of_clients(service)))
        return ini_lines("https-socket", Expression((*where, files)))
    return ini_lines(option, Expression(where))


def _of_clients(service: Service) -> tuple[str, ...]:
    """Return the ciphers of https-socket and the CA of its clients, as far as they are set."""
    ciphers, ca = (service.senses.get(key) for key in ("ciphers", "client-ca"))
    texts = (ciphers.value.text or "" if ciphers else "DEFAULT",)
    if ca is None:
        return texts if ciphers else ()
    return (*texts, "!" * service.is_on("client-required") + (ca.value.text or ""))


def _listens(addresses: tuple[Address, ...]) -> tuple[Address, ...]:
    """Return the addresses, each with the protocol that it speaks in an ini."""
    return tuple(
        address if address.protocol == "uwsgi" else replace(address, protocol="http")
        for address in addresses
    )


TRANSLATOR = Translator(
    PROGRAM, service_of, files, added, special, check_certain=check_section, listens=_listens
)
