"""Load tools that others wrote, as cross-checks of the engine: run one, and say what it counted."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.errors import GeneratorError, LoadGivenUpError


@dataclass(frozen=True, slots=True)
class ToolCounts:
    """What a tool says that it counted."""

    requests: int
    """Replies, wrong ones included."""

    seconds: float
    errors: Mapping[str, int]
    """By the tool's own words; classes with a count of 0 left out."""


@dataclass(frozen=True, slots=True)
class ToolRun:
    """A tool's process, which has ended."""

    pid: int
    output: str
    cpu: float
    """Seconds, of all its threads."""

    wait: float
    """Seconds that its main thread was ready to run and waited for a CPU."""


def run_tool(command: Sequence[str], package: str, cores: Sequence[int] | None) -> ToolRun:
    """
    Run *command* to its end on *cores*.

    Args:
        command: The tool and its arguments.
        package: Debian package that has the tool, for the message.
        cores: CPUs it may use; None for all.

    Raises:
        GeneratorError: It is not installed.
        LoadGivenUpError: It ended with another status than 0.
    """
    if shutil.which(command[0]) is None:
        raise GeneratorError(f"{command[0]} is not installed: apt-get install {package}")
    pinned = ["taskset", "-c", ",".join(map(str, cores))] if cores is not None else []
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        process = subprocess.Popen([*pinned, *command], stdout=stdout, stderr=stderr)
        try:
            # A zombie still has its main thread's schedstat.
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            wait = int(Path(f"/proc/{process.pid}/schedstat").read_text().split()[1]) / 1e9
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        finally:
            if process.returncode is None:
                process.kill()
                process.wait()
        stdout.seek(0)
        stderr.seek(0)
        output = stdout.read().decode(errors="replace")
        if process.returncode:
            words = stderr.read().decode(errors="replace").strip() or output.strip()
            raise LoadGivenUpError(
                f"`{' '.join(command)}` ended with status {process.returncode}: {words[-500:]}"
            )
    return ToolRun(process.pid, output, usage.ru_utime + usage.ru_stime, wait)
