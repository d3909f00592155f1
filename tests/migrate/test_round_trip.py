"""There and back again: what two servers can both say is what it was."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from lab.cli.migrate.migration import migrated
from lab.config.hypercorn.command import TABLE
from lab.config.servers import TRANSLATABLE
from lab.config.vocabulary.senses import senses

PAIRS = [*itertools.permutations(TRANSLATABLE, 2)]
ASGI_ALONE = {"uvicorn", "hypercorn"}
PAIRS = [pair for pair in PAIRS if "uwsgi" not in pair or not ASGI_ALONE & {*pair}]
VALUES = {"number": "700", "seconds": "60", "MiB": "300", "bytes": "9000", "text": "/srv/x"}
LINES = {
    "uwsgi": "[uwsgi]\nhttp-socket = 127.0.0.1:8000\nmodule = shop.wsgi\n{}\n",
    "gunicorn": 'bind = "127.0.0.1:8000"\nwsgi_app = "shop.wsgi:application"\n{}\n',
    "granian": "granian --interface wsgi --host 127.0.0.1 --port 8000 {} shop.wsgi:application",
}
LINES_OF_ASGI = {
    "gunicorn": LINES["gunicorn"] + 'worker_class = "asgi"\n',
    "granian": LINES["granian"].replace("wsgi --host", "asgi --host"),
    "uvicorn": "uvicorn --host 127.0.0.1 --port 8000 {} shop.wsgi:application",
    "hypercorn": "hypercorn --bind 127.0.0.1:8000 {} shop.wsgi:application",
}
FORMS = {
    "uwsgi": "{} = {}",
    "gunicorn": "{} = {!r}",
    "granian": "--{} {}",
    "uvicorn": "--{} {}",
    "hypercorn": "--{} {}",
}
TEXTS = {"event-loop": "asyncio", "lifespan": "on", "log-level": "info"}
"""Key of a sense of few texts -> one that all servers know."""
SPECIAL = {
    "socket-mode",
    "log-format",
    "greenlets",
    "header-bytes",
    "keepalive",
    "static-expires",
    "prefix",
    "client-ca",
    "http-versions",
    "http2-frame",
    "ciphers",
    "websockets",
}
"""Senses that one of them says in words of its own."""
SPECIAL_OF_HYPERCORN = {
    *("requests-jitter", "certificate", "certificate-key", "http2-streams", "http2-headers"),
    *("ws-bytes", "ws-ping", "server-header", "date-header", "access-log", "event-loop"),
}
"""Those that its file alone has, or that go with another option; tests/migrate/test_asgi_pairs.py
asks the servers."""


def both_say(one, other):
    """Yield the senses for which both have an option of their own."""
    for key, sense in senses().items():
        columns = [sense.columns.get(program) for program in (one, other)]
        if "hypercorn" in {one, other} and key in SPECIAL_OF_HYPERCORN:
            continue
        if ASGI_ALONE & {one, other}:
            columns = [column and replace(column, **column.asgi) for column in columns]
        elif key == "event-loop":
            continue
        both = all(column is not None and column.names and not column.lost for column in columns)
        if both and key not in SPECIAL and sense.kind != "list":
            yield key, sense, columns[0]


CASES = [
    pytest.param(one, other, sense, column, id=f"{one}-{other}-{key}")
    for one, other in PAIRS
    for key, sense, column in both_say(one, other)
]


def moved(folder, program, text, to):
    """Return what a configuration becomes; granian's is the command of its script."""
    if program in {"granian", *ASGI_ALONE}:
        return migrated(text.rpartition("exec ")[2].replace("\\\n", " "), to, {})
    path = folder / TRANSLATABLE[program].output
    path.write_text(text)
    return migrated(str(path), to, {})


def written(one, sense, column, lines):
    """Return the option of a sense as a configuration has it."""
    if sense.kind == "switch":
        value = {"uwsgi": "true", "gunicorn": True, "granian": "", "uvicorn": "", "hypercorn": ""}[
            one
        ]
    else:
        value = "7000" if column.unit == "ms" else TEXTS.get(sense.key, VALUES[sense.kind])
    if one == "gunicorn" and sense.is_number:
        value = int(value)
    # The words of hypercorn's command are others than the names in its file.
    name = column.names[0]
    name = TABLE.spelt(name, "true")[0][2:] if one == "hypercorn" else name
    return lines[one].format(FORMS[one].format(name, value))


@pytest.mark.parametrize(("one", "other", "sense", "column"), CASES)
def test_there_and_back_again(tmp_path, one, other, sense, column):
    """An option that both have keeps its value, as do the address and what is served."""
    lines = LINES_OF_ASGI if ASGI_ALONE & {one, other} else LINES
    there = moved(tmp_path, one, written(one, sense, column, lines), other)
    back = moved(tmp_path, other, there.text, one)
    again = moved(tmp_path, one, back.text, other)
    first, last = (migration.translation.service for migration in (there, again))
    assert last.senses[sense.key].values == first.senses[sense.key].values
    assert last.senses[sense.key].on == first.senses[sense.key].on
    assert [str(address.port) for address in last.addresses] == ["8000"]
    assert str(last.application) == "shop.wsgi:application"
