"""Meanings of the vocabulary, written as settings of gunicorn."""

from __future__ import annotations

import re

from lab.config.configuration import Config
from lab.config.gunicorn import PROGRAM
from lab.config.gunicorn.command import is_command
from lab.config.gunicorn.reader import check_settings
from lab.config.gunicorn.service import VERSIONS, service_of
from lab.config.gunicorn.writer import WORDS, bind_of, files, spoken
from lab.config.interface import ASGI
from lab.config.vocabulary.addresses import as_http
from lab.config.vocabulary.senses import Spelling
from lab.config.vocabulary.service import IS_DEFAULT, Address, SenseSetting, Service
from lab.config.vocabulary.translation import Note, OptionLine, Translation, Translator
from lab.config.vocabulary.values import Expression

BLOCKED = "a worker with a blocked event loop was not killed"
MURDERED = "gunicorn kills it after 30 s (timeout, the default); timeout = 0 kills none"


def special(translation: Translation, sense_setting: SenseSetting, _column: Spelling) -> bool:
    """Write a meaning that takes more than one line; return whether it does."""
    write = _SPECIAL.get(sense_setting.sense.key)
    if sense_setting.sense.key == "keeps-connections" and not sense_setting.on:
        write = _closes if translation.service.is_wsgi else _closes_asgi
    if write is not None:
        write(translation, sense_setting)
    return write is not None


def _closes(translation: Translation, sense_setting: SenseSetting) -> None:
    """Say whether connections are closed, as worker class sync does."""
    service = translation.service
    threads = service.senses.get("threads")
    is_single = threads.value.number == 1 if threads else "threads" not in service.unclear
    if is_single and "greenlets" not in service.senses:
        says = "not needed: worker class sync closes each connection, and sends Connection: close"
        translation.same.append(Note(sense_setting.was, says))
    else:
        says = "left out: connections are kept for 2 s by default, and keepalive = 0 closes them"
        translation.changed.append(Note(sense_setting.was, says))


def _closes_asgi(translation: Translation, sense_setting: SenseSetting) -> None:
    was = sense_setting.was
    translation.lines.append(OptionLine("keepalive", Expression.of("0"), was, number=True))
    translation.same.append(Note(was, "keepalive = 0"))


def _time_limit(translation: Translation, sense_setting: SenseSetting) -> None:
    service = translation.service
    if _may_end_requests(service):
        is_certain = service.number("threads") is not None
        says = "" if is_certain else "if `threads` is 1: with more, `timeout` ends no request"
        translation.write(sense_setting, "timeout", sense_setting.value, says)
    else:
        by = (
            "uwsgi"
            if any(address.protocol == "uwsgi" for address in service.addresses)
            else "proxy"
        )
        translation.drop(
            sense_setting,
            "`timeout` ends requests with worker class sync only, and here a worker serves several "
            f"at once. Set {by}_read_timeout in nginx: clients get an answer, and the worker goes "
            "on",
        )


def _umask(translation: Translation, sense_setting: SenseSetting) -> None:
    mode = sense_setting.value.text
    if mode is None:
        translation.drop(
            sense_setting,
            "gunicorn has umask, which lists the permissions to remove: compute it "
            "from the variable",
        )
        return
    mode = mode or "666"
    if re.fullmatch("[0-7]{3,4}", mode):
        value = Expression.of(f"0o{0o777 & ~int(mode, 8):03o}")
        translation.write(sense_setting, "umask", value)
    else:
        translation.drop(
            sense_setting,
            "gunicorn has umask, which lists the permissions to remove: 0o117 for 660",
        )


def _access_log(translation: Translation, sense_setting: SenseSetting) -> None:
    if sense_setting.on and "access-file" in translation.service.senses:
        return  # its file is the option that switches it on
    if sense_setting.on:
        file = translation.service.senses.get("log-file")
        translation.write(sense_setting, "accesslog", file.value if file else Expression.of("-"))
    elif not sense_setting.implied:
        translation.same.append(Note(sense_setting.was, IS_DEFAULT))


def _header_bytes(translation: Translation, sense_setting: SenseSetting) -> None:
    size = sense_setting.value.number
    if size is not None and size <= 8190:
        translation.changed.append(
            Note(sense_setting.was, "left out: each header may have 8,190 bytes by default")
        )
    else:
        column = sense_setting.sense.columns[PROGRAM]
        translation.write(sense_setting, column.names[0], sense_setting.value, column.says)


def _greenlets(translation: Translation, sense_setting: SenseSetting) -> None:
    kind = SenseSetting(sense_setting.sense, (), True, sense_setting.was)
    translation.write(kind, "worker_class", Expression.of("gevent"))
    translation.write(sense_setting, "worker_connections", sense_setting.value)


def _background(translation: Translation, sense_setting: SenseSetting) -> None:
    """Write daemon, which closes the standard streams: logs need files."""
    if not sense_setting.on:
        translation.same.append(Note(sense_setting.was, IS_DEFAULT))
        return
    has_file = "log-file" in translation.service.senses
    says = "" if has_file else "the logs are lost: set errorlog, and a file in accesslog"
    translation.write(sense_setting, "daemon", None, says)


def _access_file(translation: Translation, sense_setting: SenseSetting) -> None:
    translation.write(sense_setting, "accesslog", sense_setting.value)


def _client_ca(translation: Translation, sense_setting: SenseSetting) -> None:
    translation.write(sense_setting, "ca_certs", sense_setting.value)
    if "client-required" not in translation.service.senses:
        line = "a client with a certificate is checked"
        translation.lines.append(OptionLine("cert_reqs", Expression.of("1"), line, number=True))


def _client_required(translation: Translation, sense_setting: SenseSetting) -> None:
    number = "2" if sense_setting.on else "1"
    line = OptionLine("cert_reqs", Expression.of(number), sense_setting.was, number=True)
    translation.lines.append(line)
    translation.same.append(Note(sense_setting.was, f"cert_reqs = {number}"))


def _http_versions(translation: Translation, sense_setting: SenseSetting) -> None:
    value = VERSIONS.get(sense_setting.value.text or "auto", "h2,h1")
    translation.write(sense_setting, "http_protocols", Expression.of(value))


def _pythonpath(translation: Translation, sense_setting: SenseSetting) -> None:
    joined = [part for value in sense_setting.values for part in (",", *value.parts)][1:]
    translation.write(sense_setting, "pythonpath", Expression(tuple(joined)))


def _environment(translation: Translation, sense_setting: SenseSetting) -> None:
    translation.write_variables(sense_setting, "raw_env", "gunicorn does not start")


_SPECIAL = {
    "access-file": _access_file,
    "client-ca": _client_ca,
    "client-required": _client_required,
    "http-versions": _http_versions,
    "access-log": _access_log,
    "background": _background,
    "environment": _environment,
    "greenlets": _greenlets,
    "header-bytes": _header_bytes,
    "pythonpath": _pythonpath,
    "socket-mode": _umask,
    "time-limit": _time_limit,
}
"""Key of a meaning -> function that writes it."""


def added(translation: Translation) -> None:
    """Add the addresses, the missing time limit, and the worker class of ASGI."""
    for address in translation.service.addresses:
        _listens(translation, address)
    _no_limit(translation)
    if translation.service.interface == ASGI:
        line = OptionLine("worker_class", Expression.of("asgi"), "the application is ASGI")
        translation.lines.append(line)


def _listens(translation: Translation, address: Address) -> None:
    if address not in spoken(translation.service.addresses):
        translation.lost.append(
            Note(address.was, "all addresses then speak uwsgi: start a second server for this one")
        )
    elif address.protocol == "http":
        translation.same.append(Note(address.was, f"bind = {bind_of(address)}"))
    elif address.protocol != "uwsgi":
        translation.lost.append(
            Note(address.was, f"gunicorn does not speak {address.protocol}: use HTTP, by bind")
        )
    elif address.local:
        translation.same.append(Note(address.was, f'bind = {bind_of(address)}, protocol = "uwsgi"'))
    else:
        says = "gunicorn answers 500, unless uwsgi_allow_ips has nginx's address"
        translation.changed.append(Note(address.was, f'protocol = "uwsgi": {says}'))


def _may_end_requests(service: Service) -> bool:
    """Return whether `timeout` ends requests: without greenlets, of a worker with one thread."""
    threads = service.senses.get("threads")
    several = threads is not None and threads.value.number not in {None, 1}
    return not several and "greenlets" not in service.senses


def _no_limit(translation: Translation) -> None:
    service = translation.service
    if not service.is_wsgi:
        translation.changed.append(Note(BLOCKED, MURDERED))
        return
    if "time-limit" in service.senses or not _may_end_requests(service):
        return
    says = (
        "the default, 30 s, would kill the worker of a longer request: set a limit that your "
        "requests keep"
    )
    translation.lines.append(
        OptionLine("timeout", Expression.of("0"), "no request was ended", says, number=True)
    )
    translation.changed.append(Note("no request was ended", f"timeout 0: {says}"))


def _listening(addresses: tuple[Address, ...]) -> tuple[Address, ...]:
    """Return where it listens, each address with the protocol that it speaks there."""
    return as_http(spoken(addresses))


def _check_certain(config: Config) -> None:
    if not is_command(config):
        check_settings(config)


TRANSLATOR = Translator(
    PROGRAM, service_of, files, added, special, WORDS, _check_certain, listens=_listening
)
