"""An application that answers with the number of the process that serves."""

import os


def application(environ, start_response):
    """Answer at once."""
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"%d" % os.getpid()]
