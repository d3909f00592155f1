"""This project's service, with a path that fails and one that is never answered."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from app import create_app

application = create_app()


@application.get("/a/failure")
def failure():
    """Fail as a view does that nobody has tested."""
    raise ValueError("a failure")


@application.get("/a/stuck")
def stuck():
    """Hold a worker until something ends it."""
    time.sleep(60)
    return "done"
