"""Read a new FIFO slowly, 100 kB a second, from the background; exit when its writers are gone."""

import os
import sys
import time
from contextlib import suppress

path = sys.argv[1]
with suppress(FileNotFoundError):
    os.unlink(path)  # noqa: PTH108 - of a server that was killed while it started
os.mkfifo(path, 0o600)
if os.fork():
    os._exit(0)
fifo = os.open(path, os.O_RDONLY)
os.unlink(path)  # noqa: PTH108 - both ends are open
while os.read(fifo, 2000):
    time.sleep(0.02)
