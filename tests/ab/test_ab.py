"""`lab ab`: two versions of an application in one run."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from lab.bench.machine import checkout
from lab.cli.ab import sides
from lab.cli.ab.sides import Version
from lab.errors import UsageError
from tests.kit.lab_process import run

APP = """\
BODY = b"hello\\n"


def application(environ, start_response):
    start_response("200 OK", [("Content-Length", str(len(BODY)))])
    return [BODY]
"""
INI = "[uwsgi]\nhttp-socket = :8000\nmodule = shop\nmaster = true\nneed-app = true\nchdir = %d\n"
SMALL = ("--path", "/", "--blocks", "2", "--window", "0.2", "--warmup", "0.1", "--connections", "1")


def git(folder, *words):
    """Run git, and return what it says."""
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    done = subprocess.run(
        ("git", *who, *words), cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.fixture
def shop(tmp_path):
    """Return a repository with three commits: one, the same faster, one that cannot be imported."""
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    for name, text in (
        ("one", APP),
        ("two", APP.replace("BODY = ", "# The same.\nBODY = ")),
        ("other", APP.replace("hello", "hullo")),
        ("broken", f"import nowhere\n{APP}"),
    ):
        (folder / "shop.py").write_text(text)
        (folder / "uwsgi.ini").write_text(INI)
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", name)
        git(folder, "tag", name)
    git(folder, "checkout", "-q", "two")
    return folder


def ab(folder, *words):
    """Run the command in a folder."""
    return run("lab", "ab", *words, cwd=folder)


@pytest.fixture
def compared(shop):
    """Compare two commits; return the folder, how it ended, and what git said of it before."""
    (shop / "uncommitted").write_text("mine\n")
    before = said_of(shop)
    done = ab(
        shop, "one", "two", "--config", "uwsgi.ini", *SMALL, "--results", "../results", "--json",
        "--fail-if", "cpu > 9", "--markdown", "../ab.md", "--env-old", "KEY=of-the-old",
    )  # fmt: skip
    return shop, done, before


def said_of(folder):
    """Return what git says of a folder and its repository."""
    return git(folder, "status", "--short"), git(folder, "worktree", "list"), git(folder, "branch")


def test_two_commits_are_served_in_one_run(compared):
    """Each from its own files; the folder and its repository stay as they are."""
    shop, done, before = compared
    assert done.returncode in {0, 3}, done.stderr
    document = json.loads(done.stdout)
    assert [profile["name"] for profile in document["profiles"]] == ["old", "new"]
    assert document["plan"]["against_both"]
    assert (document["ab"]["exit_code"], "confirmed" in document["ab"]) == (done.returncode, True)
    assert "1 commit, 1 file changed" in done.stderr
    assert said_of(shop) == before
    assert not [
        path for path in shop.parent.glob("results/*/*") if b"of-the-old" in path.read_bytes()
    ]
    text = (shop.parent / "ab.md").read_text()  # a comment for a pull request
    # On a busy machine fewer than two blocks may count.
    open_ = r"(inconclusive: this run (could not|was too) .*: )?"
    first = rf"{open_}(new needs .* the )?CPU per request of .*"
    assert re.match(rf"## Performance: new / old\n\n\*\*{first}\*\*\n\nold: one \(", text), text
    assert re.search(r"\n\| CPU, µs/request \| .+ \| .+ \| (.*x \[|- \|)", text), text
    assert re.search(
        r"\n/: .*, \d blocks. Old compared with itself: .* noise in CPU per request", text
    )
    assert "cpu(new/old) > 9" in text
    again = run("lab", "report", "--json", cwd=shop.parent)
    assert again.returncode == done.returncode
    assert document["plan"]["thresholds"] == ["cpu(new/old) > 9"]


def test_a_version_that_cannot_be_imported_is_named(shop):
    """Before the first block, within seconds, with the last frames of its import."""
    words = ("one", "broken", "--config", "uwsgi.ini", *SMALL, "--markdown", "../ab.md")
    done = run("lab", "ab", *words, cwd=shop, timeout=10)
    assert done.returncode == 1
    assert "shop.py:1  import nowhere" in done.stderr
    assert "No module named 'nowhere'" in done.stderr
    assert "It is the new version that does not run." in done.stderr
    text = (shop.parent / "ab.md").read_text()  # the author of the branch is told, too
    assert text.startswith("## Performance: new / old\n\n**No result.**\n\n```text\n")
    assert "No module named 'nowhere'" in text
    assert "It is the new version that does not run." in text


@pytest.mark.slow
def test_another_reply_is_no_progress(shop):
    """Unless it is said that replies may differ."""
    words = ("one", "other", "--config", "uwsgi.ini", *SMALL)
    done = ab(shop, *words)
    assert done.returncode == 1
    assert "--new-reply lets those of the new version differ" in done.stderr
    assert ab(shop, *words, "--new-reply").returncode in {0, 3}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("one", "two"), "name what to serve"),
        (("one", "x\ny", "--config", "uwsgi.ini"), r"x\ny: it is neither"),
        (("one", "three", "--config", "uwsgi.ini"), "neither a folder nor a revision"),
        (("one", "two", "--config", "app.ini"), "app.ini: in one: the file does not exist"),
        (("one", "two", "--config", "uwsgi.ini", "--fail-if", "cpus > 1"), "did you mean cpu?"),
        (("one", "two", "--config", "uwsgi.ini", "--fail-if", "syscalls > 1"), "needs --count"),
        (("one", "two", "--config", "uwsgi.ini", "--chdir", "src"), "one has no such folder"),
        (("one", "two", "--config", "tuned"), "name what to serve"),
        (
            ("one", "two", "--config", "uwsgi.ini", "--markdown", "no/ab.md"),
            "there is no folder no",
        ),
        (("-x", "two"), "no such option"),
    ],
)
def test_what_cannot_be_meant_is_refused(shop, words, said):
    """With what to say instead."""
    done = ab(shop, *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_an_option_is_no_revision(shop):
    """Of git's."""
    repository = checkout.repository_of(shop)
    assert checkout.commit_of(repository, "--all") is None
    assert checkout.commit_of(repository, "one") == git(shop, "rev-parse", "one").strip()


@pytest.fixture
def services(shop):
    """Return a folder of the repository, to which the newest version has moved."""
    (shop / "services").mkdir()
    for name in ("shop.py", "uwsgi.ini"):
        git(shop, "mv", name, f"services/{name}")
    git(shop, "commit", "-q", "-m", "moved")
    return shop / "services"


@pytest.mark.slow
def test_in_a_folder_of_a_repository_that_folder_is_compared(services):
    """With its own configuration, as in a repository of several services."""
    done = ab(services, "HEAD", "HEAD", "--config", "uwsgi.ini", *SMALL, "--count")
    assert done.returncode in {0, 3}, done.stderr
    assert "system calls per request: 0 -" in done.stderr


def test_a_version_without_that_folder_is_named(services):
    """As one from before it was made."""
    done = ab(services, "one", "HEAD", "--config", "uwsgi.ini", *SMALL)
    assert (done.returncode, done.stderr) == (2, "lab: one has no folder services/\n")


@pytest.mark.parametrize("where", ["--chdir", "module = shop", "wsgi-file = shop.py"])
def test_two_versions_of_the_same_files_are_refused(shop, where):
    """Where a configuration names a folder that is no part of either, nothing would be compared."""
    elsewhere = shop.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "shop.py").write_text(APP)
    (shop / "there.ini").write_text(
        INI.replace("%d", str(elsewhere)).replace("module = shop", where)
    )
    given = ("--app", "shop:application", "--chdir", str(elsewhere))
    if where != "--chdir":
        given = ("--config", str(shop / "there.ini"))
    done = ab(shop, "one", "two", *given, *SMALL)
    assert done.returncode == 2
    assert f"both versions would serve {elsewhere}" in done.stderr
    assert "--chdir ." in done.stderr


def test_a_setup_has_the_variables_of_its_version(shop, tmp_path):
    """Else it would migrate the database that the caller's own name, and neither version's."""
    seen = tmp_path / "seen"
    setup = f'echo "$DB $BOTH" >> {seen}'
    done = ab(
        shop, "one", "broken", "--config", "uwsgi.ini", *SMALL, "--setup", setup,
        "--env", "BOTH=all", "--env-old", "DB=first", "--env-new", "DB=second",
    )  # fmt: skip
    assert done.returncode == 1
    assert seen.read_text() == "first all\nsecond all\n"


def test_a_version_that_fails_at_each_request_is_named(shop):
    """Before the first block, and not after all the minutes."""
    (shop / "shop.py").write_text(APP.replace("    start_response(", "    raise KeyError\n    ("))
    git(shop, "commit", "-q", "-a", "-m", "failing")
    done = ab(shop, "one", "HEAD", "--config", "uwsgi.ini", *SMALL)
    assert done.returncode == 1
    assert "KeyError" in done.stderr
    assert "trial" not in done.stdout


def test_commits_that_the_old_version_has_alone_are_told(shop):
    """What came to the base since is no merit of the head's, nor its fault."""
    git(shop, "checkout", "-q", "-b", "branch", "one")
    (shop / "readme").write_text("mine\n")
    git(shop, "add", "-A")
    git(shop, "commit", "-q", "-m", "mine")
    repository = checkout.repository_of(shop)
    old, new = (
        Version(
            revision, "", shop, "", None, (), checkout.commit_of(repository, revision), repository
        )
        for revision in ("two", "branch")
    )
    assert "old has 1 commit that new has not" in "\n".join(old.differs(new))
    assert "$(git merge-base two branch)" in "\n".join(old.differs(new))


def test_a_configuration_is_named_as_for_lab_run(tmp_path):
    """A file of the version, a section of it, a command, or one of a Procfile of its folder."""
    (tmp_path / "a.ini").write_text("[uwsgi]\n[dev]\n")
    (tmp_path / "Procfile").write_text("web: granian a:b\napi: cd sub && granian a:b\n")
    named = {
        "tuned": "tuned",
        "a.ini": f"{tmp_path}/a.ini",
        "a.ini:dev": f"{tmp_path}/a.ini:dev",
        "granian --workers 2 a:b": "granian --workers 2 a:b",
        "Procfile:web": f"{tmp_path}/Procfile:web",
    }
    for given, config in named.items():
        assert sides._config(given, "old", tmp_path, None) == config
    with pytest.raises(UsageError, match=r"its command runs in .*sub: give it in quotes, with"):
        sides._config("Procfile:api", "old", tmp_path, None)
    with pytest.raises(UsageError, match="--config Procfile: in old: starts 2 servers: name"):
        sides._config("Procfile", "old", tmp_path, None)
