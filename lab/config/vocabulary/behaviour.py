"""What two servers do differently though no option shows it, as far as configurations decide."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lab.config.interface import WSGI
from lab.config.vocabulary.senses import hidden, senses
from lab.config.vocabulary.service import Address, Service, one_line
from lab.config.vocabulary.values import Expression


@dataclass(frozen=True, slots=True)
class Deployment:
    """A configuration as its server follows it."""

    program: str
    addresses: Sequence[Address]
    """Where the server listens, each address with the protocol that it then speaks."""

    values: Mapping[str, Expression | None]
    """Key of a sense that is set, or has a default -> its value; None of a switch that is on."""

    unclear: frozenset[str] = frozenset()
    """Keys of senses that are set to what is not known."""

    facts: frozenset[str] = field(default_factory=frozenset)
    """What else decides what the server does; see `Service.facts`."""


def of_service(service: Service) -> Deployment:
    """Return a configuration that was read."""
    values = {
        key: setting.values[-1] if setting.values else None
        for key, setting in service.senses.items()
        if setting.on or setting.values
    }
    return Deployment(service.program, service.addresses, values, service.unclear, service.facts)


def facts(deployment: Deployment) -> Mapping[str, str]:
    """
    Return the facts of a configuration by which `[cases]` of a vocabulary tells what happens.

    A sense that is set is a fact, and so is "KEY VALUE"; one that is not set is "no KEY". Of an
    unknown value nothing is a fact.

    Returns:
        Fact -> the value of a sense; else "".
    """
    known = dict.fromkeys([*deployment.facts, *_of_addresses(deployment.addresses)], "")
    for key in senses():
        value = deployment.values.get(key)
        text = "" if value is None else value.text
        if key in deployment.unclear or text is None:
            continue
        if key not in deployment.values:
            known[f"no {key}"] = ""
        else:
            known |= {key: one_line(text), f"{key} {text}": ""}
    for key, one in {"workers": "one worker", "threads": "one thread"}.items():
        if f"no {key}" in known or f"{key} 1" in known:
            known[one] = ""
        elif key in known:
            known[f"several {key}"] = ""
    return known


def _of_addresses(addresses: Sequence[Address]) -> Iterator[str]:
    """Yield what all addresses have in common."""
    kinds = {
        "uwsgi": [address.protocol == "uwsgi" for address in addresses],
        "http": [address.protocol == "http" for address in addresses],
        "tls": [address.tls is not None for address in addresses],
        "unix": [address.path is not None for address in addresses],
        "tcp": [address.path is None for address in addresses],
    }
    yield from (kind for kind, holds in kinds.items() if holds and all(holds))


def differences(
    before: Deployment, after: Deployment, interface: str = WSGI
) -> Iterator[tuple[str, str, str, str]]:
    """
    Yield in what two servers differ though no option shows it, with applications of an interface.

    Yields:
        What it is about, what the server before does, the one after, and what to look at.
    """
    of_before, of_after = facts(before), facts(after)
    for difference in (one for one in hidden() if one.interface == interface):
        old = difference.done_by(before.program, of_before)
        new = difference.done_by(after.program, of_after)
        alike = _without_option(old) == _without_option(new)
        if old and new and not alike and difference.unless not in before.values:
            yield difference.about, old, new, difference.ask


def _without_option(text: str) -> str:
    """Return what a server does, without the option of "is dropped (header_map)"."""
    return re.sub(r" \([^()]*\)$", "", text)
