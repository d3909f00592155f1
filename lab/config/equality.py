"""Whether two configurations mean the same to the server, whatever is written."""

from __future__ import annotations

from lab.config.configuration import Config
from lab.config.spot import Setting
from lab.config.uwsgi import OFF
from lab.config.uwsgi.table import OptionTable, atoi

SHAPES = ("uwsgi_opt_logic", "uwsgi_opt_noop", "uwsgi_opt_load", "uwsgi_opt_set_placeholder")
"""How the functions of options begin that only shape a configuration."""

Meaning = dict[str, list[object]]
"""Option -> its values, as the server takes them; of one that keeps one value, the last."""


def same(before: Config, after: Config) -> bool:
    """Return whether a server does the same with both."""
    return meaning(before) == meaning(after)


def meaning(config: Config) -> Meaning:
    """Return what the settings of a configuration mean to its server."""
    # An option may switch the master on, and have no other effect.
    values_by_option: Meaning = {"": [config.master]}
    # By strict a server ends at what is no option; without, it passes over it.
    strict = config.on("strict") or config.server != "uWSGI"
    for setting in config.settings:
        entry = config.table.entries.get(setting.option)
        if entry is None and strict:
            values_by_option[setting.option] = [setting.value or setting.raw]
        elif entry is not None and not entry.setter.startswith(SHAPES):
            values = values_by_option.setdefault(config.table.canonical(setting.option), [])
            if not config.table.repeats(setting.option):
                values.clear()
            values.append(_value(config.table, setting))
    return values_by_option


def _value(table: OptionTable, setting: Setting) -> object:
    if table.is_number(setting.option):
        return (
            min(atoi(setting.value), 65535)
            if setting.option == "buffer-size"
            else atoi(setting.value)
        )
    if table.is_switch(setting.option):
        return setting.value.lower() not in OFF
    return setting.value
