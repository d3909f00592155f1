"""The script that starts what configurations become: tests/migrate/public.py."""

from __future__ import annotations

import pytest

from tests.migrate import moved, public

FILES = {
    "uwsgi.ini": "[uwsgi]\nsocket = /run/shop.sock\nchmod-socket = 660\nmodule = shop.wsgi\n"
    "chdir = /srv/shop\nmaster = true\nprocesses = 4\nuid = www-data\n",
    "gunicorn.conf.py": "bind = '0.0.0.0:80'\nworkers = 2\nwsgi_app = 'shop:make()'\n",
    "commands.txt": "granian --interface wsgi --respawn-failed-workers --workers 2 shop:app\n",
}


@pytest.mark.parametrize("name", FILES)
def test_what_it_becomes_starts_and_answers(name, tmp_path, capsys):
    """On both other servers, with its socket, its folder and its user left to this machine."""
    (tmp_path / name).write_text(FILES[name])
    assert public.main(tmp_path) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if "yes  yes  yes" in line]
    assert len(rows) == 2


def test_what_does_not_start_ends_with_1(tmp_path, capsys, monkeypatch):
    """And is told by the last lines of the server's log."""
    monkeypatch.setattr(moved, "STUB", "raise RuntimeError('planted')\n")
    (tmp_path / "uwsgi.ini").write_text(FILES["uwsgi.ini"])
    assert public.main(tmp_path) == 1
    assert "NO" in capsys.readouterr().out


def test_an_empty_folder_ends_with_1(tmp_path, capsys):
    """Nothing was tried."""
    assert public.main(tmp_path) == 1
    assert "to uwsgi: 0" in capsys.readouterr().out
