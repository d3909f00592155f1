"""
Gates: when a trial does not count, why, and what to do.

Each has caught a published benchmark: results averaged over runs in which every connection failed,
a "fastest" server that answered one connection of 64, a client at its limit. A gate looks at
causes and at broken promises, never at whether a figure is pleasing: trials dropped for their
outcome take the coverage of a 95 % interval down to 89 %.
"""

from __future__ import annotations

from lab.analysis.gates import effort, network, replies
from lab.analysis.gates.common import BUSY, LATE, NO_LOAD, TIME_BASED
from lab.model import Finding, Trial

__all__ = ["BUSY", "LATE", "NO_LOAD", "TIME_BASED", "judge"]


def judge(trial: Trial) -> tuple[Finding, ...]:
    """
    Return what is wrong with *trial*, most fundamental first; nothing for a sound one.

    A gate whose readings are absent does not fire. A finding that withholds the empty set is a
    remark: the trial counts, but it should be repeated if it may be.
    """
    if not trial.windows:
        return (replies.no_window(trial),)
    asked = (
        replies.died(trial),
        replies.errors(trial),
        network.ports(trial),
        replies.starvation(trial),
        network.accept_queue(trial),
        effort.generator_bound(trial),
        effort.late_generator(trial),
        effort.overload(trial),
        effort.cut_off(trial),
        replies.reconnects(trial),
        network.quantised(trial),
        effort.machine(trial),
    )
    found = [finding for finding in asked if finding is not None]
    if all(finding.withholds == frozenset() and not finding.outside for finding in found):
        idle = effort.idle_server(trial)
        found += [] if idle is None else [idle]
    return tuple(found)
