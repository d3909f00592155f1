"""Somebody's Flask application; it knows nothing of this project."""

import time

from flask import Flask

application = Flask(__name__)


@application.get("/where/<city>")
def where(city):
    """Answer the same for the same request."""
    return {"city": city}


@application.get("/now")
def now():
    """Answer differently every time."""
    return f"{time.time_ns()} ns"
