"""Each rule finds its fault where it is, and nothing where it is not."""

import pytest

from lab.lint.rules.rule import RULES
from tests.kit.linting import codes


@pytest.mark.parametrize("code", sorted(RULES))
def test_a_rule_finds_its_bad_example_and_not_its_good_one(code):
    """Both are shown to people, by `--explain` and in the documentation."""
    rule = RULES[code]
    assert code in codes(rule.bad, code)
    assert code not in codes(rule.good, code)
