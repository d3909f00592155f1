"""The head of a report: machine and versions."""

from lab.report.machine import machine_lines


def test_the_machine_and_the_versions_are_a_line_each():
    """What was read is said, in a reader's order."""
    environment = {
        "cpu": {"model": "AMD EPYC", "cores": 2},
        "kernel": {"release": "6.8.0"},
        "python": {"version": "3.11.9"},
        "uwsgi": {"version": "2.0.31"},
        "git": {"commit": "0123456789abcdef"},
    }
    assert machine_lines({"digest": environment}) == (
        "AMD EPYC, 2 cores, Linux 6.8.0",
        "Python 3.11.9, uWSGI 2.0.31, commit 0123456789ab",
    )


def test_what_was_not_read_is_not_mentioned():
    """An empty environment gives no line, and neither does none."""
    assert machine_lines({"digest": {"cpu": {}}}) == ()
    assert machine_lines({}) == ()


def test_versions_are_found_where_the_environment_has_them():
    """Locust's among the distributions; a commit with changes that are in no commit says so."""
    environment = {
        "distributions": {"locust": "2.43.0"},
        "fib": {"implementation": "cython"},
        "git": {"commit": "0123456789abcdef", "dirty": True},
    }
    (line,) = machine_lines({"digest": environment})
    assert line == "Locust 2.43.0, fib cython, commit 0123456789ab (modified)"
