"""What an ini of uWSGI's serves: by module, by file, or by mount below a path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from lab.config.configuration import Config
from lab.config.spot import Setting
from lab.config.vocabulary.service import Application, SenseSetting, application_of, written
from lab.config.vocabulary.values import Expression

FILES = ("wsgi-file", "file")
"""Options that name the file of an application."""


def served(config: Config) -> Application | None:
    """Return the application of an ini; None where it names none."""
    module = config.last("module", "wsgi")
    file = config.last(*FILES)
    named = config.last("callable")
    callable_ = named.value if named else "application"
    beside = f", {written(named)}" if named else ""
    if module is not None:
        name, colon, called = module.value.partition(":")
        return application_of(
            name.removesuffix(".py"), called if colon else callable_, written(module) + beside
        )
    if file is not None:
        module_name = _module_of(file.value, config) if file.value.endswith(".py") else ""
        return application_of(module_name, callable_, written(file) + beside)
    mount = config.last("mount")
    return _of_mount(mount, config, callable_) if mount is not None else None


def unserved(config: Config) -> Iterator[tuple[str, str]]:
    """Yield a callable without a module, and a file beside one, each with what to do."""
    module, file = config.last("module", "wsgi"), config.last(*FILES)
    if module and file:
        yield written(file), "module names the application: make sure that both are the same"
    if (named := config.last("callable")) and not served(config):
        yield written(named), "no module is known that has it: write MODULE:CALLABLE"


def _of_mount(mount: Setting, config: Config, callable_: str) -> Application | None:
    target = mount.value.partition("=")[2]
    name, colon, called = target.partition(":")
    return application_of(_module_of(name, config), called if colon else callable_, written(mount))


def mounted(
    sense_settings: dict[str, SenseSetting], config: Config, application: Application | None
) -> tuple[dict[str, SenseSetting], list[tuple[str, str]]]:
    """Return the path that the application is below, and what is mounted besides."""
    if "prefix" not in sense_settings:
        return sense_settings, []
    *others, mount = config.all("mount")
    path = mount.value.partition("=")[0]
    lost = [
        (written(setting), "another application: run a second server for it") for setting in others
    ]
    kept = {key: sense_setting for key, sense_setting in sense_settings.items() if key != "prefix"}
    if config.last("module", "wsgi", *FILES):
        lost.append((written(mount), "left out: module names the application"))
    elif path.startswith("/"):
        was = replace(sense_settings["prefix"], was=written(mount), values=(Expression.of(path),))
        kept |= {"prefix": was} if application is not None and path != "/" else {}
    else:
        lost.append((written(mount), "an application for one host: use server_name of nginx"))
    return kept, lost


def _module_of(file: str, config: Config) -> str:
    """Return the module that a file is, as seen from the folder that is served from."""
    folder = config.last("chdir")
    path = PurePosixPath(file)
    if folder and path.is_relative_to(folder.value):
        path = path.relative_to(folder.value)
    if path.is_absolute():
        return path.stem
    return ".".join(path.with_suffix("").parts) if path.suffix == ".py" else str(path)
