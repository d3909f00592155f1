"""
The causes that a trial may show, one file each.

Thresholds are priors, put to the test by the planted causes of `lab selftest`. A cause whose
readings are absent is not found. To add a cause, add a file with its `HYPOTHESIS`, name it in
`HYPOTHESES` at the place where it is to be asked for, and plant it in `studies.selftest.cases`.
"""

from __future__ import annotations

from lab.analysis.causes import (
    accept_queue,
    backend,
    generator,
    gil,
    io_wait,
    lock_convoy,
    logging,
    memory,
    reconnecting,
    respawning,
    router,
    server_cpu,
    single_worker,
    stalls,
    workers_asleep,
)

HYPOTHESES = (
    accept_queue.HYPOTHESIS,
    generator.HYPOTHESIS,
    backend.HYPOTHESIS,
    router.HYPOTHESIS,
    single_worker.HYPOTHESIS,
    gil.HYPOTHESIS,
    lock_convoy.HYPOTHESIS,
    logging.BLOCKS,
    reconnecting.HYPOTHESIS,
    workers_asleep.HYPOTHESIS,
    respawning.HYPOTHESIS,
    stalls.HYPOTHESIS,
    io_wait.HYPOTHESIS,
    memory.HYPOTHESIS,
    server_cpu.HYPOTHESIS,
    logging.COSTS,
)
"""In the order in which they are asked for: see `lab.analysis.diagnose`."""

CAUSES = tuple(dict.fromkeys(hypothesis.name for hypothesis in HYPOTHESES))
"""Names of causes, in that order."""
