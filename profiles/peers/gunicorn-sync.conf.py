"""
The plain worker class, with the same queue and the same number of workers as `tuned`.

https://docs.gunicorn.org/en/stable/settings.html
"""

# ruff: noqa: INP001 - gunicorn reads this file; nothing imports it

import os

# One process a CPU and two at the least, or what PROCESSES says, as in profiles/tuned.ini.
workers = max(2, int(os.environ.get("PROCESSES") or os.cpu_count() or 1))

# Room for a burst of connections. gunicorn's default is 2048.
backlog = 1024

# No line for each request, as in profiles/tuned.ini. The default, written down.
accesslog = None
