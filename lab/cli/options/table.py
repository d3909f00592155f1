"""The table of options: what can be asked of a comparison, each once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from lab.bench import workloads
from lab.cli.options.option import Kind, Option, folder, option
from lab.model.plan import SMALLEST
from lab.model.request import HOST
from lab.model.runtime import LOOPBACK
from lab.model.sizes import (
    DEFAULT,
    MINUTES,
    MOST_BLOCKS,
    MOST_CONNECTIONS,
    MOST_MINUTES,
    QUICK,
    SLOWED_CONNECTIONS,
)
from lab.model.wording import Number, seconds, share

GENERATORS = ("engine", "ab")
"""What `lab run` loads with."""

CLIENTS = ("engine", "fasthttp")
"""What makes the requests of a Locust user: the engine, or `lab.locust.clients`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a person asked for, and what the help says of it; None where nothing was said."""

    profiles: tuple[str, ...] = ()
    """Names or paths; each command has its own way to take them. Empty for the whole ladder."""
    workload: str | None = option(
        "--workload",
        "Application and request that come with the lab: a name that `lab list` prints.",
        metavar="NAME",
        choices=workloads.find(),
        shown=workloads.DEFAULT,
    )
    app: str | None = option("--app", "Your WSGI or ASGI application.", metavar="MODULE:CALLABLE")
    chdir: Path | None = option(  # noqa: RUF009 - it is a field
        "--chdir",
        "Folder to import the application from; replaces the chdir of your ini.",
        metavar="PATH",
        parse=Path,
    )
    cwd: Path | None = option(  # noqa: RUF009 - it is a field
        "--cwd",
        "Folder to start your server in.",
        metavar="PATH",
        parse=Path,
        shown="the ini's folder",
    )
    python: Path | None = option(  # noqa: RUF009 - it is a field
        "--python",
        "Your virtual environment, or its python, which runs your application.",
        metavar="PATH",
        parse=Path,
        shown="the ini's home",
    )
    uwsgi: Path | None = option(  # noqa: RUF009 - it is a field
        "--uwsgi",
        "Your uwsgi.",
        metavar="PATH",
        parse=Path,
        shown="the environment's, then ours",
    )
    env: Sequence[str] = option(
        "--env",
        "Environment variable of your server; without =VALUE, the value in your shell; may be "
        "repeated. Its value is not stored.",
        kind=Kind.SEVERAL,
        metavar="NAME[=VALUE]",
        secret=True,
    )
    env_file: Path | None = option(  # noqa: RUF009 - it is a field
        "--env-file", "File of lines NAME=VALUE, as for docker.", metavar="FILE", parse=Path
    )
    keep: Sequence[str] = option(
        "--keep",
        "Keep this option of your ini in the private copy, as in --keep attach-daemon; may be "
        "repeated.",
        kind=Kind.SEVERAL,
        metavar="OPTION",
    )
    drop: Sequence[str] = option(
        "--drop",
        "Leave this option of your ini out of the private copy, as in --drop uid; may be repeated.",
        kind=Kind.SEVERAL,
        metavar="OPTION",
    )
    front: str = option(
        "--front",
        "If your ini has socket = for a proxy: the lab's profiles use the uwsgi protocol too "
        "(same), or HTTP (http), which includes the front in the comparison.",
        choices=("same", "http"),
        default="same",
    )
    path: Sequence[str] = option(
        "--path",
        "Request target; fib takes powers, as in /10^99. Several make a mix.",
        kind=Kind.SEVERAL,
        metavar="/PATH",
        shown="/9000, or / with --app",
    )
    method: str | None = option(
        "--method", "Method of the request.", metavar="NAME", shown="GET, or POST with --data"
    )
    data: str | None = option("--data", "Body of the request.", metavar="TEXT|@FILE")
    header: Sequence[str] = option(
        "--header",
        "Header of each request; may be repeated.",
        kind=Kind.SEVERAL,
        metavar="'NAME: VALUE'",
        secret=True,
    )
    cookie: Sequence[str] = option(
        "--cookie",
        "Cookie of each request; may be repeated. Its value is not stored, nor that of the "
        "header Authorization.",
        kind=Kind.SEVERAL,
        metavar="NAME=VALUE",
        secret=True,
    )
    requests: Path | None = option(  # noqa: RUF009 - it is a field
        "--requests",
        "File of requests with weights: .http, or .har from a browser.",
        metavar="FILE",
        parse=Path,
    )
    static: bool = option(
        "--static",
        "Include images, fonts, scripts and styles of a .har.",
        kind=Kind.FLAG,
    )
    writes: bool = option(
        "--writes",
        "Allow POST, PUT, PATCH and DELETE, which are sent thousands of times.",
        kind=Kind.FLAG,
    )
    host: str | None = option(
        "--host",
        "Host header, the same in all trials.",
        metavar="NAME",
        shown=HOST,
        not_in_locust="Locust's own names a server that already runs; say --header 'Host: NAME'",
    )
    status: int | None = option(
        "--status",
        "Status of a correct reply to --app.",
        metavar="INTEGER",
        parse=Number(200, 599, whole=True),
        shown="200",
    )
    check: str | None = option(
        "--check",
        "Pattern that a correct reply to --app contains, if replies differ.",
        metavar="REGEX",
    )
    load: str = option(
        "--load",
        "sustained: full load; article: the load of the workload's article; walkthrough: that of "
        "fib's article, 500 clients, 5,000 requests, one connection per request.",
        choices=("sustained", "article", "walkthrough"),
        default="sustained",
    )
    generator: str = option(
        "--generator",
        "ab: ApacheBench, for --load article; it does not check bodies.",
        choices=GENERATORS,
        default="engine",
        not_in_locust="Locust's own processes make the load; --client says with what",
    )
    client: str = option(
        "--client",
        "Client: the lab's engine, or Locust's FastHttpUser.",
        choices=CLIENTS,
        default="engine",
        not_in_lab="that client needs Locust around it",
    )
    generators: int | None = option(
        "--generators",
        "Processes of the load engine, one CPU each.",
        metavar="INTEGER",
        parse=Number(1, 1024, whole=True),
        shown="1 on up to 4 CPUs; else one for each core that the server leaves free",
        not_in_locust="Locust's own --processes says how many there are",
    )
    connections: int | None = option(
        "--connections",
        "Connections of the load.",
        metavar="INTEGER",
        parse=Number(1, MOST_CONNECTIONS, whole=True),
        shown="64, unless the workload says",
        not_in_locust="a connection is a Locust user, and -u says how many",
    )
    connection: str | None = option(
        "--connection",
        "Keep connections open, or use one connection per request.",
        choices=("keep-alive", "close"),
    )
    blocks: int | None = option(
        "--blocks",
        "Blocks, or rounds; each runs every profile once.",
        metavar="INTEGER",
        parse=Number(1, MOST_BLOCKS, whole=True),
        shown=f"{DEFAULT.blocks}",
    )
    minutes: float | None = option(
        "--minutes",
        "Time limit in place of --blocks; a profile that is decided early ends early.",
        metavar="NUMBER",
        parse=Number(0, MOST_MINUTES),
        shown=f"{MINUTES:g} for the whole ladder, unless --quick, --rate or long trials",
    )
    window: float | None = option(
        "--window",
        "Measured time of a trial, which is one start of a server under load.",
        metavar="DURATION",
        parse=seconds,
        shown=f"{DEFAULT.window:g}s, unless the workload says",
    )
    warmup: float | None = option(
        "--warmup",
        "Time before the window that is not recorded.",
        metavar="DURATION",
        parse=seconds,
        shown=f"{DEFAULT.warmup:g}s, unless the workload says",
    )
    smallest: float | None = option(
        "--smallest",
        "Smallest difference that matters to you, as in 20%; exit with 3 if the run cannot "
        "detect it.",
        metavar="PERCENT",
        parse=share,
        shown=f"{SMALLEST:.0%}",
    )
    quick: bool = option(
        "--quick", f"{QUICK.blocks} blocks of {QUICK.window:g} s windows.", kind=Kind.FLAG
    )
    rate: str | None = option(
        "--rate",
        "Open loop: send so many requests per second, however long replies take, as in 2000, or "
        "shares of the measured capacity of the slowest profile, as in 50%,80%,95%.",
        metavar="RATES",
    )
    sweep: str | None = option(
        "--sweep",
        "Values of connections, rate, size, workers or threads, as in connections=1,20,100: one "
        "chart, one table.",
        metavar="NAME=VALUES",
        not_in_locust="its users are a number that does not change within a run",
    )
    confirm: bool | None = option(
        "--confirm",
        "Verify each cause by a counter-run: trials with one setting changed, in the same blocks.",
        kind=Kind.SWITCH,
        shown="confirm, unless --quick or --sweep",
    )
    fail_if: Sequence[str] = option(
        "--fail-if",
        "Limit: exit with 99 if the whole interval is beyond it, as in 'cpu(tuned/baseline) > "
        "1.05'; may be repeated.",
        kind=Kind.SEVERAL,
        metavar="LIMIT",
    )
    seed: int | None = option(
        "--seed",
        "Seed of the shuffled order, to repeat an earlier run.",
        metavar="INTEGER",
        parse=Number(0, 2**64, whole=True),
    )
    pin: bool = option(
        "--pin", "Pin the server and the load to different cores.", kind=Kind.SWITCH, default=True
    )
    server_cores: str | None = option(
        "--server-cores", "CPUs of the server, as in 0,2-3.", metavar="CPUS", shown="half"
    )
    generator_cores: str | None = option(
        "--generator-cores",
        "CPUs of the load; may overlap with the server's if you give both.",
        metavar="CPUS",
        shown="the others",
    )
    server_share: float | None = option(
        "--server-share",
        "Share of the time in which the server has all CPUs, as in 25%; the load has the rest. To "
        "the server that is a slower machine whose clients are elsewhere. 100%: server and load at "
        "the same time. Needs root or CAP_SYS_NICE.",
        metavar="PERCENT",
        parse=share,
        shown="25% where the server would have one core, with "
        f"{SLOWED_CONNECTIONS} connections; else 100%",
        not_in_locust="its own processes make the load, and are not told apart from the rest",
    )
    turns: int = option(
        "--turns",
        "Start all servers of a block at once, and load them in turns, this many of which are the "
        "window of a trial. What happens to the machine then happens to all servers.",
        metavar="INTEGER",
        parse=Number(1, 100, whole=True),
        default=1,
        not_in_locust="its own processes make the load, and have one server at a time",
    )
    bind: str | None = option(
        "--bind",
        "Address of this machine that the servers listen on, for Locust workers on other hosts.",
        metavar="ADDRESS",
        shown=LOOPBACK,
        filled=True,
    )
    results: Path = option(  # noqa: RUF009 - it is a field
        "--results",
        "Folder for the run's folder.",
        metavar="PATH",
        parse=folder,
        default=Path("results"),
    )
    json: bool = option(
        "--json",
        "Print the summary as JSON.",
        kind=Kind.FLAG,
        not_in_locust="Locust has a --json of its own, for its statistics",
    )


OPTIONS: Mapping[str, Option] = {
    field.name: field.metadata["option"] for field in fields(Job) if field.metadata
}
"""Field of `Job` -> its option, in the order of the help."""
