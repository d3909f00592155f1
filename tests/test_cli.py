"""The `lab` command, run as a user runs it, with real servers."""

from __future__ import annotations

import json
import re

import psutil
import pytest
from click.testing import CliRunner

from lab.bench import profiles, workloads
from lab.bench.machine import project
from lab.bench.store import fitness
from lab.cli.check import check_command
from lab.cli.commands import cli
from lab.cli.listing import list_command
from lab.errors import ProfileError
from tests.kit.lab_process import PACED, ROOT, SITES, SMALL, compare, run, trials


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """Return the folder in which three profiles were compared, and what was printed."""
    folder = tmp_path_factory.mktemp("compared")
    done = compare("lab", "run", "baseline", "cython", "tuned", *PACED, cwd=folder)
    return folder, done.stdout


def test_profiles_are_compared_and_the_folder_tells_it_all(compared):
    """The table, the run's folder, and in every trial: the profile's hash, the environment."""
    where, printed = compared
    assert "3 profiles, 1 block of 0.4 s" in printed
    assert "Run folder: results/" in printed
    folder = next(where.glob("results/*"))
    assert {p.name for p in folder.iterdir()} == {
        "report.html",
        "report.md",
        "run.json",
        "summary.json",
        "trials.ndjson",
    }
    header = json.loads((folder / "run.json").read_text())
    digests = {arm["name"]: arm["profile"]["digest"] for arm in header["plan"]["arms"]}
    for trial in trials(where):
        assert trial["digest"] == digests[trial["slot"]["arm"]]
        assert trial["environment"] in header["environments"]
        assert not trial["windows"][0]["errors"]
        assert trial["windows"][0]["ok"] > 0


def test_the_baseline_runs_the_sequence_in_pure_python(compared):
    """What the article's first rungs measure, seen from outside the process."""
    facts = {t["slot"]["arm"]: t["facts"]["fib"] for t in trials(compared[0])}
    assert facts == {"baseline": "pure", "cython": "cython", "tuned": "cython"}


def test_a_report_is_the_same_bytes_every_time(compared):
    """It needs no server, and the folder's own report.md is that report."""
    where, _ = compared
    first, second = (run("lab", "report", "--markdown", cwd=where).stdout for _ in range(2))
    assert first == second == next(where.glob("results/*/report.md")).read_text()
    summary = run("lab", "report", "--json", cwd=where).stdout
    assert summary == next(where.glob("results/*/summary.json")).read_text()


@pytest.mark.slow
def test_another_server_and_another_workload_run_in_the_same_experiment(tmp_path):
    """gunicorn's sync worker beside uWSGI, answering Pong!."""
    compare("lab", "run", "tuned", "gunicorn-sync", "--workload", "hello", *SMALL, cwd=tmp_path)
    assert all(t["windows"][0]["ok"] and not t["windows"][0]["errors"] for t in trials(tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("framework", "path"), [("flask", "/where/Ulm?q=a"), ("django", "/price/5/")]
)
def test_an_application_that_knows_nothing_of_us_is_compared(tmp_path, framework, path):
    """Its first reply is captured, and then required of every request."""
    compare(
        "lab", "run", "http-socket", "tuned", "--app", f"{framework}_site:application",
        "--path", path, "--chdir", str(SITES), *SMALL, cwd=tmp_path,
    )  # fmt: skip
    assert all(t["windows"][0]["ok"] and not t["windows"][0]["errors"] for t in trials(tmp_path))


@pytest.mark.slow
def test_a_page_that_varies_is_judged_by_what_it_must_contain(tmp_path):
    """Without --check it is refused, with the way out in the message."""
    site = ("--app", "flask_site:application", "--chdir", str(SITES))
    refused = run("lab", "run", "tuned", *site, "--path", "/now", *SMALL, cwd=tmp_path)
    assert refused.returncode == 2
    assert "--check" in refused.stderr
    compare(
        "lab", "run", "tuned", *site, "--path", "/now", "--check", r"^\d+ ns$", *SMALL, cwd=tmp_path
    )


@pytest.mark.slow
def test_the_walkthroughs_own_load_is_five_thousand_requests(tmp_path):
    """500 connections at once, one request each, until 5,000 have their outcome."""
    compare("lab", "run", "tuned", "--load", "walkthrough", "--blocks", "1", cwd=tmp_path, also=1)
    window = trials(tmp_path)[0]["windows"][0]
    assert window["ok"] + sum(window["errors"].values()) == 5000
    assert len(window["replies"]) == 500


@pytest.mark.slow
def test_a_machine_that_measured_well_is_told_so(tmp_path):
    """
    With 0, where the others here also take 3: "measured, but noisier than wanted".

    Every request costs the same CPU time, so that only a disturbed machine is noisy, and whether
    this one is disturbed is asked without the lab.
    """
    disturbed = busy()
    done = run(
        "lab", "run", "tuned", "--app", "burning:application", "--path", "/",
        "--chdir", str(SITES), "--connections", "4", "--no-confirm",
        "--blocks", "5", "--window", "1", "--warmup", "0.1", cwd=tmp_path, timeout=300,
    )  # fmt: skip
    if disturbed or busy():
        pytest.skip("other programs use the CPUs of this machine")
    assert done.returncode == 0, done.stdout + done.stderr


def busy():
    """Whether other programs use a tenth of a core, in the two seconds from now on."""
    return psutil.cpu_percent(2.0) * psutil.cpu_count() > 10


def test_an_ini_file_of_the_users_own_is_a_profile(tmp_path):
    """It only has to obey PORT."""
    (tmp_path / "mine.ini").write_text(
        "[uwsgi]\nstrict = true\nhttp-socket = 127.0.0.1:$(PORT)\nmaster = true\n"
        f"chdir = {ROOT}\nmodule = loadtests.workloads.hello:app\nneed-app = true\n"
    )
    compare("lab", "run", "./mine.ini", "--workload", "hello", "--no-confirm", *PACED, cwd=tmp_path)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("run", "tund"), 2, "tuned"),
        (("run", "--blocks", "0", "tuned"), 2, "--blocks: '0'"),
        (("run", "--window", "fast"), 2, "no duration"),
        (("run", "--app", "nope"), 2, "package.module:callable"),
        (("run", "tuned", "--app", "no.such:app", "--blocks", "1"), 1, "No module named 'no'"),
        (("report",), 1, "lab run --quick"),
        (("report", "nope"), 2, "no such run"),
    ],
)
def test_what_cannot_be_done_says_why_in_a_line_and_fails(tmp_path, arguments, code, message):
    """The exit status tells a script, the message a person; never a traceback."""
    done = run("lab", *arguments, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_the_list_shows_the_ladder_in_order(tmp_path):
    """From the article's first configuration to ours."""
    rows = json.loads(run("lab", "list", "--json", cwd=tmp_path).stdout)
    ladder = [row["name"] for row in rows if row["ladder"]]
    assert ladder[0] == "baseline"
    assert ladder[-1] == "tuned"
    assert all(row["summary"] for row in rows)


def test_help_cuts_no_description_of_a_command(monkeypatch):
    """Each is whole, wrapped where the terminal ends."""
    monkeypatch.setenv("COLUMNS", "80")
    text = CliRunner().invoke(cli, ["--help"]).output
    assert "..." not in text.partition("Commands:")[2]
    assert "such as of two commits." in " ".join(text.split())


def listed_names(text):
    """Return the first word of each row of the list, heads and wrapped lines left out."""
    rows = (line for line in text.splitlines() if re.match(r"  \S", line))
    return [row.split()[0] for row in rows if not row.split()[0].isupper()]


@pytest.mark.costly
@pytest.mark.parametrize("width", [80, 100, 200])
def test_the_list_has_each_profile_in_groups_and_cuts_nothing(monkeypatch, width):
    """What the ratio is of, ladder, reference lines, variations, peers, in columns with heads."""
    monkeypatch.setenv("COLUMNS", str(width))
    text = CliRunner().invoke(list_command, standalone_mode=False).output
    assert max(map(len, text.splitlines())) <= width
    first, *groups = text.split("\n\n")
    assert first.startswith("CPU: CPU per request, against the profile")
    assert [group.split()[0] for group in groups[:4]] == [
        "Ladder,", "Reference", "Variations:", "Peers:",
    ]  # fmt: skip
    assert all(group.splitlines()[1].startswith("  PROFILE") for group in groups[:4])
    assert sorted(listed_names("\n".join(groups[:4]))) == sorted(profiles.find())
    assert "..." not in text
    assert profiles.read("asyncio").summary in " ".join(text.split())


def test_the_list_shows_what_the_page_of_profiles_shows():
    """The same ratio for each profile, whichever is read first."""
    page = (ROOT / "docs/reference/profiles.md").read_text().partition("## The ladder")[0]
    cells = [line.split(" | ") for line in page.splitlines() if line.startswith("| [")]
    ratios = {row[0].partition("[")[2].partition("]")[0]: row[4].split()[0] for row in cells}
    assert ratios["processes-threads"] != "-"
    text = CliRunner().invoke(list_command, standalone_mode=False).output
    rows = (line.split() for line in text.splitlines() if re.match(r"  \S.*\dx( |$)", line))
    listed = {
        row[0]: next(cell for cell in row if re.fullmatch(r"~?[\d.]+x", cell)) for row in rows
    }
    assert listed == {
        name: cell.replace("\\", "") for name, cell in ratios.items() if cell not in ("-", "|")
    }


@pytest.fixture
def listed(tmp_path, monkeypatch):
    """Return a function that lists two profiles of ours and a workload, all of them troubled."""
    (tmp_path / "a.ini").write_text("[lab]\nsummary = A\nneeds = plug-in nosuch\n[uwsgi]\n")
    (tmp_path / "b.toml").write_text(
        'summary = "B"\nagainst = "a"\nrun = [["{python}"]]\n'
        'ended = "2020-01-02: gone"\nsuccessor = "c"\n'
        'version = ["{python}", "-c", "print(\'b, version 7.1.2 (x)\')"]\n'
    )
    (tmp_path / "workloads").mkdir()
    (tmp_path / "workloads" / "w.toml").write_text("summary = 7\n")
    monkeypatch.setattr("lab.cli.listing.profiles.ladder", lambda: ("a",))
    for folder in ("profiles", "peers"):
        monkeypatch.setattr(project, folder, lambda: tmp_path)
    monkeypatch.setattr("lab.cli.listing.profiles.find", lambda: ("a", "b"))
    monkeypatch.setattr(project, "workloads", lambda: tmp_path / "workloads")

    def call(*words):
        return CliRunner().invoke(list_command, words, standalone_mode=False).output

    return call


def test_the_list_says_each_version_or_what_is_missing(listed, monkeypatch):
    """Beside what each is for, whatever is wrong with one; and that a project has ended."""
    monkeypatch.setenv("COLUMNS", "200")
    lines = [" ".join(line.split()) for line in listed().splitlines()]
    assert "a A. Not here: uWSGI is built without plug-in nosuch: make setup" in lines
    assert "b / a 7.1.2 B (ended 2020-01-02: gone; now c)" in lines
    rows = {row["name"]: row for row in json.loads(listed("--json"))}
    assert (rows["a"]["version"], rows["b"]["version"]) == (None, "b, version 7.1.2 (x)")
    assert rows["a"]["missing"].startswith("uWSGI is built without")


BAD = ProfileError("profiles/x.ini", "has no summary")


def test_a_profile_that_cannot_be_read_does_not_empty_the_list(listed, monkeypatch, capsys):
    """It is named, and the exit status says that the list is not whole."""
    monkeypatch.setattr("lab.cli.listing.look_at_all", lambda names, bad: bad(BAD) or [])
    done = CliRunner().invoke(list_command, standalone_mode=False)
    assert (done.return_value, done.stderr) == (1, f"lab: not listed: {BAD}\n")
    assert "Workloads, for --workload:" in done.stdout


@pytest.mark.parametrize(
    ("mistake", "line"),
    [
        (lambda text: "broken", r"lab: not listed: \S+/middle\.ini: has no summary"),
        (
            lambda text: text.replace("= low", "= nosuch"),
            r"lab: not listed: \S+/middle\.ini:3: against names nosuch: the profile does not exist",
        ),
        (
            lambda text: f"{text}processes = %(nosuch)\n",
            r"lab: 2 profiles not listed: \S+/middle\.ini:5: processes = %\(nosuch\)",
        ),
    ],
)
def test_a_bad_profile_of_the_ladder_is_one_line_beside_the_list_of_the_others(
    tmp_path, monkeypatch, mistake, line
):
    """Those above it and below it are listed, unless they include it."""
    for name, against, more in (
        ("low", None, ""),
        ("middle", "low", ""),
        ("high", "middle", ""),
        ("tuned", "high", "include = %dmiddle.ini\n"),
    ):
        header = f"[lab]\nsummary = S\n{f'against = {against}' if against else ''}\n[uwsgi]\n"
        (tmp_path / f"{name}.ini").write_text(header + more)
    middle = tmp_path / "middle.ini"
    middle.write_text(mistake(middle.read_text()))
    for folder in ("profiles", "peers", "runs"):
        monkeypatch.setattr(project, folder, lambda: tmp_path)
    done = CliRunner().invoke(list_command, standalone_mode=False)
    assert done.return_value == 1
    assert re.match(line, done.stderr)
    assert done.stderr.count("\n") == 1
    assert re.search(r"^  low ", done.stdout, re.MULTILINE)
    assert re.search(r"^  high\b", done.stdout, re.MULTILINE)


def test_the_list_names_the_workloads(monkeypatch):
    """With what is asked."""
    monkeypatch.setenv("COLUMNS", "80")
    run = CliRunner().invoke(list_command, standalone_mode=False, catch_exceptions=False)
    listed = run.output.partition("Workloads, for --workload:\n")[2].partition("\n\n")[0]
    assert listed_names(listed) == list(workloads.find())


def test_the_list_says_what_is_wrong_with_a_workload(listed):
    """It is the place where it is looked for."""
    assert "w.toml:1: summary must be a line of text" in listed()


@pytest.mark.parametrize(
    ("program", "command"),
    [
        ("{here}/.venv/bin/lab", ".venv/bin/lab"),
        ("{here}/.venv/bin/locust", ".venv/bin/lab"),
        ("{here}/my venv/lab", "'my venv/lab'"),
        ("/opt/venv/bin/lab", "/opt/venv/bin/lab"),
        ("/usr/bin/pytest", "lab"),
    ],
)
def test_a_hint_spells_lab_so_that_it_can_be_pasted(tmp_path, monkeypatch, program, command):
    """As this process was started, below the current folder without that folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [program.format(here=tmp_path)])
    assert project.lab_command() == command


def test_the_check_never_cuts_a_command(monkeypatch):
    """Each stands on a line of its own, whole, however narrow the page is."""
    monkeypatch.setenv("COLUMNS", "50")
    assessed = fitness.assess(
        {"cpu": {"cores": 2, "affinity": [0, 1], "turbo": True}},
        fitness.Moment({"tcp.time_wait": 50.0}),
    )
    ports = fitness._judged("local ports", "28,232", fine=False)
    monkeypatch.setattr(fitness, "check", lambda: [*assessed, ports])
    lines = CliRunner().invoke(check_command, standalone_mode=False).output.splitlines()
    for command in (
        "sysctl -w net.ipv4.ip_local_port_range='10240 65535'",
        "echo 0 > /sys/devices/system/cpu/cpufreq/boost",
        "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo",
        "apt install iproute2",
        "FIB_BUILD=cython pip install --no-deps --editable .",
    ):
        assert f"        {command}" in lines
    rest = [line for line in lines if not line.startswith(" " * 8)]
    assert max(len(line) for line in rest if line.startswith(" ")) <= 50
    assert not any("`" in line for line in lines if line.startswith(" " * 8))


def test_the_check_tells_what_this_machine_lacks(tmp_path):
    """Each finding has a level; a machine that cannot measure gives 1."""
    done = run("lab", "check", "--json", cwd=tmp_path)
    assert done.returncode in {0, 1}, done.stderr
    assert {row["level"] for row in json.loads(done.stdout)} <= {"ok", "warn", "fail"}
