"""The published schemas: true of what is stored, of what is written now, and not stale."""

import functools
import json
from dataclasses import fields
from pathlib import Path

import jsonschema
import pytest

from lab.analysis.summary import summarise
from lab.analysis.sweep import conclude_run
from lab.bench.store.folder import FORMAT, RunHeader, encode_header, encode_trial
from lab.report import summary_json
from tools.pages import schema

RUNS = sorted(Path(__file__).parents[2].glob("docs/runs/*/"))


@functools.cache
def validator(name):
    """Return a validator of the published schema *name*, checked itself."""
    content = json.loads((schema.FOLDER / name).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(content)
    return jsonschema.Draft202012Validator(content)


@pytest.mark.parametrize("name", schema.FILES)
def test_a_schema_is_what_its_types_say(name):
    """After a change of the types: python -m tools.pages."""
    stored = (schema.FOLDER / name).read_text(encoding="utf-8")
    assert stored == schema.render(*schema.FILES[name])


@pytest.mark.parametrize("run", RUNS, ids=lambda path: path.name)
def test_the_stored_runs_are_valid(run):
    """Header, summary, and the first lines."""
    validator("run.schema.json").validate(json.loads((run / "run.json").read_text()))
    stored = json.loads((run / "summary.json").read_text())
    for summary in stored if isinstance(stored, list) else [stored]:  # several rates: one each
        validator("summary.schema.json").validate(summary)
    trial = validator("trial.schema.json")
    for line in (run / "trials.ndjson").read_text().splitlines()[:20]:
        trial.validate(json.loads(line))


def test_what_is_written_now_is_valid(diagnosed, walkthrough, open_loop):
    """With causes and without, of every kind of load."""
    summaries = [diagnosed, summarise(walkthrough), summarise(open_loop)]
    for summary in summaries:
        validator("summary.schema.json").validate(
            json.loads(summary_json.render(conclude_run([summary])))
        )
        run = summary.run
        header = RunHeader(FORMAT, run.command, run.generator, 0.0, run.plan, run.environments, {})
        validator("run.schema.json").validate(json.loads(encode_header(header)))
        validator("trial.schema.json").validate(json.loads(encode_trial(run.trials[0])))


def test_a_damaged_summary_is_not_valid(walkthrough):
    """The schema is no empty promise: a missing verdict is found."""
    content = json.loads(summary_json.render(conclude_run([summarise(walkthrough)])))
    del content["aa"]["cpu"]["verdict"]
    with pytest.raises(jsonschema.ValidationError, match="'verdict' is a required property"):
        validator("summary.schema.json").validate(content)


def test_classes_of_one_name_have_their_own_fields():
    """A profile is configured in the run and measured in the summary."""
    run, summary = (
        json.loads((schema.FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))["$defs"]
        for name in ("run", "summary")
    )
    assert "options" in run["Profile"]["properties"]
    assert "options" not in summary["Profile"]["properties"]
    assert "trials" in summary["Profile"]["properties"]["valid"]["description"]
    assert "before" in summary["StepComparison"]["properties"]


def test_a_field_of_the_summary_has_the_words_of_what_it_is_written_from():
    """An attribute's, a property's or a function's; of its own field where these say nothing."""
    content = json.loads((schema.FOLDER / "summary.schema.json").read_text(encoding="utf-8"))
    profile, comparison = (
        content["$defs"][name]["properties"] for name in ("Profile", "Comparison")
    )
    assert "imperative" in profile["summary"]["description"]
    assert "arms" in content["properties"]["load"]["description"]
    assert "as a share" in comparison["half_width"]["description"]
    assert "changed / reference" in comparison["ratio"]["description"]
    assert "description" not in comparison["high"]


def test_what_the_summary_leaves_out_is_there():
    """A field that is not written under its own name is a field of its class."""
    for kind, changes in summary_json.PROJECTION.items():
        left_out = {name for name, source in changes.items() if source is None}
        assert left_out <= {field.name for field in fields(kind)}, kind


def test_what_may_be_absent_is_not_required():
    """And everything else is, whatever default its class has."""
    content = json.loads((schema.FOLDER / "summary.schema.json").read_text(encoding="utf-8"))
    comparison = content["$defs"]["Comparison"]
    optional = comparison["properties"].keys() - set(comparison["required"])
    assert optional == {
        "ratio", "low", "high", "n", "level", "half_width", "detectable", "blocks_needed",
        "may_be", "below", "both", "between",
    }  # fmt: skip
    assert content["properties"].keys() - set(content["required"]) == {"applications", "shares"}


def test_every_field_of_a_trial_is_explained():
    """The descriptions are the types' own documentation."""
    content = json.loads((schema.FOLDER / "trial.schema.json").read_text(encoding="utf-8"))
    assert "POSIX seconds" in content["properties"]["started_at"]["description"]
    assert "accept" not in content["$defs"]["Window"]["properties"]["wall"]["description"]
    assert "monotonic clock" in content["$defs"]["Window"]["properties"]["wall"]["description"]
