"""
Why a server failed, in the words of its own log.

A log of uWSGI is forty lines of which one matters. What matters is the exception that kept the
application from being loaded or that ended its requests, and the last frame in a file of the
user's own; where there is none, a line in which the server itself gives up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

NOT_LOADED = "unable to load app"
"""Begins what uWSGI prints after the exception of an import, or after none: no such callable."""

NO_FILE = r"failed to open python file .+"
"""What it prints before that where the application is a file which is not there."""

NEAR = 12
"""Lines of a message that may stand between an exception's name and `NOT_LOADED`."""

DATE = re.compile(r"^\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4} - ", re.MULTILINE)
"""What `log-date` and the master's logger put before each line."""

EXCEPTION = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|NotFound|Exit)(?:: .*)?")
"""A whole line; Python prints it alone where no frame belongs to it."""

FRAME = re.compile(r'  File "(?P<file>.+)", line (?P<line>\d+)(?:, in (?P<name>.+))?')

FOREIGN = re.compile(r"^<|/(?:site|dist)-packages/|/lib/python\d|/bin/[^/]+$")
"""Files that are not the user's own: of packages and programs, and of Python itself."""

CONSEQUENCE = re.compile(r"gunicorn\.errors\.HaltServer: ")
"""Begins an exception that follows from another one: gunicorn's master ends without workers."""

NO_LIBRARY = "No module named 'encodings'"
"""What Python says before anything else, where it cannot read its own library."""

UNREADABLE = (
    "Python cannot read its own library: the user of uWSGI's `uid` may not, as below /root, or "
    "`home` is none. --drop uid (and --drop gid) serves as you, --drop home without that `home`"
)

GIVING_UP = (
    r"Failed to find attribute .+",
    NO_FILE,
    r"Application object must be callable\.",
    r"(?:user|group) .+ not found\.?",
    r"(?!unlink\b)\w+\(\): .+ \[\S+ line \d+\]",  # by that `vacuum` removes what was never made
    r"!!! UNABLE to load .+",  # of `plugins`, without which it goes on
    r"no request plugin is loaded.*",
    r"The -s/--socket option is missing.*",
    r"unable to (?:find|open|load|get) .+",
    r"invalid .+ (?:value|syntax).*",
    r"log encoder .+ not found\.?",
    r"Invalid value for .+",
    r"(?:Error|[\w.-]+: error): .+",
    r"\*\*\* no app loaded\. .+",
)
"""Lines in which a server says why it ends; an earlier pattern says more."""

ASGI = (
    "compare servers of ASGI, as in lab run uvicorn granian-asgi --app MODULE:APP, "
    "or make a WSGI application of it, as in "
    "application = a2wsgi.ASGIMiddleware(app)"
)
"""What to do about an application of ASGI that WSGI servers are to serve."""

ADVICE = {
    r"(user|group) .+ not found": (
        "a container has it, and this machine does not: --drop uid (and --drop gid) serves as you"
    ),
    r"unable to find (user|group) ": (
        "a container has it, and this machine does not: --drop chown-socket leaves the socket yours"
    ),
    r"UNABLE to load uWSGI plugin": (
        "it is built in here, or there is none: --drop need-plugins, or name your uWSGI by --uwsgi"
    ),
    f"no app loaded|{NO_FILE}": (
        "the ini names no application that is here: name it, --app MODULE:CALLABLE --chdir PATH"
    ),
    r"No application module specified|Missing argument .APP": (
        "name what it serves behind its options, as in 'gunicorn -w 4 shop.wsgi:application'"
    ),
    r"missing 1 required positional argument: .send": (
        f"it is an application of ASGI, and this server serves WSGI: {ASGI}"
    ),
    r"missing 1 required positional argument: .start_response": (
        "it is an application of WSGI, and this server serves ASGI: compare servers of WSGI, as in "
        "lab run tuned granian --app MODULE:APP"
    ),
}
"""What a server says -> what to do."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a server failed."""

    text: str
    """The exception's type and message, or the server's own words."""
    frame: str = ""
    """The last frame in a file of the user's own, such as "/srv/site.py, line 3, in load"."""
    code: str = ""
    """The line of that frame; empty where the log does not have it."""

    @property
    def advice(self) -> str:
        """What to do; empty where that is not known."""
        return next((advice for words, advice in ADVICE.items() if re.search(words, self.text)), "")


def reason(log: str) -> Reason | None:
    r"""
    Return why a server failed, or None where its log does not say it.

    >>> reason("ImportError: no\nunable to load app 0 (import error)\n").text
    'ImportError: no'
    """
    lines = DATE.sub("", log).splitlines()
    end = next((i for i, line in enumerate(lines) if line.startswith(NOT_LOADED)), None)
    exceptions = _exceptions(lines[:end])
    reasons = [
        (number, exception)
        for number, exception in exceptions
        if not CONSEQUENCE.match(exception.text)
    ]
    if end is not None:
        reasons = [(number, exception) for number, exception in reasons if number >= end - NEAR]
    if reasons:
        return reasons[-1][1]
    # Where it loads an application, its last words are about that file, or say nothing.
    for pattern in GIVING_UP if end is None else (NO_FILE,):
        last = [line for line in lines if re.fullmatch(pattern, line.strip())]
        if last:
            return Reason(last[-1].strip())
    return None


def _exceptions(lines: Sequence[str]) -> Iterator[tuple[int, Reason]]:
    """Yield the line number of each exception, from 0, and what it says."""
    frames: list[tuple[re.Match[str], str]] = []
    traced = False
    for number, line in enumerate(lines):
        if line.startswith("Traceback (most recent call last):"):
            frames, traced = [], True
        elif match := FRAME.fullmatch(line):
            code = lines[number + 1] if number + 1 < len(lines) else ""
            frames.append((match, code.strip() if code.startswith("    ") else ""))
        elif line and line[0] != " ":
            if traced or EXCEPTION.fullmatch(line):
                yield number, _reason(line, frames)
            frames, traced = [], False


def _reason(text: str, frames: Sequence[tuple[re.Match[str], str]]) -> Reason:
    if text.endswith(NO_LIBRARY):
        return Reason(f"{text}\n{UNREADABLE}")
    user_frames = [frame for frame in frames if not FOREIGN.search(frame[0]["file"])]
    if not user_frames:
        return Reason(text)
    match, code = user_frames[-1]
    name = f", in {match['name']}" if match["name"] else ""
    return Reason(text, f"{match['file']}, line {match['line']}{name}", code)
