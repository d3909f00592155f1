"""
What five articles claim, read from `claims.toml` beside this file, and what runs and tests say.

`lab claims` is defined here, and is there in a checkout only.
"""

from studies.articles.batches import Batch, batches
from studies.articles.decide import by_summaries, decided, relevant, verdicts
from studies.articles.due import due
from studies.articles.read import FILE, ClaimsError, bands, load, stored_runs

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
