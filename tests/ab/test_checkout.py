"""Revisions are checked out from any repository, which stays as it is."""

from __future__ import annotations

import os
import shutil

import pytest

from lab.bench.machine import checkout
from lab.errors import UsageError
from tests.ab.test_ab import ab, git


@pytest.fixture
def shop(tmp_path):
    """Return a repository with two commits, `one` and `two`, and a folder in it."""
    return repository(tmp_path / "shop", "one", "two")


def repository(folder, *names):
    """Make a repository with a commit of each name, which is what its file says."""
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    for name in names:
        (folder / "file").write_text(name)
        (folder / "services").mkdir(exist_ok=True)
        (folder / "services" / "file").write_text(name)
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", name)
        git(folder, "tag", name)
    return folder


def content(folder):
    """Return all files of a folder and when each was changed, but for what git only reads by."""
    return {
        path: (path.stat().st_mtime_ns, path.is_file() and path.read_bytes())
        for path in folder.rglob("*")
    }


def checked_out(folder, name, place):
    """Check a revision out, as seen from a folder; return where its files are."""
    the_repository = checkout.repository_of(folder)
    commit = checkout.commit_of(the_repository, name)
    assert commit is not None
    checkout.check_out(the_repository, commit, place)
    return place / the_repository.below


def test_nothing_of_the_repository_changes(shop, tmp_path):
    """Not a byte of it, nor of the files beside it that are not committed."""
    (shop / "file").write_text("mine")
    before = content(shop)
    assert (checked_out(shop, "one", tmp_path / "a") / "file").read_text() == "one"
    assert content(shop) == before


def test_a_hook_of_gits_does_not_name_the_repository(shop, tmp_path, monkeypatch):
    """A command that a hook starts has variables by which git would check out into the user's."""
    monkeypatch.setenv("GIT_DIR", str(shop / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(shop))
    monkeypatch.setenv("GIT_INDEX_FILE", str(shop / ".git" / "index"))
    before = content(shop)
    assert (checked_out(shop, "one", tmp_path / "a") / "file").read_text() == "one"
    assert content(shop) == before


def test_a_folder_of_a_repository_is_that_folder_of_each_version(shop, tmp_path):
    """As in a repository of several services."""
    place = checked_out(shop / "services", "one", tmp_path / "a")
    assert place == tmp_path / "a" / "services"
    assert (place / "file").read_text() == "one"


def test_a_worktree_is_a_repository(shop, tmp_path):
    """Its HEAD is its own."""
    git(shop, "worktree", "add", "-q", "--detach", str(tmp_path / "tree"), "one")
    place = checked_out(tmp_path / "tree", "HEAD", tmp_path / "a")
    assert (place / "file").read_text() == "one"


def test_a_bare_clone_is_a_repository(shop, tmp_path):
    """Nobody works in it."""
    git(tmp_path, "clone", "-q", "--bare", str(shop), "bare.git")
    place = checked_out(tmp_path / "bare.git", "one", tmp_path / "a")
    assert (place / "file").read_text() == "one"


def test_a_shallow_clone_has_what_was_fetched(shop, tmp_path):
    """A branch of another too, which a clone of a shallow clone has not."""
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{shop}", "shallow")
    shallow = tmp_path / "shallow"
    git(shallow, "fetch", "-q", "--depth", "1", "origin", "one:refs/remotes/origin/base")
    place = checked_out(shallow, "origin/base", tmp_path / "a")
    assert (place / "file").read_text() == "one"


def test_a_shallow_clone_without_the_base_says_how_to_fetch_it(shop, tmp_path):
    """In a line."""
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{shop}", "shallow")
    done = ab(tmp_path / "shallow", "HEAD~1", "HEAD", "--app", "shop")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "fetch-depth: 0" in line
    assert "GIT_DEPTH: 0" in line


def test_a_partial_clone_fetches_what_it_lacks(shop, tmp_path):
    """From where it would itself."""
    git(shop, "config", "uploadpack.allowFilter", "true")
    git(shop, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{shop}", "partial")
    place = checked_out(tmp_path / "partial", "one", tmp_path / "a")
    assert (place / "file").read_text() == "one"


@pytest.mark.parametrize("url", ["{library}", "../library"])
def test_submodules_come_from_where_they_are(shop, tmp_path, url):
    """From the repository's own copies: its address may be relative, or a private one."""
    library = repository(tmp_path / "library", "first", "second")
    allowed = ("-c", "protocol.file.allow=always")
    git(shop, *allowed, "submodule", "add", "-q", str(library), "vendor/library")
    git(shop, "config", "--file", ".gitmodules", "submodule.vendor/library.url",
        url.format(library=library))  # fmt: skip
    git(shop / "vendor/library", "checkout", "-q", "first")
    git(shop, "add", "-A")
    git(shop, "commit", "-q", "-m", "with the first")
    git(shop / "vendor/library", "checkout", "-q", "second")
    shutil.move(library, tmp_path / "gone")
    before = content(shop)
    place = checked_out(shop, "HEAD", tmp_path / "a")
    assert (place / "vendor/library/file").read_text() == "first"
    assert content(shop) == before


def test_a_submodule_that_cannot_be_had_is_an_error(shop, tmp_path):
    """With what git says."""
    (shop / ".gitmodules").write_text('[submodule "x"]\n\tpath = x\n\turl = /nowhere\n')
    git(shop, "add", "-A")
    git(shop, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},x")
    git(shop, "commit", "-q", "-m", "x")
    with pytest.raises(UsageError, match=r"git submodule failed: .*nowhere"):
        checked_out(shop, "HEAD", tmp_path / "a")


def test_an_error_of_gits_is_cut_where_a_line_begins(shop, tmp_path):
    """As it is long, and the end says most."""
    names = [f"../suspicious-{number}-{'x' * 60}" for number in range(12)]
    (shop / ".gitmodules").write_text(
        "".join(f'[submodule "{name}"]\n\tpath = x\n\turl = /nowhere\n' for name in names)
        + '[submodule "x"]\n\tpath = x\n\turl = /nowhere\n'
    )
    git(shop, "add", "-A")
    git(shop, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},x")
    git(shop, "commit", "-q", "-m", "x")
    with pytest.raises(UsageError, match=r"git submodule failed: (warning|fatal|error): "):
        checked_out(shop, "HEAD", tmp_path / "a")


def test_a_file_that_git_lfs_keeps_is_named(shop, tmp_path):
    """Where that is not installed: the application would read what stands for it."""
    (shop / ".gitattributes").write_text("*.bin filter=lfs\n")
    (shop / "model.bin").write_text("version https://git-lfs.github.com/spec/v1\noid x\nsize 1\n")
    (shop / "small.bin").write_text("data")
    git(shop, "add", "-A")
    git(shop, "commit", "-q", "-m", "model")
    place = checked_out(shop, "HEAD", tmp_path / "a")
    assert checkout.not_brought(place) == ["model.bin"]


@pytest.mark.skipif(shutil.which("git-lfs") is None, reason="git-lfs is not installed")
def test_a_file_of_git_lfs_is_brought_from_the_repository(shop, tmp_path, monkeypatch):
    """It has it, and needs no server for it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    git(shop, "lfs", "install")
    (shop / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
    (shop / "model.bin").write_bytes(b"\0\1\2")
    git(shop, "add", "-A")
    git(shop, "commit", "-q", "-m", "model")
    assert "git-lfs" in git(shop, "cat-file", "blob", "HEAD:model.bin")
    place = checked_out(shop, "HEAD", tmp_path / "a")
    assert (place / "model.bin").read_bytes() == b"\0\1\2"
    assert not checkout.not_brought(place)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_another_user_is_named(shop, monkeypatch, tmp_path):
    """As in a container of CI, where git refuses it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    os.chown(shop, 12345, 12345)
    os.chown(shop / ".git", 12345, 12345)
    with pytest.raises(UsageError, match=r"git config --global --add safe\.directory"):
        checkout.repository_of(shop)


@pytest.mark.parametrize("name", ["$(touch${IFS}x)", "a;b", "-x", "ünï/çödé", "@{-1}x", "--all"])
def test_a_branch_may_have_an_odd_name(shop, tmp_path, name):
    """It is a name, or it is none; never an option, nor a command."""
    made = not name.startswith("-") and "@{" not in name
    if made:
        git(shop, "update-ref", f"refs/heads/{name}", "one")
        assert (checked_out(shop, name, tmp_path / "a") / "file").read_text() == "one"
    else:
        assert checkout.commit_of(checkout.repository_of(shop), name) is None
    assert not (shop / "x").exists()
