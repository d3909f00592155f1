"""Asks an installed uWSGI what it gets from a file, of which it alone can be sure."""

from __future__ import annotations

import re
from pathlib import Path

from lab.errors import ProfileError
from lab.profiles import asking, resolve
from lab.settings.lint.config import Config, Known
from lab.settings.lint.flaw import Spot
from lab.settings.lint.sections import OTHER_FORMS
from lab.settings.uwsgi.acting import acting
from lab.settings.uwsgi.table import uwsgi_options


def read(path: Path, text: str, known: Known) -> Config:
    """
    Return the configuration in a file that is no ini: YAML, JSON or XML.

    Raises:
        ProfileError: uWSGI cannot be asked, or does not read it, or not to its end.
    """
    spot, absent = Spot(path, 1, 1), (path, "uwsgi", None)
    empty = Config("uWSGI", path, (), {path: text}, known, uwsgi_options(), spot, absent=(absent,))
    if found := acting(empty):
        raise ProfileError(path, f"cannot be read without doing what it says: {found}")
    return _whole(resolve.as_read(empty, options(empty)))


def _whole(config: Config) -> Config:
    """
    Return a configuration of which uWSGI has read all lines.

    Its own reader of YAML (core/yaml.c) knows `option: value` alone, and ends at a list in silence.

    Raises:
        ProfileError: It has not.
    """
    values = {each.value for each in config.settings}
    last = max((each.spot.line for each in config.settings), default=0)
    for spot, line in config.lines() if last and config.file.suffix in {".yaml", ".yml"} else ():
        text = line.strip()
        if spot.line <= last or not text or text.startswith("#"):
            continue
        # A build with libyaml does read lists; what it replaces in a value is not looked at.
        item = re.sub(r"""^-\s*|["']""", "", text)
        if line[0].isspace() and item not in values and not re.search("[%$@]", item):
            problem = (
                f"uWSGI stops to read at {text!r}; write `option: value`, a line for each value"
            )
            raise ProfileError(config.file, problem, spot.line)
        break
    return config


def checked(config: Config) -> Config:
    """Return the configuration as uWSGI reads it, where one is installed and that is another."""
    if config.server != "uWSGI" or config.known.uwsgi is None:
        return config
    if config.guesses or acting(config):
        return config
    try:
        return resolve.as_read(config, options(config))
    except ProfileError:
        return config  # it is refused, and rules say why


def options(config: Config) -> list[tuple[str, str]]:
    """
    Return the options that uWSGI itself gets from a file.

    Raises:
        ProfileError: There is none that can read it, or it refuses it.
    """
    known, path = config.known, config.file
    if known.uwsgi is None:
        problem = (
            "uWSGI itself has to read this form, and none is installed: pip install uwsgi, or "
        )
        raise ProfileError(path, f"{problem}name one by --uwsgi PATH, or write an .ini")
    whole = asking.named(path, known.section)
    # By its name alone uWSGI knows the other forms. An ini it is told, as `resolve` tells it: else
    # variables such as %P are empty.
    form = () if path.suffix in OTHER_FORMS else ("--ini",)
    try:
        cwd = known.cwd or path.absolute().parent
        printed = asking.ask(known.uwsgi, (*form, whole), path, cwd, known.environ)
    except OSError as error:
        problem = f"{known.uwsgi} cannot be asked what it means: {error.strerror}"
        raise ProfileError(path, problem) from error
    if asking.whole(printed):
        return asking.pairs(asking.listed(printed))[len(form) :]
    if printed[-1:] == [f"unable to load configuration from {whole}"]:
        problem = f"this uWSGI was built without {path.suffix}: write an .ini"
        raise ProfileError(path, f"{problem}, or name another by --uwsgi PATH")
    lines = [line for line in printed if line.strip()]
    said = next((line for line in lines if "parser error" in line), "".join(lines[-1:]))
    raise ProfileError(path, f"uWSGI refuses it: {said}")
