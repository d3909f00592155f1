"""What the applications of Tornado that ask a database have in common."""

from collections.abc import Awaitable, Callable

from tornado.web import Application, RequestHandler

Ask = Callable[[], Awaitable[str]]


class Row(RequestHandler):
    """Answers what the database holds; with 500 and the driver's words where that fails."""

    def initialize(self, ask: Ask, failures: tuple[type[Exception], ...]) -> None:
        """Take what asks, and what it may raise."""
        self._ask, self._failures = ask, failures

    async def get(self) -> None:
        """Ask once."""
        self.set_header("Content-Type", "text/plain")
        try:
            self.write(await self._ask())
        except self._failures as error:
            self.set_status(500)
            self.write(f"{error}\n")


def application(ask: Ask, *failures: type[Exception], **settings: object) -> Application:
    """Make the application whose row *ask* returns."""
    return Application([("/", Row, {"ask": ask, "failures": failures})], **settings)
