"""What is said of a stress test."""

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from lab.bench.store.folder import read_json, write_json
from lab.cli.stress import figure
from lab.cli.stress.faults import FAULTS
from lab.cli.stress.result import CONTROL, Counts, FaultOutcome, StressResult
from lab.cli.stress.text import banners, cell, document, progress
from lab.errors import ResultsError
from lab.model.document import Meaning
from lab.report import markdown, terminal

from .conftest import CLEAN, outcome

LOSES = Counts(400, lost=3, late=41, wrong=0, longest=1.234, errors={"reset": 2, "closed": 1})


def report(result):
    """Return the report in Markdown."""
    return markdown.render_document(document(result))


def test_a_cell_says_what_was_felt_of_how_many():
    """And the longest wait; the colour repeats it."""
    assert cell(outcome()).text == "0 of 400, 0.02 s"
    assert cell(outcome()).meaning is Meaning.GOOD
    assert cell(outcome(counts=LOSES)).text == "3 lost, 41 late of 400, 1.23 s"
    assert cell(outcome(counts=LOSES)).meaning is Meaning.BAD
    assert cell(outcome(counts=replace(LOSES, lost=0))).meaning is Meaning.WARNING


def test_a_fault_without_effect_is_no_success():
    """Where nothing happened there is nothing to be good at."""
    fault_cell = cell(outcome(effect=False, note="no worker was replaced"))
    assert fault_cell.text == "no effect; 0 of 400, 0.02 s"
    assert fault_cell.meaning is Meaning.MUTED


def test_a_server_that_reloads_between_requests_does_not_have_no_effect():
    """As of an application that answers at once: the server did what it was told."""
    fault_cell = cell(outcome("reload", effect=False, idle=True))
    assert fault_cell.text == "no request in flight; 0 of 400, 0.02 s"
    assert fault_cell.meaning is Meaning.MUTED


def test_who_was_turned_away_is_in_the_cell():
    """Not lost, and yet to be seen: two servers can be compared by it."""
    assert cell(outcome(counts=replace(CLEAN, turned_away=103))).text == (
        "103 turned away of 400, 0.02 s"
    )
    assert cell(outcome(counts=replace(CLEAN, turned_away=103))).meaning is Meaning.GOOD


def test_what_could_not_be_planted_is_said_with_its_reason(result):
    """It is neither 0 nor left out."""
    whole = result(FaultOutcome("recycle", problem="not possible: no uWSGI", possible=False))
    text = report(whole)
    assert "| recycle | not possible |" in text
    assert "- tuned, recycle: not possible: no uWSGI" in text


def test_a_dirty_control_is_said_first(result):
    """What is felt without a fault makes the other rows worthless, and the exit status 3."""
    whole = result(outcome("none", LOSES), outcome())
    assert whole.status() == whole.status(("tuned",)) == 3
    assert "> **Warning:** Without any fault, requests were lost" in report(whole)
    assert whole.uncontrolled() == ()


@pytest.mark.parametrize("control", [None, FaultOutcome("none", problem="failed: no")])
def test_a_control_that_is_missing_accuses_nobody(result, control):
    """Neither the machine nor the load: nothing is known, which is the same exit status."""
    whole = result(outcome("none"))
    (tuned,) = whole.profiles
    whole = replace(
        whole, profiles=(replace(tuned, outcomes=() if control is None else (control,)),)
    )
    assert whole.dirty() == ()
    assert whole.status() == 3
    assert "> **Warning:** There is no control for tuned: its trial" in report(whole)


def test_a_disturbed_trial_is_named(result):
    """What was felt before the fault was planted is not the fault's doing."""
    whole = result(outcome(disturbed=True))
    assert "Something else disturbed kill on tuned" in report(whole)
    assert whole.status(("tuned",)) == 3
    assert whole.status() == 0


def test_how_often_a_trial_was_made_is_said(result):
    """The last of three is not the same as the only one."""
    text = report(result(outcome("none", tries=3), outcome()))
    assert "- tuned, none: the last of 3 trials; the others were disturbed" in text
    assert "- tuned, kill" not in text


def test_new_workers_are_said(result):
    """That a fault did something is seen by it; uWSGI with `cheaper` has some without any fault."""
    faults = [outcome("none", replaced=1), outcome("recycle", replaced=4)]
    text = report(result(*faults, outcome("reload", replaced=1), outcome("drain")))
    assert "- tuned, recycle: 4 new workers\n" in text
    assert "- tuned, reload: 1 new worker\n" in text
    assert "- tuned, none" not in text
    assert "- tuned, drain" not in text


def test_of_killed_workers_it_is_said_how_many_were_replaced(result):
    """Out of how many; none is told of as well."""
    text = report(result(outcome(killed=6, replaced=6)))
    assert "- tuned, kill: 6 of 6 killed workers were replaced\n" in text
    text = report(result(outcome(killed=1, replaced=0)))
    assert "- tuned, kill: 0 of 1 killed workers were replaced\n" in text


def test_what_was_not_run_is_said_once(result):
    """In the banner of the control; a cell says that it is neither a success nor a failure."""
    left = FaultOutcome("kill", problem="not run: its control was not clean", made=False)
    assert cell(left).text == "not run"
    assert cell(left).meaning is Meaning.MUTED
    text = report(result(outcome("none", LOSES), left))
    assert text.count("not run") == 1


def test_a_wrong_control_is_the_application_s(result):
    """Neither this machine's nor the load's: no other rate would mend it."""
    (banner,) = banners(result(outcome("none", replace(CLEAN, wrong=20), disturbed=True)))
    assert banner.startswith("tuned gave another status or body without any fault: fix the")
    assert "--status or --check" in banner
    both = banners(result(outcome("none", replace(LOSES, wrong=20))))
    assert [text.partition(" ")[0] for text in both] == ["tuned", "Without"]


def test_too_much_load_names_a_rate_that_fits(result):
    """Half of the right replies a second, by when the last one had come; below 1 none."""
    slow = outcome("none", Counts(401, lost=325, late=74, wrong=0))
    series = replace(slow.series, at=(9.0, 18.0))
    (banner,) = banners(result(replace(slow, series=series)))
    assert banner.endswith("Try --rate 2.")
    series = replace(slow.series, at=(50.0, 100.0))
    (banner,) = banners(result(replace(slow, series=series)))
    assert banner.endswith("Try a lower --rate.")


def test_what_is_said_of_a_trial_when_it_is_done():
    """A line; of one that failed with the end of its log."""
    assert progress("tuned", outcome(counts=LOSES)) == (
        "kill on tuned: 3 lost, 41 late of 400, 1.23 s"
    )
    failed = FaultOutcome("kill", problem="failed: it ended", log="segmentation fault")
    assert progress("tuned", failed) == "kill on tuned: failed: it ended\nsegmentation fault"


@pytest.mark.parametrize(
    ("counts", "status"),
    [(CLEAN, 0), (LOSES, 99), (replace(LOSES, lost=0), 0), (replace(CLEAN, wrong=1), 99)],
    ids=["clean", "lost", "late", "wrong"],
)
def test_a_required_profile_may_lose_nothing(result, counts, status):
    """Late is allowed; and what is not required may lose what it will."""
    whole = result(outcome(counts=counts))
    assert whole.status(("tuned",)) == status
    assert whole.status() == 0


def test_a_fault_asked_for_by_name_must_be_possible_on_a_required_profile(result):
    """Else nothing of what was asked was tested; of all faults, those that there are count."""
    whole = result(FaultOutcome("kill", problem="not possible: none", possible=False))
    assert whole.status(("tuned",), ("kill",)) == 3
    assert whole.untried(("tuned",), ("kill",)) == ("kill on tuned",)
    assert whole.status(("tuned",), ("drain",)) == whole.status((), ("kill",)) == 0


def test_a_required_profile_must_have_been_tried(result):
    """A trial that failed or was not reached proves nothing; an impossible one is none."""
    assert result(FaultOutcome("kill", problem="failed: no")).status(("tuned",)) == 3
    assert result(FaultOutcome("kill", problem="none", possible=False)).status(("tuned",)) == 0
    assert result(outcome(effect=False)).status(("tuned",)) == 3
    assert result(outcome(effect=False, counts=LOSES)).status(("tuned",)) == 99
    assert result(outcome(), outcome("drain", counts=LOSES, effect=False)).status(("tuned",)) == 99
    assert result(outcome(disturbed=True, counts=LOSES)).status(("tuned",)) == 3
    assert result(outcome(effect=False)).status() == 0
    whole = result(outcome())
    assert replace(whole, faults=whole.faults | {"drain": ""}).status(("tuned",)) == 3
    assert result(outcome(), skipped={"production": "no nginx"}).status(("production",)) == 3


def test_a_burst_counts_with_the_steady_load(result):
    """The cell has the sum, the line below the part of the burst."""
    whole = result(outcome(burst=replace(LOSES, attempted=16, late=0)))
    text = report(whole)
    assert "| kill | 3 lost of 416, 1.23 s |" in text
    assert "of the 16 at once: 3 lost" in text
    often = replace(outcome(burst=replace(LOSES, attempted=32)), planted=(0.2, 0.3))
    assert "of the 32 sent in 2 bursts: 3 lost" in report(result(often))


def test_the_terminal_and_the_page_say_the_same(result):
    """One table, whoever reads it."""
    whole = result(outcome(counts=LOSES, note="one of two workers was replaced"))
    text = terminal.render_document(document(whole), 120)
    for words in ("3 lost, 41 late of 400, 1.23 s", "one of two workers was replaced; 2 reset"):
        assert words in text
        assert words in report(whole)
    assert "Again: lab stress tuned" in text


def test_a_result_is_stored_whole(result, tmp_path):
    """What is read equals what was written; what is none is refused with its name."""
    whole = result(outcome(counts=LOSES))
    path = tmp_path / "stress.json"
    write_json(path, whole)
    assert read_json(path, StressResult) == whole
    path.write_text("{}")
    with pytest.raises(ResultsError, match=r"stress\.json: is no result of a stress test"):
        read_json(path, StressResult)
    write_json(path, replace(whole, format=99))
    with pytest.raises(ResultsError, match="has format 99"):
        read_json(path, StressResult)


def test_the_figure_has_a_panel_for_each_cell(result):
    """With its words, in light and dark, and the same bytes every time."""
    whole = result(outcome(counts=LOSES), FaultOutcome("recycle", problem="x", possible=False))
    drawn = figure.svg(whole)
    words = [
        element.text for element in ET.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")
    ]
    expected = {"tuned", "none", "kill", "recycle", "3 lost", "41 late", "not possible: tuned"}
    assert expected <= set(words)
    assert "prefers-color-scheme:dark" in drawn
    assert figure.svg(whole) == drawn


def test_the_control_comes_first_and_no_name_twice():
    """The first row is what the others are read against."""
    names = [fault.name for fault in FAULTS]
    assert names[0] == CONTROL
    assert len(set(names)) == len(names)
