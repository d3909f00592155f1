"""
What a branch of a stranger holds starts no program while git checks it out, and names no place
outside the copy.

Each program would leave a file, the mark. The installation of packages and the application itself
are started afterwards, as docs/how-to/ci.md says.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from lab.bench.machine import checkout
from lab.bench.trials.pair import naming
from lab.cli.ab.sides import PATH
from lab.errors import Interrupted, LabError, UsageError
from tests.ab.test_ab import ab, git
from tests.ab.test_checkout import checked_out, content, repository
from tests.kit.lab_process import until

MISSING = "1" * 40
"""A commit that no repository has: git would fetch it where a remote promises it."""

MODES = {"link": "120000", "submodule": "160000", "file": "100644"}


@pytest.fixture
def shop(tmp_path):
    """Return a repository with one commit."""
    return repository(tmp_path / "shop", "one")


def bare(folder, mark):
    """Write what git takes for a bare repository, with every setting that starts a program."""
    run = f"touch {mark}; false"
    for name in ("objects", "refs", "hooks"):
        (folder / name).mkdir(parents=True)
        (folder / name / ".keep").touch()
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "config").write_text(
        "[core]\n\trepositoryformatversion = 1\n\tbare = true\n"
        + "".join(
            f'\t{name} = "{run}"\n'
            for name in ("sshCommand", "fsmonitor", "pager", "editor", "alternateRefsCommand")
        )
        + f'[diff]\n\texternal = "{run}"\n[extensions]\n\tpartialClone = origin\n'
        '[remote "origin"]\n\tpromisor = true\n\turl = ssh://127.0.0.1:9/x\n'
    )


def commit(folder, *entries):
    """
    Commit all files of a folder, and entries that need no file.

    Args:
        folder: The repository.
        entries: Mode, object and path of each, as `git update-index --cacheinfo` takes them.
    """
    git(folder, "add", "-A")
    for kind, name, path in entries:
        git(folder, "update-index", "--add", "--cacheinfo", f"{MODES[kind]},{name},{path}")
    git(folder, "commit", "-q", "-m", "hostile")


def submodule(folder, name, path="sm", **settings):
    """Add to .gitmodules; a dict's keys are written as git's."""
    lines = {"path": path, "url": "./evil", **settings}
    with (folder / ".gitmodules").open("a") as file:
        file.write(f'[submodule "{name}"]\n' + "".join(f"\t{k} = {v}\n" for k, v in lines.items()))


def check_out_all(shop, tmp_path):
    """Check out HEAD and return its place; None where it is refused. The repository stays."""
    before = content(shop)
    place = None
    with suppress(UsageError):
        place = checked_out(shop, "HEAD", tmp_path / "a")
    assert content(shop) == before
    return place


@pytest.mark.parametrize("name", ["{shop}/evil", "x/../../../evil", "", ".."])
def test_a_submodules_name_is_no_path_to_a_folder_of_the_branch(shop, tmp_path, name):
    """git would fetch from what the repository there promises, by a command of its settings."""
    bare(shop / "evil", tmp_path / "mark")
    submodule(shop, name.format(shop=shop))
    commit(shop, ("submodule", MISSING, "sm"))
    assert check_out_all(shop, tmp_path) is None
    assert not (tmp_path / "mark").exists()


def test_a_link_in_the_repositorys_copies_leads_nowhere(shop, tmp_path):
    """As an older git may have left it there."""
    bare(shop / "evil", tmp_path / "mark")
    (shop / ".git" / "modules").mkdir()
    (shop / ".git" / "modules" / "x").symlink_to(shop / "evil")
    submodule(shop, "x")
    commit(shop, ("submodule", MISSING, "sm"))
    assert check_out_all(shop, tmp_path) is None
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize(
    "url",
    [
        "ext::sh -c touch% {mark}",
        "--upload-pack=touch {mark}",
        "ssh://-oProxyCommand=touch${{IFS}}{mark}/x",
        "file://{shop}/evil",
        "{shop}/evil",
    ],
)
def test_a_submodules_address_starts_nothing(shop, tmp_path, monkeypatch, url):
    """Also where the user's own settings allow all protocols."""
    (tmp_path / ".gitconfig").write_text("[protocol]\n\tallow = always\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    mark = tmp_path / "mark"
    bare(shop / "evil", mark)
    submodule(shop, "x", url=f'"{url.format(mark=mark, shop=shop)}"')
    commit(shop, ("submodule", MISSING, "sm"))
    assert check_out_all(shop, tmp_path) is None
    assert not mark.exists()


def test_a_submodules_update_command_does_not_start(shop, tmp_path):
    """`update = !command` is a command in the user's own configuration only."""
    submodule(shop, "x", update=f"!touch {tmp_path / 'mark'}")
    commit(shop, ("submodule", MISSING, "sm"))
    assert check_out_all(shop, tmp_path) is None
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize("path", ["/etc", "../outside", "-x", "", ".git/hooks", "services"])
def test_a_path_without_a_submodule_is_passed_over(shop, tmp_path, path):
    """What counts is the tree of the commit, where git has no such paths."""
    (tmp_path / "outside").mkdir()
    submodule(shop, "x", path=f'"{path}"')
    commit(shop)
    place = check_out_all(shop, tmp_path)
    assert (place / "file").read_text() == "one"
    assert (place / "services/file").read_text() == "one"
    assert (tmp_path / "outside").is_dir()


@pytest.mark.parametrize("path", ["x/.git/hooks/post-checkout", "../x", ".GIT/config", "a/../b"])
def test_a_tree_with_a_path_of_gits_is_refused(shop, tmp_path, path):
    """By git, whose check is on for the copy as well."""
    blob = git(shop, "hash-object", "-w", "file").strip()
    done = subprocess.run(
        ("git", "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}"),
        cwd=shop, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:  # it does not even come into an index: as a tree, then
        tree, names = blob, path.split("/")
        for mode, name in zip(("100644", *["40000"] * len(names)), reversed(names), strict=False):
            content_of = f"{mode} {name}\0".encode() + bytes.fromhex(tree)
            tree = subprocess.run(
                ("git", "hash-object", "-t", "tree", "-w", "--literally", "--stdin"),
                cwd=shop, input=content_of, capture_output=True, check=True,
            ).stdout.decode().strip()  # fmt: skip
    else:
        tree = git(shop, "write-tree").strip()
    made = git(shop, "commit-tree", "-m", "x", tree).strip()
    git(shop, "update-ref", "HEAD", made)
    before = content(shop)
    place = tmp_path / "a"
    with suppress(UsageError):
        checked_out(shop, made, place)
    outside = {path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("*")}
    assert outside <= {"shop", "a"}
    assert not (place / ".git/hooks/post-checkout").exists()
    assert content(shop) == before


@pytest.mark.parametrize("kind", ["hook", "filter", "fsmonitor", "textconv"])
def test_what_a_tree_can_name_of_gits_programs_starts_none(shop, tmp_path, kind):
    """A tree names filters, and only a configuration has their commands."""
    mark = tmp_path / "mark"
    (shop / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
    (shop / ".gitconfig").write_text(
        f'[filter "evil"]\n\tsmudge = touch {mark}\n[diff "evil"]\n\ttextconv = touch {mark}\n'
        f"[core]\n\tfsmonitor = touch {mark}\n\thooksPath = hooks\n"
    )
    (shop / "hooks").mkdir()
    hook = shop / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {mark}\n")
    hook.chmod(0o755)
    if kind == "hook":  # of the user's: it is for the user's own checkouts
        shutil.copy(hook, shop / ".git" / "hooks" / "post-checkout")
    if kind == "fsmonitor":
        git(shop, "config", "core.fsmonitor", "true")
    commit(shop)
    assert check_out_all(shop, tmp_path) is not None
    repository_here = checkout.repository_of(shop)
    assert checkout.changed_files(repository_here, "HEAD~1", "HEAD") == 3
    assert not mark.exists()


def test_a_folder_of_the_branch_is_no_repository(shop, tmp_path, monkeypatch):
    """A job of CI may start in any folder of the branch."""
    bare(shop / "evil", tmp_path / "mark")
    commit(shop)
    with pytest.raises(UsageError, match=r"looks like a bare repository, and lies within"):
        checkout.repository_of(shop / "evil")
    with pytest.raises(UsageError, match=r"looks like a bare repository, and lies within"):
        checkout.repository_of(shop / "evil" / "objects")
    done = ab(shop / "evil", "HEAD~1", "HEAD", "--app", "x:y")
    assert done.returncode == 2
    assert not (tmp_path / "mark").exists()


def test_a_folder_that_became_a_link_is_refused(shop, tmp_path):
    """What is served lies in the copy."""
    (tmp_path / "outside").mkdir()
    shutil.rmtree(shop / "services")
    (shop / "services").symlink_to(tmp_path / "outside")
    commit(shop)
    git(shop, "checkout", "-q", "one")
    done = ab(shop / "services", "one", "main", "--app", "x:y", "--python", str(tmp_path))
    assert done.returncode == 2
    assert "leads out of the checkout" in done.stderr


@pytest.mark.parametrize(
    "name",
    ["--output={mark}", "--upload-pack=touch {mark}", "-O{mark}", "HEAD --output={mark}",
     "HEAD\n--output={mark}", "", " ", "^HEAD", "HEAD..one", ":/one", "HEAD:file"],
)  # fmt: skip
def test_a_revision_is_no_option(shop, tmp_path, name):
    """Nor a list of commits, nor a file."""
    mark = tmp_path / "mark"
    commit_id = checkout.commit_of(checkout.repository_of(shop), name.format(mark=mark))
    assert commit_id is None or commit_id == git(shop, "rev-parse", "one").strip()
    assert not mark.exists()


def test_a_replaced_commit_is_read_as_it_is_named(shop, tmp_path):
    """Or two labs with the same revisions would compare different files."""
    (shop / "file").write_text("other")
    commit(shop)
    git(shop, "replace", "one", "HEAD")
    assert (checked_out(shop, "one", tmp_path / "a") / "file").read_text() == "one"


def test_a_name_that_is_too_long_is_an_error(shop, tmp_path):
    """In a line, with what git prints."""
    blob = git(shop, "hash-object", "-w", "file").strip()
    commit(shop, ("file", blob, "x" * 300))
    with pytest.raises(UsageError, match=r"git checkout failed: .*File name too long"):
        checked_out(shop, "HEAD", tmp_path / "a")


def test_names_that_differ_by_case_are_two_files(shop, tmp_path):
    """And so are two submodules' names."""
    (shop / "FILE").write_text("FILE")
    commit(shop)
    place = checked_out(shop, "HEAD", tmp_path / "a")
    assert [(place / name).read_text() for name in ("file", "FILE")] == ["one", "FILE"]


def test_two_labs_check_out_at_the_same_time(shop, tmp_path):
    """Neither waits for the other, nor for a lock of the repository's."""
    (shop / ".git" / "index.lock").touch()
    with ThreadPoolExecutor() as pool:
        places = pool.map(lambda n: checked_out(shop, "one", tmp_path / f"a{n}"), range(4))
        assert [(place / "file").read_text() for place in places] == ["one"] * 4


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")
def test_a_full_disk_is_an_error(shop, tmp_path):
    """In a line, with what git prints."""
    (shop / "large").write_bytes(os.urandom(1 << 21))
    commit(shop)
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(("mount", "-t", "tmpfs", "-o", "size=1m", "lab", small), check=True)
    try:
        with pytest.raises(
            UsageError, match=r"git checkout failed: .*(No space left|Out of diskspace)"
        ):
            checked_out(shop, "HEAD", small / "a")
    finally:
        subprocess.run(("umount", small), check=True)


def test_an_interruption_is_no_versions_fault():
    """Ctrl-C while a version starts says nothing of that version."""
    with pytest.raises(Interrupted) as interrupted, naming("old"):
        raise Interrupted("SIGINT")
    assert len(interrupted.value.lines) == 1
    with pytest.raises(LabError) as failed, naming("old"):
        raise LabError("it failed")
    assert "It is the old version that does not run." in failed.value.lines


def test_a_submodule_is_no_other_repository_of_this_machine(shop, tmp_path, monkeypatch):
    """Also where the user's settings allow files, as for submodules of the user's own."""
    private = repository(tmp_path / "private", "secret")
    (tmp_path / ".gitconfig").write_text('[protocol "file"]\n\tallow = always\n')
    monkeypatch.setenv("HOME", str(tmp_path))
    submodule(shop, "x", url=f"file://{private}")
    commit(shop, ("submodule", git(private, "rev-parse", "HEAD").strip(), "sm"))
    assert check_out_all(shop, tmp_path) is None
    assert not (tmp_path / "a/sm/file").exists()


def test_a_variable_that_allows_commands_as_addresses_allows_none(shop, tmp_path, monkeypatch):
    """GIT_ALLOW_PROTOCOL counts before all settings."""
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "ext:https:file")
    submodule(shop, "x", url=f'"ext::sh -c touch% {tmp_path}/mark"')
    commit(shop, ("submodule", MISSING, "sm"))
    assert check_out_all(shop, tmp_path) is None
    assert not (tmp_path / "mark").exists()


def test_a_copy_of_a_submodule_fetches_nothing_to_look_for_a_commit(shop, tmp_path):
    """By the settings of a partial clone; git before 2.45 has no variable for it."""
    mark = tmp_path / "mark"
    bare(shop / ".git" / "modules" / "x", mark)
    submodule(shop, "x")
    commit(shop, ("submodule", MISSING, "sm"))
    with suppress(UsageError):
        checked_out(shop, "HEAD", tmp_path / "a")
    assert not mark.exists()


def test_a_submodule_that_is_listed_twice_is_checked_out_once(shop, tmp_path):
    """Under two names with one path."""
    library = repository(tmp_path / "library", "first")
    git(shop, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "sm")
    shutil.copytree(shop / ".git/modules/sm", shop / ".git/modules/other")
    submodule(shop, "other")
    commit(shop)
    place = check_out_all(shop, tmp_path)
    assert (place / "sm/file").read_text() == "first"


def test_a_long_list_of_submodules_is_read_at_once(shop, tmp_path):
    """One command of git's for all of them, and not one for each."""
    for number in range(2_000):
        submodule(shop, f"x{number}", path=f"x{number}")
    commit(shop)
    commands = []
    with pytest.MonkeyPatch.context() as patch:
        run = checkout._run
        patch.setattr(checkout, "_run", lambda *words: commands.append(words) or run(*words))
        assert check_out_all(shop, tmp_path) is not None
    assert len(commands) < 20


def test_a_file_with_the_name_of_a_commit_is_a_file(shop, tmp_path):
    """What git is given are commits."""
    old = git(shop, "rev-parse", "HEAD").strip()
    (shop / old).write_text("file")
    commit(shop)
    the_repository = checkout.repository_of(shop)
    new = checkout.commit_of(the_repository, "HEAD")
    assert checkout.changed_files(the_repository, old, new) == 1
    assert len(checkout.commits_between(the_repository, old, new)) == 1
    assert (checked_out(shop, "HEAD", tmp_path / "a") / old).read_text() == "file"


def test_a_configuration_that_leads_out_of_the_checkout_is_refused(shop, tmp_path):
    """Each version has a file of its own."""
    (tmp_path / "outside.ini").write_text("[uwsgi]\nmodule = x:y\n")
    (shop / "uwsgi.ini").symlink_to(tmp_path / "outside.ini")
    commit(shop)
    done = ab(shop, "main", "main", "--config", "uwsgi.ini", "--python", str(tmp_path))
    assert done.returncode == 2
    assert "--config uwsgi.ini: in main it leads out of the checkout" in done.stderr


def test_a_list_of_packages_may_name_a_device(tmp_path):
    """It is not read to its end, as it has none."""
    (tmp_path / "requirements.txt").write_text("-r /dev/zero\n")
    limited = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)); "
        "from lab.bench.machine.packages import _made_of; from pathlib import Path; "
        "print(_made_of(Path('.'), 'pip install -r requirements.txt'))"
    )
    done = subprocess.run(
        (sys.executable, "-c", limited), cwd=tmp_path, capture_output=True, text=True,
        check=False, timeout=60,
    )  # fmt: skip
    assert done.stdout.strip() == "None", done.stderr


def test_variables_that_change_paths_hide_no_file_of_lfs(shop, tmp_path, monkeypatch):
    """Its search is by an attribute."""
    (shop / ".gitattributes").write_text("*.bin filter=lfs\n")
    (shop / "model.bin").write_text("version https://git-lfs.github.com/spec/v1\noid x\nsize 1\n")
    commit(shop)
    monkeypatch.setenv("GIT_LITERAL_PATHSPECS", "1")
    assert checkout.not_brought(checked_out(shop, "HEAD", tmp_path / "a")) == ["model.bin"]


def test_a_submodule_comes_over_the_network(shop, tmp_path, daemon):
    """The settings of every command leave fetching as it is."""
    submodule(shop, "x", url=f"{daemon}/library")
    commit(shop, ("submodule", git(tmp_path / "library", "rev-parse", "HEAD").strip(), "sm"))
    place = check_out_all(shop, tmp_path)
    assert (place / "sm/file").read_text() == "first"


@pytest.fixture
def daemon(tmp_path):
    """Return the address of a server of git's with one repository, `library`."""
    repository(tmp_path / "library", "first")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    command = ("git", "daemon", "--export-all", "--listen=127.0.0.1", f"--port={port}",
               f"--base-path={tmp_path}", str(tmp_path / "library"))  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True) as server:

        def answers():
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return True
            return False

        try:
            until(answers, "git's server")
            yield f"git://127.0.0.1:{port}"
        finally:
            os.killpg(server.pid, signal.SIGTERM)


@pytest.mark.parametrize("name", ["main", "{commit}", "HEAD"])
def test_a_folder_of_the_branch_is_no_revision(shop, tmp_path, name):
    """Or the branch chose what it is compared with; a folder is named as ./main."""
    name = name.format(commit=git(shop, "rev-parse", "one").strip())
    (shop / name).mkdir()
    (shop / name / "file").touch()
    commit(shop)
    words = ("--app", "x:y", "--python", str(tmp_path))
    done = ab(shop, name, "one", *words)
    assert f"--python {tmp_path}: it has no bin/python" in done.stderr
    assert not PATH.match(name)
    assert PATH.match(f"./{name}")
