"""What a diff says `patch` does, and `patch -R` takes back, whatever stands in lines and names."""

import shutil
import subprocess

import pytest

from lab.config.edits import diff

CHARACTERS = ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\r"]

BEFORE = "[uwsgi]\n; {}c\nprocesses = 4\n; c{}d\nmodule = m:app"

CASES = {
    **{
        f"U+{ord(character):04X}": BEFORE.replace("{}", character) + "\n"
        for character in CHARACTERS
    },
    "CRLF": BEFORE.replace("\n", "\r\n") + "\r\n",
    "no end": BEFORE,
    "lone CR at the end": f"{BEFORE}\r",
}


def patched(folder, text, diff, *options, name="u.ini"):
    """Return what patch makes of a file with *text*."""
    if shutil.which("patch") is None:
        pytest.skip("patch is not installed")
    (folder / name).write_bytes(text.encode())
    (folder / "x.diff").write_bytes(diff.encode())
    command = ["patch", "--binary", *options, "-s", "-p0", "-i", "x.diff"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return (folder / name).read_bytes().decode()


def check_both_ways(folder, before, after, name="u.ini"):
    """Apply the diff of two texts, and take it back."""
    changes = diff(before, after, (name, name))
    assert patched(folder, before, changes, name=name) == after
    assert patched(folder, after, changes, "-R", name=name) == before


@pytest.mark.parametrize("case", CASES)
def test_patch_applies_it_and_takes_it_back(case, tmp_path):
    """Lines end at a newline alone."""
    before = CASES[case]
    check_both_ways(tmp_path, before, before.replace("processes = 4", "processes = 8\nlisten = 9"))


@pytest.mark.parametrize("ends", [("", "\n"), ("\n", ""), ("", ""), ("\r", "\n"), ("\u2028", "")])
def test_a_last_line_may_have_no_end(ends, tmp_path):
    """Of both texts, or of one, where it is the line that changes."""
    before, after = ends
    check_both_ways(tmp_path, f"a\nb = 1{before}", f"a\nb = 2{after}")


@pytest.mark.parametrize("case", CASES)
def test_a_change_may_be_of_such_a_line(case, tmp_path):
    """It goes, comes, or takes the place of a plain one."""
    text = CASES[case]
    check_both_ways(tmp_path, text, BEFORE)
    check_both_ways(tmp_path, BEFORE, text)
    check_both_ways(tmp_path, text, f"{text}\n{text}")


@pytest.mark.parametrize("name", ["a b.ini", "a\tb.ini", 'a"b.ini', "é\u2028.ini"])
def test_patch_finds_the_file(name, tmp_path):
    """By its name in the diff, quoted where it must be; one with a newline patch 2.8 refuses."""
    check_both_ways(tmp_path, "a\nb\n", "a\nc\n", name)
