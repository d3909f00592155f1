"""Workloads: what is asked, and what is correct."""

from __future__ import annotations

import pytest

from lab.errors import UsageError
from lab.workloads import workload
from tests.kit.replies import NINE_THOUSAND


def test_fib_requires_the_body_that_the_walkthrough_prints():
    """Byte for byte."""
    assert workload().path == "/9000"
    assert workload().expect.body == NINE_THOUSAND


def test_a_power_is_a_number():
    """/10^99 is the number of 100 digits."""
    large = workload(path="/10^99")
    assert large.path == "/1" + "0" * 99
    assert large.expect.body == workload(path="/1" + "0" * 99).expect.body


def test_an_application_of_the_users_own_is_judged_by_its_first_reply(tmp_path):
    """Neither body nor pattern is known before."""
    own = workload(app="site.wsgi:application", path="/x", chdir=tmp_path)
    assert (own.name, own.path, own.chdir) == ("site.wsgi:application", "/x", tmp_path)
    assert (own.expect.body, own.expect.pattern) == (None, None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"app": "site.wsgi"}, "package.module:callable"),
        ({"app": "a:b", "path": "x"}, "begins with /"),
        ({"app": "a:b", "path": "/a b"}, "no blanks"),
        ({"app": "a:b", "pattern": "("}, "not a regular expression"),
        ({"path": "/abc"}, "a number"),
        ({"name": "nope"}, "no workload 'nope'"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments, message):
    """With an example of what can."""
    with pytest.raises(UsageError, match=message):
        workload(**arguments)
