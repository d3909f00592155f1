"""Options that the command of a server does not have, and values that the server refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from lab.config import fastapi_run
from lab.config.command_table import CommandTable
from lab.config.sources import DEVELOPMENT
from lab.config.steps import Drop
from lab.config.templates import filled
from lab.lint.rules.alike import DIGITS
from lab.lint.rules.rule import Case, Edit, Fix, Flaw, Setting


def unknown_options(
    config: Case, table: CommandTable, instead: Mapping[str, str]
) -> Iterator[Flaw]:
    """
    Yield the options and variables that a server does not have.

    Args:
        config: The command.
        table: The options of the server.
        instead: Option of an earlier version, or of another server -> what to write; "" for
            nothing like it.
    """
    for setting in config.settings:
        name = setting.option
        if name in table.options:
            continue
        if table.variable.match(f"{name}="):
            yield from _unknown_variable(config, table, setting, instead)
            continue
        long = name if name.startswith("-") else f"--{name}"
        close = config.table.nearest(name, table.options)
        meant = instead.get(name, f"--{close}" if close else "")
        text = f"{long}: {table.program} {table.version} has no such option and does not start"
        there = meant and config.last(meant.removeprefix("--"))
        fix = None
        if meant.removeprefix("--") in table.options and not there:
            edit = Edit(setting.spot, long, meant)
            fix = Fix((edit,), safe=False, description=meant)
        say = f"{meant} is already set; leave this one out" if there else f"write {meant}"
        yield config.flaw(setting.spot, f"{text}; {say if meant else 'leave it out'}", fix)


def _unknown_variable(
    config: Case, table: CommandTable, setting: Setting, instead: Mapping[str, str]
) -> Iterator[Flaw]:
    """Yield what is wrong with a variable that the server does not read."""
    # The variable of an option is not always called as the option is: GRANIAN_LOG_ACCESS_ENABLED.
    begins = f"{table.program.upper()}_"
    option = setting.option.removeprefix(begins).lower().replace("_", "-")
    entry = table.options.get(instead.get(option, option).removeprefix("--"))
    close = f"{begins}{entry['variable'].upper()}" if entry and "variable" in entry else None
    near = None if option in instead else config.table.nearest(setting.option, table.variables)
    meant = close or near
    text = f"{setting.option}: {table.program} does not read this variable, and does not warn"
    there = meant and config.last(table.variables[meant])
    fix = config.rename(setting, meant) if meant and not there else None
    say = f"write {meant}" if meant else "leave it out"
    yield config.flaw(setting.spot, f"{text}; {say}", fix, harmless=True)


def refused_values(config: Case, table: CommandTable) -> Iterator[Flaw]:
    """Yield the values that a server refuses: it prints `Invalid value`."""
    for setting in config.settings:
        entry, value = table.options.get(setting.option, {}), setting.value
        if not value or "$" in value or filled(value):  # something else is put there
            continue
        says = ""
        if "choices" in entry:
            is_class = entry.get("kind") == "import" and ":" in value
            spelt = value if entry.get("exact") else value.lower()
            if not is_class and spelt not in entry["choices"]:
                says = f"one of {', '.join(entry['choices'])}"
        elif "least" in entry:
            least, most = entry["least"], entry["most"]
            whole = value.isdecimal() and len(value) < DIGITS
            if not whole or (least or 0) > int(value) or (most is not None and int(value) > most):
                upto = f" to {most}" if most is not None else " or more" if least else ""
                says = f"a whole number{f', {least}' if least else ''}{upto}"
        elif entry.get("kind") == "number" and not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", value):
            says = "a number"
        if says:
            yield config.flaw(setting, f"{table.program} does not start; write {says}")


def cut_backlog(config: Case) -> Iterator[Flaw]:
    """Yield a backlog that the kernel shortens."""
    setting, most = config.last("backlog"), config.known.somaxconn
    if setting and most is not None and config.number("backlog") > most:
        text = (
            f"the kernel shortens it to {most} without a warning; raise net.core.somaxconn as well"
        )
        yield config.flaw(setting, text)


def reload_on(config: Case) -> Iterator[Flaw]:
    """Yield the option that starts the server again where a file changes."""
    setting = config.last("reload")
    if setting and config.on("reload") and "$" not in setting.value:
        yield config.flaw(setting, harmless=is_for_development(config), steps=(Drop("reload"),))


def only_of_uvicorn(config: Case) -> str:
    """Return what an advice needs where `fastapi run` starts uvicorn without such an option."""
    is_fastapi = config.start is not None and config.start.words[0] == fastapi_run.PROGRAM
    return ", which fastapi run has no option for: start uvicorn itself" if is_fastapi else ""


def is_for_development(config: Case) -> bool:
    """Return whether the name of a start command says so, as that of a stage may."""
    return config.start is not None and DEVELOPMENT.fullmatch(config.start.name) is not None


def missing_files(config: Case, table: CommandTable) -> Iterator[Flaw]:
    """Yield the files and folders that a server looks for, and that are not on this machine."""
    for setting in config.settings if config.known.here else ():
        is_path = table.options.get(setting.option, {}).get("kind") == "path"
        if not is_path or not setting.value or "$" in setting.value:
            continue
        path = config.known.named(setting.value)
        if not config.known.is_folder(path) and not config.known.exists(path):
            text = f"{path} does not exist, so {table.program} does not start; correct the path"
            yield config.flaw(setting, text)
