"""
What a configuration means, whichever server it is for, for rules that hold for all servers.

The vocabulary is loaded when a rule needs it: most runs of the linter do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.config import servers
from lab.errors import ProfileError
from lab.lint.rules.rule import Case, Setting

if TYPE_CHECKING:
    from lab.config.vocabulary.service import Service


def service_of(config: Case) -> Service | None:
    """Return the meaning of a configuration; None: unknown."""
    server = servers.of_config(config)
    if not server.output:
        return None
    try:
        return server.translator.service(config)
    except ProfileError:
        return None


def options_of(config: Case, key: str) -> tuple[str, ...]:
    """Return the options that have a sense in a configuration's server, the usual one first."""
    from lab.config.vocabulary.senses import senses  # noqa: PLC0415 - see above

    column = senses()[key].columns.get(servers.of_config(config).program)
    return (*column.names, *column.opposite) if column else ()


def setting_of(config: Case, key: str) -> Setting | None:
    """Return the last setting of a sense; None: not set."""
    options = options_of(config, key)
    return config.last(*options) if options else None
