"""What a tune leaves: the user's configuration with what was proved, and why each line is there."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lab.analysis.footnotes import RETRIED
from lab.cli.tune.climb import BACK, Values
from lab.cli.tune.measure import Attempt
from lab.cli.tune.moves import SERVER, WORKERS, Ground, numbers
from lab.cli.tune.search import Discovery, Proven
from lab.config import servers
from lab.config.command import alone, is_command
from lab.config.configuration import Config
from lab.config.steps import AnyStep, Drop, Prefix, Put, Rename
from lab.model.comparison import Comparison, Verdict
from lab.model.metric import METRICS
from lab.model.numbers import bounded, quantity, ratio, share
from lab.model.plan import Better
from lab.model.wording import counted, in_a_line

BETTER, AS_GOOD, UNTOLD = 0, 4, 3
"""Exit statuses: proven, as good as can be told, too noisy to tell."""

ONE_CORE = (
    "the server has one core here, so the best number for several cores is unknown; --only "
    "workers tries it for one core"
)
"""Why numbers of workers are left as they are."""

DEAR = 2.0
"""Times the memory from which it is said what takes less."""

BESIDE = ("throughput", "cpu", "p99", "memory")
"""What is told of the winner, in this order."""


@dataclass(frozen=True, slots=True)
class OtherConfig:
    """What the user's configuration becomes for another server."""

    program: str
    file: str
    """What it is called there."""
    environment_file: str
    environment: str
    """What stands in that; empty without any."""
    lost: int
    """Options."""
    changed: int
    """Options that mean something else there."""


@dataclass(frozen=True, slots=True)
class TuneResult:
    """What came of a tune, for people."""

    grounds: Mapping[str, Ground]
    """By server, the user's own first."""
    metric: str
    """That was to become better."""
    discovery: Discovery
    folder: str
    day: str
    left_out: Mapping[str, str]
    """What was not tried -> why."""
    elsewhere: Mapping[str, OtherConfig] = field(default_factory=dict)
    """By server."""
    written: str = ""
    """The file that was written; empty without one."""
    diff: str = ""
    """What it changes."""
    note: str = ""
    """What is to be known of that file; empty where nothing is."""

    @property
    def not_tried(self) -> Mapping[str, str]:
        """What was not tried -> why."""
        if self.discovery.facts.tell_workers or "workers" in self.left_out:
            return self.left_out
        threads = " and threads" * self.ground.service.is_wsgi  # an event loop has none to vary
        return {**self.left_out, f"numbers of workers{threads}": ONE_CORE}

    @property
    def status(self) -> int:
        """The exit status."""
        proven, attempts = self.discovery.proven, self.discovery.attempts
        if proven is None:
            unseen = not any(attempt.gain.blocks for attempt in attempts)
            return UNTOLD if attempts and unseen else AS_GOOD
        if proven.better:
            return BETTER
        if proven.broken:
            return AS_GOOD
        verdict = proven.comparison.verdict
        return UNTOLD if proven.summary.exit_code or verdict is Verdict.INVALID else AS_GOOD

    @property
    def other(self) -> OtherConfig | None:
        """What the winner was made of, where it is of another server than the user's."""
        proven = self.discovery.proven
        return None if proven is None else self.elsewhere.get(proven.values.get(SERVER, ""))

    @property
    def is_dear(self) -> bool:
        """Whether it is better by processes alone, and takes more than twice the memory."""
        proven, facts = self.discovery.proven, self.discovery.facts
        if self.status != BETTER or proven is None or facts.threads:
            return False
        if not self.ground.service.is_wsgi:  # threads would not serve it
            return False
        names = proven.comparison.changed, proven.comparison.reference
        memory = proven.summary.compare("memory", *names).ratio
        return "workers" in proven.values and memory is not None and memory.value > DEAR

    def takes(self, attempt: Attempt) -> bool:
        """Return whether what raced is in what was proved and handed out."""
        proven = self.discovery.proven
        if proven is None or self.status != BETTER:
            return False
        more, less = _change(attempt)
        if attempt.group == WORKERS and numbers(attempt.values) != numbers(proven.values):
            return False
        return more.items() <= proven.values.items() and not less.keys() & proven.values.keys()

    @property
    def name(self) -> str:
        """The configuration, in a line."""
        return in_a_line(self.ground.name)

    def settings_text(self, values: Values) -> str:
        """Return values as the server is told them: "processes = 2, threads = 16"."""
        return ", ".join(_setting_texts(self.ground_of(values), values)) or "as it was"

    def change(self, attempt: Attempt) -> str:
        """Return what a contender has otherwise than the champion that it raced against."""
        ground, (more, less) = self.ground_of(attempt.values), _change(attempt)
        without = (f"without {setting}" for setting in _setting_texts(ground, less))
        return ", ".join((*_setting_texts(ground, more), *without))

    def ground_of(self, values: Values) -> Ground:
        """Return the configuration that values are over: the user's, or what it becomes."""
        return self.grounds[values.get(SERVER, self.ground.program)]

    @property
    def ground(self) -> Ground:
        """The user's configuration."""
        return next(iter(self.grounds.values()))

    def text(self, file: str) -> str:
        """
        Return the user's configuration with what was proved; each line says why it is there.

        Args:
            file: What the new one is called.

        Raises:
            ProfileError: A line cannot be written where it would count.
        """
        proven = self.discovery.proven
        assert proven is not None
        commented_steps: list[tuple[AnyStep, Sequence[str]]] = []
        ground = self.ground_of(proven.values)
        for key, value in proven.values.items():
            steps = ground.steps({key: value}) if key != SERVER else ()
            for step in steps:
                first = (
                    self._evidence(file, proven) if not commented_steps and not self.other else ()
                )
                goes_with = "" if step is steps[0] else _option(steps[0])
                commented_steps.append((step, [*first, *self._why(ground, key, step, goes_with)]))
        text = ground.handed_out(commented_steps)
        if self.other is None:
            return text
        head, end, rest = text.partition("\n") if text.startswith("#!") else ("", "", text)
        return head + end + "".join(f"# {line}\n" for line in self._evidence(file, proven)) + rest

    def _evidence(self, file: str, proven: Proven) -> Iterator[str]:
        """Yield what stands above the first line that is changed."""
        plan, gain = proven.summary.run.plan, bounded(proven.comparison)
        of = "the command before" if self.is_command else self.name
        yield f"lab tune, {self.day}: {gain} {self.title} of {of}, in {_blocks(proven.comparison)}."
        load = f"{plan.load.connections} connections"
        load += f" with {plan.load.rate:g} requests/s" if plan.load.rate else ""
        machine = "one machine" + (f" at {plan.share:.0%} of its speed" if plan.share < 1 else "")
        path = plan.workload.path
        yield f"That is for this application, {load} and {path}, on {machine}: {self.folder}"
        if not self.is_command and self.other is None:
            yield f"To prove it elsewhere: lab run {self.name} {file}{self._section}"

    def _why(self, ground: Ground, key: str, step: AnyStep, goes_with: str) -> Iterator[str]:
        """Yield the comment above one line."""
        if isinstance(step, Drop):
            return
        was = before(ground, step)
        taken = self.discovery.taken_back.get(key)
        if goes_with:
            yield f"{was}; it goes with {goes_with}"
        elif taken is None or taken.ratio is None:
            yield was
        else:
            shown = "" if taken.verdict is Verdict.WORSE else ", no proven effect"
            yield f"{was}; taken back: {ratio(taken.ratio)}{shown}"

    @property
    def again(self) -> str:
        """The command that proves it again, as far as it names the two."""
        assert self.discovery.proven is not None
        values, new = self.discovery.proven.values, f"{self.written}{self._section}"
        ground = self.ground_of(values)
        if is_command(ground.name):
            new = alone(ground.text(values))
        return shlex.join(("lab", "run", self.ground.name, new.strip()))

    @property
    def _section(self) -> str:
        """The section that is read of the user's ini, as it is typed behind a file's name."""
        section = self.ground.config.known.section if self.other is None else ""
        return f":{section}" if section else ""

    @property
    def is_command(self) -> bool:
        """Whether the configuration is a command, and no file."""
        return is_command(self.ground.name)

    @property
    def proof(self) -> str:
        """The folder of the proof's run."""
        proven = self.discovery.proven
        assert proven is not None
        return f"{self.folder}/{proven.step}/{proven.summary.run.name}"

    @property
    def title(self) -> str:
        """What was to become better, in words."""
        return METRICS[self.metric].title

    @property
    def sentence(self) -> str:
        """The answer."""
        proven, name = self.discovery.proven, self.name
        tried = {
            str(attempt.values) for attempt in self.discovery.attempts if attempt.group != BACK
        }
        tries = counted(len(tried), "change")
        if proven is None and not self.discovery.attempts:
            return f"{name} cannot be improved here: there is nothing to try"
        if proven is None and self.status == UNTOLD:
            return f"inconclusive: none of {tries} could be compared with {name}"
        if proven is None:
            return f"{name} stays unchanged: none of {tries} could be compared with it"
        comparison, of = proven.comparison, _blocks(proven.comparison)
        gain = f"{bounded(comparison)} {self.title}"
        if proven.better:
            return f"{self.settings_text(proven.values)}: {gain} of {name}, in {of}"
        if proven.broken:
            return f"{self.settings_text(proven.values)}: {gain} of {name}, but {proven.broken}"
        if self.status == UNTOLD:
            return f"inconclusive: the best of {tries} measured {gain} in {of}"
        return (
            f"no measurable improvement of {name}: the best of {tries}, "
            f"{self.settings_text(proven.values)}, measured {gain} in {of}. {self._power(proven)}"
        )

    def _power(self, proven: Proven) -> str:
        """Return which gain would have been seen."""
        if proven.comparison.detectable is None:
            return "The smallest detectable gain is unknown"
        floor, ratio = proven.summary.floors[self.metric], proven.comparison.ratio
        least = math.ceil((proven.comparison.detectable * (1 + floor) - 1) * 100)
        seen = f"A true gain of {least} % would be detected 4 times out of 5"
        if ratio is None or proven.comparison.may_be is not None:
            return seen
        higher = METRICS[self.metric].better is Better.HIGHER
        most = math.ceil(((ratio.high if higher else 1 / ratio.low) - 1) * 100)
        return f"It gains {most} % at most. {seen}" if most > 0 else f"It gains nothing. {seen}"

    def beside(self) -> Iterator[str]:
        """Yield what else the proof has seen: each metric, before and after."""
        proven = self.discovery.proven
        if proven is None:
            return
        sides = proven.comparison.reference, proven.comparison.changed
        before, after = map(proven.summary.row, sides)
        for name in BESIDE:
            comparison = proven.summary.compare(
                name, proven.comparison.changed, proven.comparison.reference
            )
            metric, values = METRICS[name], [row.values.get(name) for row in (before, after)]
            if values == [None, None]:
                yield f"{metric.title}: unknown (too few replies, or withheld)"
                continue
            shown = " -> ".join(quantity(name, value) for value in values)
            unit = f" {metric.unit}" * (metric.unit not in {"", "1/s"})
            verdict = comparison.verdict_text
            yield f"{metric.title}: {shown}{unit}, {bounded(comparison)} ({verdict})"
        again = [row.retried_share or 0.0 for row in (before, after)]
        if max(again) >= RETRIED:
            shown = " -> ".join(map(share, again))
            yield f"requests sent again, as the server closes connections that are kept: {shown}"


def _change(attempt: Attempt) -> tuple[Values, Values]:
    """Return what a contender has more than the champion that it raced against, and what less."""
    champion, values = attempt.champion, attempt.values
    more = {key: value for key, value in values.items() if champion.get(key) != value}
    return more, {key: value for key, value in champion.items() if key not in values}


def _setting_texts(ground: Ground, values: Values) -> Iterator[str]:
    """Yield values as a server is told them."""
    if SERVER in values:
        yield f"served by {values[SERVER]}"
    yield from map(str, ground.steps(values))


def as_in_command(config: Config, step: Put | Rename) -> str:
    """Return an option as a command has it: --no-access-log, where a step switches it off."""
    value = step.value if isinstance(step, Put) else ""
    words = servers.of_config(config).command_words(step.option, value)
    return words[0] if words else f"--{step.option}"


def _blocks(comparison: Comparison) -> str:
    number = comparison.ratio.n if comparison.ratio else 0
    return f"{counted(number, 'block')} of new trials"


def before(ground: Ground, step: Put | Rename | Prefix) -> str:
    """Return what stood in the place of what a step writes."""
    if isinstance(step, Prefix):
        return (
            f"{step.words} is new: no other server may be bound to that CPU, and a cpuset, as of "
            "Kubernetes, has to allow it"
        )
    if isinstance(step, Rename):
        return f"was {step.option}"
    setting = ground.config.last(step.option)
    if setting is not None:
        return f"{step.option} was {setting.value}"
    return f"{as_in_command(ground.config, step)} is new" if is_command(ground.name) else "new"


def _option(step: AnyStep) -> str:
    if isinstance(step, Prefix):
        return step.words
    return step.to if isinstance(step, Rename) else step.option
