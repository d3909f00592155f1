"""What is known of this machine and of a uWSGI on it, for those who judge a configuration."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

from lab.bench.machine.programs import find_command, options, output_of, plugins
from lab.bench.machine.runtime import version_of_uwsgi
from lab.config.configuration import Known, somaxconn
from lab.errors import ProfileError

MIGRATES = Path("/proc/sys/net/ipv4/tcp_migrate_req")
"""Where it says whether connections wait on when their socket is closed; since Linux 5.14."""


def of_machine(known: Known) -> Known:
    """Return the same with what is known of this machine, which serves. No process is started."""
    return replace(
        known,
        here=True,
        root=os.geteuid() == 0,
        somaxconn=somaxconn(),
        migrates=MIGRATES.read_text().strip() == "1" if MIGRATES.exists() else None,
    )


def with_build(known: Known, program: str) -> Known:
    """
    Return the same with what is known of the uWSGI that serves.

    Args:
        known: What is known besides.
        program: That uWSGI's path. It is started to ask for its version, options and plug-ins.

    Raises:
        ProfileError: It is none that runs here.
    """
    path = find_command(program)
    version = re.match(r"\d+(\.\d+)*", (path and output_of(path, "--version")) or "")
    if path is None or version is None:
        problem = "is no uWSGI that runs here: name the program, as in /usr/bin/uwsgi"
        raise ProfileError(f"--uwsgi {program}", problem)
    python = version_of_uwsgi(path).split(".")
    return replace(
        known,
        version=tuple(map(int, version[0].split("."))),
        options=frozenset(options(path)),
        plugins=plugins(path),
        python=(int(python[0]), int(python[1])) if python[1:] else None,
    )
