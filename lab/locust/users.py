"""One Locust user is one connection; the process's engine drives them all."""

from __future__ import annotations

from gevent.event import Event
from locust import User, task


class Connection(User):
    """
    A seat for one connection.

    Locust decides how many there are in each process; `lab.locust.crew` opens that many, with the
    engine or, with `--client fasthttp`, a FastHttpSession each. The engine is the default because a
    greenlet for each request costs about as much CPU as a tuned server needs to answer it.
    """

    abstract = True

    @task
    def hold(self) -> None:
        """Hold the seat until Locust takes it back."""
        Event().wait()
