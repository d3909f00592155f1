"""What is printed where the output's encoding has not every character."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from tests.kit.lab_process import BIN, ROOT, SMALL, environment

STORED = ROOT / "docs" / "runs" / "lifetime"
"""A small one."""

PRINTS = {
    "report": ("report", str(STORED)),
    "markdown": ("report", str(STORED), "--markdown"),
    "claims": ("claims",),
    "claims as markdown": ("claims", "--markdown"),
    "compare": ("compare", str(STORED), str(STORED)),
    "list": ("list",),
    "check": ("check",),
    "help": ("--help",),
    "help of a command": ("run", "--help"),
}
"""Commands that print and need no server."""


def run(*words, encoding, cwd):
    """Run `lab` with all its standard streams in *encoding*; return status, output, errors."""
    done = subprocess.run(
        [BIN / "lab", *words],
        cwd=cwd,
        env=environment() | {"PYTHONIOENCODING": encoding},
        capture_output=True,
        timeout=90,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr.decode(encoding, "replace")


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        pytest.param("ascii", PRINTS["report"], id="report in ascii"),
        *(
            pytest.param(encoding, PRINTS[name], id=f"{name} in {encoding}", marks=pytest.mark.slow)
            for encoding, name in (
                *(("ascii", command) for command in PRINTS if command != "report"),
                ("latin-1", "report"),
                ("cp437", "report"),
            )
        ),
    ],
)
def test_what_is_printed_is_printed_in_any_encoding(tmp_path, words, encoding):
    """To its last line; what is lacking is spelt in other letters, else a `?`."""
    status, out, err = run(*words, encoding=encoding, cwd=tmp_path)
    assert (status in {0, 3}, err) == (True, "")
    assert out.count(b"\n") > 5


def test_a_microsecond_is_spelt_in_ascii(tmp_path):
    """A header is to be read, not guessed, and rules are made of hyphens."""
    _, out, _ = run("report", str(STORED), "--full", encoding="ascii", cwd=tmp_path)
    text = out.decode("ascii")
    assert "us/request" in text
    assert "?" not in text
    assert "-----" in text


@pytest.mark.parametrize(
    "words",
    [
        ("report", "{run}", "--json"),
        ("claims", "{run}", "--json"),
        ("compare", "{run}", "{run}", "--json"),
    ],
    ids=["report", "claims", "compare"],
)
@pytest.mark.slow
def test_json_is_utf_8_whatever_the_rest_is(tmp_path, words):
    """A program that reads it shall not get another text on another machine."""
    copy = shutil.copytree(STORED, tmp_path / "run")
    header = copy / "run.json"
    header.write_text(header.read_text().replace('"lab run', '"lab run µ', 1))
    outputs = [
        run(*(word.format(run=copy) for word in words), encoding=encoding, cwd=tmp_path)[1]
        for encoding in ("utf-8", "ascii")
    ]
    assert outputs[0] == outputs[1]
    assert json.loads(outputs[1])


def test_a_name_in_other_letters_is_an_error_and_no_traceback(tmp_path):
    """On standard error, which has an encoding, too."""
    status, out, err = run("report", "Größe→", encoding="latin-1", cwd=tmp_path)
    assert (status, out) == (2, b"")
    assert err.startswith("lab: Größe->: there is no such run")


@pytest.mark.slow
def test_a_run_is_reported_in_any_encoding(tmp_path):
    """Its work is not lost in the last line."""
    command = ("run", "tuned", "--workload", "hello", *SMALL)
    status, out, err = run(*command, encoding="ascii", cwd=tmp_path)
    assert status in {0, 3}, err
    assert "us/request" in out.decode("ascii")
    assert "Run folder: results/" in out.decode("ascii")
