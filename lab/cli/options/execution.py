"""What was asked for, checked, and carried out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lab.analysis.thresholds import PLANNED, Threshold, check, parse
from lab.bench import workloads
from lab.bench.load.ab import check_ab
from lab.bench.load.wires import check_clients
from lab.bench.trials.announcement import announcement
from lab.bench.trials.conduct import Measurement, Outcome, PreparedRun, prepare
from lab.bench.trials.cores import arrange
from lab.bench.trials.hosts import own_address
from lab.bench.trials.minutes import usual_minutes
from lab.bench.trials.plan import check_lasts, validate_load, validate_sizes
from lab.bench.trials.rates import Rate, check_units, parse_rates, planned
from lab.bench.trials.same_application import says_what_is_served
from lab.bench.trials.sweep import Sweep, parse_sweep
from lab.bench.workloads import FittingLoad, asking
from lab.bench.workloads.question import Question, requests_of
from lab.cli.options.runtime import runtime, with_copy
from lab.cli.options.table import Job
from lab.errors import UsageError
from lab.model.plan import SMALLEST, Load
from lab.model.request import Expectation
from lab.model.sizes import DEFAULT, QUICK, Sizes
from lab.model.workload import Workload


@dataclass(frozen=True, slots=True)
class CheckedJob:
    """What was asked for, checked as far as it can be before anything starts."""

    options: Measurement
    thresholds: tuple[Threshold, ...]
    rates: tuple[Rate, ...]
    rate: str | None
    """The same as they were written, as `--rate` or as a sweep; None without any."""


def understand(asked: Job) -> CheckedJob:
    """
    Return what *asked* means.

    Raises:
        UsageError: Two options contradict each other, or one of them cannot be meant so.
    """
    thresholds = tuple(map(parse, asked.fail_if))
    sweep, swept_rates = _swept(asked)
    # One value is no sweep: all else is as where an option of its own says it.
    asked = replace(asked, rate=swept_rates, sweep=asked.sweep if _several(asked) else None)
    rates = parse_rates(asked.rate) if asked.rate is not None else ()
    usual = _usual(asked)
    _check_generator(asked, usual.load)
    if rates:
        _check_open_loop(usual.load, thresholds)
    stay = {name for each in thresholds for name in (each.profile, each.against) if name}
    texts = tuple(each.text for each in thresholds)
    options = replace(_options(asked, usual), thresholds=texts, stay=stay, sweep=sweep)
    validate_sizes(options.sizes.blocks, options.sizes.window, options.sizes.warmup)
    validate_load(options.load)
    return CheckedJob(options, thresholds, rates, asked.rate)


def application(asked: Job, say: Callable[[str], None] = lambda _: None) -> Workload:
    """
    Return what is asked of each server that is started; *say* is told what was read for it.

    Raises:
        UsageError: A part of it cannot be meant so, or the generator cannot ask it.
        WorkloadError: A file of requests cannot be read.
    """
    found = workloads.workload(
        asked.workload,
        question(asked),
        app=asked.app,
        chdir=asked.chdir,
        own=_is_own(asked),
        say=say,
    )
    check_clients((asked.generator, asked.client), found)
    given = asked.python, asked.uwsgi, asked.cwd, asked.env, asked.env_file
    own = says_what_is_served(asked.profiles)
    folder = _folder(asked, found) if own else None
    started = with_copy(runtime(*given, own=own), asked.keep, asked.drop, folder)
    started = replace(started, pinned=asked.pin, front_http=asked.front == "http")
    if asked.bind is not None:
        started = replace(started, bind=own_address(asked.bind))
    return replace(found, runtime=started)


def of_running_server(asked: Job, path: str) -> Workload:
    """
    Return what is asked of a server that already runs, of *path* where nothing is said.

    Raises:
        UsageError: As `application`.
    """
    said = question(asked)
    found = requests_of(said if asked.path or asked.requests else replace(said, paths=(path,)))
    return asking(Workload("running server", path, Expectation()), found.requests, found.host)


def question(asked: Job) -> Question:
    """Return what was said of what is asked."""
    return Question(
        paths=asked.path,
        method=asked.method,
        data=asked.data,
        headers=asked.header,
        cookies=asked.cookie,
        host=asked.host,
        requests=asked.requests,
        static=asked.static,
        writes=asked.writes,
        status=asked.status,
        check=asked.check,
    )


def _swept(asked: Job) -> tuple[Sweep | None, str | None]:
    """Return the sweep, and the rates: those of a sweep where it is one of rates."""
    if asked.sweep is None:
        return None, asked.rate
    sweep = parse_sweep(asked.sweep)
    if asked.rate is not None and sweep.name == "rate":
        raise UsageError(f"--sweep {asked.sweep} --rate {asked.rate}: say one of them")
    if asked.rate is not None and ("%" in asked.rate or "," in asked.rate):
        problem = "a sweep has one rate, in requests per second, as in --rate 2000/s"
        raise UsageError(f"--sweep {asked.sweep} --rate {asked.rate}: {problem}")
    if asked.connections is not None and sweep.name == "connections":
        problem = f"--sweep {asked.sweep} --connections {asked.connections}: say one of them"
        raise UsageError(problem)
    if asked.minutes is not None and _several(asked):
        raise UsageError(f"--sweep {asked.sweep} --minutes {asked.minutes:g}: say --blocks instead")
    return (None, ",".join(sweep.values)) if sweep.name == "rate" else (sweep, asked.rate)


def _several(asked: Job) -> bool:
    """Return whether a sweep has several values."""
    return asked.sweep is not None and "," in asked.sweep


def _is_own(asked: Job) -> bool:
    """Return whether a configuration of the user's says what is served."""
    said = asked.app is not None or asked.workload is not None or asked.load == "walkthrough"
    return not said and says_what_is_served(asked.profiles)


def _folder(asked: Job, found: Workload) -> Path | None:
    """Return the folder that stands for the `chdir` of the user's inis; None for their own."""
    return asked.chdir if _is_own(asked) else workloads.folder_of(found)


def _usual(asked: Job) -> FittingLoad:
    """Return the load and the times of what is asked, where nobody says otherwise."""
    if asked.load == "walkthrough":
        name: str | None = workloads.DEFAULT
    else:
        name = asked.workload or (None if asked.app or _is_own(asked) else workloads.DEFAULT)
    described = workloads.read(name) if name else None
    if asked.load == "sustained":
        return described.own if described else FittingLoad(Load())
    if described is None or described.article is None:
        problem = f"no article loads {name or asked.app or asked.profiles[0]}"
        raise UsageError(f"--load {asked.load}: {problem}; say --connections, or leave it out")
    return described.article


def _options(asked: Job, usual: FittingLoad) -> Measurement:
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
    return Measurement(
        profiles=asked.profiles,
        load=replace(
            load,
            connections=load.connections if asked.connections is None else asked.connections,
            keepalive=asked.connection == "keep-alive" if asked.connection else load.keepalive,
        ),
        sizes=sizes,
        minutes=_minutes(asked, sizes),
        smallest=SMALLEST if asked.smallest is None else asked.smallest,
        seed=asked.seed,
        results=asked.results,
        pin=asked.pin,
        cores=arrange(asked.server_cores, asked.generator_cores, pin=asked.pin),
        generators=1 if asked.generator != "engine" else asked.generators,
        # Beside every value of a sweep a counter-run would double its time.
        confirm=not (asked.quick or asked.sweep) if asked.confirm is None else asked.confirm,
    )


def _minutes(asked: Job, sizes: Sizes) -> float | None:
    """Return the time that the blocks may take: what was said, or the whole ladder's."""
    if asked.minutes is not None and asked.blocks is not None:
        raise UsageError(f"--blocks {asked.blocks} --minutes {asked.minutes:g}: say one of them")
    said = asked.minutes is not None or asked.blocks is not None or asked.quick
    # At several rates the first look would not be reached in that time.
    if said or asked.rate is not None or asked.sweep is not None:
        return asked.minutes
    return usual_minutes(asked.profiles, sizes.window, sizes.warmup)


def _check_generator(asked: Job, load: Load) -> None:
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
    asked: Job,
    understood: CheckedJob,
    conduct: Callable[[PreparedRun, Measurement], Outcome],
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
    subject = application(asked, say)
    if understood.rate is not None:
        check_units(understood.rate)

    def compare(options: Measurement) -> Outcome:
        prepared = prepare(options, subject)
        for arm in prepared.plan.arms:  # what each is asked in, its profile has said
            check_clients((asked.generator, asked.client), arm.workload)
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
