"""The service held to its published contract by schemathesis: generated requests, good and bad."""

import pytest
import schemathesis
from hypothesis import HealthCheck, assume, settings

from app import create_app

schema = schemathesis.openapi.from_wsgi("/openapi.json", create_app())
PATHS = frozenset(schema)


@schema.parametrize()
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
def test_contract(case):
    """Status, headers, type and body of every reply are as app/openapi.json says."""
    if case.path == "/metrics":
        pytest.skip("answers under uWSGI only; tests/app/test_contract.py asks it there")
    # A generated number may be the name of another path, such as "metrics".
    assume(f"/{case.path_parameters.get('number')}" not in PATHS)
    case.call_and_validate()
