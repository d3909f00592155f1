"""Environment variables of the application: which of them another server can be given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from lab.config.vocabulary.values import Expression, Variable

NO_VARIABLE = "this is not a variable: write NAME=value"


def name_of(value: Expression) -> str:
    """Return the name that an entry NAME=value sets; empty where it is none, or computed."""
    first = value.parts[0]
    name, equals, _ = first.partition("=") if isinstance(first, str) else ("", "", "")
    return name if equals else ""


def reads(value: Expression) -> set[str]:
    """Return the names of the variables that a value reads."""
    return {part.name for part in value.parts if isinstance(part, Variable)}


def refused_by_uwsgi(name: str) -> str:
    """Return why an ini cannot set a variable; empty where it can."""
    if name.startswith("UWSGI_"):
        return f"uWSGI would take {name} for an option when it reloads: write the option"
    return ""


def refused(
    entries: Sequence[Expression], refused_name: Callable[[str], str], others: set[str] | None
) -> Iterator[str]:
    """
    Yield for each entry why it cannot be set; empty where it can.

    Args:
        entries: NAME=value.
        refused_name: Returns why the server cannot set a variable of a name.
        others: Variables that the other values read after the entries are set; None where they
            are read before, by all servers.
    """
    times = Counter(name for entry in entries for name in reads(entry))
    for entry in entries:
        name = name_of(entry)
        if not name:
            yield NO_VARIABLE
        elif others is not None and (name in others or times[name] > (name in reads(entry))):
            yield f"another value uses the earlier value of {name}: rename one of them"
        else:
            yield refused_name(name)
