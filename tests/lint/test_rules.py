"""Each rule finds its fault where it is, and nothing where it is not."""

import re

from lab.lint.rules.rule import RULES
from tests.kit.cases import cases
from tests.kit.linting import codes
from tests.lint.test_findings import OWN

OF_COMMENTS = frozenset({"UW900"})
"""Rules about what comments say."""


def test_a_rule_about_the_linter_finds_its_bad_example_and_not_its_good_one():
    """The examples of all other rules are tested in test_findings.py."""
    for code in (code for code in RULES if code.startswith(OWN)):
        assert code in codes(RULES[code].bad, code)
        assert code not in codes(RULES[code].good, code)


@cases("code", sorted(RULES))
def test_a_rule_is_silent_about_its_near_miss(code):
    """It names an option that the bad example has, not in a comment; it is no good one again."""
    rule = RULES[code]
    named = re.findall(r"^\W*([\w-]+)", rule.bad, re.MULTILINE)
    near = rule.near_miss if code in OF_COMMENTS else re.sub(r"(?m)^[;#].*\n?", "", rule.near_miss)
    assert any(re.search(rf"(?<![\w-]){name}(?![\w-])", near) for name in named)
    assert rule.near_miss != rule.good
    assert code not in codes(rule.near_miss, code)
