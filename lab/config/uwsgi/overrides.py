"""
What the user says otherwise than their ini: options that are left out, and other folders.

An ini of a container names folders of that container, and its users. So a run may be told where
they are here, or to do without: by --chdir, --python and --drop. It counts before anything is
judged or refused, so that what is served must be there, and not what stands in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lab.config.configuration import Config
from lab.config.spot import Setting
from lab.config.uwsgi import PYTHONPATH
from lab.config.uwsgi.variables import as_options
from lab.model.runtime import HOME, Alteration, Runtime

Options = Sequence[tuple[str, str]]

WITH_IT = frozenset({"chdir2", "wsgi-file", "file", *PYTHONPATH, *HOME})
"""Options that move with the folder of `chdir`, where they name it or something in it."""


@dataclass(frozen=True, slots=True)
class Otherwise:
    """What is otherwise in an ini."""

    runtime: Runtime
    folder: str | None
    """Its `chdir`; None without one."""

    @classmethod
    def of(cls, runtime: Runtime, options: Options) -> Otherwise:
        """Return what is otherwise in these options."""
        return cls(runtime, dict(options).get("chdir"))

    def altered(self, option: str, value: str) -> Alteration | None:
        """Return what becomes of an option; None where it stays as it is."""
        if option in self.runtime.drop:
            return Alteration(option, value, None, "--drop")
        if option in HOME and self.runtime.python is not None:
            return Alteration(option, value, None, "--python names the environment")
        new = self._moved(option, value)
        return Alteration(option, value, new) if new != value else None

    def _moved(self, option: str, value: str) -> str:
        if self.runtime.chdir is None:
            return value
        if option == "chdir":
            return str(self.runtime.chdir)
        folder = (self.folder or "").rstrip("/")
        if option in WITH_IT and folder.startswith("/") and f"{value}/".startswith(f"{folder}/"):
            return f"{self.runtime.chdir}{value.removeprefix(folder)}"
        return value

    @property
    def added(self) -> str:
        """The folder that an ini without `chdir` gets; empty where none is to be added."""
        wanted = self.folder is None and self.runtime.chdir is not None
        return str(self.runtime.chdir) if wanted else ""


def effective_options(
    options: Options, runtime: Runtime
) -> tuple[list[tuple[str, str]], list[Alteration]]:
    """
    Return the options of an ini as the user tells them, and what is otherwise.

    >>> said = Runtime(drop=frozenset({"uid"}))
    >>> options, altered = effective_options([("uid", "www-data"), ("threads", "2")], said)
    >>> options, str(*altered)
    ([('threads', '2')], 'uid = www-data (--drop)')
    """
    otherwise = Otherwise.of(runtime, options)
    kept, altered = [], list(_of_environment(runtime))
    for option, value in options:
        if (change := otherwise.altered(option, value)) is None:
            kept.append((option, value))
            continue
        altered.append(change)
        if change.became is not None:
            kept.append((option, change.became))
    if otherwise.added:
        kept.append(("chdir", otherwise.added))
        altered.append(Alteration("chdir", "", otherwise.added, "--chdir"))
    return kept, altered


def effective_config(config: Config, runtime: Runtime) -> Config:
    """Return the same of a configuration with its places."""
    otherwise = Otherwise.of(
        runtime, [(setting.option, setting.value) for setting in config.settings]
    )
    settings = list[Setting]()
    for setting in config.settings:
        change = otherwise.altered(setting.option, setting.value)
        if change is None:
            settings.append(setting)
        elif change.became is not None:
            settings.append(replace(setting, value=change.became))
    if otherwise.added:
        settings.append(Setting("chdir", otherwise.added, config.top, otherwise.added))
    return replace(config, settings=tuple(settings))


def unset(value: str) -> list[str]:
    """
    Return the variables in a value that uWSGI has not replaced, because they are not set.

    >>> unset("$(SITE)/wsgi.py")
    ['SITE']
    """
    return re.findall(r"\$\((\w+)\)", value)


def by_env(names: Sequence[str]) -> str:
    """Return which flags give these variables a value; empty without any."""
    given = " ".join(f"--env {name}=VALUE" for name in names)
    return f"set it to the value in your container: {given}" if given else ""


def by_drop(option: str) -> str:
    """Return which flag leaves an option out."""
    return f"--drop {option} leaves it out"


def by_variable(message: str, runtime: Runtime) -> str:
    """
    Return a message about an option that a variable makes, with the variable; "" of another.

    >>> from lab.model.runtime import Variables
    >>> said = Runtime(variables=Variables.of({"UWSGI_CHEAPER": "8"}, "digest"))
    >>> by_variable("cheaper: too many", said)
    'cheaper = 8 (UWSGI_CHEAPER of --env): too many'
    """
    for change in _of_environment(runtime):
        if message.startswith(f"{change.option}: "):
            return f"{change}{message.removeprefix(change.option)}"
    return ""


def _of_environment(runtime: Runtime) -> Iterator[Alteration]:
    """Yield what variables make options of the ini."""
    for name, option, value in as_options(runtime.variables.options):
        yield Alteration(option, "", value, f"{name} of --env")
