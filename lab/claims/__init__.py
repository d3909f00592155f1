"""Published claims: read from `claims.toml` beside this file, and decided by stored runs."""

from lab.claims.batches import Batch, batches
from lab.claims.decide import by_summaries, decided, relevant, verdicts
from lab.claims.due import due
from lab.claims.read import FILE, ClaimsError, load, stored_runs

__all__ = [
    "FILE",
    "Batch",
    "ClaimsError",
    "batches",
    "by_summaries",
    "decided",
    "due",
    "load",
    "relevant",
    "stored_runs",
    "verdicts",
]
