"""gunicorn's command: what it sets, with the file that it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from lab.config.configuration import Config, Known
from lab.config.gunicorn import PROGRAM
from lab.config.gunicorn.reader import carried, read, spellings, takes_no_value
from lab.config.spot import Setting
from lab.config.words import OFF, Argument, Command, arguments, command_of
from lab.errors import ProfileError

REPEATED = frozenset(
    {"bind", "reload_extra_files", "raw_env", "raw_paste_global_conf", "dirty_apps"}
)
"""Settings of which each word of a command counts, and not the last alone."""


@cache
def short() -> frozenset[str]:
    """Return its options of one letter."""
    return frozenset(word for word in words() if len(word) == 2)


@cache
def words() -> Mapping[str, str]:
    """Return option of its command, with its dashes -> setting."""
    settings: dict[str, list[str]] = carried()["settings"]
    return {word: name for name, spelt in settings.items() for word in spelt}


@cache
def whole(word: str) -> str:
    """
    Return the option that a word of its command abbreviates, as argparse takes it; else the word.

    >>> whole("--timeou"), whole("--worker")
    ('--timeout', '--worker')
    """
    meant = [option for option in words() if option.startswith(word) and word[:2] == "--"]
    return meant[0] if len(meant) == 1 and word not in words() else word


def setting_of(word: str) -> str:
    """Return the setting that a word of its command stands for; the word where there is none."""
    word = whole(word)
    return words().get(word) or spellings().get(word.lstrip("-").replace("-", "_"), word)


def is_command(config: Config) -> bool:
    """Return whether a configuration is a command, or what one has become, and no module."""
    return config.file.name == PROGRAM or not config.texts


def is_flag(option: str) -> bool:
    """Return whether an option of its command takes no value."""
    return any(map(takes_no_value, carried()["settings"].get(option, ())))


def spelt(option: str, value: str) -> Sequence[str]:
    """
    Return the words that set a setting; none of a flag that is off.

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
    """Return the options of a command, and its other words."""
    return _given(_command(config.texts[config.file], config.file))


def read_command(path: Path, known: Known) -> Config:
    """
    Return the settings of a command, with those of the file that it names before them.

    Raises:
        ProfileError: It is none of gunicorn's, or names a file that cannot be read.
    """
    text = known.required(path)
    command = _command(text, path)
    given = _given(command)
    found = list(_joined([*_settings(given)]))
    file = [
        _named(setting.value, known).settings for setting in found if setting.option == "config"
    ]
    if not file and known.cwd and known.is_file(known.cwd / BY_ITSELF):
        file = [read(known.cwd / BY_ITSELF, known).settings]
    own = [setting for setting in found if setting.option != "config"]
    names = {setting.option for setting in own}  # which win, also over a list
    settings = (
        *(setting for setting in (file[-1] if file else ()) if setting.option not in names),
        *own,
    )
    files = frozenset({path, *(setting.spot.file for setting in settings)})
    return Config(
        PROGRAM,
        path,
        settings,
        {path: text},
        known,
        top=command.program.spot,
        forms=files,
        refused=tuple(_refused(given)),
    )


BY_ITSELF = "gunicorn.conf.py"
"""What it reads in the folder that it is started in, where its command names no other file."""


def _named(value: str, known: Known) -> Config:
    """Return the file that --config names; raise ProfileError where it is not there."""
    if value.startswith("python:"):
        raise ProfileError(value, "is a module, and lab imports nothing: give the file")
    path = (known.cwd or Path()) / value.removeprefix("file:")
    if path not in known.overlay and not path.is_file():
        raise ProfileError(value, "the file does not exist, so gunicorn does not start")
    return read(path, known)


def _refused(given: Sequence[Argument | Setting]) -> Iterator[tuple[Setting, str]]:
    """Yield the options with which it does not start, and why."""
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
        if word.reads_variables:  # of a shell's variable only running it would tell
            raw = word.unquoted or f"[shell({value!r})]"
            yield Setting(name, "", word.word.spot, raw)
            continue
        raw = value if value.isdecimal() or value == "True" else repr(value)
        yield Setting(name, value, word.word.spot, raw)


def _joined(settings: Sequence[Setting]) -> Iterator[Setting]:
    """Yield settings; one that is said several times, and of which each counts, is a list once."""
    for setting in settings:
        own = [other for other in settings if other.option == setting.option]
        if setting.option not in REPEATED or len(own) == 1:
            yield setting
        elif setting is own[-1]:
            texts = [other.value for other in own]
            if all(texts):
                yield replace(setting, value=str(texts), raw=repr(texts))
            else:  # of a variable only running it would tell
                entries = (repr(o.value) if o.value else f"shell({o.raw!r})" for o in own)
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
