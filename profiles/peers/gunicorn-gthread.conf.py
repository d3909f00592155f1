"""
Threads beside processes, as many of both as gunicorn's documentation says to start with.

https://gunicorn.org/design/#how-many-workers
"""

import os

# lab: ignore-file[GU006] a peer is as its documentation begins
# lab: ignore[GU010] a peer is as its documentation begins
worker_class = "gthread"
# Two for each CPU that the server may use, and one more.
workers = 2 * len(os.sched_getaffinity(0)) + 1
# "Generally in the 2-4 x $(NUM_CORES) range."
threads = 4 * len(os.sched_getaffinity(0))
