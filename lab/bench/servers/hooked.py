"""An arm whose server runs the lab's hook, which lies in a folder that PYTHONPATH names."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from lab.bench.machine import temporary
from lab.bench.machine.runtime import environment_of, runtime_of
from lab.model.plan import Arm
from lab.model.runtime import Variables

HOOK = Path(__file__).with_name("hook.py")


def hooked(arm: Arm, folder: Path, watch: Mapping[str, object]) -> Arm:
    """
    Return *arm* with the hook in the environment of its server.

    No file of the user's is touched, and servers of other trials run without it.

    Args:
        arm: The server's profile, and what it is asked.
        folder: Where the hook is written; it is there.
        watch: What the hook does: see LAB_WATCH in `hook.py`.
    """
    temporary.write(folder / "sitecustomize.py", HOOK.read_text(encoding="utf-8"))
    runtime = arm.workload.runtime
    before = environment_of(runtime_of(arm.profile, runtime)).get("PYTHONPATH")
    path = os.pathsep.join(filter(None, (str(folder), before)))
    values = {**runtime.variables.reveal(), "LAB_WATCH": json.dumps(watch), "PYTHONPATH": path}
    variables = Variables.of(values, runtime.variables.digest)
    workload = replace(arm.workload, runtime=replace(runtime, variables=variables))
    return replace(arm, workload=workload)
