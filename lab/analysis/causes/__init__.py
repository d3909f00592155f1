"""What limited a trial; `hypotheses.py` has a function for each cause."""

from __future__ import annotations

import lab.analysis.causes.hypotheses  # noqa: F401 - it fills HYPOTHESES
from lab.analysis.causes.hypothesis import HYPOTHESES

__all__ = ["CAUSES", "HYPOTHESES"]

CAUSES = tuple(dict.fromkeys(hypothesis.name for hypothesis in HYPOTHESES))
"""Names of causes, in the order in which they are asked for: see `lab.analysis.diagnose`."""
