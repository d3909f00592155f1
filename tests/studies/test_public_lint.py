"""The counts of docs/reference/lint-evidence.md: studies/public_lint.py."""

from studies.public_lint import counted


def test_rules_are_counted_by_files_and_name_none(tmp_path):
    """Each rule once a file; of what is not read only the reason."""
    for name, text in {
        "shop/uwsgi.ini": "[uwsgi]\nprocesses = four\nlisten = many\n",
        "blog/uwsgi.ini": "[uwsgi]\nprocesses = four\n",
        "wiki/uwsgi.ini": "[uwsgi]\n{% if x %}\nmaster = 1\n{% endif %}\n",
        "wiki/gunicorn.conf.py": "workers = 4\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    counts = counted(tmp_path)
    assert counts["servers"]["uWSGI"]["files"] == 2
    assert counts["servers"]["uWSGI"]["rules"]["UW003"] == 2
    assert counts["servers"]["gunicorn"]["files"] == 1
    assert counts["not_read"] == {"is a template": 1}
    assert not [name for name in ("shop", "blog", "wiki") if name in str(counts)]
