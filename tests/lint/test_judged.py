"""The script that compares the linter with what an expert said: tests/judged.py."""

import pytest

from tests import judged
from tests.kit.lab_process import ROOT

INI = "[uwsgi]\nstrict = true\nsocket = /run/a.sock\nmodule = a:a\nneed-app = true\nlisten = many\n"
HEAD = "file,line,code,judgement,message\n"
SAID = (
    'a.ini,6,UW003,{},"listen = many: uWSGI reads a number here, and takes this for 0; write a '
    'number"\n'
)
REST = 'a.ini,1,UW321,true-useful,"no buffer-size"\n'


@pytest.mark.parametrize(
    ("judgement", "status"), [("true-useful", 0), ("true-noise", 1), ("FALSE", 1)]
)
def test_it_ends_by_what_was_said(judgement, status, tmp_path, capsys):
    """Of each finding, by its rule and message; a false one is one too many."""
    (tmp_path / "a.ini").write_text(INI)
    (tmp_path / "judged.csv").write_text(HEAD + SAID.format(judgement) + REST)
    assert judged.main(tmp_path) == status
    assert judgement in capsys.readouterr().out


def test_what_nobody_has_judged_is_listed(tmp_path, capsys):
    """And a message that reads otherwise than the one that was wrong."""
    (tmp_path / "a.ini").write_text(INI)
    (tmp_path / "judged.csv").write_text(f"{HEAD}a.ini,6,UW003,FALSE,as it was said before\n")
    assert judged.main(tmp_path) == 0
    out = capsys.readouterr().out
    assert "not judged: a.ini:6:1 UW003" in out
    assert "not judged: a.ini:1:1 UW321" in out


@pytest.mark.parametrize("remarks", [False, True])
def test_of_public_asgi_configurations_findings_are_true_and_useful(remarks, capsys):
    """tests/asgi follows 19 public files, as one expert judged them; one starts a module."""
    assert judged.main(ROOT / "tests" / "asgi", remarks=remarks) == 0
    out = capsys.readouterr().out
    assert "not judged" not in out
    assert out.count("not read") == 1
