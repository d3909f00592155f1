"""`Case`: a configuration with the methods by which rules make flaws and fixes."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields

from lab.config import servers
from lab.config.configuration import Config
from lab.config.edits import Edit
from lab.config.granian.command import TABLE as GRANIAN
from lab.config.hypercorn.command import TABLE as HYPERCORN
from lab.config.spot import Setting, Spot
from lab.config.steps import Drop, Put, Rename, Step
from lab.config.templates import filled
from lab.config.uvicorn.command import TABLE as UVICORN
from lab.lint.flaw import WHY, Fix, Flaw, Severity
from lab.lint.suppress import Suppression
from lab.lint.syntax import is_command
from lab.lint.versions import holds


class UnknownSettingError(Exception):
    """
    A rule needs a setting that is not known; the rule is then silent.

    A variable or a template sets it, or an included file that was not read may set it.
    """


@dataclass(frozen=True)
class Case(Config):
    """A configuration, as rules get it."""

    unused: tuple[Suppression, ...] = ()
    """Suppressions that suppressed no finding."""

    as_read: bool = False
    """Whether the files that were read count as all, though an include was not read."""

    @classmethod
    def of(cls, config: Config) -> Case:
        """Return a case of *config*; a case is returned unchanged."""
        if isinstance(config, Case):
            return config
        return cls(**{field.name: getattr(config, field.name) for field in fields(config)})

    def all(self, *names: str) -> list[Setting]:
        """
        Return the settings of the options, in any of their spellings, in order.

        Raises:
            UnknownSettingError: There is none, and an include that was not read may have one.
        """
        return self._certain(super().all(*names))

    def starting(self, *beginnings: str) -> list[Setting]:
        """
        Return what sets an option whose name begins so, as it is written, in order.

        Raises:
            UnknownSettingError: As `all`.
        """
        return self._certain(super().starting(*beginnings))

    def _certain(self, settings: list[Setting]) -> list[Setting]:
        if not settings and not self.complete:
            raise UnknownSettingError
        return settings

    @property
    def complete(self) -> bool:
        """Whether no include may set more than *settings*."""
        return self.as_read or not self.unread_includes

    def number(self, name: str, default: int = 0) -> int:
        """
        Return the option's last value as uWSGI reads a number there.

        Raises:
            UnknownSettingError: A variable or a template sets it.
        """
        if not self.knows(name):
            raise UnknownSettingError
        return super().number(name, default)

    def knows(self, name: str) -> bool:
        """Return whether the number that an option has is known, as it is without the option."""
        setting = self.last(name)
        return setting is None or not self._is_unknown(setting)

    def may_be(self, versions: str) -> bool:
        """
        Return whether the server may have one of the versions, as in ">=24"; "" for all.

        It may where its version is unknown.
        """
        target = self.known.targets.get(self.server.lower())
        return not versions or target is None or holds(versions, target)

    @property
    def one_process(self) -> bool:
        """Whether there is certainly one worker process."""
        return self.knows("processes") and self.processes == 1

    @property
    def unknown_numbers(self) -> list[Setting]:
        """Settings of uWSGI, granian and uvicorn whose number a variable or a template sets."""
        return [
            setting
            for setting in self.settings
            if self._is_number(setting.option) and self._is_unknown(setting)
        ]

    def _is_number(self, option: str) -> bool:
        """Return whether its server takes a number there."""
        commands = [
            table for table in (GRANIAN, UVICORN, HYPERCORN) if table.program == self.server
        ]
        if commands:  # no rule asks for the number of a port
            return option != "port" and "least" in commands[0].options.get(option, {})
        return self.table.is_number(option)

    def _is_unknown(self, setting: Setting) -> bool:
        """Return whether a shell, uWSGI or a template replaces a part of a value."""
        value = setting.value
        if re.search(r"[$@]\(", value) or filled(value):
            return True
        return "$" in value and is_command(self, setting.spot)

    def flaw(
        self,
        where: Setting | Spot,
        text: str = WHY,
        fix: Fix | None = None,
        *,
        harmless: bool = False,
        steps: tuple[Step, ...] = (),
    ) -> Flaw:
        """
        Return a flaw without a code; `Rule.flaws` adds the code and the severity.

        Args:
            where: A setting, which then begins the message; or a place.
            text: Why it is wrong, and what to do; without a full stop at the end. `WHY` in it
                stands for `Rule.why`.
            fix: The correction; None: there is none.
            harmless: Whether the flaw is a remark, whatever the severity of the rule.
            steps: The correction in steps, if *fix* is None or has none.
        """
        steps = steps or (fix.steps if fix else ())
        severity = Severity.REMARK if harmless else Severity.ERROR
        if isinstance(where, Spot):
            return Flaw("", severity, text, where, fix, steps)
        written = where.written.encode("utf-8", "replace").decode()
        if self.table.is_number(where.option) or self.table.is_switch(where.option):
            # The linter reports a comment behind a number by itself.
            written = re.sub(r"(?<!\s)\s+[;#].*", "", written)
        return Flaw("", severity, f"{written}: {text}", where.spot, fix, steps)

    def change(
        self, setting: Setting, value: str, *, safe: bool = False, from_raw: bool = False
    ) -> Fix | None:
        """
        Return the fix that writes another value; None if the place of the value is unknown.

        Also None if uWSGI replaces a variable in the written value, unless *value* is made
        *from_raw*: the fix would be right in this environment, or one round of a loop, only.
        """
        varies = self.server == "uWSGI" and setting.raw != setting.value and not from_raw
        if setting.column == 0 or not setting.raw or varies:
            return None
        old = setting.raw
        if self.table.is_number(setting.option) or self.table.is_switch(setting.option):
            old = re.split(r"(?<!\s)\s+[;#]", old)[0]  # the rest was meant as a comment
        steps = (self.put(setting.option, value),)
        return Fix((Edit(setting.at(), old, value),), safe, f"{setting.option} = {value}", steps)

    def rename(self, setting: Setting, option: str, *, safe: bool = False) -> Fix | None:
        """Return the fix that writes another option; None if the setting is in no file."""
        if setting.spot.file not in self.texts:
            return None
        edit = Edit(setting.spot, setting.option, option)
        steps = (Rename(setting.option, option),)
        return Fix((edit,), safe, f"{option} = {setting.raw}", steps)

    def drop(self, *settings: Setting) -> Fix | None:
        """
        Return the fix that removes lines; None if another line uses one, as in %(home).

        It is never safe. A line has no effect because of all other lines; some of these may be in a
        file that includes this one, in another section, or in a command.
        """
        if any(setting.column == 0 or setting.option in self.named for setting in settings):
            return None
        edits = tuple(Edit(setting.spot, self.line(setting.spot), None) for setting in settings)
        description = f"without {', '.join(setting.option for setting in settings)}"
        steps = tuple(Drop(setting.option) for setting in settings)
        return Fix(edits, safe=False, description=description, steps=steps)

    def add(self, line: str, *, after: Setting | None = None, safe: bool = False) -> Fix | None:
        """Return the fix that adds a line: below *after*, or at the top of the section."""
        # A loop would repeat it, and in a condition the other branch would lack it.
        spot = after.at() if after and not after.loop and not self._is_inside(after) else self.top
        name, _, value = line.partition(" = ")
        steps = (self.put(name, value),)
        return Fix((Edit(spot, "", line),), safe, line, steps) if spot.column else None

    def _is_inside(self, setting: Setting) -> bool:
        """Return whether a setting stands inside a condition or a loop."""
        place = (setting.spot.file, setting.spot.line)
        lines = (line for line in self.option_lines if line.inside)
        return any((line.spot.file, line.spot.line) == place for line in lines)

    def put(self, option: str, value: str) -> Put:
        """Return the step that sets an option to a value, given as it is written in a file."""
        return Put(option, servers.of_config(self).value_of(value))
