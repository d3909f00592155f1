"""What was asked for, checked, and carried out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lab.analysis.thresholds import PLANNED, Threshold, check, parse
from lab.bench import workloads
from lab.bench.load.ab import check_ab
from lab.bench.load.wires import check_clients
from lab.bench.machine import slowdown
from lab.bench.profiles.catalogue import BRIEF
from lab.bench.trials.announcement import announcement
from lab.bench.trials.conduct import Measurement, Outcome, PreparedRun, prepare
from lab.bench.trials.cores import has_one_core, parse_cores
from lab.bench.trials.hosts import own_address
from lab.bench.trials.minutes import usual_minutes
from lab.bench.trials.plan import check_lasts, validate_load, validate_sizes
from lab.bench.trials.rates import Rate, check_units, parse_rates, planned
from lab.bench.trials.same_application import any_is_users_own
from lab.bench.trials.sweep import Sweep, parse_sweep
from lab.bench.workloads import FittingLoad, asking
from lab.bench.workloads.question import Question, requests_of
from lab.cli.options.runtime import runtime, with_private_copy
from lab.cli.options.table import Job
from lab.errors import UsageError
from lab.model.plan import SMALLEST, Load
from lab.model.request import Expectation
from lab.model.sizes import DEFAULT, QUICK, SLOWED_CONNECTIONS, SUSTAINED, Sizes
from lab.model.workload import Workload


@dataclass(frozen=True, slots=True)
class CheckedJob:
    """What was asked for, checked as far as it can be before anything starts."""

    options: Measurement
    thresholds: tuple[Threshold, ...]
    rates: tuple[Rate, ...]
    rate: str | None
    """The same as they were written, as `--rate` or as a sweep; None without any."""


def understand(job: Job, *, may_slow: bool = False) -> CheckedJob:
    """
    Return what *job* means.

    Args:
        job: What was asked for.
        may_slow: Whether a server may be slowed down without being asked: see `AUTOMATIC`.

    Raises:
        UsageError: Two options contradict each other, or one of them cannot be meant so.
    """
    thresholds = tuple(map(parse, job.fail_if))
    sweep, swept_rates = _swept(job)
    # One value is no sweep: all else is as where an option of its own says it.
    job = replace(job, rate=swept_rates, sweep=job.sweep if _several(job) else None)
    rates = parse_rates(job.rate) if job.rate is not None else ()
    usual = _usual(job)
    _check_generator(job, usual.load)
    if rates:
        _check_open_loop(usual.load, thresholds)
    stay = {
        name for threshold in thresholds for name in (threshold.profile, threshold.against) if name
    }
    texts = tuple(threshold.text for threshold in thresholds)
    options = replace(_options(job, usual), thresholds=texts, stay=stay, sweep=sweep)
    options = replace(options, share=_server_share(job, options.load, may_slow=may_slow))
    if options.share < 1 and job.server_share is None and job.connections is None:
        options = replace(options, load=_longer_windows(options.load))
    validate_sizes(options.sizes.blocks, options.sizes.window, options.sizes.warmup)
    validate_load(options.load)
    return CheckedJob(options, thresholds, rates, job.rate)


def application(job: Job, say: Callable[[str], None] = lambda _: None) -> Workload:
    """
    Return the workload of a job; call *say* with a line for each file that was read.

    Raises:
        UsageError: Options contradict each other, or the generator cannot send the requests.
        WorkloadError: A file of requests cannot be read.
    """
    workload = workloads.workload(
        job.workload,
        question(job),
        app=job.app,
        chdir=job.chdir,
        profile_names_app=_config_names_app(job),
        say=say,
    )
    check_clients((job.generator, job.client), workload)
    given = job.python, job.uwsgi, job.cwd, job.env, job.env_file
    users_config = any_is_users_own(job.profiles)
    folder = _chdir(job, workload) if users_config else None
    started = runtime(*given, users_config=users_config)
    started = with_private_copy(started, job.keep, job.drop, folder)
    started = replace(started, pinned=job.pin, front_http=job.front == "http")
    if job.bind is not None:
        started = replace(started, bind=own_address(job.bind))
    return replace(workload, runtime=started)


def of_running_server(job: Job, path: str) -> Workload:
    """
    Return the workload for a server that already runs; *path* is the default path.

    Raises:
        UsageError: As for `application`.
    """
    typed_question = question(job)
    answer = requests_of(
        typed_question if job.path or job.requests else replace(typed_question, paths=(path,))
    )
    return asking(Workload("running server", path, Expectation()), answer.requests, answer.host)


def question(job: Job) -> Question:
    """Return the options of a job that describe the requests."""
    return Question(
        paths=job.path,
        method=job.method,
        data=job.data,
        headers=job.header,
        cookies=job.cookie,
        host=job.host,
        requests=job.requests,
        static=job.static,
        writes=job.writes,
        status=job.status,
        check=job.check,
    )


def _swept(job: Job) -> tuple[Sweep | None, str | None]:
    """Return the sweep and the rates of a job; a sweep of rates is returned as rates."""
    if job.sweep is None:
        return None, job.rate
    sweep = parse_sweep(job.sweep)
    if job.rate is not None and sweep.name == "rate":
        raise UsageError(f"--sweep {job.sweep} --rate {job.rate}: say one of them")
    if job.rate is not None and ("%" in job.rate or "," in job.rate):
        problem = "a sweep has one rate, in requests per second, as in --rate 2000/s"
        raise UsageError(f"--sweep {job.sweep} --rate {job.rate}: {problem}")
    if job.connections is not None and sweep.name == "connections":
        problem = f"--sweep {job.sweep} --connections {job.connections}: say one of them"
        raise UsageError(problem)
    if job.minutes is not None and _several(job):
        raise UsageError(f"--sweep {job.sweep} --minutes {job.minutes:g}: say --blocks instead")
    return (None, ",".join(sweep.values)) if sweep.name == "rate" else (sweep, job.rate)


def _several(job: Job) -> bool:
    """Return whether a sweep has several values."""
    return job.sweep is not None and "," in job.sweep


def _config_names_app(job: Job) -> bool:
    """Return whether the application is the one that a user's configuration names."""
    named = job.app is not None or job.workload is not None or job.load == "walkthrough"
    return not named and any_is_users_own(job.profiles)


def _chdir(job: Job, workload: Workload) -> Path | None:
    """Return the folder that replaces the `chdir` of the user's inis; None: unchanged."""
    return job.chdir if _config_names_app(job) else workloads.folder_of(workload)


def _usual(job: Job) -> FittingLoad:
    """Return the load and the times of what is asked, where nobody says otherwise."""
    if job.load == "walkthrough":
        name: str | None = workloads.DEFAULT
    else:
        name = job.workload or (None if job.app or _config_names_app(job) else workloads.DEFAULT)
    described = workloads.read(name) if name else None
    if job.load == "sustained":
        return described.usual if described else FittingLoad(Load())
    if described is None or described.article is None:
        problem = f"no article loads {name or job.app or job.profiles[0]}"
        raise UsageError(f"--load {job.load}: {problem}; say --connections, or leave it out")
    return described.article


def _options(job: Job, usual: FittingLoad) -> Measurement:
    load, size = usual.load, QUICK
    if not job.quick:
        window = DEFAULT.window if usual.window is None else usual.window
        warmup = DEFAULT.warmup if usual.warmup is None else usual.warmup
        size = Sizes(DEFAULT.blocks, window, warmup)
    sizes = Sizes(
        size.blocks if job.blocks is None else job.blocks,
        size.window if job.window is None else job.window,
        size.warmup if job.warmup is None else job.warmup,
    )
    return Measurement(
        profiles=job.profiles or (BRIEF if job.quick else ()),
        load=replace(
            load,
            connections=load.connections if job.connections is None else job.connections,
            keepalive=job.connection == "keep-alive" if job.connection else load.keepalive,
        ),
        sizes=sizes,
        minutes=_minutes(job, sizes),
        smallest=SMALLEST if job.smallest is None else job.smallest,
        seed=job.seed,
        results=job.results,
        pin=job.pin,
        turns=job.turns,
        cores=parse_cores(job.server_cores, job.generator_cores, pin=job.pin),
        generators=1 if job.generator != "engine" else job.generators,
        # Beside every value of a sweep a counter-run would double its time.
        confirm=not (job.quick or job.sweep) if job.confirm is None else job.confirm,
    )


def _longer_windows(load: Load) -> Load:
    """Return *load* with more connections for a slowed server, if it has the usual ones."""
    if replace(load, keepalive=SUSTAINED.keepalive) != SUSTAINED:
        return load
    return replace(load, connections=SLOWED_CONNECTIONS)


AUTOMATIC = 0.25
"""The share where the server would have one core otherwise, and nothing says how many it has."""


def _server_share(job: Job, load: Load, *, may_slow: bool) -> float:
    """
    Return the share of the time in which the server has its cores: see `Plan.share`.

    Raises:
        UsageError: It is given, and cannot be had.
    """
    others = {
        "--rate": job.rate is not None,
        "--generator ab": job.generator == "ab",
        "--bind": job.bind is not None,
        "--no-pin": not job.pin,
        "--server-cores": job.server_cores is not None,
        "--generator-cores": job.generator_cores is not None,
    }
    unfit = [name for name, given in others.items() if given]
    share = job.server_share
    if share is None:
        backed = job.workload is not None and workloads.read(job.workload).workload.backing
        fits = may_slow and not unfit and not backed and load.requests is None
        return AUTOMATIC if fits and has_one_core() and slowdown.obstacle() is None else 1.0
    if share == 1:
        return share
    typed = f"--server-share {share:.0%}"
    if share < slowdown.LEAST:
        raise UsageError(f"{typed}: between {slowdown.LEAST:.0%} and 100%")
    if unfit:
        raise UsageError(f"{typed} {unfit[0]}: say one of them")
    if (problem := slowdown.obstacle()) is not None:
        raise UsageError(f"{typed}: {problem}")
    return share


def _minutes(job: Job, sizes: Sizes) -> float | None:
    """Return the time that the blocks may take: what was said, or the whole ladder's."""
    if job.minutes is not None and job.blocks is not None:
        raise UsageError(f"--blocks {job.blocks} --minutes {job.minutes:g}: say one of them")
    is_given = job.minutes is not None or job.blocks is not None or job.quick
    # At several rates the first look would not be reached in that time.
    if is_given or job.rate is not None or job.sweep is not None:
        return job.minutes
    return usual_minutes(job.profiles, sizes.window, sizes.warmup)


def _check_generator(job: Job, load: Load) -> None:
    if job.workload is not None:
        check_clients((job.generator, job.client), workloads.read(job.workload).workload)
    if job.generator == "ab":
        if job.generators is not None:
            raise UsageError("--generators is for the lab's engine: leave out --generator ab")
        check_ab(load)
    if job.rate is not None:
        for name, chosen in (("--generator", job.generator), ("--client", job.client)):
            if chosen != "engine":
                raise UsageError(f"--rate needs the lab's engine: leave out {name} {chosen}")


def _check_open_loop(load: Load, thresholds: Sequence[Threshold]) -> None:
    """Refuse what has no meaning in an open loop, before its capacity is measured for minutes."""
    check_lasts(load)
    for threshold in thresholds:
        if threshold.metric == "throughput":
            raise UsageError(f"--fail-if {threshold.text!r} with --rate: {PLANNED}")


def carry_out(
    job: Job,
    understood: CheckedJob,
    conduct: Callable[[PreparedRun, Measurement], Outcome],
    say: Callable[[str], None],
) -> Outcome:
    """
    Return what came of the comparison; at rates that are shares the capacity is measured first.

    Args:
        job: What was asked for.
        understood: What that means.
        conduct: Runs one plan.
        say: Told in a line what comes next.

    Raises:
        LabError: The narrow one that says what ended it, or why it could not begin.
    """
    subject = application(job, say)
    if understood.rate is not None:
        check_units(understood.rate)

    def compare(options: Measurement) -> Outcome:
        prepared = prepare(options, subject)
        if len(options.profiles or ()) > 1 and len(prepared.plan.profiles) == 1:
            reasons = "; ".join(f"{name}: {why}" for name, why in prepared.skipped.items())
            if reasons:  # and not a profile that is named twice
                raise UsageError(f"nothing to compare: {reasons}")
        for arm in prepared.plan.arms:  # what each is asked in, its profile has said
            check_clients((job.generator, job.client), arm.workload)
        for threshold in understood.thresholds:
            check(threshold, [profile.name for profile in prepared.plan.profiles])
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
