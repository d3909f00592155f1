"""`lab tune --dry-run`, typed."""

from __future__ import annotations

import json

import pytest

from tests.kit.lab_process import BIN, run

INI = "[uwsgi]\r\nmodule = a:b\r\nmaster = true\r\nsocket = /run/a.sock\r\n; \xe9 the end"


def tune(folder, *words, **files):
    """Return what the command prints of files in a folder, with its status."""
    for name, text in files.items():
        (folder / f"{name}.ini").write_bytes(text.encode("latin-1"))
    done = run("lab", "tune", *words, "--dry-run", cwd=folder)
    return done.returncode, done.stdout, done.stderr


def test_the_answer_stands_first(tmp_path):
    """Then the block, and the way back."""
    status, out, _ = tune(tmp_path, "uwsgi.ini", uwsgi=INI)
    assert status == 4
    assert out.startswith(
        "uwsgi.ini: 3 lines are missing for safety. 1 line is advised, which is a remark of "
        "`lab lint --all`. Nothing was started or measured.\n"
        "\nPaste at the end of [uwsgi]:\n\n; if the application cannot be imported, "
    )
    assert "\nUndo            your file is unchanged; --output FILE" in out
    assert [path.name for path in tmp_path.iterdir()] == ["uwsgi.ini"]
    assert (tmp_path / "uwsgi.ini").read_bytes() == INI.encode("latin-1")


def test_nothing_is_said_in_one_line(tmp_path):
    """With status 0; below stands only what a tune that measures would try."""
    status, out, _ = tune(tmp_path, "uwsgi.ini", uwsgi="[uwsgi]\nstrict = true\n")
    line = "uwsgi.ini: nothing is missing for safety. Nothing was started or measured.\n"
    assert status == 0
    assert out.startswith(
        f"{line}\nWithout --dry-run, `lab tune` would also try:\n\n  workers: 1, 2 and 4 worker "
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "; lab: ignore[UW314] no\n[uwsgi]\nhttp-socket = :80\nmodule = a:b\n",
            "missing for safety. Ignored in the file: UW314.",
        ),
        (
            "; lab: ignore[UW314] no\n[uwsgi]\nmodule = a:b\nsocket = /a\nbuffer-size = 9999\n",
            "uwsgi.ini: nothing new. Ignored in the file: UW314.",
        ),
        (
            "[uwsgi]\nstrict = true\nif-env = BIND\nlisten = 9\nendif =\n",
            "as far as lab can read the file (the environment variable BIND is unknown",
        ),
    ],
)
def test_what_is_no_finding_of_the_linter_is_not_missing(tmp_path, text, words):
    """A remark, a finding that a comment ignores, and what cannot be read are named."""
    _, out, _ = tune(tmp_path, "uwsgi.ini", uwsgi=text)
    assert words in out


def test_the_copy_has_all_of_it(tmp_path):
    """In the bytes of the user's file; the linter finds none of it any more."""
    words = ("uwsgi.ini", "--output", "new.ini")
    assert tune(tmp_path, *words, uwsgi=INI)[0] == 4
    new = (tmp_path / "new.ini").read_bytes()
    assert new.startswith(INI.encode("latin-1").partition(b"; \xe9")[0])
    assert new.endswith(b"\r\n; \xe9 the end")
    assert b"\r\nneed-app = true\r\n" in new
    assert tune(tmp_path, "new.ini")[0] == 0
    status, _, err = tune(tmp_path, *words)
    assert (status, "the file exists" in err) == (2, True)


def test_other_findings_are_named(tmp_path):
    """Those that are not about safety, with the command that prints them."""
    ini = "[uwsgi]\nsocket = /tmp/a.sock\nchmod-socket = 666\nno-such = 1\n"
    _, out, _ = tune(tmp_path, "uwsgi.ini", uwsgi=ini)
    line = "Also found, not part of the block above: UW001, UW404. Run `{} lint uwsgi.ini`."
    assert out.endswith(f"\n\n{line.format(BIN / 'lab')}\n")
    assert f"{BIN / 'lab'} lint --explain UW" in out


def test_a_program_reads_all_of_it(tmp_path):
    """As JSON: each line with its rule, its reason and its evidence, and the whole file."""
    status, out, _ = tune(tmp_path, "uwsgi.ini", "--format", "json", uwsgi=INI)
    document = json.loads(out)
    assert (status, document["status"], document["measured"]) == (4, 4, False)
    assert any(line.startswith("workers: ") for line in document["tries"])
    first = document["missing"][0]
    assert first["code"] == "UW314"
    assert first["added"][-1] == "need-app = true"
    assert first["evidence"].startswith("core/uwsgi.c:")
    assert first["page"] == "docs/reference/lint.md#uw314"
    assert "need-app = true\n" in document["block"]


def test_a_command_is_printed_whole(tmp_path):
    """With the reasons above it."""
    command = "granian --interface wsgi --workers 4 shop.wsgi:application"
    status, out, _ = tune(tmp_path, command)
    assert status == 4
    assert out.startswith("granian: 1 option is missing for safety.")
    assert f"\n{command} --respawn-failed-workers\n" in out
    (tmp_path / "Procfile").write_text(f"web: {command}\n")
    assert tune(tmp_path, "Procfile:web")[1].startswith("Procfile:web: 1 option is missing")
    status, out, _ = tune(tmp_path, "gunicorn -w 4 --max-requests 1000 a:app")
    assert "\ngunicorn -w 4 --max-requests 1000 a:app --max-requests-jitter 100\n" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nosuch.ini",), "nosuch.ini: the file does not exist"),
        (("uwsgi --http :80",), "is a command of uwsgi"),
        (("daphne a:app",), "is a command of daphne, a server that lab does not check"),
        (("granian 'a",), "this is not a command: No closing quotation"),
        (("uwsgi.yaml",), "lab cannot change this file: give a uWSGI ini, a guni"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_line(words, said, tmp_path):
    """With status 2."""
    (tmp_path / "uwsgi.yaml").write_text("uwsgi:\n  processes: 4\n")
    status, out, err = tune(tmp_path, *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert said in err


def test_what_is_left_as_it_is_is_not_said_to_be_tried(tmp_path):
    """Another server is."""
    words = ("uwsgi.ini", "--without", "lock,workers", "--server", "granian")
    _, out, _ = tune(tmp_path, *words, uwsgi=INI)
    assert "\n  log: " in out
    assert "\n  lock: " not in out
    assert "\n  workers: " not in out
    assert "\n  server: granian\n" in out


@pytest.mark.parametrize(
    ("processes", "words", "tried"),
    [(1, ("--without", "workers"), False), (2, ("--without", "workers"), True), (1, (), True)],
)
def test_the_lock_of_one_worker_is_not_tried(tmp_path, processes, words, tried):
    """Unless workers are."""
    text = f"[uwsgi]\nhttp = 127.0.0.1:8000\nmodule = a\nmaster = true\nprocesses = {processes}\n"
    _, out, _ = tune(tmp_path, "uwsgi.ini", *words, uwsgi=text)
    assert ("\n  lock: " in out) is tried


def test_what_the_linter_calls_dangerous_is_not_announced(tmp_path):
    """A public address without the router is no change that a tune would try."""
    for address, tried in (("127.0.0.1:8000", True), (":8000", False)):
        ini = tmp_path / "uwsgi.ini"
        ini.write_text(f"[uwsgi]\nhttp = {address}\nmodule = shop:app\nmaster = true\n")
        done = run("lab", "tune", "uwsgi.ini", "--dry-run", cwd=tmp_path)
        announced = done.stdout.partition("would also try:")[2]
        assert "http-keepalive = 1" in announced
        assert ("http-socket instead of http" in announced) is tried
