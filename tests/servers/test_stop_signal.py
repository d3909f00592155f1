"""What stops a uWSGI server, by its options."""

import signal

import pytest

from lab.config.uwsgi import stop_signal


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, signal.SIGTERM),
        ({"master": "true"}, signal.SIGINT),
        ({"master": "1"}, signal.SIGINT),
        ({"master": "off"}, signal.SIGTERM),
        ({"master": "yes", "die-on-term": "1"}, signal.SIGTERM),
        ({"master": "true", "die-on-term": "false"}, signal.SIGINT),
        ({"master": "true", "hook-master-start": "unix_signal:15 gracefully_kill_them_all"},
         signal.SIGTERM),
    ],
)  # fmt: skip
def test_a_master_is_interrupted_unless_it_dies_on_sigterm(options, expected):
    """SIGTERM makes it reload, whatever word its option is switched on with."""
    assert stop_signal(tuple(options.items())) is expected
