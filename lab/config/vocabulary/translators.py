"""Each server's reader and writer, by its program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from lab.config.configuration import Config, Known
from lab.config.granian import translator as of_granian
from lab.config.gunicorn import translator as of_gunicorn
from lab.config.gunicorn import writer
from lab.config.interface import ASGI, UNKNOWN, WSGI
from lab.config.uwsgi import translator as of_uwsgi
from lab.config.vocabulary.service import Service
from lab.config.vocabulary.translation import Special, Translation, Words, translate
from lab.errors import UsageError
from lab.model.wording import in_a_line


@dataclass(frozen=True, slots=True)
class Translator:
    """How one server's configuration is read and written."""

    program: str
    name: str
    """As its project writes it."""

    file: str
    """What its configuration is called."""

    of_command: Callable[[Sequence[str], Known], Config]
    """Reads the words behind its program, as they are written."""

    service_of: Callable[[Config], Service]
    special: Special
    text_of: Callable[[Translation], str]
    start_of: Callable[[Translation, str], str]
    added: Callable[[Translation], None] = lambda _: None
    words: Words = field(default_factory=Words)
    environment_of: Callable[[Translation], str] = lambda _: ""
    """Returns the file of environment variables beside it; empty where none is needed."""

    script_of: Callable[[Translation], str] = lambda _: ""
    """Returns a script for sh that prints words with a NUL behind each: NAME=VALUE of its
    environment, an empty one, and the command which says all; empty where a file says it."""

    speaks_uwsgi: bool = False
    """Whether it takes the uwsgi protocol from nginx."""

    serves: tuple[str, ...] = (WSGI, ASGI)
    """The interfaces by which it calls an application."""


TRANSLATORS: Mapping[str, Translator] = {
    "uwsgi": Translator(
        "uwsgi",
        "uWSGI",
        "uwsgi.ini",
        of_uwsgi.of_command,
        of_uwsgi.service_of,
        of_uwsgi.special,
        of_uwsgi.text_of,
        of_uwsgi.start_of,
        of_uwsgi.added,
        speaks_uwsgi=True,
        serves=(WSGI,),
    ),
    "gunicorn": Translator(
        "gunicorn",
        "gunicorn",
        "gunicorn.conf.py",
        of_gunicorn.of_command,
        of_gunicorn.service_of,
        of_gunicorn.special,
        writer.text_of,
        writer.start_of,
        of_gunicorn.added,
        words=writer.WORDS,
        speaks_uwsgi=True,
    ),
    "granian": Translator(
        "granian",
        "granian",
        "granian.sh",
        of_granian.of_command,
        of_granian.service_of,
        of_granian.special,
        of_granian.text_of,
        of_granian.start_of,
        of_granian.added,
        words=of_granian.WORDS,
        environment_of=of_granian.environment_of,
        script_of=of_granian.script_of,
    ),
}
"""By program; a further server is one more."""


def check_serves(name: str, service: Service, to: str) -> None:
    """
    Refuse a server that does not call an application as its own server does.

    Args:
        name: The configuration, as it was typed.
        service: What it asks for.
        to: Program of the other server.

    Raises:
        UsageError: It does not serve that interface.
    """
    interface = service.interface
    if interface in TRANSLATORS[to].serves:
        return
    if interface == UNKNOWN:
        problem = "does not say whether its application is WSGI or ASGI: write its worker_class"
        raise UsageError(f"{in_a_line(name)} {problem} as a class of gunicorn's or uvicorn's")
    way = f"write --interface {WSGI} or {ASGI}, if that is what its application is"
    if interface == ASGI:
        others = (each.program for each in TRANSLATORS.values() if ASGI in each.serves)
        other = next(each for each in others if each != service.program)
        way = f"translate it to {other}, or serve a2wsgi.ASGIMiddleware(app) in its place"
    problem = f"serves an {interface.upper()} application, which {TRANSLATORS[to].name} cannot"
    raise UsageError(f"{in_a_line(name)} {problem}: {way}")


def translated(config: Config, program: str, to: str) -> Translation:
    """Return what a configuration of one server is for another."""
    writer = TRANSLATORS[to]
    service = TRANSLATORS[program].service_of(config)
    return translate(service, to, writer.special, writer.added, writer.words)
