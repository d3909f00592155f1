"""
How uWSGI reads what is written for an option.

Source: uWSGI core/uwsgi.c, uwsgi_opt_true.
"""

from __future__ import annotations

from collections.abc import Mapping

OFF = frozenset({"false", "off", "no", "0"})
"""What uWSGI takes for no; any other text is yes."""


def is_on(options: Mapping[str, str], name: str) -> bool:
    """
    Return whether an option is written, and not with a word for no.

    >>> is_on({"master": "1"}, "master"), is_on({"master": "Off"}, "master")
    (True, False)
    """
    return name in options and options[name].lower() not in OFF


def asks_to_close(option: str, value: str) -> bool:
    """Return whether an option adds the header "Connection: close", however it is spelt."""
    return option == "add-header" and "".join(value.split()).lower() == "connection:close"
