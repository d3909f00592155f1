"""
The table of options (`lab.cli.options`) on Locust's command line and in its web form.

Locust has a `--profile` of its own, which groups test runs; ours is `--profiles`. The form hands
over text whatever an option's type is, so that nothing is text of no length, and what was given is
parsed here.

Locust prints its help before it loads a locustfile, which alone can add options, and has no other
way in for a project's own. So `--lab-help` prints them. Source: Locust 2.47,
`parse_locustfile_option` in `locust/argument_parser.py`, and issue 2917 of locustio/locust.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from locust import events
from werkzeug.datastructures import MultiDict

from lab.analysis.thresholds import check
from lab.bench import profiles
from lab.bench.trials.available import available
from lab.bench.trials.plan import check_distinct
from lab.bench.trials.rates import check_units
from lab.cli.options.execution import application, understand
from lab.cli.options.option import Kind, Option
from lab.cli.options.table import OPTIONS, Job
from lab.errors import UsageError
from lab.locust.running import running_server

ANSWERS = {"yes": True, "no": False}
"""What may stand after an option that has an opposite, and what the form offers for it."""

NOTHING = {"rate": ("0", "0.0"), "seed": ("0",)}
"""What means the same as an option that is left out."""

UNSAID = "default"
"""What the form shows where none of an option's choices was made."""


STARTED = ("workload", "app", "chdir", "cwd", "python", "uwsgi", "env", "env_file", "fail_if",
           "server_cores", "generator_cores", "bind")  # fmt: skip
"""Options that say something of servers which are started here, and nothing of `--host`."""


class _Known(list[str]):
    """Profiles that the form offers; the command line takes the path of any other, too."""

    def __contains__(self, name: object) -> bool:
        return True


class _OurHelp(argparse.Action):
    """Prints the options that are added here, and ends."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        argument_parser = argparse.ArgumentParser(
            usage=argparse.SUPPRESS,
            description="What loadtests/ adds to the options that `locust --help` prints.",
            formatter_class=parser.formatter_class,
            add_help=False,
        )
        add_arguments(argument_parser)
        argument_parser.print_help()
        parser.exit()


class _Profiles(argparse.Action):
    """Takes the names after each `--profiles`, in place of the default."""

    def __call__(self, _: Any, namespace: argparse.Namespace, names: Any, *__: Any) -> None:
        before = getattr(namespace, self.dest)
        setattr(namespace, self.dest, names if before is self.default else [*before, *names])


class _Filled(argparse.Action):
    """Keeps a text, and refuses one of no length: as a default that means that nothing was said."""

    def __call__(self, _: Any, namespace: argparse.Namespace, text: Any, *__: Any) -> None:
        if not text:
            raise argparse.ArgumentError(self, "'' is none; leave the option out, or name one")
        setattr(namespace, self.dest, text)


@events.init_command_line_parser.add_listener
def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add a group of our own to Locust's parser."""
    group = parser.add_argument_group(
        "Comparison of server profiles",
        "With --host, and --profiles left alone, a server that already runs is loaded instead.",
    )
    usual = profiles.usual()
    _show_in_form(
        group.add_argument(
            "--profiles",
            nargs="*",
            action=_Profiles,
            # Not empty: Locust takes the type of a list in its web form from what is in it.
            default=list(usual),
            # A browser sends what is selected in the order of the list.
            choices=_Known(dict.fromkeys((*usual, *profiles.find()))),
            metavar="PROFILE",
            help="Profiles to compare, the reference first.  [default: the whole ladder]",
        ),
        several=True,
    )
    for name, option in OPTIONS.items():
        if option.not_in_locust:
            continue
        action = group.add_argument(option.name, help=_help(option), **_arguments(option))
        _show_in_form(action, shown=not option.secret)
        if option.kind is Kind.SWITCH:
            opposite = f"--no-{option.name.removeprefix('--')}"
            text = f"As {option.name} no."
            group.add_argument(opposite, dest=name, action="store_const", const="no", help=text)
    group.add_argument(
        "--lab-help",
        action=_OurHelp,
        nargs=0,
        dest=argparse.SUPPRESS,
        default=argparse.SUPPRESS,
        help="Print these options and end: --help prints those that Locust has without them.",
    )


def _show_in_form(action: Any, *, several: bool = False, shown: bool = True) -> None:
    """Set what the form looks at; a group of arguments refuses it as keywords."""
    action.include_in_web_ui = shown
    action.is_multiple = several
    action.is_secret = action.is_required = False


def _help(option: Option) -> str:
    default = option.shown or option.default
    if default is True:
        default = option.name.removeprefix("--")
    text = f"{option.help}  [default: {default}]" if default else option.help
    return text.replace("%", "%%")


def _arguments(option: Option) -> dict[str, Any]:
    """Return what argparse is to be told of an option beside its help."""
    match option.kind:
        case Kind.FLAG:
            return {"action": "store_true"}
        case Kind.SEVERAL:
            return {"action": "append", "metavar": option.metavar, "type": _checked(option)}
        case Kind.SWITCH:
            default = "yes" if option.default else None
            return {"nargs": "?", "const": "yes"} | _choice(tuple(ANSWERS), default)
    if option.choices:
        named = {"metavar": option.metavar} if option.metavar else {}
        return _choice(option.choices, option.default) | named
    default = "" if option.default is None else str(option.default)
    kept = {"action": _Filled} if option.filled else {}
    return {"metavar": option.metavar, "type": _checked(option), "default": default} | kept


def _choice(choices: tuple[str, ...], default: str | None) -> dict[str, Any]:
    offered = [*choices] if default else [UNSAID, *choices]
    return {"choices": offered, "metavar": "|".join(choices), "default": default or UNSAID}


def _checked(option: Option) -> Callable[[str], str]:
    """Return a function that refuses on the command line already what is no value of *option*."""

    def check(text: str) -> str:
        try:
            option.parse(text) if text else None
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error
        return text

    return check


def given(parsed: argparse.Namespace, connections: int | None) -> Job:
    """
    Return what was asked for.

    Args:
        parsed: From the command line, or from the web form over it.
        connections: Number of users that was asked for; None to take the load's own.

    Raises:
        UsageError: A text is no value of its option.
    """
    values = {
        name: _value(name, option, getattr(parsed, name))
        for name, option in OPTIONS.items()
        if not option.not_in_locust
    }
    settings = {name: value for name, value in values.items() if value is not None}
    names = tuple(parsed.profiles)
    # What makes the load is Locust's processes, however many CPUs there are for more.
    return Job(profiles=names, connections=connections or None, generators=1, **settings)


def _value(name: str, option: Option, value: Any) -> Any:
    """Return the value of what was given, or None where nothing was."""
    match option.kind:
        case Kind.FLAG:
            return value
        case Kind.SWITCH:
            return ANSWERS.get(value)
        case Kind.SEVERAL:
            return tuple(filter(None, [value] if isinstance(value, str) else value or ()))
    if value in (None, "", UNSAID, *NOTHING.get(name, ())):
        return None
    try:
        return option.parse(value)
    except ValueError as error:
        raise UsageError(f"{option.name}: {error}") from error


def asks_for_running_server(parsed: argparse.Namespace, host: str | None) -> bool:
    """
    Return whether *host* is to be loaded, rather than servers that are started here.

    Raises:
        UsageError: Both are asked for.
    """
    if not host:
        return False
    if chooses_profiles(parsed):
        names = ", ".join(parsed.profiles)
        raise UsageError(
            f"--host {host}: the servers of {names} are started here, at addresses of "
            "their own; leave out --host to compare them, or --profiles to load that host"
        )
    return True


def chooses_profiles(parsed: argparse.Namespace) -> bool:
    """Return whether other profiles than the whole ladder are chosen."""
    return tuple(parsed.profiles) != profiles.usual()


def with_form(parsed: argparse.Namespace, form: MultiDict[str, str]) -> argparse.Namespace:
    """
    Return *parsed* as Locust makes it when it is given *form*; see `swarm` in its `web.py`.

    A number that Locust itself refuses is left as it was.
    """
    namespace = argparse.Namespace(**vars(parsed))
    for name, text in form.items():
        before = getattr(parsed, name, None)
        value: Any = text
        if isinstance(before, bool):
            value = text == "true"
        elif isinstance(before, list):
            value = text.split(",") if "," in text else form.getlist(name)
        if name == "user_count" and text.isdecimal():
            namespace.num_users = int(text)
        elif name in OPTIONS or name in ("profile", "profiles"):
            setattr(namespace, name, value)
    return namespace


def refuse_early(parsed: argparse.Namespace, host: str | None) -> None:
    """
    Refuse what is wrong before Locust begins a test, whose tables would surround the reason.

    Raises:
        LabError: The narrow one that says what is wrong, as the test itself would.
    """
    job = given(parsed, parsed.num_users)
    if not job.profiles:
        raise UsageError("--profiles needs a name: one that `lab list` prints, or an ini's path")
    understood = understand(job)
    if asks_for_running_server(parsed, host):
        _refuse_for_running_server(job)
        return
    # Those that are compared where nothing is said need no look.
    usual = job.profiles == profiles.usual()
    if parsed.profile and usual:
        raise UsageError(
            f"--profile {parsed.profile}: this option is Locust's own and groups test runs; what "
            f"is compared is named by --profiles, as in --profiles {parsed.profile}"
        )
    workload = application(job)
    if job.rate is not None:
        check_units(job.rate)
    if not usual:
        chosen = [installation.profile for installation in available(job.profiles, workload)[0]]
        names = [profile.name for profile in chosen]
        check_distinct([*zip(names, chosen, strict=True)])
        for threshold in understood.thresholds:
            check(threshold, names)


def refuse_form(parsed: argparse.Namespace, host: str | None) -> None:
    """
    Refuse what is wrong in the web form, a host that does not answer among it.

    Raises:
        LabError: As `refuse_early`.
    """
    if host and chooses_profiles(parsed):
        raise UsageError(
            "Host is filled in: clear Profiles to load that server, or clear Host to compare "
            "profiles."
        )
    refuse_early(parsed, host)
    if host and asks_for_running_server(parsed, host):
        running_server(host, given(parsed, None))


def _refuse_for_running_server(job: Job) -> None:
    for name in STARTED:
        if getattr(job, name):
            option = OPTIONS[name].name
            raise UsageError(
                f"--host and {option}, which is for servers that are started here: leave out one"
            )
