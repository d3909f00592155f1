"""
Workers whose requests are greenlets, as many as gunicorn's documentation says to start with.

https://gunicorn.org/design/#how-many-workers
"""

import os

# lab: ignore-file[GU006] a peer is as its documentation begins
# lab: ignore[GU009] gunicorn 25.3 runs it, which has them
worker_class = "eventlet"
# Two for each CPU that the server may use, and one more.
workers = 2 * len(os.sched_getaffinity(0)) + 1
# What `gunicornc` talks to. In gunicorn 25.3 its thread is waited for at the end: two seconds.
control_socket_disable = True
