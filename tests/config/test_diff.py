"""What a diff says `patch -R` takes back, whatever stands in the lines and names."""

import shutil
import subprocess

import pytest

from lab.config.edits import diff

CHARACTERS = ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\r"]

BEFORE = "[uwsgi]\n; {}c\nprocesses = 4\n; c{}d\nmodule = m:app"

CASES = {
    **{f"U+{ord(each):04X}": BEFORE.replace("{}", each) + "\n" for each in CHARACTERS},
    "CRLF": BEFORE.replace("\n", "\r\n") + "\r\n",
    "no end": BEFORE,
    "lone CR at the end": f"{BEFORE}\r",
}


def taken_back(folder, before, after, name="u.ini"):
    """Return what patch -R makes of the text after a change."""
    if shutil.which("patch") is None:
        pytest.skip("patch is not installed")
    (folder / name).write_bytes(after.encode())
    (folder / "x.diff").write_bytes(diff(before, after, (name, name)).encode())
    command = ["patch", "--binary", "-R", "-s", "-p0", "-i", "x.diff"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return (folder / name).read_bytes().decode()


@pytest.mark.parametrize("case", CASES)
def test_patch_takes_it_back(case, tmp_path):
    """Lines end at a newline alone."""
    before = CASES[case]
    after = before.replace("processes = 4", "processes = 8\nlisten = 9")
    assert taken_back(tmp_path, before, after) == before


@pytest.mark.parametrize("name", ["a b.ini", "a\tb.ini", 'a"b.ini', "é\u2028.ini"])
def test_patch_finds_the_file(name, tmp_path):
    """By its name in the diff, quoted where it must be; one with a newline patch 2.8 refuses."""
    assert taken_back(tmp_path, "a\nb\n", "a\nc\n", name) == "a\nb\n"
