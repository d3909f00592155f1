"""An application that a function makes."""


def create_app():
    """Return it."""

    def application(environ, start):
        start("200 OK", [("Content-Length", "4")])
        return [b"made"]

    return application
