"""A configuration that is a text, and lies on no disk, is read as a file is."""

from pathlib import Path

import pytest

from lab.cli.migrate.migration import migrated
from lab.cli.tune.missing import missing
from lab.config.configuration import Known
from lab.config.reading import read, start_names
from lab.lint.lint import lint

TEXTS = {
    "uwsgi.ini": "[uwsgi]\nhttp = :8000\nmodule = shop:app\nharakiri = 9\n[b]\nprocesses = 3\n",
    "gunicorn.conf.py": 'wsgi_app = "shop:app"\nworkers = 3\n',
    "Procfile": "web: gunicorn -w 3 shop:app\napi: granian --interface wsgi shop:app\n",
}


@pytest.fixture
def known(tmp_path, monkeypatch):
    """Return what is known in an empty folder: the texts."""
    monkeypatch.chdir(tmp_path)
    return Known(overlay={Path(name): text for name, text in TEXTS.items()})


@pytest.mark.parametrize("name", ["uwsgi.ini", "gunicorn.conf.py", "Procfile:web", "Procfile:api"])
def test_a_text_is_judged_and_translated_as_a_file_is(known, tmp_path, name):
    """All three commands take it from what is known, and say of it what they say of a file."""
    confined = known.for_files(trusted=False)
    flaws = lint(name, confined).flaws
    translation = migrated(name, "uwsgi" if name != "uwsgi.ini" else "granian", {}, known=known)
    lacks = missing(read("uwsgi.ini", confined)).lacks
    for file, text in TEXTS.items():
        (tmp_path / file).write_text(text)
    on_disk = Known().for_files(trusted=False)
    assert flaws == lint(name, on_disk).flaws
    assert translation.text == migrated(name, translation.translation.to, {}).text
    assert lacks == missing(read("uwsgi.ini", on_disk)).lacks


def test_a_section_and_start_commands_are_found_in_a_text(known):
    """As they are in a file."""
    assert read("uwsgi.ini:b", known).last("processes").value == "3"
    assert start_names(Path("Procfile"), known) == ["Procfile:web", "Procfile:api"]
