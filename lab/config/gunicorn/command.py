"""Read a gunicorn command, with the configuration file that it names."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from lab.config.configuration import Config, Known
from lab.config.files import is_file
from lab.config.gunicorn import PROGRAM
from lab.config.gunicorn.reader import carried, read, spellings, takes_no_value
from lab.config.spot import Setting
from lab.config.words import OFF, Argument, Command, arguments, command_of, with_literals
from lab.errors import ProfileError

REPEATED = frozenset(
    {"bind", "reload_extra_files", "raw_env", "raw_paste_global_conf", "dirty_apps"}
)
"""Settings that a command can set several times; all values count."""


@cache
def short() -> frozenset[str]:
    """Return the options of one letter."""
    return frozenset(word for word in words() if len(word) == 2)


@cache
def words() -> Mapping[str, str]:
    """Return command-line option, with its dashes -> setting."""
    settings: dict[str, list[str]] = carried()["settings"]
    return {option: name for name, options in settings.items() for option in options}


@cache
def whole(word: str) -> str:
    """
    Return the option that a word abbreviates, as argparse does; or the word itself.

    >>> whole("--timeou"), whole("--worker")
    ('--timeout', '--worker')
    """
    options = [option for option in words() if option.startswith(word) and word[:2] == "--"]
    return options[0] if len(options) == 1 and word not in words() else word


def setting_of(word: str) -> str:
    """Return the setting of a command-line option; the word itself if it is none."""
    word = whole(word)
    return words().get(word) or spellings().get(word.lstrip("-").replace("-", "_"), word)


def is_command(config: Config) -> bool:
    """Return whether a configuration is a command, and not a Python file."""
    return config.file.name == PROGRAM or not config.texts


def is_flag(option: str) -> bool:
    """Return whether a setting has a command-line option without a value."""
    return any(map(takes_no_value, carried()["settings"].get(option, ())))


def spelt(option: str, value: str) -> Sequence[str]:
    """
    Return the words that set a setting; empty for a flag that is off.

    >>> spelt("workers", "4"), spelt("preload_app", "true"), spelt("preload_app", "false")
    (('--workers', '4'), ('--preload',), ())
    """
    word = next(
        (word for word in carried()["settings"].get(option, ()) if word.startswith("--")), None
    )
    if word is None:
        raise ProfileError(option, "gunicorn's command line has no such option: write it in a file")
    if takes_no_value(word):
        return () if value.lower() in OFF else (word,)
    return word, value


def given(config: Config) -> list[Argument | Setting]:
    """Return the options of a command, and its other words as settings."""
    return _given(_command(config.texts[config.file], config.file))


def read_command(path: Path, known: Known) -> Config:
    """
    Read the settings of a command, and before them those of its configuration file.

    Raises:
        ProfileError: It is no gunicorn command, or its file cannot be read.
    """
    text = known.required(path)
    command = _command(text, path)
    given = _given(command)
    in_command = list(_joined([*_settings(given)]))
    defaults, words_of_variable = _variables(command.before)
    in_variable = list(_joined([*_settings(words_of_variable)]))
    names_file = [setting for setting in (*in_variable, *in_command) if setting.option == "config"]
    named = names_file[-1:]
    unread = [setting for setting in named if known.lacks(_file_of(setting.value))]
    file = [] if unread else [_named(setting.value, known).settings for setting in named]
    in_variable = [setting for setting in in_variable if setting.option != "config"]
    if not names_file and known.cwd and known.is_file(known.cwd / DEFAULT_FILE):
        file = [read(known.cwd / DEFAULT_FILE, known).settings]
    of_command = [setting for setting in in_command if setting.option != "config"]
    layers = (defaults, file[-1] if file else (), in_variable, of_command)
    settings = tuple(_winning(layers))
    files = frozenset({path, *(setting.spot.file for setting in settings)})
    return Config(
        PROGRAM,
        path,
        settings,
        {path: text},
        known,
        top=command.program.spot,
        guesses="the file of --config is not here" * bool(unread),
        unread_includes=tuple((setting.value or setting.raw, setting) for setting in unread),
        forms=files,
        refused=tuple(_refused([*words_of_variable, *given])),
    )


def _winning(layers: Sequence[Sequence[Setting]]) -> Iterator[Setting]:
    """Yield the settings of each layer that no later one has, which wins also over a list."""
    for at, layer in enumerate(layers):
        later = {setting.option for above in layers[at + 1 :] for setting in above}
        yield from (setting for setting in layer if setting.option not in later)


DEFAULTS = {
    "WEB_CONCURRENCY": ("workers", "{}"),
    "FORWARDED_ALLOW_IPS": ("forwarded_allow_ips", "{}"),
    "PORT": ("bind", "0.0.0.0:{}"),
}
"""Variable that gunicorn reads -> the setting whose default it is, and the value of that."""

ARGUMENTS = "GUNICORN_CMD_ARGS"
"""The variable whose words are options: they win over a file, and the command over them."""


def _variables(before: Sequence[Setting]) -> tuple[list[Setting], list[Argument | Setting]]:
    """
    Return the defaults that variables before a command set, and the options that one has.

    Raises:
        ProfileError: The options are unknown.
    """
    defaults: list[Setting] = []
    options: list[Argument | Setting] = []
    for word in before:
        name, _, value = word.value.partition("=")
        if name not in {*DEFAULTS, ARGUMENTS}:
            continue
        computed = "$" in with_literals(word.raw)
        if name in DEFAULTS:
            setting, form = DEFAULTS[name]
            text = form.format(value)
            if computed:
                whole_value = Argument(word, name, value).unquoted * (form == "{}")
                raw, text = whole_value or f"[shell({text!r})]", ""
            else:
                raw = text if text.isdecimal() else repr(text)
            defaults.append(Setting(setting, text, word.spot, raw))
            continue
        if computed:
            problem = "has a variable, so its options are unknown: write them in the command"
            raise ProfileError(ARGUMENTS, problem)
        try:
            texts = shlex.split(value)
        except ValueError as error:
            raise ProfileError(ARGUMENTS, f"is not a list of options: {error}") from None
        spot = word.spot
        words = [Setting("", text, spot, shlex.quote(text), spot.column) for text in texts]
        parsed = arguments(words, lambda word: takes_no_value(whole(word)), short())
        options = [argument for argument in parsed if isinstance(argument, Argument)]
    return defaults, options


DEFAULT_FILE = "gunicorn.conf.py"
"""The file that gunicorn reads in its working folder, unless the command names another."""


def _file_of(value: str) -> str:
    """
    Return the file that --config names; of a module, that below the working folder.

    >>> _file_of("file:shop.py"), _file_of("python:config.gunicorn")
    ('shop.py', 'config/gunicorn.py')
    """
    if re.fullmatch(r"python:[\w.]+", value):
        return value.removeprefix("python:").replace(".", "/") + ".py"
    return value.removeprefix("file:")


def _named(value: str, known: Known) -> Config:
    """Read the file of --config; raise ProfileError if it does not exist."""
    if not value:
        raise ProfileError("--config", "has a variable, so its file is unknown: name the file")
    path = known.named(_file_of(value))
    if path not in known.overlay and not is_file(path):
        if value.startswith("python:"):
            problem = f"is a module, {_file_of(value)} does not exist here, and lab imports nothing"
            raise ProfileError(value, f"{problem}: give the file")
        raise ProfileError(value, "the file does not exist here, so its settings are unknown")
    return read(path, known)


def _refused(given: Sequence[Argument | Setting]) -> Iterator[tuple[Setting, str]]:
    """Yield the options with which gunicorn does not start, and the reasons."""
    for argument in given:
        if not isinstance(argument, Setting) and (problem := _problem(argument)):
            spot = argument.word.spot
            yield Setting(argument.name, argument.value, spot, argument.raw), problem


def _problem(argument: Argument) -> str:
    """Return why gunicorn does not start with an option; empty if it does."""
    option = whole(argument.name)
    if option not in words():
        return "gunicorn has no such option"
    if not argument.value and not takes_no_value(option):
        return "the option needs a value"
    return ""


def _settings(given: Sequence[Argument | Setting]) -> Iterator[Setting]:
    for word in given:
        if isinstance(word, Setting):
            yield Setting("wsgi_app", word.value, word.spot, repr(word.value))
            continue
        if _problem(word):
            continue
        option = whole(word.name)
        name = words()[option]
        value = "True" if takes_no_value(option) else word.value
        if word.reads_variables:  # the value of a shell variable is unknown
            raw = word.unquoted or f"[shell({value!r})]"
            yield Setting(name, "", word.word.spot, raw)
            continue
        raw = value if value.isdecimal() or value == "True" else repr(value)
        yield Setting(name, value, word.word.spot, raw)


def _joined(settings: Sequence[Setting]) -> Iterator[Setting]:
    """Yield the settings; repeated ones of `REPEATED` are joined to one list."""
    for setting in settings:
        repeats = [other for other in settings if other.option == setting.option]
        if setting.option not in REPEATED or len(repeats) == 1:
            yield setting
        elif setting is repeats[-1]:
            texts = [other.value for other in repeats]
            if all(texts):
                yield replace(setting, value=str(texts), raw=repr(texts))
            else:  # the value of a shell variable is unknown
                entries = (repr(o.value) if o.value else f"shell({o.raw!r})" for o in repeats)
                yield replace(setting, value="", raw=f"[{', '.join(entries)}]")


def _command(text: str, path: Path) -> Command:
    command = command_of(text, path, PROGRAM)
    if command is None:
        raise ProfileError(
            path, f"is not a gunicorn command: it does not contain the word `{PROGRAM}`"
        )
    return command


def _given(command: Command) -> list[Argument | Setting]:
    return list(arguments(command.behind, lambda word: takes_no_value(whole(word)), short()))
