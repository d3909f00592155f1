"""
What five articles claim, read from `claims.toml` beside this file, and what runs and tests say.

The lab knows nothing of it: this uses the lab as anybody may, and `lab claims` is here.
"""

from articles.batches import Batch, batches
from articles.decide import by_summaries, decided, relevant, verdicts
from articles.due import due
from articles.read import FILE, ClaimsError, bands, load, stored_runs

__all__ = [
    "FILE",
    "Batch",
    "ClaimsError",
    "bands",
    "batches",
    "by_summaries",
    "decided",
    "due",
    "load",
    "relevant",
    "stored_runs",
    "verdicts",
]
