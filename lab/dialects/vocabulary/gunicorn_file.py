"""A gunicorn.conf.py, as it is written."""

from __future__ import annotations

from collections.abc import Iterator

from lab.dialects.vocabulary import values
from lab.dialects.vocabulary.service import Address
from lab.dialects.vocabulary.translation import OptionLine, Translation, Words
from lab.dialects.vocabulary.values import Expression

WORDS = Words(yes="True", no="False")

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
    return tuple(each for each in addresses if each.protocol == "uwsgi") or addresses


def text_of(made: Translation) -> str:
    """Return the configuration file."""
    body = "".join(_blocks(made))
    uses = "cpus()" in body
    imports = "import os\n\n" if uses or "os.environ" in body else ""
    return imports + ("\n" + CPUS if uses else "") + body.lstrip("\n")


def _blocks(made: Translation) -> Iterator[str]:
    service = made.service
    if addresses := spoken(service.addresses):
        bound = [bind_of(each) for each in addresses]
        was = "\n".join(f"# {each.was}" for each in addresses)
        yield f"\n{was}\nbind = {bound[0] if len(bound) == 1 else '[' + ', '.join(bound) + ']'}\n"
        if addresses[0].protocol == "uwsgi":
            yield 'protocol = "uwsgi"\n'
    if service.application is not None:
        app = values.as_python(Expression.of(str(service.application)), number=False)
        yield f"\n# {service.application.was}\nwsgi_app = {app}\n"
    for line in made.lines:
        says = f"# {line.says}\n" if line.says else ""
        yield f"\n# {line.was}\n{says}{line.option} = {_python(line)}\n"
    if (env := service.senses.get("environment")) is not None:
        listed = "".join(f"    {values.as_python(each, number=False)},\n" for each in env.values)
        yield f"\n# {env.was}\nraw_env = [\n{listed}]\n"


def _python(line: OptionLine) -> str:
    """Return a value as Python writes it; a mask and a yes or no are no texts."""
    if line.value is None:
        return WORDS.yes
    plain = line.option == "umask" or line.value.text in {WORDS.yes, WORDS.no}
    if plain and line.value.text is not None:
        return line.value.text
    return values.as_python(line.value, number=line.number)


def bind_of(address: Address) -> str:
    """Return an address as `bind` has it."""
    if address.path is not None:
        return values.as_python(Expression(("unix:", *address.path.parts)), number=False)
    if address.host.text == "":
        return values.as_python(Expression(("0.0.0.0:", *address.port.parts)), number=False)
    return values.as_python(
        Expression((*address.host.parts, ":", *address.port.parts)), number=False
    )


def start_of(made: Translation, file: str) -> str:
    """Return the command that starts it."""
    app = "" if made.service.application else " MODULE:CALLABLE"
    return f"gunicorn -c {file}{app}"
