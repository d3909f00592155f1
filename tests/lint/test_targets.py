"""For which version of a server the rules judge, and on which they were tried."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from lab.config.configuration import Known
from lab.errors import UsageError
from lab.lint import targets
from lab.lint.examples import MUCH
from lab.lint.lint import lint
from lab.lint.rules.rule import RULES, TRIED
from tests.kit.lab_process import ROOT, run
from tests.kit.linting import found_by

CONFIGURATION = 'worker_class = "eventlet"\n'
"""gunicorn 26 has removed that class."""

LOCK = '[[package]]\nname = "{}"\nversion = "{}"\nsource = {{ registry = "https://pypi.org" }}\n\n'

PINS = [
    ({"requirements.txt": "flask\ngunicorn==25.3.0 \\\n    --hash=sha256:00\n"}, "25.3.0"),
    ({"requirements-prod.txt": "gunicorn[gevent]==25.3 ; python_version > '3.8'\n"}, "25.3"),
    ({"uv.lock": LOCK.format("flask", "3.1") + LOCK.format("gunicorn", "25.3.0")}, "25.3.0"),
    ({"poetry.lock": LOCK.format("gunicorn", "25.3.0")}, "25.3.0"),
    ({"pyproject.toml": '[project]\ndependencies = ["gunicorn==25.3.0"]\n'}, "25.3.0"),
    ({"pyproject.toml": '[tool.poetry.dependencies]\ngunicorn = "25.3.0"\n'}, "25.3.0"),
    (
        {
            "uv.lock": LOCK.format("gunicorn", "25.3.0"),
            "pyproject.toml": '[project]\ndependencies = ["gunicorn>=23"]\n',
        },
        "25.3.0",
    ),
    ({"requirements.txt": "gunicorn>=23\ngunicorn-color==25.3.0\n"}, None),
    ({"requirements.txt": "gunicorn==25.*\n"}, None),
    ({"requirements.txt": "# gunicorn==25.3.0\n-r base.txt\ngunicorn==\n"}, None),
    ({"requirements.txt": "gunicorn==25.3.0", "requirements-dev.txt": "gunicorn==27.0.1"}, None),
    ({"pyproject.toml": '[tool.poetry.dependencies]\ngunicorn = "^25.3"\n'}, None),
    ({"pyproject.toml": "[project]\ndependencies = 3\n", "uv.lock": "[[package]]\n"}, None),
    ({"uv.lock": '[[package]]\nname = "gunicorn"\nversion = [' + "[" * 2000}, None),
]
"""Files beside a configuration, and the version of gunicorn that they pin."""


@pytest.mark.parametrize(("files", "version"), PINS)
def test_the_version_is_the_one_that_a_file_pins(files, version, tmp_path):
    """Exactly, and only where all files of a kind name the same."""
    file = tmp_path / "gunicorn.conf.py"
    file.write_text(CONFIGURATION)
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    result = lint(str(file), Known())
    assert (result.target and result.target.version) == version
    assert any(flaw.code == "GU009" for flaw in result.flaws) is (version is None)


def test_the_option_counts_more_than_a_file(tmp_path):
    """And the output says once for which version it judged."""
    (tmp_path / "requirements.txt").write_text("gunicorn==25.3.0\n")
    for name in ("a.conf.py", "b.conf.py"):
        (tmp_path / name).write_text(f"workers = 2\n{CONFIGURATION}")
    old = run("lab", "lint", ".", cwd=tmp_path)
    text = "Checked for gunicorn 25.3.0 (requirements.txt); rules were tried on 27.0.1."
    assert (old.returncode, old.stderr.count(text)) == (0, 1), old.stderr
    new = run("lab", "lint", "--target", "gunicorn==27.0.1", ".", cwd=tmp_path)
    assert new.returncode == 1
    assert "Checked for gunicorn 27.0.1 (--target)." in new.stderr
    assert new.stdout.count("GU009") == 2


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        ("gunicorn", "write gunicorn==VERSION"),
        ("nginx==1.29", "write gunicorn==VERSION"),
        ("gunicorn==new", "'new' is no version"),
        ("uwsgi==2.0.20", "--uwsgi PATH"),
    ],
)
def test_what_is_no_target_is_refused(value, advice):
    """With what to write instead."""
    with pytest.raises(UsageError, match=re.escape(advice)):
        targets.given([value], "--target")


VERSIONS = [
    ("GU009", 'worker_class = "eventlet"', "gunicorn", "25.3.0", "26.0.0"),
    ("GU013", 'forwarded_allow_ips = "proxy"', "gunicorn", "22.0.0", "23.0.0"),
    ("GU014", "limit_request_field_size = 0", "gunicorn", "25.1.0", "25.2.0"),
    ("GU025", 'worker_class = "gthread"\nroot_path = "/a"', "gunicorn", "23.0.0", "24.1.1"),
    ("GR002", "granian --interface wsgi a:b", "granian", "1.7.6", "2.0.0"),
    ("GR005", "granian --interface wsgi --threads 2 a:b", "granian", "1.7.6", "2.0.0"),
    ("GR011", "granian --interface wsgi --runtime-threads 4 a:b", "granian", "1.7.6", "2.0.0"),
    ("GR014", "granian --interface asgi --blocking-threads 4 a:b", "granian", "1.7.6", "2.0.0"),
]
"""Rule, what it finds, and the last version for which that is not true, and the first."""


@pytest.mark.parametrize(("code", "text", "program", "before", "since"), VERSIONS)
def test_a_rule_is_silent_for_versions_that_do_otherwise(code, text, program, before, since):
    """It speaks for those that do, and where the version is unknown."""
    for version, speaks in ((before, False), (since, True), (None, True)):
        known = replace(MUCH, targets={program: version} if version else {})
        assert bool(found_by(code, text, known)) is speaks


def test_each_rule_names_the_version_that_is_pinned():
    """After an upgrade somebody tries the rules, and writes the new version into `TRIED`."""
    pins = "\n".join(
        (ROOT / "requirements" / name).read_text() for name in ("service.txt", "peers.txt")
    )
    for server, version in TRIED.items():
        assert re.findall(rf"^{server.lower()}==(\S+)", pins, re.MULTILINE) == [version]
    assert all(rule.tried == TRIED[rule.server] for rule in RULES.values() if rule.server)


def test_a_lock_of_many_packages_is_read(tmp_path, monkeypatch):
    """A lock has more lines than a configuration may have; UV015 was silent above 2,000."""
    monkeypatch.chdir(tmp_path)
    names = ("click", "h11", "uvicorn", *(f"package-{number}" for number in range(60)))
    hashes = "# a hash\n" * 40
    texts = (f'[[package]]\nname = "{name}"\nversion = "1.0"\n{hashes}' for name in names)
    Path("uv.lock").write_text("\n".join(texts))
    Path("Procfile").write_text("web: uvicorn app:app\n")
    assert "UV015" in {flaw.code for flaw in lint("Procfile", Known()).flaws}
