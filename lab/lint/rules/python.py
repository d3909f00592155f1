"""Which Python uWSGI runs, and what does not go with it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lab.lint.rules.alike import written
from lab.lint.rules.rule import Case, Flaw, Setting, Severity, rule
from lab.lint.rules.start import absolute

NAMED = re.compile(r"python-?(\d)\.?(\d{1,2})(?!\d)")
"""A Python's version in the name of its folder or plug-in, as python3.13 and python313."""


@rule(
    "UW110",
    Severity.ERROR,
    "a virtual environment of another Python",
    why="uWSGI runs the Python that it was built with, which does not look for the packages of "
    "another version",
    source="plugins/python/python_plugin.c:237 `pyvenv.cfg`",
    bad="home = %dvenv",
    good="home = %dother",
    near_miss="home = %dvenv-3.12",
)
def other_python(config: Case) -> Iterator[Flaw]:
    """What is in lib/python3.12 is not looked for by Python 3.11."""
    ours = config.known.python
    for setting in written(config, "home") if ours else ():
        theirs = _installed(config, setting)
        if ours and theirs and theirs != ours:
            text = (
                f"the environment has Python {_dotted(theirs)}, and this uWSGI {_dotted(ours)}, so "
                "no package in it can be imported; install uWSGI into it"
            )
            yield config.flaw(setting, text)


@rule(
    "UW118",
    Severity.ERROR,
    "py-call-osafterfork with Python 3.13 or later",
    why="each worker aborts as soon as it is forked (Fatal Python error in a Mutex_Unlock), so "
    "nothing is served",
    source="plugins/python/python_plugin.c:430 `PyOS_AfterFork_Child()`; uwsgi#2692; uwsgi#2710",
    bad="py-call-osafterfork = true",
    good="py-call-uwsgi-fork-hooks = true",
    near_miss="py-call-osafterfork = true\npy-call-uwsgi-fork-hooks = true",
)
def aborts(config: Case) -> Iterator[Flaw]:
    """With py-call-uwsgi-fork-hooks it is not obeyed. Of an unknown Python it says nothing."""
    for setting in written(config, "py-call-osafterfork"):
        python = _python(config)
        if python and python >= (3, 13) and not config.on("py-call-uwsgi-fork-hooks"):
            text = (
                f"with Python {_dotted(python)} each worker aborts as soon as it is forked (Fatal "
                "Python error in a Mutex_Unlock), so nothing is served; write "
                "py-call-uwsgi-fork-hooks = true instead"
            )
            yield config.flaw(setting, text, config.rename(setting, "py-call-uwsgi-fork-hooks"))


def _python(config: Case) -> tuple[int, int] | None:
    """Return the version that uWSGI runs, by what is known of it or named; None: nobody says."""
    if config.known.python:
        return config.known.python
    homes = config.all("home")
    for setting in reversed(homes):
        if version := _installed(config, setting):
            return version
    for setting in (*homes, *config.all("pythonpath", "plugins", "plugin", "need-plugins")):
        if match := NAMED.search(setting.value):
            return int(match[1]), int(match[2])
    return None


def _installed(config: Case, home: Setting) -> tuple[int, int] | None:
    """Return the version that a virtual environment says it has; None where that is not read."""
    content = config.known.read(absolute(config, home.value) / "pyvenv.cfg") or ""
    match = re.search(r"^version(?:_info)?\s*=\s*(\d{1,4})\.(\d{1,4})", content, re.MULTILINE)
    return (int(match[1]), int(match[2])) if match else None


def _dotted(python: tuple[int, int]) -> str:
    return f"{python[0]}.{python[1]}"
