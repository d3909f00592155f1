"""
What can be asked of a comparison: every option once, for `lab run` and for Locust.

`lab.cli.options` makes click options of the table, `lab.locust.arguments` makes arguments for
Locust's command line and web form. Both hand what was given over as an `Asked`; what follows from
that is decided here, so that the two doors cannot differ.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from lab import workloads
from lab.analysis.thresholds import PLANNED, Threshold, check, parse
from lab.errors import UsageError
from lab.experiment.conduct import DEFAULT, QUICK, Options, Outcome, Prepared, Sizes, prepare
from lab.experiment.cores import arrange
from lab.experiment.minutes import MINUTES, usual_minutes
from lab.experiment.plan import check_lasts, validate_load, validate_sizes
from lab.experiment.progress import announcement
from lab.experiment.rates import Rate, check_units, parse_rates, planned
from lab.generators.ab import check_ab
from lab.generators.wires import check_clients
from lab.model import Load, Workload
from lab.model.wording import seconds
from lab.workloads import Fitting

GENERATORS = ("engine", "ab")
"""What `lab run` loads with."""

CLIENTS = ("engine", "fasthttp")
"""What makes the requests of a Locust user: the engine, or `lab.locust.clients`."""


class Kind(enum.Enum):
    """What stands after an option's name."""

    VALUE = enum.auto()
    SEVERAL = enum.auto()
    """A value; the option may be repeated."""
    FLAG = enum.auto()
    """Nothing."""
    SWITCH = enum.auto()
    """Nothing; `--no-NAME` is its opposite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option of a comparison."""

    name: str
    """As it is typed, such as "--fail-if"."""
    help: str
    kind: Kind = Kind.VALUE
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    parse: Callable[[str], Any] = str
    """Makes the value of a text; a ValueError says what to write instead."""
    default: Any = None
    """None where the default depends on other options."""
    shown: str = ""
    """What the help says of a default that is None."""
    not_in_lab: str = ""
    """Why `lab run` does not offer it; empty where it does."""
    not_in_locust: str = ""
    """Why Locust does not offer it; empty where it does."""


def _option(name: str, text: str, **rest: Any) -> Any:
    option = Option(name=name, help=text, **rest)
    default = {Kind.SEVERAL: (), Kind.FLAG: False}.get(option.kind, option.default)
    return field(default=default, metadata={"option": option})


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a person asked for, and what the help says of it; None where nothing was said."""

    profiles: tuple[str, ...] = ()
    """Names or paths; each door has its own way to take them. Empty for the whole ladder."""
    workload: str | None = _option(
        "--workload",
        "Application and request of ours: a name that `lab list` prints.",
        metavar="NAME",
        choices=workloads.find(),
        shown=workloads.DEFAULT,
    )
    app: str | None = _option("--app", "Your WSGI application instead.", metavar="MODULE:CALLABLE")
    path: str | None = _option(
        "--path",
        "Request target; fib takes powers, as /10^99.",
        metavar="/PATH",
        shown="/9000, or / with --app",
    )
    chdir: Path | None = _option(  # noqa: RUF009 - it is a field
        "--chdir", "Folder to import --app in.", metavar="PATH", parse=Path
    )
    status: int | None = _option(
        "--status", "Status of a correct reply to --app.", metavar="INTEGER", parse=int, shown="200"
    )
    check: str | None = _option(
        "--check",
        "What a correct reply to --app contains, if it is not always the same.",
        metavar="REGEX",
    )
    load: str = _option(
        "--load",
        "sustained: as it suits the workload; article: as its article loads it; walkthrough: as "
        "fib's does, 500 clients at once, 5,000 requests, a connection each.",
        choices=("sustained", "article", "walkthrough"),
        default="sustained",
    )
    generator: str = _option(
        "--generator",
        "ab: the articles' tool, for --load article; it checks no body.",
        choices=GENERATORS,
        default="engine",
        not_in_locust="Locust's own processes make the load; --client says with what",
    )
    client: str = _option(
        "--client",
        "What makes the requests: the lab's engine, or Locust's FastHttpUser client.",
        choices=CLIENTS,
        default="engine",
        not_in_lab="that client needs Locust around it",
    )
    generators: int | None = _option(
        "--generators",
        "Processes of the engine that share the load, each on a CPU of its own.",
        metavar="INTEGER",
        parse=int,
        shown="1 on up to 4 CPUs; else one for each core that the server leaves free",
        not_in_locust="Locust's own --processes says how many there are",
    )
    connections: int | None = _option(
        "--connections",
        "Connections of the load.",
        metavar="INTEGER",
        parse=int,
        shown="64, unless the workload says",
        not_in_locust="a connection is a Locust user, and -u says how many",
    )
    connection: str | None = _option(
        "--connection",
        "Let the server keep connections open, or one request each.",
        choices=("keep-alive", "close"),
    )
    blocks: int | None = _option(
        "--blocks", "Blocks.", metavar="INTEGER", parse=int, shown=f"{DEFAULT.blocks}"
    )
    minutes: float | None = _option(
        "--minutes",
        "In place of --blocks: as many as fit; a profile that is decided early leaves.",
        metavar="NUMBER",
        parse=float,
        shown=f"{MINUTES:g} for the whole ladder, unless --quick, --rate or long trials",
    )
    window: float | None = _option(
        "--window",
        "Measured time.",
        metavar="DURATION",
        parse=seconds,
        shown=f"{DEFAULT.window:g}s, unless the workload says",
    )
    warmup: float | None = _option(
        "--warmup",
        "Unrecorded time before.",
        metavar="DURATION",
        parse=seconds,
        shown=f"{DEFAULT.warmup:g}s, unless the workload says",
    )
    quick: bool = _option(
        "--quick", f"{QUICK.blocks} blocks of {QUICK.window:g} s windows.", kind=Kind.FLAG
    )
    rate: str | None = _option(
        "--rate",
        "Open loop: requests per second, as in 2000, or shares of the slowest profile's measured "
        "capacity, as in 50%,80%,95%; a run for each.",
        metavar="RATES",
    )
    confirm: bool | None = _option(
        "--confirm",
        "Put each cause to the test by toggling its one setting, in the same blocks.",
        kind=Kind.SWITCH,
        shown="confirm, unless --quick",
    )
    fail_if: Sequence[str] = _option(
        "--fail-if",
        "Exit with 99 if the whole interval lies beyond, as in 'cpu(tuned/baseline) > 1.05'; "
        "may be repeated.",
        kind=Kind.SEVERAL,
        metavar="LIMIT",
    )
    seed: int | None = _option(
        "--seed", "Repeat the order of an earlier run.", metavar="INTEGER", parse=int
    )
    pin: bool = _option(
        "--pin", "Server and generator on cores of their own.", kind=Kind.SWITCH, default=True
    )
    server_cores: str | None = _option(
        "--server-cores", "CPUs of the server, as in 0,2-3.", metavar="CPUS", shown="half"
    )
    generator_cores: str | None = _option(
        "--generator-cores",
        "CPUs of the load; some may be the server's, too, if both are named.",
        metavar="CPUS",
        shown="the others",
    )
    results: Path = _option(  # noqa: RUF009 - it is a field
        "--results",
        "Where the run's folder is made.",
        metavar="PATH",
        parse=Path,
        default=Path("results"),
    )
    json: bool = _option(
        "--json",
        "Print the summary as JSON.",
        kind=Kind.FLAG,
        not_in_locust="Locust has a --json of its own, for its statistics",
    )


OPTIONS: Mapping[str, Option] = {
    each.name: each.metadata["option"] for each in fields(Asked) if each.metadata
}
"""Field of `Asked` -> its option, in the order of the help."""


@dataclass(frozen=True, slots=True)
class Understood:
    """What was asked for, checked as far as it can be before anything starts."""

    options: Options
    thresholds: tuple[Threshold, ...]
    rates: tuple[Rate, ...]


def understand(asked: Asked) -> Understood:
    """
    Return what *asked* means.

    Raises:
        UsageError: Two options contradict each other, or one of them cannot be meant so.
    """
    thresholds = tuple(map(parse, asked.fail_if))
    rates = parse_rates(asked.rate) if asked.rate is not None else ()
    usual = _usual(asked)
    _check_generator(asked, usual.load)
    if rates:
        _check_open_loop(usual.load, thresholds)
    stay = {name for each in thresholds for name in (each.profile, each.against) if name}
    options = replace(_options(asked, usual), stay=stay)
    validate_sizes(options.sizes.blocks, options.sizes.window, options.sizes.warmup)
    validate_load(options.load)
    return Understood(options, thresholds, rates)


def application(asked: Asked) -> Workload:
    """
    Return what is asked of each server that is started.

    Raises:
        UsageError: A part of it cannot be meant so.
    """
    return workloads.workload(
        asked.workload,
        app=asked.app,
        path=asked.path,
        chdir=asked.chdir,
        status=asked.status,
        pattern=asked.check,
    )


def _usual(asked: Asked) -> Fitting:
    """Return the load and the times of what is asked, where nobody says otherwise."""
    if asked.load == "walkthrough":
        name: str | None = workloads.DEFAULT
    else:
        name = asked.workload or (None if asked.app else workloads.DEFAULT)
    described = workloads.read(name) if name else None
    if asked.load == "sustained":
        return described.own if described else Fitting(Load())
    if described is None or described.article is None:
        problem = f"no article loads {name or asked.app}"
        raise UsageError(f"--load {asked.load}: {problem}; say --connections, or leave it out")
    return described.article


def _options(asked: Asked, usual: Fitting) -> Options:
    load, size = usual.load, QUICK
    if not asked.quick:
        window = DEFAULT.window if usual.window is None else usual.window
        warmup = DEFAULT.warmup if usual.warmup is None else usual.warmup
        size = Sizes(DEFAULT.blocks, window, warmup)
    sizes = Sizes(
        size.blocks if asked.blocks is None else asked.blocks,
        size.window if asked.window is None else asked.window,
        size.warmup if asked.warmup is None else asked.warmup,
    )
    return Options(
        profiles=asked.profiles,
        load=replace(
            load,
            connections=load.connections if asked.connections is None else asked.connections,
            keepalive=asked.connection == "keep-alive" if asked.connection else load.keepalive,
        ),
        sizes=sizes,
        minutes=_minutes(asked, sizes),
        seed=asked.seed,
        results=asked.results,
        pin=asked.pin,
        cores=arrange(asked.server_cores, asked.generator_cores, pin=asked.pin),
        generators=1 if asked.generator != "engine" else asked.generators,
        confirm=not asked.quick if asked.confirm is None else asked.confirm,
    )


def _minutes(asked: Asked, sizes: Sizes) -> float | None:
    """Return the time that the blocks may take: what was said, or the whole ladder's."""
    if asked.minutes is not None and asked.blocks is not None:
        raise UsageError(f"--blocks {asked.blocks} --minutes {asked.minutes:g}: say one of them")
    said = asked.minutes is not None or asked.blocks is not None or asked.quick
    # At several rates the first look would not be reached in that time.
    if said or asked.rate is not None:
        return asked.minutes
    return usual_minutes(asked.profiles, sizes.window, sizes.warmup)


def _check_generator(asked: Asked, load: Load) -> None:
    if asked.workload is not None:
        check_clients((asked.generator, asked.client), workloads.read(asked.workload).workload)
    if asked.generator == "ab":
        if asked.generators is not None:
            raise UsageError("--generators is for the lab's engine: leave out --generator ab")
        check_ab(load)
    if asked.rate is not None:
        for name, chosen in (("--generator", asked.generator), ("--client", asked.client)):
            if chosen != "engine":
                raise UsageError(f"--rate needs the lab's engine: leave out {name} {chosen}")


def _check_open_loop(load: Load, thresholds: Sequence[Threshold]) -> None:
    """Refuse what has no meaning in an open loop, before its capacity is measured for minutes."""
    check_lasts(load)
    for each in thresholds:
        if each.metric == "throughput":
            raise UsageError(f"--fail-if {each.text!r} with --rate: {PLANNED}")


def carry_out(
    asked: Asked,
    understood: Understood,
    conduct: Callable[[Prepared, Options], Outcome],
    say: Callable[[str], None],
) -> Outcome:
    """
    Return what came of the comparison; at rates that are shares the capacity is measured first.

    Args:
        asked: What was asked for.
        understood: What that means.
        conduct: Runs one plan.
        say: Told in a line what comes next.

    Raises:
        LabError: The narrow one that says what ended it, or why it could not begin.
    """
    subject = application(asked)
    if asked.rate is not None:
        check_units(asked.rate)

    def compare(options: Options) -> Outcome:
        prepared = prepare(options, subject)
        for each in understood.thresholds:
            check(each, [profile.name for profile in prepared.plan.profiles])
        for line in announcement(prepared):
            say(line)
        return conduct(prepared, options)

    options = understood.options
    if understood.rates:
        rates = planned(understood.rates, options, compare, say)
        if len(rates) > 1:
            options = replace(options, rates=rates)
        else:
            (rate,) = rates.values()
            options = replace(options, load=replace(options.load, rate=rate))
    return compare(options)
