"""The service under the two names that WSGI servers look for."""

from __future__ import annotations

import gc

from app import create_app

app = application = create_app()

# Workers that are forked from here share the memory of these objects until their collector, after
# some ten thousand requests, writes to each. Frozen, they are passed over: 8 MB less a worker.
gc.collect()
gc.freeze()
