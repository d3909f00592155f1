"""Published claims: read from `claims.toml` beside this file, and decided by stored runs."""

from lab.claims.decide import decided, verdicts
from lab.claims.read import FILE, RUNS, ClaimsError, load, stored_runs

__all__ = ["FILE", "RUNS", "ClaimsError", "decided", "load", "stored_runs", "verdicts"]
