"""An ini of uWSGI, read as meanings of the vocabulary."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath

from lab.config.configuration import Config
from lab.config.spot import Setting
from lab.config.uwsgi import APPLICATION, OFF, asks_to_close
from lab.config.uwsgi.logic import OF_VARIABLE
from lab.config.uwsgi.mounts import FILES, mounted, served, unserved
from lab.config.uwsgi.reader import UNKNOWABLE
from lab.config.uwsgi.roles import NOT_WORKERS
from lab.config.uwsgi.table import atoi
from lab.config.vocabulary import values
from lab.config.vocabulary.addresses import ABSTRACT, below, lost_address, lost_by_uwsgi
from lab.config.vocabulary.senses import Gone, senses
from lab.config.vocabulary.service import (
    IS_DEFAULT,
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
from lab.config.vocabulary.values import Expression

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

HOST = "this counts the CPUs of the host and ignores the limit of a container"
GRACEFUL = "unix_signal:15 gracefully_kill_them_all"

EMBEDDED = re.compile(r"(?:\S*/)?(?:python\d*|http|corerouter|logfile)(?:_plugin\.so)?")
"""Plugins whose work the other servers do themselves."""

ENDS = re.compile(
    r"hook-.* = unix_signal:(1|2|15) gracefully_kill(_them_all)?|hook-asap = unix_signal:\d+ end_me"
)
"""Hooks by which a signal ends uWSGI, or one of its workers, when its requests have finished."""

PLUGINS = frozenset({"plugin", "plugins", "need-plugin", "need-plugins"})

SIGNALS = "not needed: the server sets the handlers of its signals"
NO_PLUGIN = "not needed: the server does this without a plugin"
NO_ROUTER = "left out: it has no effect without the router of `http`"
SPOKEN = "the protocol of the addresses of `socket`"
ZERO = "left out: 0 switches it off"
NO_MOUNT = "left out: it has no effect without a mount below a path"

MAGIC = re.compile(rf"(?<!%)(?:%%)*%[{UNKNOWABLE}]")
ELSEWHERE = "a variable in the value differs at each start or on each machine: write the value"
UNKNOWN_FOLDER = "chdir differs at each start or on each machine: write an absolute path"

FOLDERS = frozenset(
    name for key in ("chdir", "pythonpath") for name in senses()[key].columns[PROGRAM].names
)
"""Options whose value is a folder, as %d.. makes one."""

LOGIC = re.compile(r"(if|for)(-.*)?|end(if|for)|else")
OF_OPTIONS = frozenset({"if-opt", "if-not-opt"})
HELD = frozenset({"ini", "include", "set", "set-placeholder", "set-ph", "inherit", *APPLICATION})


def service_of(config: Config) -> Service:
    """Return what a configuration asks for."""
    table, plain = config.table, _plain(config)
    unclear = [setting for setting in plain if _is_unclear(setting, config)]
    plain = [setting for setting in plain if not _is_unclear(setting, config)]
    meanings, rest = collected(
        PROGRAM,
        [one for one in plain if not _is_graceful(one) and not _is_other_log(one)],
        table.canonical,
        lambda setting: _value(setting, config),
        lambda setting: setting.value.lower() not in OFF,
    )
    rest += filter(_is_other_log, plain)
    meanings, rest = _closing(meanings, rest)
    rest = [
        setting for setting in rest if setting.option not in {"protocol", *_placeholders(config)}
    ]
    no_effect = set() if config.starting(*NOT_WORKERS) else {"reload-mercy"}
    has_effect = table.entries.keys() - no_effect
    idle = tuple(written(setting) for setting in rest if setting.option not in has_effect)
    rest = [setting for setting in rest if setting.option in has_effect]
    needless = {id(setting): why for setting in rest if (why := _needless(setting, config))}
    gone, unknown = _sorted_out([setting for setting in rest if id(setting) not in needless])
    addresses = tuple(_addresses(config))
    named = [setting for setting in config.all(*APPLICATION) if _is_unclear(setting, config)]
    beside = {} if named else _beside(config, meanings)
    meanings |= _tls(addresses) | _files(meanings, config) | beside
    meanings = _finishing(meanings, plain)
    mounts = [setting for setting in unclear if setting.option == "mount"]
    application = None if named or mounts else served(config)
    meanings, others = mounted(meanings, config, application)
    meanings, without_effect = _without_effect(meanings, config)
    kept = _with_master(_adjusted(meanings, config), config)
    without_effect += [(meanings[key].was, ZERO) for key in meanings if key not in kept]
    return Service(
        PROGRAM,
        application,
        addresses,
        _with_defaults(kept),
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
            *((written(setting), ELSEWHERE) for setting in (*named, *unclear)),
        ),
        unclear=_unclear(unclear, config),
        facts=frozenset(kind for kind in ("router", "http11") if config.sockets(kind)),
    )


def _with_master(kept: Mapping[str, SenseSetting], config: Config) -> dict[str, SenseSetting]:
    """Add the master that an option implies, such as stats."""
    if "respawn" in kept or not config.master:
        return dict(kept)
    implies = config.table.implies_master
    option = next(setting.option for setting in config.settings if implies(setting.option))
    was = f"the master that {option} implies"
    return {**kept, "respawn": SenseSetting(senses()["respawn"], (), True, was, implied=True)}


def _with_defaults(kept: Mapping[str, SenseSetting]) -> dict[str, SenseSetting]:
    """Add uWSGI's defaults; greenlets run in one thread, which says nothing of their number."""
    whole = with_defaults(PROGRAM, kept, "uWSGI")
    if "greenlets" in kept and "threads" not in kept:
        del whole["threads"]
    return whole


def _is_unclear(setting: Setting, config: Config) -> bool:
    """Return whether a value is another one at each start, or on another machine."""
    return MAGIC.search(setting.raw) is not None or values.counts_cpus_here(setting, config)


def _needless(setting: Setting, config: Config) -> str:
    """Return why no other server needs an option; empty: it may need one."""
    if setting.option in PLUGINS and all(
        map(EMBEDDED.fullmatch, setting.value.replace(",", " ").split())
    ):
        return NO_PLUGIN
    if _sets_signal(setting) and ENDS.fullmatch(written(setting)):
        return SIGNALS
    is_switch = config.table.entries[setting.option].argument == "no"
    return IS_DEFAULT if is_switch and setting.value.lower() in OFF else ""


def _sorted_out(
    rest: Sequence[Setting],
) -> tuple[tuple[tuple[str, Gone], ...], tuple[str, ...]]:
    """Return what `sorted_out` does; of the handler of a signal no way out is known."""
    signals = [setting for setting in rest if _sets_signal(setting)]
    gone, unknown = sorted_out(PROGRAM, [setting for setting in rest if setting not in signals])
    return gone, (*unknown, *map(written, signals))


def _unclear(settings: Sequence[Setting], config: Config) -> frozenset[str]:
    """Return the keys of meanings that are not known, or depend on a number of CPUs."""
    options = [_name_in(setting) for setting in config.settings if _asks_cpus(setting, config)]
    names = [config.table.canonical(setting.option) for setting in settings]
    return keys_of(PROGRAM, [*names, *options])


def _sets_signal(setting: Setting) -> bool:
    """Return whether a hook sets the handler of a signal, which needs a process of uWSGI."""
    return setting.option.startswith("hook-") and setting.value.startswith("unix_signal:")


def _without_effect(
    meanings: Mapping[str, SenseSetting], config: Config
) -> tuple[dict[str, SenseSetting], list[tuple[str, str]]]:
    """Return the meanings that have an effect, and those that have none, each with the reason."""
    why = {} if "prefix" in meanings else {"prefix-managed": NO_MOUNT}
    if config.sockets() and not config.sockets("router"):
        why |= dict.fromkeys(("router", "router-time", "gzip", "keepalive"), NO_ROUTER)
    if "access-log" in meanings and not meanings["access-log"].on:
        why |= {"access-file": "left out: it has no effect without an access log"}
    kept = {key: sense_setting for key, sense_setting in meanings.items() if key not in why}
    return kept, [(meanings[key].was, reason) for key, reason in why.items() if key in meanings]


def _files(meanings: Mapping[str, SenseSetting], config: Config) -> dict[str, SenseSetting]:
    """Return the log of a server in the background: the file that daemonize names."""
    daemon, last = meanings.get("background"), config.last("daemonize", "daemonize2")
    if daemon is None or not daemon.on or last is None:
        return {}
    file, before = _value(last, config), meanings.get("log-file")
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
    return set(map(_name_in, sets))


def _is_graceful(setting: Setting) -> bool:
    """Return whether a hook lets the requests in flight finish at SIGTERM."""
    return setting.option == "hook-master-start" and setting.value == GRACEFUL


def _is_other_log(setting: Setting) -> bool:
    """Return whether a log of requests is no file of that name alone."""
    return setting.option == "req-logger" and not re.fullmatch("file:[^=,]+", setting.value)


def _closing(
    meanings: Mapping[str, SenseSetting], rest: Sequence[Setting]
) -> tuple[dict[str, SenseSetting], list[Setting]]:
    """Return the same with the header that tells that connections are closed, where they are."""
    headers = [setting for setting in rest if asks_to_close(setting.option, setting.value)]
    if not headers or "keepalive" in meanings:
        return dict(meanings), [*rest]
    sense, was = senses()["keeps-connections"], ", ".join(map(written, headers))
    closes = SenseSetting(sense, (), False, one_line(was))
    return {**meanings, sense.key: closes}, [one for one in rest if one not in headers]


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
    if _is_unclear(setting, config):
        return lost_address(protocol, written(setting), ELSEWHERE)
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
        if folder and _is_unclear(folder, config) and not str(value).startswith("/"):
            return lost_address(protocol, written(setting), UNKNOWN_FOLDER)
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


def _beside(config: Config, meanings: Mapping[str, SenseSetting]) -> dict[str, SenseSetting]:
    """Return the folders of imports with that of a file which is served from elsewhere."""
    file, folder = config.last(*FILES), config.last("chdir")
    if file is None or config.last("module", "wsgi") or not file.value.startswith("/"):
        return {}
    path = PurePosixPath(file.value)
    if folder and path.is_relative_to(folder.value):
        return {}
    before = meanings.get("pythonpath")
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


def _name_in(setting: Setting) -> str:
    """Return the name before = in the value of a condition or a placeholder."""
    return setting.value.partition("=")[0].strip()


def _asks_cpus(setting: Setting, config: Config) -> bool:
    """Return whether it is a condition on an option that is set by the number of CPUs."""
    return setting.option in OF_OPTIONS and any(
        "%k" in option.raw for option in config.all(_name_in(setting))
    )


def _open(config: Config) -> Iterator[str]:
    """Yield what was assumed of the machine that serves; few if-opt depend on a machine."""
    conditions = [setting for setting in config.settings if setting.option.startswith("if-")]
    asks_variable = [
        setting for setting in conditions if setting.option in {"if-env", "if-not-env"}
    ]
    names = dict.fromkeys(one_line(_name_in(setting)) for setting in asks_variable)
    if unset := [name for name in names if name not in config.known.environ]:
        if len(unset) == 1:
            assumed, value = f"the variable {unset[0]} is not set", unset[0]
        else:
            assumed, value = f"the variables {', '.join(unset)} are not set", "NAME"
        yield f"the translation assumes that {assumed}: give --env {value}=VALUE"
    others = [
        written(setting)
        for setting in conditions
        if setting not in asks_variable
        and (setting.option not in OF_OPTIONS or _asks_cpus(setting, config))
    ]
    if others:
        yield f"{', '.join(others)}: decided on this machine: compare it with the one that serves"
