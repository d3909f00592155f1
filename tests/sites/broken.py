"""An application that raises on every request."""


def application(environ, start_response):
    """Fail."""
    raise RuntimeError("the database is gone")
