"""Files of backing services: what they say, and what is refused."""

from __future__ import annotations

import os

import pytest

from lab.bench.machine import project
from lab.bench.profiles.backing import missing, needed, read
from lab.bench.trials.available import look
from lab.cli import listing
from lab.errors import ProfileError, UsageError
from lab.model.backing import BackingRole
from lab.model.request import Expectation
from lab.model.workload import Workload

SOUND = """summary = "Waits {pause} s"
role = "backend"
run = [["sleep", "{pause}"]]
ready = "http"
[words]
pause = "60"
"""


def write(folder, text, name="made"):
    """Write the file of a service, and return its path."""
    path = folder / f"{name}.toml"
    path.write_text(text)
    return path


def asking(*services, **words):
    """Return a workload that needs these services."""
    return Workload("w", "/", Expectation(), backing=services, words=tuple(words.items()))


@pytest.mark.parametrize(
    "path", sorted(project.backing().glob("*.toml")), ids=lambda path: path.stem
)
def test_each_of_ours_can_be_read(path):
    """And says what it is."""
    service = read(path)
    assert service.name == path.stem
    assert service.summary
    assert "{" not in str(service)


def test_a_workload_s_words_take_the_place_of_its_own(tmp_path):
    """Those that it has: a workload may have words for another service, too."""
    service = read(write(tmp_path, SOUND), {"pause": "5", "other": "x"})
    assert (service.words, service.summary) == ({"pause": "5"}, "Waits 5 s")
    assert service.role is BackingRole.BACKEND


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("ready =", "redy =", 4, "`redy` is none of summary, role, run, ready"),
        ('[["sleep", "{pause}"]]', '"sleep"', 3, "Expected `array`, got `str`"),
        ('"backend"', '"client"', 2, "Invalid enum value 'client'"),
        ('"60"', "60", 5, "Expected `str`, got `int`"),
        ('role = "backend"\n', "", None, "missing required field `role`"),
        ("[words]", "[word]", 5, "`word` is none of"),
        ('ready = "http"', "ready = 3", 4, "got `int`"),
        ("summary", "# summary", None, "has no summary"),
        ("role =", "role", None, "not TOML"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path, old, new, line, said):
    """With the file, the line, and what it may be."""
    path = write(tmp_path, SOUND.replace(old, new))
    with pytest.raises(ProfileError) as caught:
        read(path)
    assert said in str(caught.value)
    assert caught.value.path == path
    assert caught.value.line == line


def test_of_several_versions_the_highest_counts(tmp_path):
    """By number: 15 comes after 9."""
    for version in ("9", "15", "9.6"):
        (tmp_path / "made" / version / "bin").mkdir(parents=True)
    text = f'path = "{tmp_path}/made/*/bin"\n{SOUND}'
    assert read(write(tmp_path, text)).path == f"{tmp_path}/made/15/bin"


def test_a_program_is_looked_for_in_its_folder(tmp_path):
    """A service whose programs are nowhere says what installs them."""
    program = tmp_path / "bin" / "no-such-program"
    text = SOUND.replace("sleep", program.name).replace("[words]", 'needs = "apt-get it"\n[words]')
    path = write(tmp_path, f'path = "{program.parent}"\n{text}')
    message = "backing service made needs no-such-program (apt-get it), which is not installed"
    assert missing(read(path)) == message
    program.parent.mkdir()
    program.touch(0o755)
    assert missing(read(path)) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may choose a user")
def test_a_user_who_is_not_there_is_named(tmp_path):
    """With what makes that user: the package of the service."""
    path = write(tmp_path, f'user = "no-such-user"\nneeds = "apt-get it"\n{SOUND}')
    message = (
        "backing service made needs the user no-such-user (apt-get it), which is not installed"
    )
    assert missing(read(path)) == message


def test_a_server_of_the_user_s_needs_nothing(tmp_path, monkeypatch):
    """Nothing is started, so nothing has to be there; and it says that nobody watches it."""
    text = f'url = "MADE_URL"\n{SOUND.replace("sleep", "no-such-program")}'
    path = write(tmp_path, text)
    assert not read(path).theirs
    monkeypatch.setenv("MADE_URL", "http://there/")
    assert missing(read(path)) is None
    assert str(read(path)) == "made: a server of the user's (MADE_URL), not watched"


def test_the_digest_is_of_all_that_tells_it_something(tmp_path):
    """Its own file and those named after it; comments tell it nothing."""
    path = write(tmp_path, SOUND)
    first = read(path).digest
    write(tmp_path, "# Why.\n" + SOUND)
    assert read(path).digest == first
    (tmp_path / "made.sql").write_text("select 1;")
    assert read(path).digest != first


def test_a_workload_gets_what_it_needs():
    """None of most workloads; the upstream of one that asks it, with its words."""
    assert needed(asking()) == ()
    (service,) = needed(asking("upstream", delay="50"))
    assert service.words == {"delay": "50"}


def test_a_profile_may_need_one_of_its_own(tmp_path, monkeypatch):
    """Beside the workload's, each once; where it is not installed, the profile cannot run."""
    monkeypatch.setattr(project, "backing", lambda: tmp_path)
    write(tmp_path, SOUND)
    write(tmp_path, SOUND, "other")
    peer = write(
        tmp_path, 'summary = "A peer"\nrun = [["sleep", "1"]]\nbacking = ["other"]\n', "peer"
    )
    profile = look(str(peer)).profile
    assert [service.name for service in needed(asking("made"), [profile, profile])] == [
        "made",
        "other",
    ]
    assert look(str(peer)).missing is None
    write(tmp_path, SOUND.replace("sleep", "no-such-program"), "other")
    message = "backing service other needs no-such-program, which is not installed"
    assert look(str(peer)).missing == message


@pytest.mark.parametrize(
    ("workload", "error", "said"),
    [
        (asking("upstream", dela="5"), UsageError, "no backing service of it has the word dela"),
        (asking("no-such"), ProfileError, "no-such.toml: cannot be read"),
        (asking("made"), UsageError, "needs no-such-program"),
    ],
)
def test_a_workload_that_cannot_have_what_it_needs_is_refused(
    tmp_path, monkeypatch, workload, error, said
):
    """Before anything starts."""
    (tmp_path / "upstream.toml").write_text((project.backing() / "upstream.toml").read_text())
    write(tmp_path, SOUND.replace("sleep", "no-such-program"))
    monkeypatch.setattr(project, "backing", lambda: tmp_path)
    with pytest.raises(error, match=said):
        needed(workload)


def test_the_list_says_what_a_service_needs(tmp_path, monkeypatch):
    """Where its program is not installed; else what it is."""
    monkeypatch.setattr(project, "backing", lambda: tmp_path)
    write(tmp_path, SOUND)
    write(tmp_path, SOUND.replace("sleep", "no-such-program"), "other")
    assert listing._services() == [
        ("made", "Waits 60 s"),
        ("other", "backing service other needs no-such-program, which is not installed"),
    ]


def test_its_programs_may_lie_beside_its_file(tmp_path):
    """As those that `make databases` unpacks, wherever the checkout is."""
    path = write(tmp_path, f'path = "{{here}}/../bin"\n{SOUND}')
    assert read(path).path == f"{tmp_path}/../bin"
