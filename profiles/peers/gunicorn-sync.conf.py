"""
The plain worker class, with as many workers as gunicorn's documentation says to start with.

https://gunicorn.org/design/#how-many-workers
"""

import os

# lab: ignore-file[GU006] a peer is as its documentation begins
# Two for each CPU that the server may use, and one more.
workers = 2 * len(os.sched_getaffinity(0)) + 1
