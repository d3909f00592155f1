"""Every option of a configuration ends in a list of its migration."""

from __future__ import annotations

import re

import pytest

from lab.cli.migrate.migration import HIDDEN, migrated
from lab.cli.migrate.reader import read
from lab.config import servers
from lab.config.vocabulary.service import written
from tests.kit.lab_process import ROOT

SEVERAL = frozenset(
    {"https", "https-socket", "daemonize", "daemonize2", "socket", "wsgi-file", "mount"}
    | {"gevent", "worker_class", "worker_connections"}
)
"""Options with several meanings, or several times in a file, which may stand in several lists."""

STRUCTURE = re.compile(
    "(end)?(if|for)(-.*)?|ini|include|inherit|set(-ph|-placeholder)?|static-path-.*|timeout"
)
"""
Options that are read to find the others, or of a list with another one. A timeout that ends no
request is in no list, either.
"""


def unlisted(name, to):
    """Yield the options that stand in no list, or in several."""
    config = read(name, {})
    lists = {key: notes for key, notes in migrated(name, to, {}).lists.items() if key != HIDDEN}
    options = servers.of_config(config).options()
    is_file = servers.of_config(config).program == "gunicorn"
    settings = [
        setting for setting in config.settings if not is_file or setting is last(config, setting)
    ]
    for setting in settings:
        if setting.option not in options or STRUCTURE.fullmatch(setting.option):
            continue
        inside = [
            key
            for key, notes in lists.items()
            if any(_names(note.was, setting.option, written(setting)) for note in notes)
        ]
        if not inside or (len(inside) > 1 and setting.option not in SEVERAL):
            yield f"{written(setting)}: {inside}"


def last(config, setting):
    """Return the setting of that name which counts."""
    return config.last(setting.option)


def _names(text, option, whole):
    """Return whether a note is about an option: as it is written, an entry of it, or its line."""
    text, whole = (re.sub("['\"]", "", string) for string in (text, whole))
    entry = re.match(rf"line \d+: {re.escape(option)}\b|{re.escape(option)}(:|$)", text)
    return entry is not None or whole == text or f", {whole}, " in f", {text}, "


@pytest.mark.parametrize("to", ["gunicorn", "granian"])
def test_the_options_of_public_inis(to):
    """Of each ini in tests/inis."""
    for path in sorted((ROOT / "tests" / "inis").glob("*.ini")):
        assert list(unlisted(str(path), to)) == [], path.name
