"""The page says what the commands say."""

import gc
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from lab.cli.commands import cli
from lab.config import servers
from lab.config.servers import TRANSLATABLE
from lab.lint.examples import whole
from lab.lint.rules.rule import RULES
from tests.kit.cases import cases
from tests.kit.lab_process import ROOT
from web import answers

EXAMPLES = tomllib.loads((ROOT / "web" / "examples.toml").read_text())
TEXTS = {
    **{code: whole(code, rule.bad) for code, rule in RULES.items()},
    **{path.name: path.read_text() for path in sorted((ROOT / "tests" / "inis").glob("*.ini"))},
    **{key: example["text"] for key, example in EXAMPLES.items()},
    "servers": "web: gunicorn -w 4 shop:app\napi: granian --interface wsgi shop:app --workers 2\n",
    "script": "#!/bin/sh\nexec granian --interface wsgi shop:app --backlog 9\n",
    "lines": "granian --interface wsgi \\\n  --backlog 64 shop:app\n",
    "compose": "services:\n  web:\n    command: gunicorn shop:app -w 4 --max-requests 9\n",
    "render": "services:\n  - name: web\n    startCommand: gunicorn shop:app -w 4 --timeout 0\n",
    "kubernetes": "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - name: web\n"
    "      command: [gunicorn, shop:app, -w, '4']\n",
    "unit": "[Service]\nExecStart=/usr/bin/gunicorn shop:app -w 4\n",
    "options": "uwsgi:\n  http: :80\n  processes: 4\n",
}
"""The example of each rule, the corpus, the examples of the page, and what none of them is."""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Answer in an empty folder, as the page does."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(answers, "CPUS", None)  # those of this machine, as the commands read them
    return tmp_path


def answer_to(text, **request):
    """Return the answer of the page."""
    return json.loads(answers.answered(json.dumps({"text": text, **request})))


def printed(capsys, *words):
    """Return what a command prints as JSON; None if it refuses."""
    try:
        cli.main([*words, "--format", "json"], "lab", standalone_mode=False)
    except Exception:  # noqa: BLE001 - whatever it says of what it cannot read
        return capsys.readouterr() and None
    finally:
        gc.enable()  # `lab lint` ends with its process
    return json.loads(capsys.readouterr().out)


def written(here, text):
    """Write a text where the commands find it; return the name that they are given."""
    question = answers.Question.of({"text": text})
    for path in here.iterdir():
        path.unlink()
    if question.kind != answers.COMMAND:
        Path(question.kind).write_text(text, "utf-8", newline="")
    return question.name


@pytest.mark.costly
def test_the_page_finds_what_lint_finds(here, capsys):
    """For the example of each rule and the corpus: the same findings with the same fixes."""
    for key, text in TEXTS.items():
        name = written(here, text)
        findings = answer_to(text, parts=["findings"])["findings"]
        lines = printed(capsys, "lint", "--all", "--no-container", name)
        page = findings.get("list")
        if any(line["code"] == "UW020" for line in lines or ()):
            # The page has no other files, so an include is not missing there, but not read: UW901.
            about = {"UW020", "UW901"}
            assert [line["code"] for line in page if line["code"] in about] == ["UW901"], key
            page = [line for line in page if line["code"] not in about]
            lines = [line for line in lines if line["code"] not in about]
        assert page == lines or (lines == [] and "error" in findings), key


@pytest.mark.costly
def test_the_page_misses_and_translates_what_the_commands_do(here, capsys, monkeypatch):
    """The same block, the same lists, for the same texts."""
    # What `lab tune` would try depends on the machine, takes most of the time, and is not compared.
    monkeypatch.setattr("lab.cli.tune.command.tries", lambda *_: [])
    for key, text in TEXTS.items():
        name = written(here, text)
        answer = answer_to(text)
        lacking = printed(capsys, "tune", "--dry-run", "--no-container", name)
        assert_alike(answer["missing"], lacking, key)
        translations = answer["translations"]
        for to in TRANSLATABLE:
            translation = printed(capsys, "migrate", "--to", to, name)
            if "error" in translations or to not in translations:
                assert translation is None, key
            else:
                assert_alike(translations[to], translation, key)


def assert_alike(part, content, key):
    """Assert that a part of an answer has all that a command prints, or that both have nothing."""
    if content is None:
        assert "error" in part, key
        return
    content.pop("tries", None)  # depends on the machine
    if "left" in content:  # the page has no other files, so it says of an include that it is unread
        content["left"] = [line for line in content["left"] if line["code"] != "UW020"]
    if "no_equivalent" in content:
        rows = content["no_equivalent"]
        content["no_equivalent"] = [row for row in rows if "does not exist" not in row["becomes"]]
    assert {name: part[name] for name in content} == content, key


@cases(
    "text, kind",
    [
        ("; a comment\n[uwsgi]\n", "uwsgi.ini"),
        ("http = :80\nmaster = true\n", "uwsgi.ini"),
        ("uwsgi:\n  http: :80\n", "uwsgi.yaml"),
        ("---\nuwsgi:\n", "uwsgi.yaml"),
        ("<uwsgi/>", "uwsgi.xml"),
        ('{"uwsgi": {}}', "uwsgi.json"),
        ("# comment\nworkers = 4\n", "gunicorn.conf.py"),
        ("import os\nbind = os.environ['BIND']\n", "gunicorn.conf.py"),
        ("web: gunicorn a:b\nworker: celery\n", "Procfile"),
        ("#!/bin/sh\nexec granian a:b\n", "start.sh"),
        ("gunicorn \\\n  -w 4 a:b\n", "command"),
        ("exec /usr/bin/granian a:b", "command"),
        ('["gunicorn", "a:b"]', "command"),
        ("services:\n  web:\n    command: gunicorn a:b\n", "compose.yaml"),
        ("services:\n  web:\n    image: a\n", "compose.yaml"),
        ("services:\n- name: a\n  startCommand: gunicorn a:b\n", "render.yaml"),
        (TEXTS["kubernetes"], "kubernetes.yaml"),
        ("[Unit]\n[Service]\nExecStart=/bin/gunicorn a:b\n", "app.service"),
        ("", "gunicorn.conf.py"),
    ],
)
def test_the_kind_of_a_text_is_guessed(text, kind):
    """By its first line, or its options; a select of the page says otherwise."""
    assert answers.kind_of(text) == kind


def test_the_kind_of_each_example_is_guessed():
    """Of a rule's example and of the corpus."""
    for code in RULES:
        kind = answers.kind_of(TEXTS[code])
        if code.startswith("ST"):
            assert kind == ("app.service" if code in {"ST011", "ST013"} else answers.DOCKERFILE)
            continue
        server = servers.of_code(code)
        if server.program == "hypercorn":  # a name or two that gunicorn has, too
            assert kind in {"hypercorn.toml", answers.COMMAND, "gunicorn.conf.py"}, code
            continue
        assert kind in {server.file, answers.COMMAND, "uwsgi.ini"}, code
        assert (kind == "uwsgi.ini") == (server.program == "uwsgi"), code


@cases("which", [None, "UW001"])
def test_a_fix_is_that_of_the_command(which):
    """One finding's, or all safe ones."""
    text = "[uwsgi]\nhttp = :80\nprocesess = 4\nmaster = on\n"
    finding = (
        next(one for one in answer_to(text)["findings"]["list"] if one["code"] == which)
        if which
        else None
    )
    fixed = json.loads(answers.fixed(json.dumps({"text": text, "finding": finding})))["text"]
    assert ("processes = 4" in fixed) == (which == "UW001")
    assert ("procesess = 4" in fixed) == (which is None)


@cases(
    "text, problem",
    [
        ("<!DOCTYPE a><a/>", "document type"),
        ('{"uwsgi":' * 900, "nests"),
        ("x = " + "(" * 5000, "nests"),
        ("[uwsgi]\nfor-times = 99999999\nprocesses = 4\nendfor =\n", "2,000 options"),
        ("[uwsgi]\nhttp = :80\n" * 2000, "2,000 lines"),
    ],
)
def test_a_hostile_text_is_refused_in_words(text, problem):
    """The page shows the sentence of the command."""
    assert problem in json.dumps(answer_to(text)["findings"])


def test_the_page_offers_what_is_read():
    """The kinds of the page are those of the module."""
    page = (ROOT / "web" / "index.html").read_text()
    shown = re.search(r'id="kind">(.*?)</select>', page, re.DOTALL)[1]
    assert tuple(re.findall("<option>(.*?)</option>", shown)) == answers.KINDS
    script = (ROOT / "web" / "page.js").read_text()
    assert f"MOST_LINES = {answers.MOST_LINES}" in script
    assert f"MOST_CHARACTERS = 1 << {answers.MOST_CHARACTERS.bit_length() - 1}" in script


def test_no_text_becomes_markup():
    """Nothing in the page writes HTML, evaluates a text, or stores one."""
    script = (ROOT / "web" / "page.js").read_text() + (ROOT / "web" / "worker.js").read_text()
    assert not re.findall(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|[a-z]Storage|indexedDB",
        script,
    )


ABSENT = ("grp", "pwd", "resource", "msgspec", "click", "rich", "jinja2", "psutil")
"""What the Python of the page does not have."""


def test_the_answers_need_only_what_a_browser_has():
    """Neither modules of Unix, nor compiled packages."""
    check = (
        f"import sys; sys.modules.update(dict.fromkeys({ABSENT!r}));"
        "from web import answers; answers.warm(); print(answers.kind_of('[uwsgi]'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", check], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout == "uwsgi.ini\n", done.stderr
