"""The programs that start the command behind them, such as `exec`, `gosu` and `uv run`."""

from __future__ import annotations

from typing import NamedTuple

INITS = frozenset({"tini", "tini-static", "docker-init", "catatonit", "dumb-init"})
"""Programs that pass a signal on to the command behind them, or to its shell."""


class Wrapper(NamedTuple):
    """A program that starts the command behind it."""

    takes: str = ""
    """Its options that a value follows."""

    verb: str = ""
    """The word behind which the command stands."""

    words: int = 0
    """Words of its own before the command."""

    user: bool = False
    """Whether these name the user that the command runs as."""

    changes: bool = False
    """Whether it changes what the server does, so that it stays in the command."""


def _wrappers() -> dict[str, Wrapper]:
    user = Wrapper(words=1, user=True)
    environment = Wrapper("-n --name -p --prefix --cwd -e --environment --project", "run")
    return {
        "python": Wrapper("-X -W"),
        "exec": Wrapper("-a"),
        "env": Wrapper("-u --unset -C --chdir"),
        "nice": Wrapper("-n --adjustment"),
        "ionice": Wrapper("-c -n"),
        "stdbuf": Wrapper("-i -o -e"),
        **dict.fromkeys(("nohup", "setsid", "with-contenv", "time"), Wrapper()),
        "taskset": Wrapper(words=1, changes=True),
        "numactl": Wrapper(
            "-C --physcpubind -N --cpunodebind -m --membind -i --interleave -p --preferred",
            changes=True,
        ),
        **dict.fromkeys(INITS, Wrapper("-p -e -r --rewrite")),
        **dict.fromkeys(("gosu", "su-exec", "setuidgid", "s6-setuidgid"), user),
        "setpriv": Wrapper("--reuid --regid --groups"),
        "chpst": Wrapper("-u -U -e -m -o -b -d -n"),
        "sudo": Wrapper("-u -g --user --group"),
        "runuser": Wrapper("-u -g --user --group"),
        "uv": Wrapper(
            "--group --no-group --only-group --extra --no-extra --with --with-requirements -w "
            "--python -p --project --directory --env-file --package --index --cache-dir --color",
            "run",
        ),
        "poetry": Wrapper("-C --directory -P --project", "run"),
        "pipenv": Wrapper("--python", "run"),
        **dict.fromkeys(
            ("pdm", "rye", "hatch", "conda", "mamba", "micromamba", "pixi"), environment
        ),
        "dotenv": Wrapper("-f --file", "run"),
        "doppler": Wrapper("-p --project -c --config", "run"),
        "coverage": Wrapper("--rcfile --data-file --source", "run", changes=True),
        "newrelic-admin": Wrapper(verb="run-program", changes=True),
        "ddtrace-run": Wrapper(changes=True),
        "opentelemetry-instrument": Wrapper(
            "--traces_exporter --metrics_exporter --logs_exporter --service_name", changes=True
        ),
    }


WRAPPERS = _wrappers()
"""Program -> how it starts the command behind it."""
