"""
docs/reference/cli.md and locust-options.md beside it, made from what the commands say themselves.

The first is click's own description of each command, the second the table of options that both
doors share. Neither depends on the machine, or on the width of a terminal.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from lab.analysis.thresholds import ALIASES
from lab.cli.commands import STATUSES, cli
from lab.cli.options.option import Kind, Option
from lab.cli.options.table import OPTIONS
from lab.model.metric import METRICS
from lab.model.plan import Better
from tools.pages.files import DOCS, written

RUN = cli.commands["run"]
"""The command whose options others share."""

WIDTH = 110
"""Columns of the prose on a page."""

MADE = "`.venv/bin/python -m tools.pages` makes this page of"
"""Begins the sentence that says where a page comes from."""

EXITS = {
    0: "It did what was asked, and no limit was crossed.",
    1: "It could not be done: a server did not start, or failed in half of its trials or more; a "
    "run or a file could not be read or written. Of `lab selftest`: it said something wrong.",
    2: "Wrong command line: the line on standard error says what to write instead. Nothing was "
    "measured.",
    3: "Its noise check failed, too little counted, or a limit is not decided. What a "
    "report calls better or worse is larger than the noise, and stands; a published claim is not "
    "decided. More blocks, or a quieter machine, would do. `make compare` says so, and ends with "
    "0.",
    4: "Of `lab migrate`: an option has no equivalent in the other server, or behaves differently; "
    "or `--measure` saw that they differ. The lists and the table name it. Of `lab tune`: yours "
    "are as good as can be told, or with `--dry-run` lines are missing, and are printed.",
    99: "A limit of `--fail-if` was crossed by the whole interval, or a profile that `--require` "
    "names lost a request or answered one wrongly.",
    130: "Ctrl-C, SIGTERM or a closed terminal ended it. Trials that had finished are kept.",
}
"""What an exit status tells a script, beside the few words of the help."""

LIMITS = {
    "METRIC(PROFILE/PROFILE) > NUMBER": "A ratio, as in `cpu(tuned/baseline) > 1.05`, crossed "
    "where the whole interval lies beyond. In `lab compare` it is the change of that ratio from "
    "BEFORE to AFTER.",
    "METRIC(PROFILE) > NUMBER": "A count, as in `errors(tuned) > 0`, crossed by any one trial.",
}
"""The two forms of a limit."""

LOCUST = (
    "`locust -f loadtests/` has Locust's own options, which `locust --help` prints, and beside "
    "them those below. Locust prints its help before it loads a file, so they are not in it: "
    "`locust -f loadtests/ --lab-help` prints them. They mean what they mean to "
    "[`lab run`](cli.md#lab-run), and each is a field of the web form."
)

PROFILES = (
    "Profiles to compare, the reference first: names that `lab list` prints, or paths of ini files "
    "of your own."
)

OWN = {
    "`-u N`, `--users N`": "Connections of the load: a Locust user is one. Default: 64, or as many "
    "as `--workload` or `--load` says.",
    "`--processes N`": "Processes that share the load; `--master` and `--worker` share it over "
    "several machines.",
    "`-H URL`, `--host URL`": "Load a server that already runs, instead of starting any. It "
    "excludes `--profiles`, `--app`, `--workload`, `--chdir` and `--fail-if`.",
    "`-t TIME`, `--run-time TIME`": "When to stop, with `--host`. A comparison ends with its last "
    "block.",
    "`--profile NAME`": "A label that Locust gives to test runs, and no profile of this project. "
    "Without `--profiles` it is refused, so that nobody compares the whole ladder by mistake.",
    "`--json`, `--csv NAME`, `--html FILE`": "Locust's statistics, with a row for each profile. "
    "The comparison itself is in the run's folder, as `lab run` leaves it.",
}
"""Options that Locust has by itself, and what they mean here."""

LOCUST_EXITS = (
    "Of a comparison it is [that of `lab run`](cli.md#exit-status). With `--host` it is 0 where "
    "there were replies and all were right, 1 where not, and 2 where nothing answered."
)


def cli_page() -> str:
    """Return the page of the command line."""
    root = click.Context(cli, info_name="lab", **cli.context_settings)
    paragraphs = _paragraphs(cli)
    parts = [
        "# The `lab` command\n",
        f"{_filled(paragraphs[0])}\n",
        _filled(f"{MADE} the commands' own help, which `lab COMMAND --help` prints.") + "\n",
        *(f"```text\n{_verbatim(paragraph)}\n```\n" for paragraph in paragraphs[1:]),
        _table(
            ("command", "what it does"),
            (
                (f"[`lab {name}`](#lab-{name})", command.get_short_help_str(200))
                for name, command in sorted(cli.commands.items())
            ),
        ),
        "## Exit status\n",
        _table(
            ("status", "in short", "what it tells a script"),
            ((str(status), short, EXITS[status]) for status, short in STATUSES.items()),
        ),
        "## Limits of `--fail-if`\n",
        "There are two forms, each with `>`, `>=`, `<` or `<=`:\n",
        *(_item([form], meaning, "") for form, meaning in LIMITS.items()),
        "",
        _metrics(),
    ]
    for name, command in sorted(cli.commands.items()):
        parts += _command(command, click.Context(command, info_name=name, parent=root))
    return "\n".join(parts)


def locust_page() -> str:
    """Return the page of Locust's door."""
    absent = [option for option in OPTIONS.values() if option.not_in_locust]
    parts = [
        "# Options of `locust -f loadtests/`\n",
        f"{_filled(LOCUST)}\n",
        _filled(f"{MADE} the table of options that both share.") + "\n",
        "## What `loadtests/` adds\n",
        _item(["--profiles [PROFILE ...]"], PROFILES, "the whole ladder"),
        *(
            _item(_at_locust(option), option.help, option.shown or _default(option))
            for option in OPTIONS.values()
            if not option.not_in_locust
        ),
        "",
        "## What Locust's own options mean here\n",
        *(_item([name], meaning, "", code=False) for name, meaning in OWN.items()),
        "",
        "## What only `lab run` has\n",
        *(_item([option.name], f"{option.not_in_locust}.", "") for option in absent),
        "",
        "## Exit status\n",
        _filled(LOCUST_EXITS),
    ]
    return "\n".join(parts) + "\n"


PAGES = {
    DOCS / "reference" / "cli.md": cli_page,
    DOCS / "reference" / "locust-options.md": locust_page,
}
"""Where each page is, and what makes it."""


def refresh() -> list[Path]:
    """Rewrite the pages, and return those that were others."""
    return [path for page, render in PAGES.items() for path in written(page, render())]


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    usage = " ".join((context.command_path, *command.collect_usage_pieces(context)))
    yield f"## `{context.command_path}`\n"
    yield f"`{usage}`\n"
    yield from (f"{_filled(paragraph)}\n" for paragraph in _paragraphs(command))
    assert context.parent is not None
    run = click.Context(RUN, info_name="run", parent=context.parent)
    of_run = set() if command is RUN else set(_records(RUN, run))
    records = [record for record in _records(command, context) if record not in of_run]
    shared = [names for names, text in _records(command, context) if (names, text) in of_run]
    items = []
    for names, text in records:
        meaning, _, default = text.partition("  [default: ")
        items.append(_item(names.split(" / "), meaning, default.removesuffix("]")))
    if items:
        yield "\n".join(items) + "\n"
    if shared:
        names = ", ".join(
            f"`{name.split()[0]}`" for several in shared for name in several.split(" / ")
        )
        yield _filled(f"Shared with [`lab run`](#lab-run): {names}.") + "\n"
    if command.epilog:
        yield f"{_filled(command.epilog)}\n"


def _records(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    """Yield the names of each option of a command, and its help."""
    for option in command.get_params(context):
        record = option.get_help_record(context)
        if isinstance(option, click.Option) and "--help" not in option.opts and record:
            yield record


def _paragraphs(command: click.Command) -> list[str]:
    return inspect.cleandoc(command.help or "").split("\n\n")


def _verbatim(paragraph: str) -> str:
    """Return a paragraph whose lines click is told to leave as they are."""
    return paragraph.removeprefix("\b\n")


def _filled(text: str, indent: str = "") -> str:
    return textwrap.fill(
        " ".join(text.split()),
        WIDTH,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _item(names: Iterable[str], text: str, default: str, *, code: bool = True) -> str:
    shown = ", ".join(f"`{name}`" if code else name for name in names)
    bullet = f"- **{shown}**: {text}" + (f" Default: {default.rstrip('.')}." if default else "")
    return _filled(bullet, "  ")


def _metrics() -> str:
    short = {name: alias for alias, name in ALIASES.items()}
    rows = (
        (
            f"`{name}`" + (f", `{short[name]}`" if name in short else ""),
            metric.title,
            "count" if metric.exact else "ratio",
            "more" if metric.better is Better.HIGHER else "less",
        )
        for name, metric in METRICS.items()
    )
    return _table(("metric", "what it is", "as", "better is"), rows)


def _table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [tuple(titles), *map(tuple, rows)]
    lines.insert(1, ("---",) * len(lines[0]))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _at_locust(option: Option) -> list[str]:
    """Return how an option is typed after `locust`."""
    if option.kind is Kind.SWITCH:
        return [f"{option.name} [yes|no]", f"--no-{option.name.removeprefix('--')}"]
    values = option.metavar or "|".join(option.choices)
    return [f"{option.name} {values}" if values else option.name]


def _default(option: Option) -> str:
    if option.kind is Kind.SWITCH and option.default:
        return "yes"
    return str(option.default) if option.default not in (None, False, ()) else ""
