"""What is around the command that starts a server."""

from __future__ import annotations

from collections.abc import Iterator

from lab.config.words import command_of
from lab.lint.rules.rule import WHY, Case, Flaw, Severity, rule


@rule(
    "ST001",
    Severity.DANGEROUS,
    "a shell that does not pass SIGTERM on",
    why="sh, which is dash on Debian and Ubuntu, stays the first process of the container and "
    "ignores SIGTERM, so a stop waits for its timeout and then kills the server with its requests; "
    "write exec before the command",
    source="https://docs.docker.com/reference/dockerfile/#shell-form-entrypoint-example",
    bad="FROM python:3.12-slim\nCMD gunicorn --worker-tmp-dir /dev/shm shop:app",
    good="FROM python:3.12-slim\nCMD exec gunicorn --worker-tmp-dir /dev/shm shop:app",
    near_miss="FROM python:3.12-alpine\nCMD gunicorn --worker-tmp-dir /dev/shm shop:app",
)
def kept_by_shell(config: Case) -> Iterator[Flaw]:
    """Other shells, bash and that of Alpine, become their last command."""
    around, start = config.known.surroundings, config.start
    if start and around.in_shell and around.shell == "dash" and around.is_first_process:
        command = command_of(start.text, config.file, start.program)
        yield config.flaw(command.program.spot if command else config.top, f"no exec: {WHY}")
