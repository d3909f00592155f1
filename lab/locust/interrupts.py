"""
Ctrl-C, SIGTERM and a closed terminal end Locust once, in order, and without a traceback.

Python raises KeyboardInterrupt wherever the process is: in an import, in a greenlet that drives the
load, or a second time while Locust cleans up, as `timeout -s INT` sends two signals. Here Locust's
main greenlet gets it, once, when it waits for the test's end: there Locust expects it. Until Locust
is ready nothing has been started, and the process ends without a word.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import gevent
from locust import events
from locust.runners import STATE_INIT, Runner, WorkerRunner

from lab.errors import Interrupted

signal_name = ""
"""Signal that ends this process; empty until it came."""


def _replace_defaults(handler: Any, *signals: signal.Signals) -> None:
    """Set the handler of these signals where nobody has set another, or ignores them."""
    for number in signals:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler, _leave, _exit):
            signal.signal(number, handler)


def _leave(*_: Any) -> None:
    """End within an import, which may drop or rename what is raised in it."""
    os._exit(Interrupted.exit_code)


def _exit(*_: Any) -> None:
    """End between the imports and a test: workers that Locust has forked end, too."""
    sys.exit(Interrupted.exit_code)


@events.init_command_line_parser.add_listener
def _imported(**_: Any) -> None:
    _replace_defaults(_exit, signal.SIGINT)


def ready(environment: Any, runner: Runner | None, **_: Any) -> None:
    """Let a signal end the test from now on: the last listener to Locust's event `init`."""
    if runner is None:
        return
    hub = gevent.get_hub()

    def pass_on(number: int, _frame: Any) -> None:
        global signal_name  # noqa: PLW0603 - a process ends once
        if not signal_name:
            signal_name = signal.Signals(number).name
            hub.loop.run_callback(interrupt)

    def interrupt() -> None:
        """Raise in the main greenlet; this runs when that waits."""
        error: type[BaseException] = KeyboardInterrupt
        if environment.parsed_options.headless and runner.shape_greenlet is None:
            if runner.state != STATE_INIT:
                return  # it ends already
            error = SystemExit  # a master still waits for its workers
        hub.handle_system_error(error, error(Interrupted.exit_code))

    _replace_defaults(pass_on, signal.SIGINT)
    if not isinstance(runner, WorkerRunner):
        # Locust attends to SIGTERM only after a headless run with a shape.
        _replace_defaults(pass_on, signal.SIGTERM, signal.SIGHUP)


_replace_defaults(_leave, signal.SIGINT)
