"""A small Flask application that knows nothing of this project."""

import time

from flask import Flask, request

application = Flask(__name__)


@application.get("/items/<int:number>")
def item(number):
    """Answer the same for the same request."""
    return {"item": number, "q": request.args.get("q")}


@application.get("/now")
def now():
    """Answer differently every time."""
    return f"{time.time_ns()} ns"
