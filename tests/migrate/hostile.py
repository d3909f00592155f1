"""
Configurations of somebody who wants what `lab migrate` writes to do something: a seed makes one.

Whatever is run leaves a file beside what was written. `meaning` is what a value is, without any
language in between, so each check compares what a language makes of it with what was meant.
"""

from __future__ import annotations

import ast
import os
import random
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from lab.cli.migrate.migration import Migration, migrated
from lab.config.script import CPUS
from lab.config.vocabulary.values import Cpus, Expression, Variable
from lab.errors import LabError

TOUCH = "touch MARK"
ATOMS = (
    *("'", '"', "\\", "`touch MARK`", "$(touch MARK)", "${X:-$(touch MARK)}", "b[`touch MARK`]"),
    *(
        "b[$(touch MARK)]",
        "$((X))",
        "$((b[`touch MARK`]))",
        "${X}",
        "$X",
        "$(X)",
        "$(N)",
        "$(1)",
        "$(é)",
        "~root",
    ),
    *("\n", "\r", "\t", "\x0b", "\x0c", "\x85", "\u2028", "\x00", "\x1b[2J", "\u202e", "\ufeff"),
    *(
        "#",
        ";",
        "&&touch MARK",
        "|touch MARK",
        "\ntouch MARK\n",
        "; touch MARK;",
        "'; touch MARK; '",
    ),
    *('"; touch MARK; "', "@(exec://touch MARK)", "@", "(exec://touch MARK)", "%", "%%", "%(x)"),
    *(
        "%k",
        "%d",
        "%(threads)",
        "%(1 2 ++)",
        "{",
        "}",
        "$",
        "$$",
        "=",
        ",",
        ":",
        "*",
        "?",
        "[",
        "]",
    ),
    *("'''", '"""', "\\\n", "';import os;os.system('touch MARK');'", "{os.system('touch MARK')}"),
    *(
        "coding:utf-7",
        "coding=cp037",
        "+ACI-+AAo-import os+AAo-os.system('touch MARK')#",
        "\\N{DASH}",
    ),
    *("é", "💥", "\udcff", " ", "a", "1", "08", "9" * 20, "-1", "1.5", "True", "0o777", "##[x"),
    *(
        "; return 301 http://evil.example",
        "; } server { listen 1;",
        "$host",
        "\nexec-asap = touch MARK",
    ),
)
MACHINE = {
    "N": "3",
    "PORT": "8000",
    "ZERO": "010",
    "X": "b[`touch MARK`]",
    "Y": "a b'\"$(touch MARK)",
}
"""Variables of the machine that serves; those that are digits may be computed with."""

NAMES = ("A", "B_1", "PATH", "IFS", "ENV", "BASH_ENV", "SECONDS", "RANDOM", "UID", "OPTIND", "CPUS",
         "LD_PRELOAD", "N", "X", "A B", "A-B", "$(touch MARK)", "1A", "", "é", "quota")  # fmt: skip
INI = (
    *("http-socket", "socket", "socket", "module", "callable", "chdir", "processes", "threads"),
    *("harakiri", "socket-timeout", "http-timeout", "max-worker-lifetime", "worker-reload-mercy"),
    *("listen", "chmod-socket", "uid", "gid", "pidfile", "logto", "env", "env", "pythonpath"),
    *("static-map", "procname-prefix", "procname", "home", "nosuch", "master", "http-keepalive"),
)
CONF = (
    *("bind", "workers", "threads", "timeout", "graceful_timeout", "keepalive", "max_requests"),
    *("backlog", "chdir", "raw_env", "raw_env", "pidfile", "user", "group", "umask", "accesslog"),
    *("errorlog", "proc_name", "pythonpath", "wsgi_app", "certfile", "keyfile", "worker_tmp_dir"),
)
GRANIAN = (
    *("host", "port", "uds", "uds-permissions", "workers", "blocking-threads", "backlog"),
    *("process-name", "working-dir", "pid-file", "static-path-mount", "workers-lifetime"),
    *("ssl-certificate", "ssl-keyfile", "workers-kill-timeout", "backpressure"),
)


@dataclass(frozen=True)
class Case:
    """What one configuration became."""

    source: str
    found: Migration


class Author:
    """Writes one configuration."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def value(self) -> str:
        """Return a text that may act."""
        pick = self.random.choice
        begin = pick(("", "", "/tmp/s", "127.0.0.1:80", "4", "x"))
        end = pick(("", "", "y", "5", "%", "$"))
        return begin + "".join(pick(ATOMS) for _ in range(pick((1, 1, 1, 2, 3)))) + end

    def ini(self) -> str:
        """Return the lines of an ini."""
        lines = ["[uwsgi]"] + ["module = m:app"] * (self.random.random() < 0.7)
        for _ in range(self.random.randint(1, 5)):
            option = self.random.choice(INI)
            value = self.random.choice(
                (self.value(), self.value(), f"$({self.random.choice([*MACHINE])})")
            )
            if option == "env":
                value = f"{self.random.choice(NAMES)}={value}"
            if option == "static-map":
                value = f"/s={value}"
            lines.append(f"{option} = {value}")
        return "\n".join(lines) + "\n"

    def python(self) -> str:
        """Return a gunicorn.conf.py."""
        pick, lines = self.random.choice, ["import os"]
        for _ in range(self.random.randint(1, 5)):
            option, value = pick(CONF), repr(self.value())
            read = f"os.environ.get({pick([*MACHINE])!r}, {pick((value, repr('4')))})"
            text = pick(
                (
                    *(value, value, read, f"int({read}) * {pick((1, 2, 1000))}", f"int({read})"),
                    *(
                        f"{value} + {self.value()!r}",
                        f"'/a' + {read} + {value}",
                        "os.cpu_count() * 2",
                    ),
                    f"os.environ[{pick([*MACHINE])!r}] + {value}",
                )
            )
            if option == "raw_env":
                text = f"[{pick(NAMES) + '=' + self.value()!r}, {pick(NAMES) + '='!r} + {text}]"
            if option == "bind":
                text = f"'unix:/run/' + {text}"
            lines.append(f"{option} = {text}")
        return "\n".join(lines) + "\n"

    def command(self, program: str) -> str:
        """Return a command."""
        words, pick = [program], self.random.choice
        for _ in range(self.random.randint(1, 4)):
            words += [
                f"--{pick(GRANIAN)}",
                pick((self.value(), f"${{{pick([*MACHINE])}:-{self.value()}}}")),
            ]
        return shlex.join([*words, pick(("m:app", self.value()))])

    def case(self, folder: Path, to: str) -> Case | None:
        """Return a case; None where the configuration is refused."""
        kinds = {
            "granian": ("ini", "python"),
            "gunicorn": ("ini", "command"),
            "uwsgi": ("python", "command"),
        }
        kind = self.random.choice(kinds[to])
        if kind == "command":
            source = name = self.command("granian")
        else:
            source = self.ini() if kind == "ini" else self.python()
            path = folder / ("uwsgi.ini" if kind == "ini" else "gunicorn.conf.py")
            path.write_bytes(source.encode("utf-8", "surrogateescape"))
            name = str(path)
        try:
            return Case(source, migrated(name, to, {}))
        except LabError:
            return None


@cache
def cases(seeds: range, to: str) -> list[Case]:
    """Return what the configurations of *seeds* became."""
    with TemporaryDirectory() as folder:
        outcomes = [Author(seed).case(Path(folder), to) for seed in seeds]
    return [case for case in outcomes if case is not None]


def meaning(
    value: Expression, environ: Mapping[str, str], cpus: int, unset: str = ""
) -> str | None:
    """Return the text that a value is; None where it is a product of what is no number."""
    texts = []
    for part in value.parts:
        if isinstance(part, Cpus):
            texts.append(str(cpus * part.times + part.plus))
        elif isinstance(part, Variable):
            text = environ.get(part.name) or part.default or unset.format(part.name)
            if part.times != 1:
                if not re.fullmatch("0|[1-9][0-9]{0,8}", text):
                    return None
                text = str(int(text) * part.times)
            texts.append(text)
        else:
            texts.append(part)
    return "".join(texts)


END = "the-environment-follows"


# -- scripts for sh --------------------------------------------------------------------------------

DRIVER = """\
for folder in */; do
    cd "$folder" || exit 1
    "$@" ./granian.sh > out 2> err < /dev/null
    echo $? > status
    cd ..
done
"""
"""Runs each script with the shell that its arguments name."""


def faults_of_scripts(
    all_cases: Sequence[Case], folder: Path, shell: Sequence[str]
) -> Iterator[str]:
    """Yield what is wrong with scripts, as a shell runs them with a stub of granian."""
    programs = folder / "bin"
    programs.mkdir()
    stub = f"#!/bin/sh\nprintf '%s\\0' \"$@\" {END}\nexec /usr/bin/env -0\n"
    (programs / "granian").write_text(stub)
    (programs / "granian").chmod(0o755)
    environ = {**MACHINE, "PATH": f"{programs}:/usr/bin:/bin"}
    counted = subprocess.run(("sh", "-c", CPUS + 'echo "$CPUS"'), capture_output=True, check=True)
    scripts = folder / "scripts"
    for at, case in enumerate(all_cases):
        place = scripts / f"{at:04}"
        place.mkdir(parents=True)
        _write(place / "granian.sh", case.found.text)
        if case.found.environment:
            _write(place / "granian.env", case.found.environment)
    subprocess.run((*shell, "-c", DRIVER, "sh", *shell), env=environ, cwd=scripts, check=True)
    for at, case in enumerate(all_cases):
        place = scripts / f"{at:04}"
        expected_names = {"granian.sh", "granian.env", "out", "err", "status"}
        if more := {path.name for path in place.iterdir()} - expected_names:
            yield f"{at}: ran and left {more}: {case.source!r}"
        elif problem := _wrong_words(case, place, int(counted.stdout)):
            yield f"{at}: {problem}: {case.source!r}"


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8", "surrogateescape"))


def _wrong_words(case: Case, place: Path, cpus: int) -> str:
    """Return what differs between the words that came and those that were meant."""
    output, error = ((place / name).read_bytes() for name in ("out", "err"))
    status = int((place / "status").read_text())
    environ, assigned = dict(MACHINE), _assigned(case.found, cpus)
    environ |= assigned
    lines = [(line, line.value) for line in case.found.translation.lines]
    meant = [None if value is None else meaning(value, environ, cpus) for _, value in lines]
    if any(
        value is not None and text is None for (_, value), text in zip(lines, meant, strict=True)
    ):
        stopped = status == 1 and not output and error.count(b"\n") == 1 and b"must be" in error
        return "" if stopped else f"computed with a text: {status} {error!r}"
    if status or error:
        return f"status {status}, {error!r}"
    words, _, rest = output.decode("utf-8", "surrogateescape").partition(f"\0{END}\0")
    came = words.split("\0")
    env = dict(assignment.partition("=")[::2] for assignment in rest.split("\0") if assignment)
    wanted = [
        word
        for (line, _), text in zip(lines, meant, strict=True)
        for word in ((f"--{line.option}",) if text is None else (f"--{line.option}", text))
    ]
    address = next(iter(case.found.translation.service.addresses), None)
    where: list[str] = []
    if address is not None and address.path is not None:
        where = ["--uds", meaning(address.path, environ, cpus) or ""]
    elif address is not None:
        host = meaning(address.host, environ, cpus)
        host = host if address.host.text not in {"", "*"} else "0.0.0.0"
        where = ["--host", host or "", "--port", meaning(address.port, environ, cpus) or ""]
    app = case.found.translation.service.application
    last = (
        ["MODULE:CALLABLE"]
        if app is None
        else [*["--factory"] * app.factory, f"{app}".removesuffix("()")]
    )
    wanted = ["--interface", case.found.translation.service.interface, *where, *wanted, *last]
    if came != wanted:
        return f"came {came}, and meant was {wanted}"
    differ = {name: env.get(name) for name, text in assigned.items() if env.get(name) != text}
    return f"came {differ}, and meant was {assigned}" if differ else ""


def _assigned(migration: Migration, cpus: int) -> dict[str, str]:
    """Return the variables that the file sets, with what was meant; only those that it names."""
    named = re.findall(r"^(\w+)=", migration.environment, re.MULTILINE | re.ASCII)
    settings, environ, assigned = migration.translation.service.senses, dict(MACHINE), {}
    entries = [*settings["environment"].values] if "environment" in settings else []
    if "pythonpath" in settings:
        parts = [
            part
            for expression in settings["pythonpath"].values
            for part in (":", *expression.parts)
        ][1:]
        entries.append(Expression(("PYTHONPATH=", *parts)))
    for value in entries:
        name, _, text = (meaning(value, environ, cpus) or "").partition("=")
        if name in named:
            environ[name] = assigned[name] = text
    return assigned


# -- files of Python's -----------------------------------------------------------------------------


def faults_of_python(all_cases: Sequence[Case]) -> Iterator[str]:
    """Yield what is wrong with files of Python's: each is read from its bytes, and not run."""
    for at, case in enumerate(all_cases):
        try:
            tree = ast.parse(case.found.text.encode("utf-8", "surrogateescape"))
        except (SyntaxError, ValueError) as error:
            yield f"{at}: {error}: {case.source!r}"
            continue
        try:
            values = {
                node.targets[0].id: node.value for node in tree.body if isinstance(node, ast.Assign)
            }  # type: ignore[attr-defined]
            others = [node for node in tree.body if not isinstance(node, ast.Assign)]
            assert all(
                ast.unparse(node) == "import os" or getattr(node, "name", "") == "cpus"
                for node in others
            )
            for problem in _wrong_values(case.found, values):
                yield f"{at}: {problem}: {case.source!r}"
        except (AssertionError, ValueError, KeyError, TypeError) as error:
            yield f"{at}: {error!r}: {case.source!r}"


def _wrong_values(migration: Migration, values: Mapping[str, ast.expr]) -> Iterator[str]:
    environ = {**MACHINE, "X": "5", "Y": "6", "ZERO": "8"}
    for line in migration.translation.lines:
        if line.value is None or line.option in {"umask", "worker_class"}:
            continue
        meant = meaning(line.value, environ, 2)
        came = _evaluated(values[line.option], environ)
        if isinstance(came, bool) or (isinstance(came, int) and line.number):
            came = str(came)
        if came != meant and str(line.value.number) != came:
            yield f"{line.option} is {came!r}, and meant was {meant!r}"
    env = migration.translation.service.senses.get("environment")
    if env is not None:
        meant_env = [meaning(expression, environ, 2) for expression in env.values]
        if (came := _evaluated(values["raw_env"], environ)) != meant_env:
            yield f"raw_env is {came!r}, and meant was {meant_env!r}"
    app = migration.translation.service.application
    if app is not None and _evaluated(values["wsgi_app"], environ) != str(app):
        yield "wsgi_app differs"


def _evaluated(node: ast.expr, environ: Mapping[str, str]) -> object:
    """Return what an expression comes to that holds nothing but what the writer writes."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.List(elts=entries):
            return [_evaluated(element, environ) for element in entries]
        case ast.BinOp(left=left, op=op, right=right):
            one, other = _evaluated(left, environ), _evaluated(right, environ)
            return one + other if isinstance(op, ast.Add) else one * other  # type: ignore[operator]
        case ast.Call(func=ast.Name(id="int" | "str" as name), args=[inner]):
            value = _evaluated(inner, environ)
            is_number = name == "int" and re.fullmatch(r"-?\d+", str(value))
            return int(str(value)) if is_number else str(value)  # meant is a text, and refused
        case ast.Call(func=ast.Name(id="cpus"), args=[]):
            return 2
        case ast.Call(func=func, args=[ast.Constant(value=name), ast.Constant(value=default)]):
            assert ast.unparse(func) == "os.environ.get"
            return environ.get(str(name), default)
        case ast.Subscript(value=value, slice=ast.Constant(value=name)):
            assert ast.unparse(value) == "os.environ"
            return environ.get(str(name), "")
    raise ValueError(f"an expression that is never written: {ast.unparse(node)}")


# -- inis ------------------------------------------------------------------------------------------


def faults_of_inis(all_cases: Sequence[Case], folder: Path, uwsgi: Path) -> Iterator[str]:
    """
    Yield what is wrong with inis: uWSGI prints the values of their lines.

    Each option stands there as `print`, so that nothing is done but to replace what is replaced.
    """
    for at, case in enumerate(all_cases):
        place = folder / f"{at:04}"
        place.mkdir(parents=True)
        lines = case.found.text.split("\n")
        printed = [re.sub(r"^(?!if-|endif)([\w-]+) = ", r"print = :\1:", line) for line in lines]
        _write(place / "u.ini", "\n".join(printed))
        done = subprocess.run(
            (uwsgi, "--ini", "u.ini"), cwd=place, env={**MACHINE, "PATH": os.environ["PATH"]},
            capture_output=True, stdin=subprocess.DEVNULL, check=False, timeout=30,
        )  # fmt: skip
        if more := {path.name for path in place.iterdir()} - {"u.ini"}:
            yield f"{at}: ran and left {more}: {case.source!r}"
            continue
        output = done.stdout.decode("utf-8", "surrogateescape")
        came = re.findall(r"^:([\w-]+):(.*)$", output, re.MULTILINE)
        if (meant := list(_meant(case.found))) != came:
            yield f"{at}: came {came}, and meant was {meant}: {case.source!r}"


STAYS = "$({})"
"""What uWSGI makes of a variable that is not set."""


def _meant(migration: Migration) -> Iterator[tuple[str, str]]:
    """Yield the options of an ini with what was meant."""
    cpus, service = os.cpu_count() or 1, migration.translation.service
    for address in service.addresses:
        option = "socket" if address.protocol == "uwsgi" else "http-socket"
        if address.path is not None:
            yield option, meaning(address.path, MACHINE, cpus, STAYS) or ""
        else:
            files = "".join(f",{path}" for path in address.tls or ())
            where = Expression((*address.host.parts, ":", *address.port.parts, files))
            yield (
                "https-socket" if address.tls else option,
                meaning(where, MACHINE, cpus, STAYS) or "",
            )
    if service.application is not None:
        yield "module", service.application.module
        yield "callable", service.application.callable
    for line in migration.translation.lines:
        value = Expression.of("true") if line.value is None else line.value
        yield line.option, meaning(value, MACHINE, cpus, STAYS) or ""


# -- nginx -----------------------------------------------------------------------------------------


def nginx_of(all_cases: Sequence[Case]) -> tuple[str, int]:
    """Return a configuration with all lines that come, a location a case, and how many cases."""
    blocks = []
    for at, case in enumerate(all_cases):
        lines = [line.removeprefix("+ ") for line in case.found.nginx if line.startswith("+")]
        if lines:
            blocks.append(f"location /c{at} {{\n" + "\n".join(lines) + "\n}\n")
    body = "".join(blocks)
    return f"events {{}}\nhttp {{ server {{ listen 127.0.0.1:1; {body} }} }}\n", len(blocks)
