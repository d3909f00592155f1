"""hypercorn's names in a file, and the options of its command."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from lab.config.gunicorn.reader import all_bindings, names_read, python_text
from lab.config.hypercorn.command import TABLE, is_file
from lab.config.hypercorn.file import PYTHON, TOML
from lab.config.steps import Drop
from lab.lint.rules.alike import DIGITS
from lab.lint.rules.command_options import refused_values
from lab.lint.rules.rule import WHY, Case, Flaw, Setting, Severity, rule

INSTEAD = {
    "access_log": "accesslog",
    "access_logfile": "accesslog",
    "error_logfile": "errorlog",
    "forwarded_allow_ips": "",
    "host": "bind",
    "keep_alive": "keep_alive_timeout",
    "keepalive": "keep_alive_timeout",
    "limit_concurrency": "",
    "log_level": "loglevel",
    "log_config": "logconfig",
    "pidfile": "pid_path",
    "port": "bind",
    "preload_app": "",
    "proxy_headers": "",
    "reload": "use_reloader",
    "ssl_certfile": "certfile",
    "ssl_keyfile": "keyfile",
    "threads": "",
    "timeout": "",
    "timeout_keep_alive": "keep_alive_timeout",
    "worker_connections": "",
}
"""Name of another server -> that of hypercorn; "" for nothing like it."""

NAMES = frozenset(name for name, entry in TABLE.options.items() if "takes" in entry)
"""Names that a file may have."""

TAKES = {
    "int": {"int"},
    "float": {"int", "float"},
    "str": {"str"},
    "bool": {"bool"},
    "list": {"list", "str"},
}
"""Type that a name takes -> how its value may be written."""

WRITE = {
    "int": "a whole number without quotes",
    "float": "a number without quotes",
    "str": "a text in quotes",
    "bool": "true or false without quotes",
    "list": "a text in quotes, or a list of texts",
}
"""Type -> what to write."""


def number(config: Case, name: str, default: int) -> int | None:
    """Return a setting's number, and the default of one that is not there; None if unknown."""
    setting = config.last(name)
    if setting is None:
        return default
    text = setting.value.removesuffix(".0")
    return int(text) if text.isdecimal() and len(text) < DIGITS else None


def _written_as(raw: str) -> str:
    """Return the type that a value is written as; empty: unknown."""
    kinds = {
        "str": r"[bfru]*[\"'].*",
        "bool": "true|false|True|False",
        "int": r"[+-]?(0[xob])?[\d_a-fA-F]+",
        "float": r"[+-]?[\d_]+(\.[\d_]+)?([eE][+-]?\d+)?",
        "list": r"[\[(].*",
    }
    return next((kind for kind, form in kinds.items() if re.fullmatch(form, raw, re.DOTALL)), "")


@rule(
    "HC001",
    Severity.NO_EFFECT,
    "a name in a file that hypercorn does not have",
    why="hypercorn takes any name of a file and reads none but its own, without a warning",
    source="hypercorn/config.py:335 `setattr(config, key, value)`",
    bad='bind = "127.0.0.1:8000"\nkeep_alive = 75',
    good='bind = "127.0.0.1:8000"\nkeep_alive_timeout = 75',
    near_miss='bind = "127.0.0.1:8000"\n# keep_alive = 75',
)
def unknown_name(config: Case) -> Iterator[Flaw]:
    """A helper in Python is none: it is read, or has a name like no setting's."""
    for setting in config.settings:
        file, name = setting.spot.file, setting.option
        if name in NAMES or not is_file(file) or not setting.spot.line:
            continue
        close = config.table.nearest(name, NAMES)
        if file.suffix == PYTHON and (
            not (close or name in INSTEAD) or _is_helper(config, setting)
        ):
            continue
        if not setting.raw:
            text = (
                f"{name} is a table, and hypercorn reads names at the top of the file only; write "
                "its settings above all tables"
            )
            yield config.flaw(setting.spot, text)
            continue
        meant = INSTEAD.get(name, close or "")
        there = meant and config.last(meant)
        advice = "leave it out" if not meant or there else f"write {meant}"
        if name in {"host", "port"}:
            advice = 'write bind = "HOST:PORT"'
        yield config.flaw(setting, f"hypercorn has no such setting and ignores it; {advice}")


def _is_helper(config: Case, setting: Setting) -> bool:
    """Return whether a name of a module is there for the module."""
    name = setting.option
    is_plain = setting.spot.column == 1 and not setting.raw.startswith(("def ", "import ", "from "))
    read = names_read(config) if config.file == setting.spot.file else frozenset[str]()
    return not is_plain or name.startswith("_") or name.isupper() or name in read


@rule(
    "HC002",
    Severity.ERROR,
    "an option that hypercorn does not have, or a value that it refuses",
    why="hypercorn prints `error:` and does not start",
    source="hypercorn/__main__.py:224 `parser.parse_args`",
    bad="hypercorn --keep-alive-timeout 75 shop:app",
    good="hypercorn --keep-alive 75 shop:app",
    near_miss='hypercorn --keep-alive "$KEEP_ALIVE" shop:app',
)
def unknown_option(config: Case) -> Iterator[Flaw]:
    """Variables set nothing: hypercorn reads none."""
    words = {word[2:]: word for entry in TABLE.options.values() for word in entry.get("words", ())}
    for setting in config.settings:
        name = setting.option
        if name in TABLE.options or is_file(setting.spot.file):
            continue
        if TABLE.variable.match(f"{name}="):
            text = f"{name}: hypercorn reads no variables, and does not warn; write an option"
            yield config.flaw(setting.spot, text, harmless=True)
            continue
        word = name if name.startswith("-") else f"--{name}"
        underscored = name.lstrip("-").replace("-", "_")
        option = INSTEAD.get(underscored, underscored)
        entry = TABLE.options.get(option)
        close = config.table.nearest(name, words)
        meant = next(iter(entry.get("words", ())), "") if entry else words.get(close or "", "")
        advice = f"write {meant}" if meant else "leave it out"
        text = f"{word}: hypercorn {TABLE.version} has no such option and does not start; {advice}"
        yield config.flaw(setting.spot, text)
    given = [setting for setting in config.settings if not is_file(setting.spot.file)]
    yield from (flaw for flaw in refused_values(config, TABLE) if _is_of(flaw, given))


def _is_of(flaw: Flaw, settings: list[Setting]) -> bool:
    return any(setting.spot == flaw.spot for setting in settings)


@rule(
    "HC003",
    Severity.ERROR,
    "a value of another type",
    why="hypercorn does not check the types of a file, and fails where it uses the value: it does "
    "not start, or closes every connection",
    source="hypercorn/config.py:335 `setattr(config, key, value)`",
    bad='bind = "127.0.0.1:8000"\nbacklog = "100"',
    good='bind = "127.0.0.1:8000"\nbacklog = 100',
    near_miss='bind = ["127.0.0.1:8000"]\ngraceful_timeout = 2.5',
)
def other_type(config: Case) -> Iterator[Flaw]:
    """Only of what is written there."""
    for setting in config.settings:
        takes = TABLE.options.get(setting.option, {}).get("takes", "any")
        if not is_file(setting.spot.file) or takes == "any":
            continue
        kind = _written_as(setting.raw)
        if kind and kind not in TAKES[takes]:
            yield config.flaw(setting, f"{WHY}; write {WRITE[takes]}")
        elif setting.option == "worker_class" and kind == "str":
            choices = TABLE.options["worker_class"]["choices"]
            if setting.value and setting.value not in choices:
                text = f"hypercorn does not start; write one of {', '.join(choices)}"
                yield config.flaw(setting, text)


@rule(
    "HC004",
    Severity.ERROR,
    "a variable in a TOML file",
    why="nothing replaces a variable in a TOML file, and hypercorn cannot listen there; write "
    "--bind in the command, whose shell replaces it",
    source="hypercorn/config.py:275 `sock.bind(binding)`",
    bad='bind = "0.0.0.0:$PORT"',
    good='bind = "0.0.0.0:8000"',
    near_miss='# bind = "0.0.0.0:$PORT"\nbind = "0.0.0.0:8000"',
)
def not_replaced(config: Case) -> Iterator[Flaw]:
    """An address that no shell reads."""
    for setting in config.all("bind", "insecure_bind", "quic_bind"):
        if setting.spot.file.suffix == TOML and "$" in setting.value:
            yield config.flaw(setting)


@rule(
    "HC005",
    Severity.ERROR,
    "a function in a Python file of hypercorn",
    why="hypercorn sends all names of the file to its workers, and a function, a class or "
    "os.environ cannot be sent, so it does not start; write the values without them",
    source="hypercorn/run.py:135 `Cannot pickle the config`",
    bad='def address():\n    return "127.0.0.1:8000"\n\n\nbind = address()',
    good='bind = "127.0.0.1:8000"',
    near_miss='def address():\n    return "127.0.0.1:8000"\n\n\nbind = address()\nworkers = 0',
)
def cannot_be_sent(config: Case) -> Iterator[Flaw]:
    """Without a worker process nothing is sent."""
    if number(config, "workers", 1) == 0:
        return
    for path, written in config.texts.items():
        if path.suffix != PYTHON:
            continue
        text = python_text(written.encode("utf-8", "surrogateescape"), path)
        for binding in all_bindings(text):
            node, value = binding.node, binding.value
            is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            is_environ = binding.source == "from os import environ"
            if is_function or is_environ or isinstance(value, ast.Lambda):
                spots = (one.spot for one in config.all(binding.name) if one.spot.file == path)
                if (spot := next(spots, None)) and not binding.name.startswith("__"):
                    yield config.flaw(spot, f"{binding.name}: {WHY}")


@rule(
    "HC006",
    Severity.NO_EFFECT,
    "the application in a file",
    why="the command must name the application, which then counts; leave it out",
    source="hypercorn/__main__.py:226 `config.application_path = args.application`",
    bad='bind = "127.0.0.1:8000"\napplication_path = "shop:app"',
    good='bind = "127.0.0.1:8000"',
    near_miss='# application_path = "shop:app"\nbind = "127.0.0.1:8000"',
)
def application_in_file(config: Case) -> Iterator[Flaw]:
    """Of a command it is a word."""
    for setting in config.all("application_path"):
        if is_file(setting.spot.file):
            yield config.flaw(setting)


@rule(
    "HC007",
    Severity.NO_EFFECT,
    "daemon",
    why="hypercorn stays in the foreground: this makes its workers end with it, which they do by "
    "default; leave it out",
    source="hypercorn/run.py:130 `process.daemon = config.daemon`",
    bad='bind = "127.0.0.1:8000"\ndaemon = true',
    good='bind = "127.0.0.1:8000"',
    near_miss="daemon = false",
)
def no_daemon(config: Case) -> Iterator[Flaw]:
    """Only where it is on, as it is by default."""
    setting = config.last("daemon")
    if setting and (not is_file(setting.spot.file) or setting.value == "true"):
        yield config.flaw(setting, steps=(Drop("daemon"),))


@rule(
    "HC008",
    Severity.NO_EFFECT,
    "addresses that need TLS",
    why="hypercorn listens there only with certfile and keyfile; write the address in bind, or set "
    "both",
    source="hypercorn/config.py:208 `insecure_sockets = self._create_sockets(self.bind)`",
    bad='insecure_bind = "127.0.0.1:8000"',
    good='bind = "127.0.0.1:8000"',
    near_miss='insecure_bind = "127.0.0.1:8000"\nbind = "127.0.0.1:8443"\ncertfile = "a.pem"\n'
    'keyfile = "a.key"',
)
def without_tls(config: Case) -> Iterator[Flaw]:
    """Plain HTTP has one list of addresses."""
    if config.last("certfile") and config.last("keyfile"):
        return
    for setting in config.all("insecure_bind", "quic_bind"):
        yield config.flaw(setting)


@rule(
    "HC009",
    Severity.DANGEROUS,
    "half of TLS",
    why="hypercorn speaks plain HTTP unless certfile and keyfile are both set, without a warning; "
    "set both, or neither",
    source="hypercorn/config.py:198 `self.certfile is not None and self.keyfile is not None`",
    bad='certfile = "shop.pem"',
    good='certfile = "shop.pem"\nkeyfile = "shop.key"',
    near_miss='bind = "0.0.0.0:443"\ncertfile = "shop.pem"\nkeyfile = "shop.key"',
)
def half_of_tls(config: Case) -> Iterator[Flaw]:
    """A file with both is usual."""
    one, other = config.last("certfile"), config.last("keyfile")
    setting = one or other
    if setting and not (one and other):
        yield config.flaw(setting)
