"""granian: its options are those of its command."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar

from lab.config.command_server import CommandServer
from lab.config.command_table import CommandTable
from lab.config.configuration import Config
from lab.config.granian import steps
from lab.config.granian.command import PROGRAM, TABLE, interface_of
from lab.config.vocabulary.steps_for_meaning import Pairs, StepsOfMeaning

if TYPE_CHECKING:
    pass


class Granian(CommandServer):
    """Its options are those of its command."""

    table: ClassVar[CommandTable] = TABLE
    interface_of: ClassVar[Callable[[Config], str]] = staticmethod(interface_of)
    groups: ClassVar[Mapping[str, str]] = steps.GROUPS
    special_steps: ClassVar[Mapping[str, StepsOfMeaning]] = steps.SPECIAL

    def candidates(self, config: Config) -> Pairs:
        """Return the changes of its runtime that are tried."""
        return steps.candidates(config)


GRANIAN = Granian(
    program=PROGRAM,
    name="granian",
    listen=("--host", "{host}", "--port", "{port}"),
    workers=("--workers",),
    threads=("--blocking-threads",),
    takes_no_value=TABLE.takes_no_value,
    code="GR",
    file="granian",
    endings=("granian",),
    max_bytes=1 << 16,
    edits_command=True,
    stop_time=math.inf,
    output="granian.sh",
    tunable=steps.TUNABLE,
)
