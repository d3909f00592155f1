"""Words that stand beside numbers, and numbers as they are typed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

UNKNOWN = "-"
"""A value that is not known, or withheld."""

ACTING = re.compile(
    r"\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # controls but for the end of a line and a tab
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # what changes the direction of writing
    r"\u2028\u2029"  # what ends a line for some readers only
    r"\u200b\u2060-\u2065\u206a-\u206f\ufeff\u00ad\u034f\u115f\u1160"  # what cannot be seen
    r"\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0d\uffa0\ufff0-\ufffb"
    r"\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    r"\ud800-\udfff\ufffe\uffff]"  # what UTF-8 or XML does not have
)
"""
Characters that do something to who reads them instead of being read.

The joiners U+200C and U+200D, and the selectors of emoji, belong to how scripts are written.

Sources: ECMA-48; Unicode's UAX #9, Bidi_Control, and UAX #44, Default_Ignorable_Code_Point; XML
1.0, 2.2.
"""


_BETWEEN = r"[^\w\x00-\x7f]*"
"""What .NET may leave out of account where it compares texts by their language, such as joiners."""

COMMAND = re.compile(rf"(#{_BETWEEN}#(?:\w|[^\x00-\x7f])*)\[")
"""
Begins a command to what shows the log of CI, anywhere in a line: GitHub's ##[group], Azure's
##vso[...], TeamCity's ##teamcity[...].

Sources: actions/runner, ActionCommand.cs (TryParse); microsoft/azure-pipelines-agent, Command.cs.
"""

LINE_COMMAND = re.compile(rf"^([^\w!-~\n]*:{_BETWEEN}):", re.MULTILINE)
"""Begins one to GitHub where nothing but blanks stands before it (TryParseV2 in the same file)."""


def visible(text: str) -> str:
    r"""
    Return *text* with what acts spelt out; letters of any script stay as they are.

    >>> print(visible("\x1b[2Jna\u00efve \u202e\udcff ##[group]"))
    \x1b[2Jnaïve \u202e\udcff ##\x5bgroup]
    """
    return COMMAND.sub(r"\1\\x5b", ACTING.sub(lambda match: ascii(match[0])[1:-1], text))


def without_commands(lines: str) -> str:
    r"""
    Return whole lines of which none is a command to what shows the log of CI.

    The last character that makes it one is spelt, so what stands before is known to stay.

    >>> print(without_commands("  ::error::x\nto ::1"))
      :\x3aerror::x
    to ::1
    """
    return LINE_COMMAND.sub(r"\1\\x3a", COMMAND.sub(r"\1\\x5b", lines))


def visible_lines(lines: str) -> str:
    """Return whole lines as `visible` and `without_commands` do."""
    return without_commands(visible(lines))


def in_a_line(text: str) -> str:
    r"""
    Return *text* as `visible` does, and in one line.

    >>> print(in_a_line("a\n::error::b\tc"))
    a\n::error::b\tc
    """
    return visible(text.replace("\n", r"\n").replace("\r", r"\r").replace("\t", r"\t"))


def in_json(document: str) -> str:
    r"""
    Return a JSON document that says the same, with what acts as JSON's own escapes.

    >>> print(in_json('["\x9b\u202e ##[group]"]'))
    ["\u009b\u202e ##\u005bgroup]"]
    """
    return COMMAND.sub(r"\1\\u005b", ACTING.sub(lambda match: _in_utf16(match[0]), document))


def _in_utf16(char: str) -> str:
    units = memoryview(char.encode("utf-16-le", "surrogatepass")).cast("H")
    return "".join(f"\\u{unit:04x}" for unit in units)


def counted(number: float, noun: str) -> str:
    """
    Return a number of things.

    >>> counted(1, "block"), counted(0, "block"), counted(1.5, "core")
    ('1 block', '0 blocks', '1.5 cores')
    """
    return f"{number:,g} {noun}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """
    Return a time in words.

    >>> duration(250), duration(42)
    ('4 min 10 s', '42 s')
    """
    minutes, seconds = divmod(round(seconds), 60)
    return (f"{minutes} min " if minutes else "") + f"{seconds} s"


def alternatives(names: Sequence[str]) -> str:
    """
    Return names of which one is meant.

    >>> alternatives(["uwsgi", "gunicorn", "granian"]), alternatives(["uwsgi"])
    ('uwsgi, gunicorn or granian', 'uwsgi')
    """
    *most, last = names
    return " or ".join(filter(None, (", ".join(most), last)))


MOST_SHOWN = 200
"""Bytes of a server's reply that are shown to people."""


def ended(reason: str) -> str:
    """
    End what somebody else wrote with a full stop.

    >>> ended("no master"), ended("No master.")
    ('no master.', 'No master.')
    """
    return reason if reason.endswith(".") else f"{reason}."


def shown(data: bytes) -> str:
    r"""
    Return the first `MOST_SHOWN` bytes of *data* in quotes, with control characters escaped.

    >>> print(shown(b"no\x1b[0m\n"), shown(b"x" * 300)[-6:])
    'no\x1b[0m\n' xx'...
    """
    text = repr(data[:MOST_SHOWN].decode("utf-8", "replace"))
    return f"{text}..." if len(data) > MOST_SHOWN else text


LONGEST = 7 * 24 * 3600.0
"""Seconds of the longest duration that is typed."""


@dataclass(frozen=True, slots=True)
class Number:
    """
    Parses a number between two bounds.

    >>> Number(1, 1000, whole=True)("64"), Number(0, 10)("2.5")
    (64, 2.5)
    """

    least: float
    most: float
    whole: bool = False

    def __call__(self, text: str) -> float:
        """
        Return the number.

        Raises:
            ValueError: The text is no such number; the message says what to write.
        """
        written = r"\d+" if self.whole else r"\d+\.?\d*|\.\d+"
        if re.fullmatch(written, text, re.ASCII) and self.least <= float(text) <= self.most:
            return int(text) if self.whole else float(text)
        raise ValueError(f"{text!r}: {self}")

    def __str__(self) -> str:
        """Return what is expected, as in "a whole number from 1 to 1,000"."""
        kind = "a whole number" if self.whole else "a number"
        most = f"{self.most:,}" if self.whole else f"{self.most:,.12g}"
        return f"{kind} from {self.least:,.12g} to {most}"


def share(text: str) -> float:
    """
    Parse a share in percent.

    >>> share("20%"), share("7.5%")
    (0.2, 0.075)
    """
    match = re.fullmatch(r"(\d+\.?\d*|\.\d+)%", text)
    if match is None or not 0 < float(match[1]) <= 100:
        raise ValueError(f"{text!r} is no percentage above 0% and up to 100%; write 5% or 20%")
    return float(match[1]) / 100


def seconds(text: str) -> float:
    """
    Parse a duration.

    >>> seconds("2.5s"), seconds("500ms"), seconds("1m"), seconds("1h")
    (2.5, 0.5, 60.0, 3600.0)
    """
    match = re.fullmatch(r"(-?)(\d+\.?\d*|\.\d+)(ms|s|m|h)?", text, re.ASCII)
    if match is None or match[1]:
        problem = "is no duration" if match is None else "is below 0"
        raise ValueError(f"{text!r} {problem}; write 3, 2.5s, 500ms, 1m or 1h")
    duration = float(match[2]) * {"ms": 0.001, "m": 60.0, "h": 3600.0}.get(match[3], 1.0)
    if duration > LONGEST:
        raise ValueError(f"{text!r} is longer than a week; write 3, 2.5s, 500ms, 1m or 1h")
    return duration


def size(text: str) -> float:
    """
    Parse a size, in bytes.

    >>> size("512M"), size("2kB")
    (536870912.0, 2000.0)
    """
    match = re.fullmatch(r"(\d{1,15}(?:\.\d+)?)\s*([KMGT])(i?B?)", text, re.ASCII | re.IGNORECASE)
    if match is None:
        raise ValueError(f"{text!r} is no size; write it as in 512M or 2G")
    base = 1000 if match[3].upper() == "B" else 1024
    return float(match[1]) * float(base ** ("KMGT".index(match[2].upper()) + 1))
