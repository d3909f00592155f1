"""The service held to its published contract by schemathesis: generated requests, good and bad."""

import pytest
import schemathesis
from hypothesis import HealthCheck, settings

from app import create_app

schema = schemathesis.openapi.from_wsgi("/openapi.json", create_app())


@schema.parametrize()
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
def test_contract(case):
    """Status, headers, type and body of every reply are as app/openapi.json says."""
    if case.path == "/metrics":
        pytest.skip("answers under uWSGI only; tests/app/test_contract.py asks it there")
    case.call_and_validate()
