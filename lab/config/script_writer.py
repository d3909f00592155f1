"""`ScriptWriter`: a translation as a script for sh, with the command of a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from lab.config.script import CPUS
from lab.config.vocabulary import environment, values
from lab.config.vocabulary.addresses import bound
from lab.config.vocabulary.quoting import (
    as_shell,
    assignment,
    guards,
    refused_by_shell,
    refused_name,
    shell_comment,
)
from lab.config.vocabulary.service import Address, Application, SenseSetting, Service
from lab.config.vocabulary.translation import Files, Note, Translation, Words
from lab.config.vocabulary.values import Expression

CommandWords = Iterator[tuple[str, str]]
"""Words of a command as a shell takes them, each with what it was."""


@dataclass(frozen=True)
class ScriptWriter:
    """How a translation becomes the command of one server."""

    program: str

    begins: Callable[[Service], str]
    """Returns the first words, up to the address."""

    variables: tuple[str, ...]
    """Beginnings of the variables that the server takes for options."""

    name: Callable[[str], str] = str
    """Returns how the command calls an option, without dashes."""

    listening: Callable[[Service], CommandWords] | None = None
    """Returns the words for the addresses; None: those for host and port of the first one."""

    target: Callable[[Application], CommandWords] | None = None
    """Returns the words for the application; None: with --factory where a call makes it."""

    @property
    def words(self) -> Words:
        """How the options of the command are written."""
        return Words(
            "--{} {}",
            name=self.name,
            yes="",
            mixes_tls=False,
            folders=":",
            variable=self._refused_name,
            sets_first=True,
            address=lambda _: "",
            refused=refused_by_shell,
        )

    def _refused_name(self, name: str) -> str:
        """Return why a file of variables cannot set one; empty where it can."""
        if not values.NAME.fullmatch(name):
            return environment.NO_VARIABLE
        if name.startswith(self.variables):
            option = f"{self.program} would take {name} for an option"
            return f"{option}: rename it, or write the option"
        return refused_name(name)

    def files(self, made: Translation, name: str) -> Files:
        """Return the script for sh, and the file of its variables; see `Files`."""
        return Files(self._text(made), f"sh {name}", environment_of(made), self._script(made))

    def _text(self, made: Translation) -> str:
        """Return a script for sh: what each word was stands above the command."""
        words = list(self._words(made))
        body = " \\\n    ".join(shown for shown, _ in words)
        was = "".join(f"{shell_comment(f'  {word}: {was}')}\n" for word, was in words[1:] if was)
        env = f"set -a; . ./{self.program}.env; set +a\n\n" if environment_of(made) else ""
        computed = _computed(made, body, env)
        return f"#!/bin/sh\n# What each word was:\n{was}\n{computed}exec {body}\n"

    def _script(self, made: Translation) -> str:
        """Return a script that prints the environment's words and the command's; see `Files`."""
        body = " ".join(shown for shown, _ in self._words(made))
        names = "".join(f'"{name}=${name}" ' for name, _ in _assigned(made))
        before = _computed(made, body, environment_of(made))
        return f"{before}printf '%s\\0' {names}'' {body}\n"

    def _words(self, made: Translation) -> CommandWords:
        """Yield the words of the command, each with what it was."""
        service = made.service
        yield self.begins(service), ""
        yield from (self.listening or _listening)(service)
        for line in made.lines:
            value = "" if line.value is None else f" {as_shell(line.value)}"
            was = f"{line.was}. {line.says}" if line.says else line.was
            yield f"--{self.name(line.option)}{value}", was
        if service.application is None:
            yield "MODULE:CALLABLE", ""
        else:
            yield from (self.target or _target)(service.application)

    def write_environment(self, made: Translation, sense_setting: SenseSetting) -> bool:
        """Write variables and folders of imports to the file; return whether it is one of these."""
        name = f"{self.program}.env"
        match sense_setting.sense.key:
            case "environment":
                made.write_variables(sense_setting, name, "the value is empty")
            case "pythonpath":
                made.changed.append(Note(sense_setting.was, f"PYTHONPATH in {name}"))
            case _:
                return False
        return True


def _listening(service: Service) -> CommandWords:
    """Yield the words for the first address."""
    for address in service.addresses[:1]:
        if address.path is not None:
            yield f"--uds {as_shell(address.path)}", address.was
        else:
            host = as_shell(bound(address).host)
            yield f"--host {host} --port {as_shell(address.port)}", address.was


def _target(app: Application) -> CommandWords:
    """Yield the words for the application: MODULE:CALLABLE, and whether a call makes it."""
    if app.factory:
        yield "--factory", app.was
    yield as_shell(Expression.of(f"{app.module}:{app.callable.removesuffix('()')}")), app.was


def listens_on_first(addresses: tuple[Address, ...]) -> tuple[Address, ...]:
    """Return where a server of one address listens: at the first, by HTTP."""
    return tuple(replace(address, protocol="http") for address in addresses[:1])


def write_one_address(made: Translation, options: tuple[str, str]) -> None:
    """
    Say where a server of one address listens, by HTTP.

    Args:
        made: The translation.
        options: Those for a UNIX socket, and for host and port.
    """
    first, *others = made.service.addresses or (None,)
    name = made.to
    if first is not None and first.protocol == "http" and not first.elsewhere:
        made.same.append(Note(first.was, options[0] if first.path else options[1]))
    elif first is not None and first.protocol != "http":
        says = f"{name} speaks HTTP only, so nginx needs proxy_pass instead of uwsgi_pass"
        made.changed.append(Note(first.was, says))
    made.lost += [
        Note(address.was, f"{name} listens on one address") for address in others if address
    ]


def _computed(made: Translation, body: str, env: str) -> str:
    """
    Return what stands before a command: its numbers, with the lines that set variables.

    CPUs are counted first, as those variables may change what `nproc` prints.
    """
    cpus = CPUS if "CPUS" in body + environment_of(made) else ""
    return cpus + env + guards(line.value for line in made.lines if line.value is not None)


def environment_of(made: Translation) -> str:
    """Return the file of its environment variables; empty without any."""
    return "".join(f"{assignment(name, value)}\n" for name, value in _assigned(made))


def _assigned(made: Translation) -> Iterator[tuple[str, Expression]]:
    """Yield the variables that are set, each with its value."""
    senses_set = made.service.senses
    expressions = [*senses_set["environment"].values] if "environment" in senses_set else []
    if "pythonpath" in senses_set:
        folders = senses_set["pythonpath"].values
        parts = [part for value in folders for part in (":", *value.parts)][1:]
        expressions.append(Expression(("PYTHONPATH=", *parts)))
    for value in expressions:
        name, _, text = str(value.parts[0]).partition("=")
        yield name, Expression((text, *value.parts[1:]))
