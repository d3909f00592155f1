"""
Gates: when a trial does not count, why, and what to do.

Each has caught a published benchmark: results averaged over runs in which every connection failed,
a "fastest" server that answered one connection of 64, a client at its limit. A gate looks at
causes and at broken promises, never at whether a figure is pleasing: trials dropped for their
outcome take the coverage of a 95 % interval down to 89 %.

To add a gate, write its function in the file of its subject - replies, the network, hosts of the
load, the effort of server and generator - or in a file of its own, and name it in `GATES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lab.analysis.gates import backing, effect, effort, hosts, network, replies
from lab.analysis.gates.common import BUSY, LATE, TIME_BASED
from lab.model.finding import Finding
from lab.model.measured import Trial

__all__ = ["BUSY", "LATE", "TIME_BASED", "judge"]

Gate = Callable[[Trial, Mapping[str, Finding]], Finding | None]
"""Judges a trial, knowing which gates before it have fired: name -> what was found."""

GATES: tuple[Gate, ...] = (
    replies.died,
    effect.without_effect,
    replies.errors,
    network.ports,
    replies.starvation,
    network.accept_queue,
    effort.generator_bound,
    effort.shared_cores,
    backing.upstream,
    effort.late_generator,
    effort.overload,
    effort.cut_off,
    replies.reconnects,
    network.quantised,
    hosts.link,
    hosts.skew,
    effort.machine,
    effort.idle_server,
)
"""In the order in which each is asked, once."""


def judge(trial: Trial) -> tuple[Finding, ...]:
    """
    Return what is wrong with *trial*, most fundamental first; nothing for a sound one.

    A gate whose readings are absent does not fire. A finding that withholds the empty set is a
    remark: the trial counts, but it should be repeated if it may be.
    """
    if not trial.windows:
        return (replies.no_window(trial),)
    fired: dict[str, Finding] = {}
    for gate in GATES:
        found = gate(trial, fired)
        if found is not None:
            fired[found.gate] = found
    return tuple(fired.values())
