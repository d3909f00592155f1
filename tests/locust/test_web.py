"""The comparison in Locust's web UI, asked over HTTP: what it shows, downloads and records."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import socket
import statistics
import time
import urllib.parse
import urllib.request
from types import SimpleNamespace

import pytest

from lab.bench.profiles import usual
from tests.kit.lab_process import ROOT, SMALL, compare, run, trials, until
from tests.locust.web_ui import LOCUST, ask, locust_web

GOOD = "<i>mine"
BAD = "<b>broken"
SCRIPT = "<script>alert(1)</script>"


def write_profiles(folder):
    """Write a profile that works and one that starts once, with markup wherever it can get in."""
    common = f"[uwsgi]\nhttp-socket = 127.0.0.1:$(PORT)\nchdir = {ROOT}\nneed-app = true\n"
    good, bad = folder / f"{GOOD}.ini", folder / f"{BAD}.ini"
    good.write_text(common + "module = app.wsgi:app\n")
    (folder / "once.py").write_text(
        "from pathlib import Path\n\nfrom app.wsgi import app\n\n"
        "tried = Path(__file__).with_name('tried')\n"
        f"if tried.exists():\n    raise RuntimeError('{SCRIPT}')\ntried.touch()\n"
    )
    bad.write_text(common + f"pythonpath = {folder}\nmodule = once:app\n")
    return [str(good), str(bad)]


def arguments_of(page):
    """Return what Locust hands to the JavaScript of one of its pages."""
    match = re.search(r"window\.templateArgs = (.*?);?\n", page)
    return json.loads(match[1])


WRONG = (
    ({"blocks": "abc"}, "--blocks: 'abc': a whole number from 1 to 1,000"),
    ({"blocks": "0"}, "--blocks: '0': a whole number from 1 to 1,000"),
    ({"window": "fast"}, "--window: 'fast' is no duration; write 3, 2.5s, 500ms, 1m or 1h"),
    ({"rate": "-4"}, "--rate '-4': write requests per second"),
    ({"profiles": "tunned"}, "tunned: the profile does not exist; did you mean tuned?"),
    ({"profiles": "tuned", "host": "http://127.0.0.1:1"}, "Host is filled in: clear Profiles"),
    ({"host": "http://127.0.0.1:1"}, "--host http://127.0.0.1:1: nothing answers there"),
    ({"profile": "tuned"}, "as in --profiles tuned"),
    # What a browser sends where nothing is selected, and then again: nothing is kept.
    ({"blocks": "2", "host": "http://127.0.0.1:1"}, "nothing answers there"),
    ({"fail_if": "cpu(tuned) > 1"}, "divide it by another profile's"),
)
"""What somebody fills into the form, and what it says to that."""


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """Start a run in the web form, see it end, and yield the web UI with what was seen."""
    folder = tmp_path_factory.mktemp("web")
    profiles = write_profiles(folder)
    with locust_web(folder) as (_, base):
        before = SimpleNamespace(
            page=ask(f"{base}/profiles/"),
            form=arguments_of(ask(f"{base}/")),
            refused=[json.loads(ask(f"{base}/swarm", **wrong)) for wrong, _ in WRONG],
            state=json.loads(ask(f"{base}/stats/requests"))["state"],
        )
        ask(
            f"{base}/swarm", user_count=8, spawn_rate=8, profiles=profiles, blocks=2, window=0.4,
            warmup=0.1, run_time="5s",
        )  # fmt: skip
        seen, pages = [], []

        def done():
            # To ask all the time would be work beside the trials.
            time.sleep(0.2 if pages and measuring(seen) else 0.05)
            seen.append(json.loads(ask(f"{base}/profiles/data")))
            if seen[-1]["state"] == "under way" and seen[-1]["edition"] and not pages:
                pages.extend(ask(f"{base}/profiles/{name}") for name in ("", "report.html"))
            return seen[-1]["state"] == "done"

        until(done, "the end of the run")
        until(lambda: "Ctrl-C ends Locust" in (folder / "output").read_text(), "the report")
        yield SimpleNamespace(base=base, folder=folder, before=before, seen=seen, pages=pages)


def measuring(seen):
    """Whether any reply was given while a window was open."""
    return any(re.search(r"block \d of 2.*: window", status.get("now", "")) for status in seen)


def windows(ended, name):
    """Return the windows of one profile's trials, as they lie on disk."""
    profile_trials = (trial for trial in trials(ended.folder) if trial["slot"]["arm"] == name)
    return [window for trial in profile_trials for window in trial["windows"]]


def rate(windows):
    """Return the correct replies per measured second; there is one generator process."""
    return sum(window["ok"] for window in windows) / sum(window["wall"] for window in windows)


def test_the_form_offers_the_tab_and_the_downloads_and_asks_for_no_host(ended):
    """All of it is there before a run."""
    form = ended.before.form
    assert form["extended_tabs"] == [{"key": "profiles", "title": "Profiles"}]
    assert form["extended_tables"][0]["structure"][0] == {"key": "name", "title": "Profile"}
    profiles = form["extra_options"]["profiles"]
    assert profiles["default_value"] == []
    assert "None: the whole ladder" in profiles["help_text"]
    assert tuple(profiles["choices"])[: len(usual())] == usual()
    for link in form["extended_csv_files"]:
        ask(urllib.parse.urljoin(f"{ended.base}/", link["href"]))
    assert not form["missing_host_warning"]
    assert "No comparison has run yet" in ended.before.page


def test_the_report_is_printed_when_the_comparison_is_done(ended):
    """And not when Locust ends: a browser's user may never look at the terminal again."""
    output = (ended.folder / "output").read_text()
    assert output.index("Run folder: results/") < output.index("done: the report is above")


@pytest.mark.costly
def test_a_port_that_is_taken_is_answered_alone(tmp_path):
    """Before Locust prints two tracebacks and an empty table, with a port that is free."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run(*LOCUST, "--web-host", "127.0.0.1", "--web-port", str(port), cwd=tmp_path)
    *_, last = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, "")
    other = re.search(f"ERROR/lab: port {port} is taken: --web-port ([0-9]+)$", last)
    assert other
    assert other[1] != str(port)
    assert "Traceback" not in done.stderr


def test_a_wrong_field_is_answered_in_the_form(ended):
    """In words, nothing begins, and a right form begins a run afterwards."""
    for (wrong, message), reply in zip(WRONG, ended.before.refused, strict=True):
        assert not reply["success"], wrong
        assert message in reply["message"]
    assert ended.before.state == "ready"
    assert len(list(ended.folder.glob("results/*"))) == 1


def test_the_page_follows_the_run(ended):
    """While it goes on: what is done, what is being done, and how long it takes."""
    under_way = [status for status in ended.seen if status["state"] == "under way"]
    assert any(re.fullmatch(r"\d of 6 trials, about \d+ s left", s["progress"]) for s in under_way)
    assert measuring(under_way)
    page, report = ended.pages
    assert 'id="progress"' in page
    assert 'http-equiv="refresh"' in page
    assert 'src="report.html"' in page
    assert "Run under way" in report
    assert "1 block of 0.4 s" in report
    assert ended.seen[-1]["now"] == ""
    assert (ended.folder / ended.seen[-1]["folder"] / "trials.ndjson").exists()


def test_the_tab_has_a_row_for_each_profile(ended):
    """With the medians of the report, and the gate that a trial met."""
    reply = json.loads(ask(f"{ended.base}/stats/requests"))
    (table,) = reply["extended_stats"]
    assert table["key"] == "profiles"
    good, bad = table["data"]
    assert (good["name"], good["trials"], bad["name"]) == (GOOD, "2 of 2", BAD)
    assert re.match(r"0 of 2: \w", bad["valid"])
    assert bad["throughput"] == "-"
    assert good["throughput_ratio"].startswith("noise check ")


def test_the_report_is_there_after_the_end(ended):
    """On the page and as a download under the run's name."""
    assert "<iframe" in ask(f"{ended.base}/profiles/")
    with urllib.request.urlopen(f"{ended.base}/profiles/report.html?download=1") as reply:
        name = (ended.folder / ended.seen[-1]["folder"]).name
        assert reply.headers["Content-Disposition"] == f"attachment; filename={name}.html"
        assert name in reply.read().decode()


def test_names_and_logs_cannot_add_markup(ended):
    """A profile is a file, and its server's log says what it likes."""
    log = trials(ended.folder)
    assert any(SCRIPT in (trial["failure"] or "") for trial in log)
    after = (ask(f"{ended.base}/profiles/{name}") for name in ("", "report.html"))
    for page in (*ended.pages, *after):
        for markup in (SCRIPT, GOOD, BAD):
            assert markup not in page
    assert GOOD.replace("<", "&lt;").replace(">", "&gt;") in ended.pages[1]


def test_the_csv_has_the_numbers_in_full(ended):
    """Medians as in the run's summary, empty where nothing is known."""
    good, bad = csv.DictReader(io.StringIO(ask(f"{ended.base}/profiles/profiles.csv")))
    profile_trials = [
        trial
        for trial in trials(ended.folder)
        if trial["slot"]["arm"] == GOOD and trial["slot"]["role"] == "profile"
    ]
    last = {trial["slot"]["block"]: trial for trial in profile_trials}.values()
    expected = statistics.median(rate(trial["windows"]) for trial in last)
    if good["valid"] == "2":  # on a disturbed machine nothing counts
        assert float(good["throughput [1/s]"]) == pytest.approx(expected, rel=1e-3)
    assert (good["profile"], bad["profile"], bad["throughput [1/s]"]) == (GOOD, BAD, "")


def test_locusts_report_and_csv_agree_with_the_trials(ended):
    """Counts are equal, rates are over measured time, and times keep hundredths."""
    profile_windows = windows(ended, GOOD)
    report = arguments_of(ask(f"{ended.base}/stats/report"))
    row = next(r for r in report["requests_statistics"] if r["name"] == f"01 {GOOD}")
    assert row["num_requests"] == sum(window["ok"] for window in profile_windows)
    assert row["num_failures"] == 0
    assert row["total_rps"] == pytest.approx(rate(profile_windows), rel=0.01)
    times = next(r for r in report["response_time_statistics"] if r["name"] == f"01 {GOOD}")
    written = csv.DictReader(io.StringIO(ask(f"{ended.base}/stats/requests/csv")))
    line = next(candidate for candidate in written if candidate["Name"] == f"01 {GOOD}")
    assert int(line["Request Count"]) == row["num_requests"]
    assert float(line["Requests/s"]) == pytest.approx(rate(profile_windows), rel=0.01)
    assert float(line["99%"]) == times["0.99"]
    assert any(times[quantile] % 1 for quantile in ("0.5", "0.9", "0.99"))


def test_locusts_charts_have_a_point_for_each_trial(ended):
    """With its rate and its percentiles, and not an average over pauses between trials."""
    history = arguments_of(ask(f"{ended.base}/stats/report"))["history"]
    measured = [trial["windows"] for trial in trials(ended.folder) if trial["windows"]]
    assert len(history) == len(measured)
    for point, trial_windows in zip(history, measured, strict=True):
        assert point["current_rps"][1] == pytest.approx(rate(trial_windows), rel=0.01)
        assert point["response_time_percentile_0.5"][1] > 0
        assert point["response_time_percentile_0.5"][1] <= point["response_time_percentile_0.95"][1]


@pytest.mark.costly
def test_the_recorded_command_repeats_what_was_chosen_in_the_form(ended):
    """Its folder says so, without a web UI; and a run time that means nothing is called so."""
    recorded = json.loads((ended.folder / ended.seen[-1]["folder"] / "run.json").read_text())
    words = shlex.split(recorded["command"])
    for name, value in {"--users": "8", "--blocks": "2", "--window": "0.4"}.items():
        assert words[words.index(name) + 1] == value
    assert words[words.index("--profiles") + 1].endswith(f"{GOOD}.ini")
    assert "--headless" in words
    assert "--run-time is for --host" in (ended.folder / "output").read_text()


LOGIN = """
from locust import events
from lab.locust import ComparisonShape, Connection

class Client(Connection):
    pass

class Compare(ComparisonShape):
    pass

@events.init.add_listener
def protect(environment, **_):
    environment.web_ui.app.secret_key = "test"
    environment.web_ui.login_manager.user_loader(lambda _name: None)
"""


@pytest.mark.slow
def test_a_login_protects_the_pages_too(tmp_path):
    """Nothing is told to who is not logged in, not even by the hook that adds rows."""
    (tmp_path / "locustfile.py").write_text(LOGIN)
    with locust_web(tmp_path, "--web-login", locust=("locust", "-f", "locustfile.py")) as (_, base):
        for page in ("", "data", "profiles.csv", "report.html"):
            with urllib.request.urlopen(f"{base}/profiles/{page}") as reply:
                assert urllib.parse.urlsplit(reply.url).path == "/login"


@pytest.mark.slow
def test_a_base_path_holds_for_the_pages_too(tmp_path):
    """Behind a proxy that maps a folder."""
    with locust_web(tmp_path, "--web-base-path", "/locust", path="/locust") as (_, base):
        assert "No comparison has run yet" in ask(f"{base}/locust/profiles/")


@pytest.mark.slow
def test_the_html_and_csv_files_of_a_headless_run_agree_with_its_trials(tmp_path):
    """As in the web UI."""
    compare(
        *LOCUST, "--headless", "-u", "8", "--html", "out.html", "--csv", "out", "--profiles",
        "tuned", *SMALL, cwd=tmp_path,
    )  # fmt: skip
    profile_windows = [window for trial in trials(tmp_path) for window in trial["windows"]]
    report = arguments_of((tmp_path / "out.html").read_text())
    row = report["requests_statistics"][0]
    assert (row["name"], row["num_requests"]) == (
        "01 tuned",
        sum(window["ok"] for window in profile_windows),
    )
    assert row["total_rps"] == pytest.approx(rate(profile_windows), rel=0.01)
    assert len(report["history"]) == len(trials(tmp_path))
    line, _ = csv.DictReader((tmp_path / "out_stats.csv").read_text().splitlines())
    assert int(line["Request Count"]) == row["num_requests"]
    assert float(line["95%"]) == row["response_time_percentile_0.95"]
