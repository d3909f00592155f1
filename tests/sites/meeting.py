"""An application in which two requests of one process wait for each other."""

import threading

MEETING = threading.Barrier(2)


def application(environ, start_response):
    """At /meet, say whether another request arrived within a second; else be ready."""
    body = b"ready"
    if environ["PATH_INFO"] == "/meet":
        try:
            MEETING.wait(timeout=1)
            body = b"met"
        except threading.BrokenBarrierError:
            body = b"alone"
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
