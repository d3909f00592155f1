"""
Threads beside processes, as many of both as gunicorn's documentation says to start with.

https://gunicorn.org/design/#how-many-workers
"""

import os

worker_class = "gthread"
# Two for each CPU that the server may use, and one more.
workers = 2 * len(os.sched_getaffinity(0)) + 1
# "Generally in the 2-4 x $(NUM_CORES) range."
threads = 4 * len(os.sched_getaffinity(0))
