"""An application whose requests cost the same CPU time each, on any machine, beside any load."""

import time

COST = 0.001
"""Seconds."""


def application(_environ, start_response):
    """Compute for so long, and answer."""
    end = time.thread_time() + COST
    while time.thread_time() < end:
        pass
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "4")])
    return [b"done"]
