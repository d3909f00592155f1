"""A script for sh that starts a server: what it does beside its command, and under a condition."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lab.config.command_table import CommandTable
from lab.config.configuration import Config
from lab.config.vocabulary.service import one_line
from lab.config.vocabulary.translation import AROUND, Note
from lab.config.words import command_of, is_script
from lab.errors import ProfileError

CPUS = """\
# CPUs that may be used, as a container's limit bounds them
CPUS=$(nproc)
read -r quota period 2> /dev/null < /sys/fs/cgroup/cpu.max || quota=max
case $quota/$period in
    0* | */0* | */ | *[!0123456789/]*) ;;
    *) if [ "$((quota / period))" -lt "$CPUS" ]; then CPUS=$((quota / period)); fi ;;
esac
if [ "$CPUS" -lt 1 ]; then CPUS=1; fi

"""

CONDITION = "lab does not evaluate this condition: decide it where you start the new server"

_BEGINS = re.compile(r"(?:^|[;&|({]|\b(?:then|do|else)\b)\s*(?:if|case|for|while|until)\b")
_ENDS = re.compile(r"(?:^|[;&|)}])\s*(?:fi|esac|done)\b")

_CONDITION = re.compile(rf"{_BEGINS.pattern}|^(?:elif|else)\b.*\w|&&|\|\|")
"""A line that decides whether something is done."""

_PASSED = re.compile(
    r"(?:#.*|fi|esac|done|then|do|else|;;|\{|\}|set -[eux]+|(?:export )?CPUS=\$\(nproc\)|)\W*"
)
"""Lines that do nothing of their own, or what a translation does itself."""

_GUARDS = re.compile(
    r"""case "\$\{\w+(?::?-\w*)?\}" in '' \|.*\n"""
    r""" +echo "\w+ must be a whole number.*\n +exit 1 ;;\nesac\n"""
)
"""What a translation writes before it computes."""


def check_certain(table: CommandTable, config: Config) -> None:
    """
    Refuse a script whose command is one of several, or with an option under a condition.

    Raises:
        ProfileError: It is one.
    """
    text = config.texts[config.file]
    if not is_script(text):
        return
    command = command_of(text, config.file, table.program)
    lines = text.split("\n")
    starts = [line for line in lines if re.match(rf"\s*(exec\s+)?(\S*/)?{table.program}\s", line)]
    if len(starts) > 1:
        several = f"starts {table.program} in several places"
        problem = f"{several}: give the command that you mean, in quotes"
        raise ProfileError(config.file, problem)
    conditional = set(_conditional(lines))
    for word in command.before if command else ():
        if table.variable.fullmatch(word.value) and word.spot.line in conditional:
            name = word.value.partition("=")[0]
            problem = (
                f"sets {name} under a condition, so its value is unknown: write it as an option"
            )
            raise ProfileError(config.file, problem, word.spot.line)


def _conditional(lines: list[str]) -> Iterator[int]:
    """Yield the numbers of the lines of which it is not certain that they run."""
    depth = 0
    for number, line in enumerate(lines, 1):
        stripped = line.strip()
        begins = len(_BEGINS.findall(stripped))
        if depth or begins or _CONDITION.search(stripped):
            yield number
        depth = max(0, depth + begins - len(_ENDS.findall(stripped)))


def beside_command(table: CommandTable, config: Config) -> list[Note]:
    """Return the lines of a script that are not carried over, each once."""
    text = config.texts[config.file]
    command = command_of(text, config.file, table.program) if is_script(text) else None
    if command is None:
        return []
    lines = text.split("\n")
    last = first = command.program.spot.line
    while last < len(lines) and lines[last - 1].rstrip().endswith("\\"):
        last += 1
    while first > 1 and lines[first - 2].rstrip().endswith("\\"):
        first -= 1
    ours = {line.strip() for line in CPUS.split("\n")}
    before = _GUARDS.sub("", "\n".join(lines[: first - 1]).replace(CPUS, "") + "\n")
    rest = (line.strip() for line in (*before.split("\n"), *lines[last:]))
    kept = (line for line in rest if line not in ours and not _PASSED.fullmatch(line))
    return [
        Note(one_line(line), CONDITION if _CONDITION.search(line) else AROUND)
        for line in dict.fromkeys(kept)
        if not _sets_option(table, line)
    ]


def _sets_option(table: CommandTable, line: str) -> bool:
    """Return whether a line only sets a variable of the server."""
    variable = re.sub(r"^export\s+", "", line)
    return re.search("[;&|]", line) is None and table.takes_variable(variable)
