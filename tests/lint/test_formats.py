"""What `lab lint` prints, in the forms that tools read."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from lab.bench.machine import project
from lab.cli.lint.formats import FORMATS, LocatedFlaw
from lab.config.spot import Spot
from lab.lint.flaw import Fix, Flaw, Severity
from lab.lint.page import explained
from lab.lint.rules.rule import RULES
from tests.kit.golden import check_golden

GOLDEN = Path(__file__).parent / "golden"

SAFE, UNSAFE = (Fix((), safe=safe, description="x = 1") for safe in (True, False))
BASE = Spot(Path("conf,d/a:b.ini"), 12, 20)
FLAWS = (
    Flaw("UW009", Severity.ERROR, "env = A=100%: | of *it*,\n\u2713 50%", BASE, SAFE),
    Flaw("UW205", Severity.NO_EFFECT, "no-orphans: why; what", Spot(Path("u.ini"), 3, 1), UNSAFE),
    Flaw("UW303", Severity.DANGEROUS, "max-requests = 9: why; what", Spot(Path("u.ini"), 9, 1)),
    Flaw("UW303", Severity.DANGEROUS, "max-requests = 9: why; what", Spot(Path("u.ini"), 19, 1)),
    Flaw("UW317", Severity.REMARK, "no strict: why; what", Spot(Path("u.ini"), 0, 0), SAFE),
)
FOUND = [LocatedFlaw(flaw, "max-requests = 9" if flaw.code == "UW303" else "") for flaw in FLAWS]

PHYSICAL = {
    "type": "object",
    "required": ["artifactLocation", "region"],
    "properties": {
        "artifactLocation": {"required": ["uri"]},
        "region": {"properties": {"startLine": {"minimum": 1}, "startColumn": {"minimum": 1}}},
    },
}
SARIF = {
    "required": ["$schema", "version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "items": {
                "required": ["tool", "results"],
                "properties": {
                    "tool": {
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "required": ["name", "version", "rules"],
                                "properties": {
                                    "rules": {
                                        "items": {
                                            "required": [
                                                "id",
                                                "shortDescription",
                                                "fullDescription",
                                                "help",
                                                "defaultConfiguration",
                                            ]
                                        }
                                    }
                                },
                            }
                        },
                    },
                    "results": {
                        "items": {
                            "required": [
                                "ruleId",
                                "ruleIndex",
                                "level",
                                "message",
                                "locations",
                                "partialFingerprints",
                            ],
                            "properties": {
                                "level": {"enum": ["error", "warning", "note"]},
                                "message": {"required": ["text"]},
                                "locations": {
                                    "minItems": 1,
                                    "items": {"properties": {"physicalLocation": PHYSICAL}},
                                },
                            },
                        }
                    },
                },
            }
        },
    },
}
"""What GitHub's code scanning needs of a log of SARIF 2.1.0."""


@pytest.mark.parametrize("form", ["text", "json", "github", "gitlab", "markdown"])
def test_a_form_is_as_it_is_stored(form):
    """Nothing that a file says ends a line, a property or a cell of it."""
    check_golden(GOLDEN / f"lint.{form}", FORMATS[form](FOUND))


@pytest.mark.parametrize("form", FORMATS)
def test_nothing_found_is_a_form_as_well(form):
    """A pipeline reads it all the same."""
    text = FORMATS[form]([])
    assert text == "" or text.endswith("\n")
    assert form not in ("json", "sarif", "gitlab") or json.loads(text) is not None


def test_a_log_of_sarif_has_what_code_scanning_needs():
    """With the rules that found something, and a fingerprint that outlives another line."""
    log = json.loads(FORMATS["sarif"](FOUND))
    Draft202012Validator(SARIF).validate(log)
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == sorted({flaw.code for flaw in FLAWS})
    for result, flaw in zip(run["results"], FLAWS, strict=True):
        assert rules[result["ruleIndex"]] == result["ruleId"] == flaw.code
    marks = [result["partialFingerprints"]["lab/v1"] for result in run["results"]]
    assert len(set(marks)) == len(marks)
    moved = [LocatedFlaw(FLAWS[3], "max-requests = 9")]
    (again,) = json.loads(FORMATS["sarif"](moved))["runs"][0]["results"]
    assert again["partialFingerprints"]["lab/v1"] == marks[2]


def test_a_log_of_sarif_names_the_page_of_a_rule(monkeypatch):
    """Where the project has a site; without one it names none."""
    assert "helpUri" not in FORMATS["sarif"](FOUND)
    monkeypatch.setattr(project, "site", lambda: "https://site.example/lab/")
    log = json.loads(FORMATS["sarif"](FOUND))
    Draft202012Validator(SARIF).validate(log)
    for rule in log["runs"][0]["tool"]["driver"]["rules"]:
        assert rule["helpUri"] == f"https://site.example/lab/rules/{rule['id']}/"


def test_a_file_below_this_folder_is_named_from_here(tmp_path, monkeypatch):
    """As a repository names it; another keeps its path."""
    monkeypatch.chdir(tmp_path)
    for path, name in ((tmp_path / "a/u.ini", "a/u.ini"), (Path("/etc/u.ini"), "/etc/u.ini")):
        assert LocatedFlaw(Flaw("UW001", Severity.ERROR, "", Spot(path, 1, 1)), "").file == name


def test_every_rule_explains_itself():
    """What it finds, why, where that was seen, how it is mended, and an example of each kind."""
    wrong = []
    for code, rule in sorted(RULES.items()):
        text = explained(rule)
        parts = (f"{code} {rule.severity}: ", "\n\nSource: ", "\n\nFix: ", "\n\nBad:\n\n    ")
        wrong += [f"{code} lacks {part.strip()}" for part in parts if part not in text]
        wrong += [f"{code}: {line}" for line in text.splitlines() if len(line) >= 400]
    assert not wrong, "\n".join(wrong)
