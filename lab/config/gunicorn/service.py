"""Settings of gunicorn, read as meanings of the vocabulary."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lab.config.configuration import Config
from lab.config.gunicorn import PROGRAM
from lab.config.gunicorn.certainty import HELD, uncertain
from lab.config.gunicorn.command import ARGUMENTS
from lab.config.gunicorn.reader import LEVELS, carried
from lab.config.interface import ASGI, WSGI, is_uvicorn, of_worker_class
from lab.config.spot import Setting
from lab.config.vocabulary import environment, values
from lab.config.vocabulary.addresses import below, of_bind
from lab.config.vocabulary.senses import by_option, senses
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
    without,
    written,
)
from lab.config.vocabulary.values import Expression, Variable

COMMAND = Path(PROGRAM)
"""The path of a command; see `lab.config.reading.read`."""

COMPUTED = "the value is computed, and lab does not run it: write the value"

CONNECTIONS = "gthread accepts no more connections than this: lab knows no equivalent"

NO_TLS = (
    "the TLS settings are unknown, so lab writes no address: write certfile and keyfile as strings"
)
NO_PROTOCOL = "the protocol is unknown, so lab writes no address: write it as a string"

NO_LIMIT = (
    "with worker class {} it ends no request: it replaces a worker whose main loop is stuck, which "
    "no other server does"
)

NO_WORKERS = (
    "gunicorn starts 1, or as many as the variable WEB_CONCURRENCY says, which the new server does "
    "not read: write the number"
)

NO_ARGUMENTS = "gunicorn reads options from this variable, and lab does not: write them as options"

DEFAULT = "127.0.0.1:8000"
"""The default address, if the environment has no variable PORT."""

VERSIONS = {"1": "h1", "2": "h2", "auto": "h2,h1"}
"""Versions of HTTP, as granian has them -> as gunicorn has them."""

REQUESTED = {"CERT_NONE": "0", "CERT_OPTIONAL": "1", "CERT_REQUIRED": "2"}
"""Constants of the module ssl -> their numbers."""

BY_PORT = (
    "gunicorn listens on 0.0.0.0:$PORT where PORT is set, as platforms with a Procfile do: set the "
    "address"
)


def service_of(config: Config) -> Service:
    """Return the service that a configuration describes."""
    every = {setting.option: _resolved(setting, config) for setting in config.settings}
    doubt = uncertain(config, every)
    last = {name: setting for name, setting in every.items() if name not in doubt.names}
    known = set(carried()["settings"])
    defaults = [setting for setting in last.values() if _by_default(setting)]
    settings = [
        setting for name, setting in last.items() if name in known and setting not in defaults
    ]
    computed = [
        setting
        for setting in settings
        if setting.option != "logconfig_dict" and _unknown(setting) and not _entries(setting)
    ]
    plain = [
        setting for setting in settings if setting not in computed and setting.option not in HELD
    ]
    by_sense, rest = collected(PROGRAM, plain, lambda name: name, _value, _is_on)
    by_sense = _with_access_file(_modes(_lists(by_sense, last)), last.get("accesslog"))
    by_sense, rest, no_effect = _tls(by_sense, rest, last)
    by_sense = _versions(_level(by_sense, last))
    extra = [*doubt.notes, *_computed(computed, plain)]
    unknown_names = {*doubt.names, *(setting.option for setting in computed)}
    by_sense, kind, ignored, lost = _of_class(by_sense, last.get("worker_class"), unknown_names)
    gone, unknown = sorted_out(PROGRAM, rest)
    application = _application(last.get("wsgi_app"))
    refused = _refused_addresses(last, unknown_names)
    if refused:
        by_sense = {
            key: sense_setting
            for key, sense_setting in by_sense.items()
            if not key.startswith("certificate")
        }
        extra.append((written(last["bind"]) if "bind" in last else "bind", refused))
    derived, unset = _workers(every, config.known.environ)
    return Service(
        PROGRAM,
        application,
        () if refused or "bind" in unknown_names else tuple(_addresses(last, config.known.environ)),
        by_sense,
        gone,
        unknown,
        (*ignored, *no_effect),
        needless=(
            *((written(setting), IS_DEFAULT) for setting in defaults),
            *_plain_class(last.get("worker_class"), kind),
        ),
        extra=(*extra, *lost, *unset, *no_module(last.get("wsgi_app"), application)),
        derived=derived,
        unclear=keys_of(PROGRAM, unknown_names) | _unclear_by(last.get("worker_class")),
        interface=of_worker_class(kind),
        ignored=frozenset(_unread(kind)),
        facts=frozenset({_class_fact(kind), *(f"set {name}" for name in last)}),
    )


def _of_class(
    by_sense: dict[str, SenseSetting], setting: Setting | None, unknown_names: set[str]
) -> tuple[dict[str, SenseSetting], str, tuple[str, ...], list[tuple[str, str]]]:
    """
    Return the meanings with a worker class, defaults included, and the class.

    The other two are the settings that the class ignores, and those without an equivalent.
    """
    kind, lost = _worker_class(setting)
    kind = "" if "worker_class" in unknown_names else kind
    connections = by_sense.get("greenlets")
    by_sense, of_kind = _by_kind(by_sense, kind)
    lost += of_kind
    ignored = []
    if connections is not None and "greenlets" not in by_sense:
        threads = by_sense["threads"].value.text if "threads" in by_sense else "1"
        if kind == "sync" and threads == "1":
            ignored.append(connections.was)
        else:
            lost.append((connections.was, CONNECTIONS))
    by_sense = _without_doubt(with_defaults(PROGRAM, by_sense, "gunicorn"), unknown_names)
    by_sense, no_limit = _without_limit(by_sense, kind)
    by_sense, idle = without(by_sense, (*_unread(kind), *_unread_by_sync(kind, by_sense)))
    return by_sense, kind, (*idle, *ignored), [*lost, *no_limit]


def _workers(
    every: Mapping[str, Setting], environ: Mapping[str, str]
) -> tuple[dict[str, SenseSetting], list[tuple[str, str]]]:
    """Return the workers of a known variable, and what is lost of the variables it reads."""
    unread = [(ARGUMENTS, NO_ARGUMENTS)] if ARGUMENTS in environ else []
    if "workers" in every:
        return {}, unread
    number = environ.get("WEB_CONCURRENCY", "")
    if not number.isdecimal():
        return {}, [*unread, ("workers is not set", NO_WORKERS)]
    sense, was = senses()["workers"], f"WEB_CONCURRENCY={number}"
    return {sense.key: SenseSetting(sense, (Expression.of(number),), True, was)}, unread


def _class_fact(kind: str) -> str:
    """Return the class of workers as a fact; the class of several threads shows in those."""
    if kind in {"sync", "gthread"}:
        return f"class {kind}"
    if of_worker_class(kind) == ASGI:
        return "class uvicorn" if is_uvicorn(kind) else "class asgi"
    return "class gevent" if "gevent" in kind else "other class"


def _computed(computed: Sequence[Setting], plain: Sequence[Setting]) -> Iterator[tuple[str, str]]:
    """Yield the settings and list entries with unknown values, and why they are unknown."""
    yield from ((written(setting), _why_computed(setting)) for setting in computed)
    for setting in plain:
        for text, value in _entries(setting):
            if value is None:
                yield one_line(f"{setting.option}: {text}"), COMPUTED


def _why_computed(setting: Setting) -> str:
    """Return why the value of a setting is unknown, and what to do."""
    value = _expression(setting)
    names = sorted(environment.reads(value)) if value else []
    if not names:
        return COMPUTED
    variables = ", ".join(f"${name}" for name in names)
    given = " ".join(f"--env {name}=VALUE" for name in names)
    several = "s" * (len(names) > 1)
    return f"contains the variable{several} {variables}: give {given}, or write the value"


def _without_doubt(by_sense: dict[str, SenseSetting], names: set[str]) -> dict[str, SenseSetting]:
    """Leave out the defaults of settings that are set to an unknown value."""
    keys = keys_of(PROGRAM, names)
    return {key: sense_setting for key, sense_setting in by_sense.items() if key not in keys}


def _refused_addresses(last: Mapping[str, Setting], names: set[str]) -> str:
    """Return why no address may be written: TLS or the protocol would be lost; empty if it may."""
    if "protocol" in names:
        return NO_PROTOCOL
    files = [last.get(name) for name in ("certfile", "keyfile")]
    unset = {"None", "''", '""'}
    computed = [file for file in files if file and not file.value and file.raw not in unset]
    if names & {"certfile", "keyfile"} or computed:
        return NO_TLS
    return ""


def _worker_class(setting: Setting | None) -> tuple[str, list[tuple[str, str]]]:
    """Return the worker class, or the default of a variable; empty if it is computed."""
    if setting is None or setting.value:
        return (setting.value if setting else "sync"), []
    first = value.parts[0] if (value := _expression(setting)) else ""
    if not isinstance(first, Variable) or not first.default:
        return "", []
    says = f"the variable {first.name} may choose another class, which is unknown: write a string"
    return first.default, [(written(setting), says)]


def _unclear_by(setting: Setting | None) -> frozenset[str]:
    """Return the meanings that are unknown where the worker class is a variable's."""
    return frozenset({"greenlets"} if setting and not setting.value else ())


def _with_access_file(
    by_sense: dict[str, SenseSetting], setting: Setting | None
) -> dict[str, SenseSetting]:
    """Return the access log with its file; - is the standard output, no file."""
    log = by_sense.get("access-log")
    if log is None or setting is None or setting.value in {"", "-"}:
        return by_sense
    file = SenseSetting(senses()["access-file"], (_value(setting),), True, log.was)
    return by_sense | {"access-log": replace(log, implied=True), "access-file": file}


def _tls(
    by_sense: dict[str, SenseSetting], rest: list[Setting], last: Mapping[str, Setting]
) -> tuple[dict[str, SenseSetting], list[Setting], tuple[str, ...]]:
    """Return what holds of clients' certificates, what has no meaning, and what has no effect."""
    asks = next((setting for setting in rest if setting.option == "cert_reqs"), None)
    rest = [setting for setting in rest if setting is not asks]
    no_effect = []
    if (
        asks is not None
        and _files(last) is not None
        and "client-ca" in by_sense
        and asks.value != "0"
    ):
        required = asks.value == "2"
        sense = senses()["client-required"]
        by_sense = by_sense | {sense.key: SenseSetting(sense, (), required, written(asks))}
    elif asks is not None:
        no_effect.append(written(asks))
    unread = () if _files(last) is not None else ("ciphers", "client-ca")
    if "client-ca" in by_sense and "client-required" not in by_sense:
        unread = (*unread, "client-ca")
    by_sense, idle = without(by_sense, dict.fromkeys(unread))
    return by_sense, rest, (*no_effect, *idle)


def _level(
    by_sense: dict[str, SenseSetting], last: Mapping[str, Setting]
) -> dict[str, SenseSetting]:
    """Return the meanings with the level at which gunicorn logs if it does not have that level."""
    level = by_sense.get("log-level")
    text = level.value.text if level else None
    if not level or not text or text.lower() in LEVELS or "logger_class" in last:
        return by_sense
    was = f"{level.was}, which gunicorn reads as info"
    return by_sense | {"log-level": replace(level, values=(Expression.of("info"),), was=was)}


def _versions(by_sense: dict[str, SenseSetting]) -> dict[str, SenseSetting]:
    """Return the versions of HTTP as granian has them."""
    versions = by_sense.get("http-versions")
    if versions is None:
        return by_sense
    names = {name.strip() for name in (versions.value.text or "").split(",")}
    one = "auto" if {"h1", "h2"} <= names else "2" if "h2" in names else "1"
    return by_sense | {"http-versions": replace(versions, values=(Expression.of(one),))}


def _plain_class(setting: Setting | None, kind: str) -> Iterator[tuple[str, str]]:
    """Yield a class of workers that is nothing of gunicorn's alone."""
    if setting is None or setting.raw == "None":
        return
    if kind in {"sync", "gthread"}:
        yield written(setting), "not needed: the number of threads says it"
    elif kind and of_worker_class(kind) != WSGI:
        yield written(setting), f"the interface: {of_worker_class(kind).upper()}"


def _unread(kind: str) -> tuple[str, ...]:
    """Return the meanings that workers of a class ignore."""
    of_asgi = ("event-loop", "lifespan", "ws-bytes", "prefix")
    if of_worker_class(kind) == WSGI:
        has_loop = "gevent" in kind or kind in {"eventlet", "tornado"}
        return (*of_asgi, "threads") if has_loop else of_asgi
    of_uvicorn = ("header-line", "header-count", "header-bytes", *of_asgi)
    # gunicorn/workers/gasgi.py:191: asyncio listens again, with its own default of 100
    others = of_uvicorn if is_uvicorn(kind) else ("backlog",)
    return ("threads", "greenlets", "file-wrapper", "sendfile", *others)


def _unread_by_sync(kind: str, by_sense: Mapping[str, SenseSetting]) -> tuple[str, ...]:
    """Return the meanings that workers of class sync ignore; with threads they are of gthread."""
    threads = by_sense.get("threads")
    is_sync = kind == "sync" and threads is not None and threads.value.number == 1
    return ("keepalive",) if is_sync else ()


def _without_limit(
    by_sense: dict[str, SenseSetting], kind: str
) -> tuple[dict[str, SenseSetting], list[tuple[str, str]]]:
    """
    Return the same without the time limit where no request is ended by it, and what is then lost.

    Workers of class sync alone end a request; of one that may have several threads, if it has one.
    """
    limit, threads = by_sense.get("time-limit"), by_sense.get("threads")
    if limit is None:
        return by_sense, []
    kept = {key: setting for key, setting in by_sense.items() if setting is not limit}
    if limit.value.number == 0:
        return kept, []
    number = threads.value.number if threads else None
    if kind == "sync" and number == 1:
        return by_sense, []
    if kind == "sync" and number is None:
        name = str(threads.value) if threads else "`threads`"
        one = replace(limit, was=f"{limit.was}, if {name} is 1", implied=False)
        if (default := _default_of(threads)) not in {None, "1"}:
            return kept, [(one.was, f"left out, as {name} is {default} by default")]
        return by_sense | {limit.sense.key: one}, []
    name = "gthread" if kind == "sync" else kind
    lost = [] if limit.implied else [(limit.was, NO_LIMIT.format(name or "(unknown)"))]
    return kept, lost


def _default_of(setting: SenseSetting | None) -> str | None:
    """Return the default of a value that is a variable; None where there is none."""
    match setting and setting.value.parts:
        case (Variable(default=default),):
            return default
    return None


def _by_kind(
    by_sense: dict[str, SenseSetting], kind: str
) -> tuple[dict[str, SenseSetting], list[tuple[str, str]]]:
    """Return the meanings with a worker class, and what has no equivalent."""
    result = dict(by_sense)
    if of_worker_class(kind) != WSGI:
        return result, []
    greenlets = result.pop("greenlets", None)
    if "gevent" in kind:
        was = f"worker_class = {kind}" + (f", {greenlets.was}" if greenlets else "")
        value = greenlets.values if greenlets else (Expression.of("1000"),)
        result["greenlets"] = SenseSetting(senses()["greenlets"], value, True, was)
    elif kind not in {"sync", "gthread"}:
        return result, [(f"worker_class = {kind}", "only gunicorn has that worker class")]
    return result, []


def _unknown(setting: Setting) -> bool:
    """Return whether the value of a setting is unknown without running the file."""
    if setting.value or not setting.raw:
        return False
    value, sense = _expression(setting), by_option(PROGRAM).get(setting.option)
    if value is None:
        return _listed(setting) is None
    if value.text is not None:
        return False
    if setting.option == "worker_class":
        return not any(isinstance(part, Variable) and part.default for part in value.parts)
    decides = sense is not None and sense.kind in {"switch", "list"}
    return decides or setting.option in {"protocol", "umask"}


def _resolved(setting: Setting, config: Config) -> Setting:
    """Return a setting with its variables replaced, if all of them are known."""
    value, environ = _expression(setting), config.known.environ
    if setting.option == "cert_reqs" and (number := REQUESTED.get(setting.raw.rpartition(".")[2])):
        return replace(setting, value=number)
    if value is None or value.text is not None:
        return setting
    if setting.spot.file == COMMAND:
        environ = values.words_in(environ)
    text = value.with_values(environ).text
    if text is None:
        return setting
    raw = text if text.isdecimal() else repr(text)
    return replace(setting, value=text, raw=raw)


def _expression(setting: Setting) -> Expression | None:
    """Parse a value in Python, or in a command with shell variables; None: neither."""
    if setting.value or setting.spot.file != COMMAND or values.of_list(setting.raw):
        return values.of_python(setting.raw)
    return values.of_shell(setting) if values.is_of_variables(setting.raw) else None


def _listed(setting: Setting) -> list[str] | None:
    """Return the entries of a literal list as texts; None if it is none."""
    try:
        value = ast.literal_eval(setting.raw)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None
    if isinstance(value, list | tuple):
        return [str(entry) for entry in value]
    return None


def _entries(setting: Setting) -> list[tuple[str, Expression | None]]:
    """Return the entries of a list option, each as written and as a value."""
    option = by_option(PROGRAM).get(setting.option)
    return values.of_list(setting.raw) if option and option.kind == "list" else []


def _value(setting: Setting) -> Expression:
    return _expression(setting) or Expression.of(setting.value)


def _is_on(setting: Setting) -> bool:
    return setting.value not in {"", "None", "False", "0"}


def _modes(by_sense: dict[str, SenseSetting]) -> dict[str, SenseSetting]:
    """Return the meanings with the mode of the socket instead of the umask."""
    masked = by_sense.get("socket-mode")
    if masked is None or (mask := values.mask_of(masked.value.text or "")) is None:
        return by_sense
    mode = Expression.of(f"{0o777 & ~mask:o}")
    return by_sense | {"socket-mode": replace(masked, values=(mode,))}


def _by_default(setting: Setting) -> bool:
    """Return whether it says what holds without it; a log called - is standard error, no file."""
    default = {"errorlog": {"-"}, "proxy_protocol": {"off", "False"}, "protocol": {"http"}}
    return setting.raw == "None" or setting.value in default.get(setting.option, ())


def _lists(
    by_sense: dict[str, SenseSetting], last: Mapping[str, Setting]
) -> dict[str, SenseSetting]:
    """Return the meanings with the values of lists split."""
    result = dict(by_sense)
    for key, sense_setting in by_sense.items():
        if sense_setting.sense.kind == "list":
            name = next(n for n in sense_setting.sense.columns[PROGRAM].names if n in last)
            entries = [value for _, value in _entries(last[name]) if value]
            texts = last[name].value.split(",") if last[name].value else []
            entries = entries or [*map(Expression.of, texts)]
            if entries:
                result[key] = replace(sense_setting, values=tuple(entries))
            else:  # all of it is computed
                del result[key]
    return result


def _application(setting: Setting | None) -> Application | None:
    if setting is None or not setting.value:
        return None
    module, colon, name = setting.value.partition(":")
    return application_of(module, name if colon else "application", written(setting))


def _addresses(last: Mapping[str, Setting], environ: Mapping[str, str]) -> Iterator[Address]:
    bind = last.get("bind")
    protocol = "uwsgi" if "protocol" in last and last["protocol"].value == "uwsgi" else "http"
    if bind is None and "PORT" in environ:
        value = Expression.of(f"0.0.0.0:{environ['PORT']}")
        yield of_bind(value, protocol, "gunicorn's default, 0.0.0.0:$PORT", _files(last))
        return
    if bind is None:
        default = of_bind(Expression.of(DEFAULT), protocol, "gunicorn's default", _files(last))
        yield replace(default, elsewhere=BY_PORT)
        return
    whole = _expression(bind)
    texts = _listed(bind)
    expressions = (
        [Expression.of(text) for text in texts] if texts else [whole or Expression.of(bind.value)]
    )
    if len(expressions) == 1 and expressions[0].text and "," in expressions[0].text:
        expressions = [Expression.of(text.strip()) for text in expressions[0].text.split(",")]
    for value in expressions:
        address = of_bind(value, protocol, written(bind), _files(last))
        folder = last.get("chdir")
        path = address.path and below(address.path, _value(folder) if folder else None)
        yield replace(address, path=path)


def _files(last: Mapping[str, Setting]) -> tuple[str, str] | None:
    """Return the files of certificate and key, which may be one; "" for a computed name."""
    certificate, key = (_file(last.get(name)) for name in ("certfile", "keyfile"))
    if certificate is None and key is None:
        return None
    return certificate or "", (certificate if key is None else key) or ""


def _file(setting: Setting | None) -> str | None:
    if setting is None or setting.raw == "None":
        return None
    return _value(setting).text or ""
