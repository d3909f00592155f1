"""A configuration as a rule sees it: with what a rule says of it, and what would mend that."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields

from lab.config import servers
from lab.config.configuration import Config
from lab.config.edits import Edit
from lab.config.spot import Setting, Spot
from lab.config.steps import Drop, Put, Rename, Step
from lab.lint.flaw import WHY, Fix, Flaw, Severity
from lab.lint.suppress import Suppression


@dataclass(frozen=True)
class Case(Config):
    """What was read, for rules."""

    unused: tuple[Suppression, ...] = ()
    """Suppressions of what was not found."""

    @classmethod
    def of(cls, config: Config) -> Case:
        """Return what a reader returned as rules take it; a case as it is."""
        if isinstance(config, Case):
            return config
        return cls(**{field.name: getattr(config, field.name) for field in fields(config)})

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
        Return a flaw for the rule that looks, which adds its code and severity.

        Args:
            where: A setting, with which the message begins; or a place, with *text* alone.
            text: Why it is wrong, and what to do; without a full stop at the end. In it `WHY` is
                what the rule says of all that it finds.
            fix: What would mend it.
            harmless: Whether it is a remark, whatever the rule's severity is.
            steps: The same as *fix*, where that cannot be written or says no steps.
        """
        steps = steps or (fix.steps if fix else ())
        severity = Severity.REMARK if harmless else Severity.ERROR
        if isinstance(where, Spot):
            return Flaw("", severity, text, where, fix, steps)
        written = where.written.encode("utf-8", "replace").decode()
        if self.table.is_number(where.option) or self.table.is_switch(where.option):
            written = re.sub(
                r"(?<!\s)\s+[;#].*", "", written
            )  # a flaw of its own, which does no harm
        return Flaw("", severity, f"{written}: {text}", where.spot, fix, steps)

    def change(
        self, setting: Setting, value: str, *, safe: bool = False, from_raw: bool = False
    ) -> Fix | None:
        """
        Return the fix that writes another value; None where its place is not known.

        Nor is there one where uWSGI replaces a variable in what is written, unless *value* is made
        *from_raw*: it would be right of this environment alone, and of one round of a loop.
        """
        varies = self.server == "uWSGI" and setting.raw != setting.value and not from_raw
        if setting.column == 0 or not setting.raw or varies:
            return None
        old = setting.raw
        if self.table.is_number(setting.option) or self.table.is_switch(setting.option):
            old = re.split(r"(?<!\s)\s+[;#]", old)[0]  # what stands behind is meant for a comment
        steps = (self.put(setting.option, value),)
        return Fix((Edit(setting.at(), old, value),), safe, f"{setting.option} = {value}", steps)

    def rename(self, setting: Setting, option: str, *, safe: bool = False) -> Fix | None:
        """Return the fix that writes another option; None where it stands in no file."""
        if setting.spot.file not in self.texts:
            return None
        edit = Edit(setting.spot, setting.option, option)
        steps = (Rename(setting.option, option),)
        return Fix((edit,), safe, f"{option} = {setting.raw}", steps)

    def drop(self, *settings: Setting) -> Fix | None:
        """
        Return the fix that takes lines away; None where another line names one, as %(home).

        It is never safe: a line is without effect because of all the others, and what includes this
        file, the other sections of it and the words of a command may be some of them.
        """
        if any(setting.column == 0 or setting.option in self.named for setting in settings):
            return None
        edits = tuple(Edit(setting.spot, self.line(setting.spot), None) for setting in settings)
        says = f"without {', '.join(setting.option for setting in settings)}"
        steps = tuple(Drop(setting.option) for setting in settings)
        return Fix(edits, safe=False, says=says, steps=steps)

    def add(self, line: str, *, after: Setting | None = None, safe: bool = False) -> Fix | None:
        """Return the fix that adds a line, below a setting or below the section's beginning."""
        # A loop would repeat it.
        spot = after.at() if after and not after.loop else self.top
        name, _, value = line.partition(" = ")
        steps = (self.put(name, value),)
        return Fix((Edit(spot, "", line),), safe, line, steps) if spot.column else None

    def put(self, option: str, value: str) -> Put:
        """Return the step that sets an option to what is written so."""
        return Put(option, servers.of_config(self).plain(value))
