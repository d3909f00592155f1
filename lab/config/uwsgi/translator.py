"""Meanings of the vocabulary, written as an ini of uWSGI."""

from __future__ import annotations

from lab.config.uwsgi.reader import check_section
from lab.config.uwsgi.service import APART, GRACEFUL, HOST, PROGRAM, ROOM, service_of
from lab.config.vocabulary.addresses import as_http, host_and_port
from lab.config.vocabulary.quoting import ini_comment, ini_lines
from lab.config.vocabulary.senses import Spelling
from lab.config.vocabulary.service import IS_DEFAULT, Address, SenseSetting, Service
from lab.config.vocabulary.translation import Files, Note, OptionLine, Translation, Translator
from lab.config.vocabulary.values import Cpus, Expression, Variable


def special(made: Translation, sense_setting: SenseSetting, column: Spelling) -> bool:
    """Write what is more than a line in an ini."""
    if write := _SPECIAL.get(sense_setting.sense.key):
        write(made, sense_setting)
        return True
    cpus = [
        part for value in sense_setting.values for part in value.parts if isinstance(part, Cpus)
    ]
    if cpus and column.names:
        made.write(sense_setting, column.names[0], sense_setting.value, HOST)
        return True
    return False


def _closes(made: Translation, sense_setting: SenseSetting) -> None:
    made.drop(sense_setting, "http-socket closes each connection after its reply")


def _stop(made: Translation, sense_setting: SenseSetting) -> None:
    says = "SIGTERM lets requests in flight finish; die-on-term would drop them"
    made.write(sense_setting, "hook-master-start", Expression.of(GRACEFUL), says)


def _header_bytes(made: Translation, sense_setting: SenseSetting) -> None:
    """Write room for all headers: a bound of each of them would be less for all together."""
    column = sense_setting.sense.columns[PROGRAM]
    made.write(
        sense_setting, column.names[0], sense_setting.value.within(ROOM, column.most), column.says
    )


def _greenlets(made: Translation, sense_setting: SenseSetting) -> None:
    made.write(
        sense_setting,
        "gevent",
        sense_setting.value,
        "this needs a uWSGI that was built with gevent",
    )
    # gunicorn patches before a worker imports the application, and after a preload of it.
    patch = "gevent-monkey-patch" if made.service.is_on("preload") else "gevent-early-monkey-patch"
    made.write(SenseSetting(sense_setting.sense, (), True, sense_setting.was), patch)


def _reload(made: Translation, sense_setting: SenseSetting) -> None:
    """Write the number of seconds between two looks: of a yes it would be 0."""
    if sense_setting.on:
        says = "a thread of each worker checks all files of all modules"
        made.write(sense_setting, "py-autoreload", Expression.of("1"), says)


def _prefix(made: Translation, sense_setting: SenseSetting) -> None:
    """Write the path with the application that is below it, which stands in no other line."""
    application = made.service.application
    if application is None:
        made.drop(sense_setting, "mount = /PATH=MODULE:CALLABLE")
        return
    if "=" in str(sense_setting.value):
        made.drop(sense_setting, "mount ends a path at its =: use a path without =")
        return
    below = Expression((*sense_setting.value.parts, f"={application}"))
    made.write(sense_setting, "mount", below)


def _quiet(made: Translation, sense_setting: SenseSetting) -> None:
    """Write the three options without which one kind of lines or another is logged."""
    for option in sense_setting.sense.columns[PROGRAM].names:
        made.write(sense_setting, option)


def _nothing(_made: Translation, _sense_setting: SenseSetting) -> None:
    """Write nothing: it stands in another line, or costs more than it saves."""


def _in_address(made: Translation, sense_setting: SenseSetting) -> None:
    """Write nothing: it stands in the address."""
    if any(address.tls for address in made.service.addresses):
        says = "https-socket = ADDRESS,CERTIFICATE,KEY,CIPHERS,CA"
        made.same.append(Note(sense_setting.was, f"a part of {says}"))
    else:
        made.drop(sense_setting, "no address with TLS is written")


def _client_required(made: Translation, sense_setting: SenseSetting) -> None:
    if "client-ca" in made.service.senses:
        made.same.append(Note(sense_setting.was, "https-socket, with ! before the CA"))
    else:
        made.drop(sense_setting, "the CA is not known: write !CA at the end of https-socket")


def _access_file(made: Translation, sense_setting: SenseSetting) -> None:
    file = Expression(("file:", *sense_setting.value.parts))
    made.write(sense_setting, "req-logger", file)


def _background(made: Translation, sense_setting: SenseSetting) -> None:
    if sense_setting.on:
        file = made.service.senses.get("log-file")
        made.write(sense_setting, "daemonize", file.value if file else Expression.of("/dev/null"))
        # gunicorn/util.py:534; uWSGI's own is 0.
        made.write(sense_setting, "umask", Expression.of("022"))
    else:
        made.same.append(Note(sense_setting.was, IS_DEFAULT))


def _sendfile(made: Translation, sense_setting: SenseSetting) -> None:
    says = "uWSGI always hands the files of wsgi.file_wrapper to the kernel"
    (made.same if sense_setting.on else made.changed).append(Note(sense_setting.was, says))


def _http_versions(made: Translation, sense_setting: SenseSetting) -> None:
    if sense_setting.value.text == "1":
        made.same.append(Note(sense_setting.was, "not needed: uWSGI speaks HTTP/1 only"))
    else:
        made.drop(sense_setting, sense_setting.sense.columns[PROGRAM].lost)


_SPECIAL = {
    "access-file": _access_file,
    "background": _background,
    "certificate": _in_address,
    "certificate-key": _in_address,
    "ciphers": _in_address,
    "client-ca": _in_address,
    "client-required": _client_required,
    "http-versions": _http_versions,
    "greenlets": _greenlets,
    "header-bytes": _header_bytes,
    "keepalive": _closes,
    "prefix": _prefix,
    "quiet-clients": _quiet,
    "reload": _reload,
    "sendfile": _sendfile,
    "term-finishes": _stop,
    "term-stops": _nothing,
    "turns": _nothing,
}
"""Key of a sense -> what writes it."""


def added(made: Translation) -> None:
    """Write what is the default of others: room for headers, and a word before it closes."""
    values = [part for address in made.service.addresses for part in address.parts]
    values += [line.value for line in made.lines if line.value is not None]
    parts = [part for value in values for part in value.parts]
    for name in sorted({part.name for part in parts if isinstance(part, Variable)}):
        says = "uWSGI runs the content of @( ) in its value: make sure that nobody else can set it"
        made.hidden.append(Note(f"the variable {name}", says))
    empty = {part.name for part in parts if isinstance(part, Variable) and part.empty}
    says = (
        "the default also applied to an empty value, and here the value stays empty: unset the "
        "variable"
    )
    made.lost += [Note(f"the variable {name}", says) for name in sorted(empty)]
    if not made.service.is_on("respawn"):
        says = (
            "without a master no worker is replaced, and neither harakiri nor a graceful stop works"
        )
        made.lines.append(OptionLine("master", None, "workers that died were not replaced", says))
        made.changed.append(Note("a worker that died ended the server", f"master = true: {says}"))
    age = made.service.number("age-limit")
    if age and "age-jitter" not in made.service.senses:
        says = (
            "without it all workers would be replaced at once, and no request would be answered "
            "meanwhile"
        )
        apart = Expression.of(str(max(1, age // APART)))
        line = OptionLine(
            "max-worker-lifetime-delta", apart, "workers were replaced one after the other", says
        )
        made.lines.append(line)
    if "header-bytes" not in made.service.senses:
        says = (
            "the default, 4,096 for all headers together, would close requests that were served "
            "before"
        )
        room = OptionLine(
            "buffer-size", Expression.of(str(ROOM)), "size of a request's headers", says
        )
        made.lines.append(room)
    for address in made.service.addresses:
        if not address.elsewhere:
            listens = _listen(address, made.service)
            # Of a variable with a default there are conditions around it.
            option = next((text for text in listens if "socket = " in text), listens[-1])
            made.same.append(Note(address.was, option))
    if any(address.protocol == "http" for address in made.service.addresses):
        says = "without this header a client would use the connection again"
        close = Expression.of("Connection: close")
        was = "http-socket closes each connection after its reply"
        made.lines.append(OptionLine("add-header", close, was, says))


def files(made: Translation, name: str) -> Files:
    """Return the ini and the command that starts uWSGI with it."""
    app = "" if made.service.application else " --module MODULE:CALLABLE"
    where = "" if made.service.addresses else " --http-socket HOST:PORT"
    return Files(text_of(made), f"uwsgi {name}{where}{app}")


def text_of(made: Translation) -> str:
    """Return the ini."""
    service = made.service
    lines = ["[uwsgi]"]
    for address in service.addresses:
        lines += ["", ini_comment(address.was), *_listen(address, service)]
    app = service.application
    if app is not None and "mount" not in {line.option for line in made.lines}:
        lines += ["", ini_comment(app.was), *ini_lines("module", Expression.of(app.module))]
        lines += ini_lines("callable", Expression.of(app.callable))
    for line in made.lines:
        says = [ini_comment(line.says)] if line.says else []
        value = Expression.of("true") if line.value is None else line.value
        lines += ["", ini_comment(line.was), *says, *ini_lines(line.option, value)]
    return "\n".join(lines) + "\n"


def _listen(address: Address, service: Service) -> list[str]:
    option = "socket" if address.protocol == "uwsgi" else "http-socket"
    if address.path is not None:
        return ini_lines(option, address.path)
    where = host_and_port(address).parts
    if address.tls is not None:
        files = "".join(f",{text}" for text in (*address.tls, *_of_clients(service)))
        return ini_lines("https-socket", Expression((*where, files)))
    return ini_lines(option, Expression(where))


def _of_clients(service: Service) -> tuple[str, ...]:
    """Return the ciphers of https-socket and the CA of its clients, as far as they are set."""
    ciphers, ca = (service.senses.get(key) for key in ("ciphers", "client-ca"))
    texts = (ciphers.value.text or "" if ciphers else "DEFAULT",)
    if ca is None:
        return texts if ciphers else ()
    return (*texts, "!" * service.is_on("client-required") + (ca.value.text or ""))


TRANSLATOR = Translator(
    PROGRAM, service_of, files, added, special, check_certain=check_section, listens=as_http
)
