"""Each rule finds its fault where it is, and nothing where it is not."""

import re

import pytest

from lab.lint.rules.rule import RULES
from tests.kit.linting import codes


@pytest.mark.parametrize("code", sorted(RULES))
def test_a_rule_finds_its_bad_example_and_not_its_good_one(code):
    """Both are shown to people, by `--explain` and in the documentation."""
    rule = RULES[code]
    assert code in codes(rule.bad, code)
    assert code not in codes(rule.good, code)


@pytest.mark.parametrize("code", sorted(RULES))
def test_a_rule_is_silent_about_its_near_miss(code):
    """It names an option that the bad example has, and is not the good example again."""
    rule = RULES[code]
    named = re.findall(r"^\W*([\w-]+)", rule.bad, re.MULTILINE)
    assert any(re.search(rf"(?<![\w-]){name}(?![\w-])", rule.near) for name in named)
    assert rule.near != rule.good
    assert code not in codes(rule.near, code)
