"""A gunicorn.conf.py, as it is written."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lab.config.vocabulary.addresses import host_and_port, refused_as_bind
from lab.config.vocabulary.quoting import as_python, python_comment, refused_by_python
from lab.config.vocabulary.senses import by_option
from lab.config.vocabulary.service import Address
from lab.config.vocabulary.translation import Files, OptionLine, Translation, Words
from lab.config.vocabulary.values import Expression

WORDS = Words(
    yes="True",
    no="False",
    mixes_tls=False,
    folders=",",
    variable=lambda _: "",
    address=refused_as_bind,
    refused=refused_by_python,
)

CPUS = '''\
def cpus():
    """CPUs that this process may use, as a container's limit bounds them."""
    count = len(os.sched_getaffinity(0))
    try:
        with open("/sys/fs/cgroup/cpu.max") as limit:
            quota, period = limit.read().split()
        return max(1, min(count, int(quota) // int(period)))
    except (OSError, ValueError):
        return count


'''


def spoken(addresses: tuple[Address, ...]) -> tuple[Address, ...]:
    """Return the addresses of one protocol, as it speaks one at all of them."""
    return tuple(address for address in addresses if address.protocol == "uwsgi") or addresses


def files(made: Translation, name: str) -> Files:
    """Return the configuration file and the command that starts gunicorn with it."""
    app = "" if made.service.application else " MODULE:CALLABLE"
    return Files(text_of(made), f"gunicorn -c {name}{app}")


def text_of(made: Translation) -> str:
    """Return the configuration file."""
    body = "".join(_blocks(made))
    uses = "cpus()" in body
    imports = "import os\n\n" if uses or "os.environ" in body else ""
    return imports + ("\n" + CPUS if uses else "") + body.lstrip("\n")


def _blocks(made: Translation) -> Iterator[str]:
    service = made.service
    if addresses := spoken(service.addresses):
        bound = [bind_of(address) for address in addresses]
        was = "\n".join(python_comment(address.was) for address in addresses)
        yield f"\n{was}\nbind = {bound[0] if len(bound) == 1 else '[' + ', '.join(bound) + ']'}\n"
        if addresses[0].protocol == "uwsgi":
            yield 'protocol = "uwsgi"\n'
    if service.application is not None:
        app = as_python(Expression.of(str(service.application)), number=False)
        yield f"\n{python_comment(service.application.was)}\nwsgi_app = {app}\n"
    for line in made.lines:
        says = f"{python_comment(line.says)}\n" if line.says else ""
        yield f"\n{python_comment(line.was)}\n{says}{line.option} = {_python(line)}\n"
    if (env := service.senses.get("environment")) is not None:
        listed = "".join(f"    {as_python(value, number=False)},\n" for value in env.values)
        yield f"\n{python_comment(env.was)}\nraw_env = [\n{listed}]\n"


def _python(line: OptionLine) -> str:
    """Return a value as Python writes it; a mask and a yes or no are no texts."""
    if line.value is None:
        return WORDS.yes
    text, sense = line.value.text or "", by_option("gunicorn").get(line.option)
    is_mask = line.option == "umask" and re.fullmatch("0o[0-7]{3}", text)
    if is_mask or (sense and sense.kind == "switch" and text in {WORDS.yes, WORDS.no}):
        return text
    return as_python(line.value, number=line.number)


def bind_of(address: Address) -> str:
    """Return an address as `bind` has it."""
    if address.path is not None:
        return as_python(Expression(("unix:", *address.path.parts)), number=False)
    if address.host.text == "":
        return as_python(Expression(("0.0.0.0:", *address.port.parts)), number=False)
    return as_python(host_and_port(address), number=False)
