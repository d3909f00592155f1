"""Files of other programs that start servers: which command, where, and what is around it."""

import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from lab.config import reading, sources
from lab.config.configuration import Known
from lab.errors import ProfileError
from lab.lint.lint import lint
from tests.kit.lab_process import BIN


def starts_of(name, text):
    """Return the start commands in a file of that name."""
    kind = sources.of_file(name, lambda: text)
    return kind.starts(Path(name), text) if kind else ()


def placed(start):
    """Return the first word of a text that is not a variable, with its line and column there."""
    begins = start.text.index(start.words[0])
    spot = start.place(start.spot.__class__(start.spot.file, 1, begins + 1))
    return spot.line, spot.column


DOCKERFILES = [
    ('CMD ["gunicorn", "-w", "4", "a:b"]', "gunicorn -w 4 a:b", (2, 7)),
    ("CMD gunicorn a:b --bind 0.0.0.0:$PORT", "gunicorn a:b --bind 0.0.0.0:$PORT", (2, 5)),
    ('CMD ["gunicorn", "--bind", "0.0.0.0:$PORT"]', "gunicorn --bind '0.0.0.0:$PORT'", (2, 7)),
    ("CMD python -m uvicorn app:app --port=8000", "uvicorn app:app --port=8000", (2, 15)),
    ("CMD ['gunicorn', 'a:b']", None, None),
    ("CMD gunicorn \\\n  # why\n\n  --workers 4 \\\n  a:b", "gunicorn --workers 4 a:b", (2, 5)),
    ('CMD ["gunicorn", \\\n  "a:b"]', "gunicorn a:b", (2, 7)),
    ('ENTRYPOINT ["x"]\nENTRYPOINT ["granian"]\nCMD ["a:b"]', "granian a:b", (3, 14)),
    ('ENTRYPOINT ["tini", "-g", "--"]\nCMD ["gunicorn", "a:b"]', "gunicorn a:b", (3, 7)),
    ('ENTRYPOINT ["/entry.sh"]\nCMD ["gunicorn", "a:b"]', "gunicorn a:b", (3, 7)),
    ('ENTRYPOINT ["/app/boot"]\nCMD ["gunicorn", "a:b"]', "gunicorn a:b", (3, 7)),
    ("ENTRYPOINT gunicorn a:b\nCMD granian a:b", "gunicorn a:b", (2, 12)),
    ('CMD ["sh", "-c", "migrate && exec gunicorn a:b"]', "gunicorn a:b", (2, 35)),
    ("ENV WEB_CONCURRENCY=4 A=1\nCMD gunicorn a:b", "WEB_CONCURRENCY=4 gunicorn a:b", (3, 5)),
    ("ENV GRANIAN_PORT 80\nCMD granian a:b", "GRANIAN_PORT=80 granian a:b", (3, 5)),
    ("RUN <<EOF\nCMD granian a:b\nEOF\nCMD gunicorn a:b", "gunicorn a:b", (5, 5)),
    ("HEALTHCHECK CMD gunicorn x\nONBUILD CMD gunicorn x", None, None),
    ("# CMD gunicorn a:b\nRUN pip install gunicorn", None, None),
    ("CMD gunicorn a:b\nFROM y\nCMD celery", None, None),
    ("CMD gunicorn a:b\nFROM 0 AS z", "gunicorn a:b", (2, 5)),
    ('CMD gunicorn a:b\nFROM 0\nENTRYPOINT ["tini"]', None, None),
    ("CMD poetry run -- gunicorn a:b", "gunicorn a:b", (2, 19)),
    ("CMD uv run --frozen --group web gunicorn a:b", "gunicorn a:b", (2, 33)),
    ("CMD pipenv run gunicorn a:b", "gunicorn a:b", (2, 16)),
    ("CMD pdm run gunicorn a:b", "gunicorn a:b", (2, 13)),
    ("CMD env A=b gunicorn a:b", "A=b gunicorn a:b", (2, 13)),
    ("CMD gosu uwsgi uwsgi --http :80", "uwsgi --http :80", (2, 16)),
    ("CMD taskset -c 0-3 uwsgi --http :80", "taskset -c 0-3 uwsgi --http :80", (2, 20)),
    ("CMD dumb-init gunicorn a:b", "gunicorn a:b", (2, 15)),
    ("CMD ./wait-for-it.sh db:5432 -t 9 -- gunicorn a:b", "gunicorn a:b", (2, 38)),
    ("CMD ddtrace-run gunicorn a:b", "ddtrace-run gunicorn a:b", (2, 17)),
    ("CMD gunicorn --version", None, None),
    ("CMD nginx & gunicorn a:b", "gunicorn a:b", (2, 13)),
    ('SHELL ["/bin/bash", "-c"]\nCMD gunicorn a:b', "gunicorn a:b", (3, 5)),
    ('SHELL ["powershell"]\nCMD gunicorn a:b', None, None),
]  # fmt: skip
"""Lines behind FROM -> the command of the server and its place; None without one."""


@pytest.mark.parametrize(("lines", "text", "place"), DOCKERFILES)
def test_the_command_of_a_dockerfile(lines, text, place):
    """That of its last stage, as `docker build` takes it."""
    starts = [start for start in starts_of("Dockerfile", f"FROM x\n{lines}\n") if start.is_default]
    assert [start.text for start in starts] == ([text] if text else [])
    assert [placed(start) for start in starts] == ([place] if place else [])


def test_an_escape_of_a_dockerfile_may_be_another():
    """Its first line says so; a mark of UTF-8 and the ends of Windows' lines mean nothing."""
    (start,) = starts_of("Dockerfile", "\ufeffFROM x\r\nCMD gunicorn \\\r\n  a:b\r\n")
    assert (start.text, start.place(start.spot).line) == ("gunicorn a:b", 2)
    (start,) = starts_of("Dockerfile", "# escape=`\nFROM x\nCMD gunicorn `\n  a:b\n")
    assert (start.text, start.place(start.spot).line) == ("gunicorn a:b", 3)


OTHERS = [
    (
        "compose.yaml",
        "services:\n  web:\n    command: gunicorn 'a:b' -w ${N:-4}\n",
        'web gunicorn a:b -w "${N:-4}"',
        (3, 14),
    ),
    (
        "local.yml",
        "services:\n  web:\n    command:\n      - gunicorn\n      - $$x\n      - a:b\n",
        "web gunicorn '$x' a:b",
        (4, 9),
    ),
    (
        "compose.yml",
        (
            "x: &x {environment: {WEB_CONCURRENCY: 4, A: 1}}\n"
            "services:\n  web:\n    <<: *x\n    command: gunicorn a:b\n"
        ),
        "web WEB_CONCURRENCY=4 gunicorn a:b",
        (5, 14),
    ),
    (
        "compose.yml",
        "services:\n  web:\n    entrypoint: [sh, -c]\n    command: ['exec gunicorn a:b']\n",
        "web gunicorn a:b",
        (4, 21),
    ),
    (
        "shop.service",
        (
            "[Unit]\nExecStart=granian x:y\n[Service]\nEnvironment='WEB_CONCURRENCY=2' A=1\n"
            "ExecStart=granian no:no\nExecStart=\n"
            "ExecStart=-/venv/bin/gunicorn \\\n  # why\n  $ARGS --bind unix:/a$$b a:b\n"
        ),
        "ExecStart WEB_CONCURRENCY=2 /venv/bin/gunicorn $ARGS --bind 'unix:/a$b' a:b",
        (7, 12),
    ),
    (
        "render.yaml",
        "services:\r\n  - type: web\r\n    name: api\r\n    startCommand: gunicorn a:b -b :$PORT",
        "api gunicorn a:b -b :$PORT",
        (4, 19),
    ),
    (
        "fly.toml",
        '[env]\nWEB_CONCURRENCY = 2\n[processes]\nworker = "celery"\nweb = "gunicorn a:b"\n',
        "web WEB_CONCURRENCY=2 gunicorn a:b",
        (5, 8),
    ),
    (
        "deployment.yaml",
        (
            "kind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n"
            "      - name: web\n"
            "        command: [gunicorn]\n        args: ['--bind=:$(PORT)', '$A', a:b]\n"
            "        env:\n        - {name: WEB_CONCURRENCY, valueFrom: {}}\n"
        ),
        "web WEB_CONCURRENCY=$WEB_CONCURRENCY gunicorn \"--bind=:${PORT}\" '$A' a:b",
        (7, 19),
    ),
    (
        "pod.yaml",
        (
            "kind: Pod\nspec:\n  containers:\n  - name: web\n    args:\n    - /bin/sh\n    - -c\n"
            "    - |\n      set -e\n      exec gunicorn a:b \\\n        -w 4\n"
        ),
        "web gunicorn a:b -w 4",
        (10, 12),
    ),
    (
        "package.json",
        '{\n\t"name": "gunicorn",\n\t"scripts": {"start": "cd api && gunicorn \\"a:b\\" -w 4"}\n}',
        'start gunicorn "a:b" -w 4',
        (3, 34),
    ),
    (
        "start.sh",
        (
            "# it's gunicorn\ncat <<EOF\ngunicorn x:y\nEOF\n"
            "if [ -n '' ]; then export WEB_CONCURRENCY=2; fi\nexec gunicorn a:b\n"
        ),
        "gunicorn WEB_CONCURRENCY=$WEB_CONCURRENCY gunicorn a:b",
        (6, 6),
    ),
    (
        "docker-entrypoint",
        '#!/bin/bash\ncase "$1" in\n  web) exec s6-setuidgid www gunicorn a:b ;;\nesac\n',
        "gunicorn gunicorn a:b",
        (3, 30),
    ),
    ("run", "gunicorn a:b\n", None, None),
    ("mkdocs.yml", "nav:\n- command: gunicorn\n", None, None),
]
"""Name of a file, its text -> name and command, and its place."""


@pytest.mark.parametrize(("name", "text", "command", "place"), OTHERS)
def test_the_command_of_another_file(name, text, command, place):
    """With the variables that the server reads; `$` is a variable only where that file has some."""
    starts = starts_of(name, text)
    assert [f"{start.name} {start.text}" for start in starts] == ([command] if command else [])
    assert [placed(start) for start in starts] == ([place] if place else [])


DOCUMENTED = [
    ("Procfile", "web: gunicorn gettingstarted.wsgi", "gunicorn gettingstarted.wsgi"),
    ("Procfile", "web: python manage.py runserver 0.0.0.0:5000", None),
    (
        "Procfile",
        "worker: bundle exec rake jobs:work\nweb: daphne a:b -p $PORT",
        "daphne a:b -p $PORT",
    ),
    (
        "Dockerfile",
        "FROM python\nCMD gunicorn 'myapp:app' --bind=0.0.0.0:8000",
        "gunicorn 'myapp:app' --bind=0.0.0.0:8000",
    ),
    (
        "Dockerfile",
        "FROM python\nCMD python3 -m uvicorn app:app --host=0.0.0.0 --port=8000",
        "uvicorn app:app --host=0.0.0.0 --port=8000",
    ),
    (
        "Dockerfile",
        'FROM python\nCMD ["fastapi", "run", "serve.py", "--port", "80"]',
        "uvicorn --port 80 --host 0.0.0.0 serve:app",
    ),
    ("Dockerfile", 'FROM ubuntu\nENTRYPOINT ["top", "-b"]\nCMD ["-c"]', None),
    ("compose.yaml", "services:\n  web:\n    command: bundle exec thin -p 3000\n", None),
    ("compose.yaml", 'services:\n  web:\n    command: [ "bundle", "exec", "thin" ]\n', None),
    (
        "gunicorn.service",
        "[Service]\nType=notify\nExecStart=/usr/bin/gunicorn shop.wsgi\n",
        "/usr/bin/gunicorn shop.wsgi",
    ),
    (
        "uwsgi.service",
        "[Service]\nExecStart=/root/uwsgi/uwsgi --ini /etc/uwsgi/emperor.ini\nKillSignal=SIGQUIT",
        "/root/uwsgi/uwsgi --ini /etc/uwsgi/emperor.ini",
    ),
    (
        "pod.yaml",
        "kind: Pod\nspec:\n  containers:\n  - command: ['printenv']\n    args: ['HOSTNAME']\n",
        None,
    ),
    (
        "supervisord.conf",
        (
            "[supervisord]\n\n[fcgi-program:uvicorn]\nsocket=tcp://localhost:8000\n"
            "command=venv/bin/uvicorn --fd 0 main:App\nnumprocs=4\n"
            "process_name=uvicorn-%(process_num)d\nstdout_logfile=/dev/stdout\n"
        ),
        "venv/bin/uvicorn --fd 0 main:App",
    ),
    (
        "shop.conf",
        (
            "[program:gunicorn]\ncommand=/path/to/gunicorn main:application -c /path/to/g.conf.py\n"
            "directory=/path/to/project\nuser=nobody\nautostart=true\nautorestart=true\n"
        ),
        "/path/to/gunicorn main:application -c /path/to/g.conf.py",
    ),
    (
        "run",
        '#!/usr/bin/with-contenv bash\nif [[ -n "$U" ]]; then\n\texec granian "${app}"\nfi\n',
        'granian "${app}"',
    ),
]
"""Examples of the documentation of these files, and a published script -> the command."""


@pytest.mark.parametrize(("name", "text", "command"), DOCUMENTED)
def test_examples_of_the_documentation(name, text, command):
    """Of Heroku, Docker, FastAPI, compose, gunicorn, uWSGI, Kubernetes, uvicorn; s6."""
    assert [start.text for start in starts_of(name, text)] == ([command] if command else [])


def test_what_is_around_a_command():
    """A container, its shell, the signal that stops it, who starts it again."""
    text = "FROM python:3.12-slim\nSTOPSIGNAL SIGINT\nUSER www:www\nCMD gunicorn a:b\n"
    around = starts_of("Dockerfile", text)[0].surroundings
    assert (around.container, around.in_shell, around.is_first_process) == (True, True, True)
    assert (around.shell, around.stop_signal, around.user) == ("dash", "SIGINT", "www")
    text = "[Service]\nUser=www\nRestart=on-failure\nLimitNOFILE=9\nExecStart=gunicorn a:b\n"
    around = starts_of("shop.service", text)[0].surroundings
    assert (around.container, around.supervisor, around.restarts) == (
        False,
        "systemd",
        "on-failure",
    )
    assert (around.user, around.limits) == ("www", {"LimitNOFILE": "9"})
    text = "services:\n  a:\n    restart: always\n    init: true\n    command: gunicorn a:b\n"
    around = starts_of("compose.yml", text)[0].surroundings
    assert (around.restarts, around.is_first_process) == ("always", False)


SUPERVISED = """\
[program:web] ; the shop
command=/srv/venv/bin/gunicorn -w 4
    --bind 0.0.0.0:%(ENV_PORT)s
# of the shop
    shop.%(program_name)s --name 'a $b'   ; WSGI
environment=WEB_CONCURRENCY="2",A='%(here)s',GUNICORN_CMD_ARGS="--log-level %%x"
user=www
autorestart=true
stopsignal=quit

[program:jobs]
command=celery worker
[PROGRAM:other]
command=gunicorn a:b
[program:api]
Command : sh -c "exec uvicorn a:b"
[program:many]
process_name=many-%(process_num)s
command=uvicorn --port %(process_num)s --root-path /%(group_name)s a:b
numprocs=2
numprocs_start=9300
"""


def test_a_program_of_supervisor():
    """No shell takes it apart; what is in its parentheses is replaced."""
    web, api, many = starts_of("shop.conf", SUPERVISED)
    assert web.text == (
        "WEB_CONCURRENCY=2 GUNICORN_CMD_ARGS='--log-level %x' /srv/venv/bin/gunicorn -w 4 "
        "--bind \"0.0.0.0:$PORT\" shop.web --name 'a $b'"
    )
    assert (placed(web), placed(api)) == ((2, 9), (16, 23))
    around = web.surroundings
    assert (around.supervisor, around.restarts, around.user) == ("supervisord", "always", "www")
    assert (around.in_shell, around.stop_signal) == (False, "SIGQUIT")
    assert (api.name, api.surroundings.restarts) == ("api", "on-failure")
    assert many.text == 'uvicorn --port 9300 --root-path "/$group_name" a:b'
    with pytest.raises(ProfileError, match=r"^a\.ini:2: is not a configuration of Supervisor"):
        starts_of("a.ini", "[program:a]\nhello\n")


def test_what_supervisor_itself_has_all_its_programs_have():
    """A program's own value stands above it."""
    text = "[supervisord]\nenvironment=PORT=1,WEB_CONCURRENCY=3\n[program:x]\n"
    (start,) = starts_of("s.conf", text + "command=gunicorn a:b\nenvironment=PORT=2\n")
    assert start.text == "PORT=2 WEB_CONCURRENCY=3 gunicorn a:b"


@pytest.mark.parametrize("name", ["deploy", "web-prod"])
def test_a_script_is_known_by_its_first_line(name):
    """Where its name does not tell."""
    (start,) = starts_of(name, "#!/usr/bin/env bash\nset -e\nexec gunicorn a:b\n")
    assert (start.name, start.text) == ("gunicorn", "gunicorn a:b")
    assert not starts_of(name, "exec gunicorn a:b\n")


STAGES = """\
FROM python:3.12 AS base
WORKDIR /app
COPY shop /app
FROM base AS dev
CMD ["gunicorn", "--reload", "a:b"]
FROM base
CMD ["gunicorn", "-c", "/app/conf/g.py", "a:b"]
"""


def test_a_file_in_an_image_is_the_one_that_is_copied(tmp_path, monkeypatch):
    """And the folder of the command is that whose files are there; one that is not is unknown."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop" / "conf").mkdir(parents=True)
    (tmp_path / "shop" / "conf" / "g.py").write_text("timeout = 7\n")
    (tmp_path / "Dockerfile").write_text(STAGES)
    config = reading.read("Dockerfile", Known().for_files(trusted=False))
    assert config.last("timeout").spot.file == Path("shop/conf/g.py")
    assert (config.known.container, config.start.folder) == (True, Path("shop"))
    assert reading.read("Dockerfile:dev", Known()).last("reload")
    (tmp_path / "Dockerfile").write_text(STAGES.replace("conf/g.py", "conf/other.py"))
    with pytest.raises(ProfileError, match=r"^Dockerfile:7: /app/conf/other\.py: .*not exist here"):
        reading.read("Dockerfile", Known())


@pytest.mark.parametrize(
    "copied",
    [
        "FROM a AS built\nCOPY . /src/\nFROM a\nCOPY --from=built /src/ /app/",
        "FROM a AS built\nCOPY shop /src/shop/\nFROM a\nCOPY --chown=www --from=built /src/ /app/",
        "FROM a AS built\nCOPY . /src\nFROM a\nCOPY --from=built /src/shop/u.ini /app/shop/",
        "FROM a\nCOPY . /src\nFROM a\nCOPY --from=0 /src /app",
    ],
)
def test_a_file_from_another_stage_is_the_one_that_was_copied_there(tmp_path, monkeypatch, copied):
    """And one that no stage copies is unknown, with what to do."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "u.ini").write_text("[uwsgi]\nharakiri = 7\n")
    (tmp_path / "Dockerfile").write_text(f'{copied}\nCMD ["uwsgi", "/app/shop/u.ini"]\n')
    known = Known().for_files(trusted=False)
    assert reading.read("Dockerfile", known).last("harakiri").value == "7"
    (tmp_path / "Dockerfile").write_text(f'{copied}\nCMD ["uwsgi", "/other/u.ini"]\n')
    with pytest.raises(ProfileError, match=r"/other/u\.ini: is a file of the container, and no CO"):
        reading.read("Dockerfile", known)


def test_a_search_finds_all_but_what_is_for_development(tmp_path, monkeypatch):
    """One that is named is read."""
    monkeypatch.chdir(tmp_path)
    names = ("Dockerfile", "Dockerfile.dev", "compose.override.yaml", "compose.yaml")
    text = {
        "D": "FROM x\nCMD gunicorn a:b\n",
        "c": "services:\n  web:\n    command: gunicorn a:b\n",
    }
    for name in names:
        (tmp_path / name).write_text(text[name[0]])
    (tmp_path / "package.json").write_text('{"scripts": {"dev": "gunicorn a:b"}}')
    (tmp_path / "granian.sh").write_text("#!/bin/sh\nexec granian a:b\n")
    (tmp_path / "broken.yaml").write_text("services:\n  web: [gunicorn\n")
    assert list(reading.find(Path())) == ["Dockerfile:0", "compose.yaml:web", "granian.sh"]
    assert reading.start_names(Path("Dockerfile.dev")) == ["Dockerfile.dev:0"]
    with pytest.raises(ProfileError, match=r"is for development: name package\.json:dev"):
        reading.read("package.json", Known())
    with pytest.raises(ProfileError, match=r"^broken\.yaml:3: is not YAML"):
        reading.read("broken.yaml", Known())


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is not installed")
@pytest.mark.parametrize("shell", ["dash", "bash", "dash exec"])
def test_dash_keeps_sigterm(shell, tmp_path):
    """ST001: as the first process it serves on, and bash is gunicorn by then."""
    shell, _, before = shell.partition(" ")
    (tmp_path / "a.py").write_text("def b(environ, start):\n    pass\n")
    command = f"{before} {BIN / 'gunicorn'} --bind unix:{tmp_path}/socket a:b"
    with subprocess.Popen(
        ["unshare", "--pid", "--fork", "--kill-child", shell, "-c", command],
        cwd=tmp_path, stderr=subprocess.PIPE, text=True,
    ) as unshare:  # fmt: skip
        lines = iter(unshare.stderr.readline, "")
        if not any("Booting worker" in line for line in lines):
            pytest.skip("unshare may not make processes with numbers of their own here")
        first = int(Path(f"/proc/{unshare.pid}/task/{unshare.pid}/children").read_text())
        subprocess.run(["kill", "-TERM", str(first)], check=True)
        deadline = time.monotonic() + 20
        keeps = shell == "dash" and not before
        while not keeps and unshare.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.5 * keeps)
        assert (unshare.poll() is None) is keeps
        unshare.send_signal(signal.SIGKILL)


LINTED = [
    ("Dockerfile", "CMD gunicorn a:b", ["ST001"]),
    ("Dockerfile", "CMD A=1 gunicorn a:b && true", ["ST001"]),
    ("Dockerfile", "CMD exec gunicorn a:b", []),
    ("Dockerfile", 'CMD ["gunicorn", "a:b"]', []),
    ("Dockerfile", 'CMD ["sh", "-c", "gunicorn a:b"]', ["ST001"]),
    ("Dockerfile", 'CMD ["bash", "-c", "gunicorn a:b"]', []),
    ("Dockerfile", 'ENTRYPOINT ["tini", "--"]\nCMD gunicorn a:b', []),
    ("Dockerfile", "CMD tini -- sh -c 'gunicorn a:b'", []),
    ("Dockerfile", 'SHELL ["bash", "-c"]\nCMD gunicorn a:b', []),
    ("Dockerfile", "# lab: ignore[ST001] why\nCMD \\\n  gunicorn a:b", []),
    ("Dockerfile", "CMD exec gunicorn -w2 --max-requests 9 $MORE a:b", []),
    ("Dockerfile", "CMD exec gunicorn --reload $MORE a:b", ["GU011"]),
    ("Dockerfile", "CMD exec gunicorn -w2 --max-requests 9 --bind $MORE a:b", ["GU005"]),
    ("Dockerfile", "CMD exec granian $MORE a:b", []),
    ("Dockerfile", "CMD exec granian a:b", ["GR001"]),
    ("Dockerfile", "ENV GRANIAN_INTERFACE=wsgi\nCMD exec granian a:b", []),
    ("x.service", "[Service]\nExecStart=uwsgi --socket /a --master", ["UW315"]),
    ("x.service", "[Service]\nKillSignal=SIGINT\nExecStart=uwsgi --socket /a --master", []),
    ("x.service", "[Service]\nType=forking\nExecStart=gunicorn a:b", ["ST011"]),
    ("x.service", "[Service]\nType=forking\nExecStart=gunicorn --daemon a:b", []),
    ("x.service", "[Service]\nType=forking\nExecStart=gunicorn $MORE a:b", []),
    ("x.service", "[Service]\nExecStart=gunicorn --daemon a:b", ["GU028"]),
    ("Dockerfile", "CMD exec gunicorn -D a:b", ["GU028"]),
    ("x.service", "[Service]\nType=forking\nExecStart=uwsgi --socket /a --daemonize /l", []),
    ("x.service", "[Service]\nType=notify\nExecStart=uvicorn --port 80 a:b", ["ST011"]),
    ("x.service", "[Service]\nType=simple\nExecStart=uvicorn --port 80 a:b", []),
    ("x.service", "[Service]\nKillSignal=SIGQUIT\nExecStart=gunicorn a:b", ["ST012"]),
    ("x.conf", "[program:x]\nstopsignal=INT\ncommand=gunicorn a:b", ["ST012"]),
    ("x.conf", "[program:x]\nstopsignal=INT\ncommand=uvicorn --port 80 a:b", []),
    ("x.conf", "[program:x]\ncommand=uwsgi --socket /a --master", ["UW315"]),
    ("x.conf", "[program:x]\nstopsignal=INT\ncommand=uwsgi --socket /a --master", []),
    ("x.conf", "[program:x]\ncommand=uvicorn --workers 2 a:b", ["UV011"]),
    ("x.conf", "[program:x]\nautorestart=true\ncommand=uvicorn --workers 2 a:b", []),
]
"""Name of a file, its text -> what is found, without remarks; a Dockerfile is of Debian."""


@pytest.mark.parametrize(("name", "text", "codes"), LINTED)
def test_what_is_around_a_command_is_judged(name, text, codes, tmp_path, monkeypatch):
    """And a variable that may stand for options hides what is not there."""
    monkeypatch.chdir(tmp_path)
    text = f"FROM python:3.12-slim\n{text}" if name == "Dockerfile" else text
    (tmp_path / name).write_text(f"{text}\n")
    flaws = lint(name, Known(), ignore=("UW321",)).flaws
    assert [flaw.code for flaw in flaws if flaw.counts] == codes
    last = len(text.splitlines())
    assert all((flaw.spot.file, flaw.spot.line) == (Path(name), last) for flaw in flaws)


def test_advice_is_in_the_syntax_of_a_list(tmp_path, monkeypatch):
    """Where the words of the command are the entries of one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Dockerfile").write_text(
        'FROM x\nCMD ["gunicorn", "-w2", "--max-requests=90", "a:b"]\n'
    )
    (flaw,) = [flaw for flaw in lint("Dockerfile", Known()).flaws if flaw.code == "GU005"]
    assert flaw.message.endswith('; write "--max-requests-jitter", "9"')


RUNS = [
    ('"shop:app"', "uvicorn shop:app"),
    ('"shop:app", host="::", workers=4', "uvicorn shop:app --host :: --workers 4"),
    ('app="shop:app", access_log=False, proxy_headers=True',
     "uvicorn shop:app --no-access-log --proxy-headers"),
    ('"shop:app", factory=False, log_config=None', "uvicorn shop:app"),
    ('"shop:app", ws_per_message_deflate=False, reload_dirs=["a", "b c"]',
     "uvicorn shop:app --ws-per-message-deflate false --reload-dir a --reload-dir 'b c'"),
    ('"shop:app", port=int(os.getenv("PORT", "80"))', 'uvicorn shop:app --port "${PORT:-80}"'),
    ('"shop:app", threads=4', "uvicorn shop:app --threads 4"),
    ("shop, workers=2", "uvicorn main:shop --workers 2"),
    ("other, workers=2", "has other, and lab runs no file"),
    ("make()", "has make(), and lab runs no file"),
    ('"shop:app", port=settings.port', "has port=settings.port, and lab runs no file"),
    ('"shop:app", **options', "has **options, and lab runs no file"),
    ('"shop:app", "::"', "has other arguments than names with values, and lab runs no file"),
]  # fmt: skip
"""Arguments of uvicorn.run -> the command, or why it is not known."""


@pytest.mark.parametrize(("arguments", "command"), RUNS)
def test_a_call_in_python_is_the_command_that_it_stands_for(arguments, command):
    """With the places of its arguments; the file is not run."""
    text = f"import uvicorn\nshop = 1\nif 'é':\n    uvicorn.run({arguments})\n1 / 0\n"
    if not command.startswith("uvicorn "):
        with pytest.raises(ProfileError, match=re.escape(command)):
            starts_of("main.py", text)
        return
    (start,) = starts_of("main.py", text)
    assert start.text == command
    assert placed(start) == (4, 5)


def test_a_call_that_reloads_is_for_development(tmp_path, monkeypatch):
    """It is read where it is named; a file of gunicorn is none of this kind."""
    monkeypatch.chdir(tmp_path)
    text = "import uvicorn\nuvicorn.run('a:b', reload=True)\n"
    Path("serve.py").write_text(text)
    Path("gunicorn.conf.py").write_text(text)
    assert list(reading.find(Path())) == ["gunicorn.conf.py"]
    assert reading.read("serve.py:uvicorn", Known()).last("reload") is not None
    Path("serve.py").write_text("uvicorn.run('a:b', \n")
    with pytest.raises(ProfileError, match="is not Python"):
        reading.read("serve.py", Known())


FASTAPI = [
    ("fastapi run app/main.py --port 80", "uvicorn --port 80 --host 0.0.0.0 app.main:app"),
    ("fastapi run", "uvicorn --host 0.0.0.0 app.main:app"),
    ("fastapi run -e shop.web:api --workers=4", "uvicorn --workers 4 --host 0.0.0.0 shop.web:api"),
    ("fastapi run src/serve.py --app web", "uvicorn --host 0.0.0.0 --app-dir src serve:web"),
    ("fastapi dev app/main.py", "uvicorn --host 127.0.0.1 --reload app.main:app"),
    ("fastapi dev --no-reload --host ::", "uvicorn --host :: app.main:app"),
    ("fastapi run --timeout-keep-alive 75 -v", "uvicorn --host 0.0.0.0 app.main:app"),
    ("uv run fastapi run --reload", "uvicorn --reload --host 0.0.0.0 app.main:app"),
]  # fmt: skip
"""A command -> that of uvicorn, in a folder with app/main.py; UVICORN_* variables set nothing."""


@pytest.mark.parametrize(("command", "text"), FASTAPI)
def test_fastapi_run_is_a_command_of_uvicorn(command, text, tmp_path, monkeypatch):
    """With the defaults of fastapi-cli, each word at the place that says it."""
    monkeypatch.chdir(tmp_path)
    Path("app").mkdir()
    Path("app/__init__.py").touch()
    Path("app/main.py").touch()
    words = ", ".join(f'"{word}"' for word in command.split())
    (start,) = starts_of("Dockerfile", f"FROM x\nENV UVICORN_WORKERS=9\nCMD [{words}]\n")
    assert start.text == text
    assert start.program == "uvicorn"
    assert {spot.line for _, spot in start.places} == {3}
    (start,) = starts_of("Procfile", f"web: {command}\n")
    assert ("--port 80" in start.text) or ('--port "${PORT:-8000}"' in start.text)


def test_what_of_fastapi_run_no_option_says(tmp_path, monkeypatch):
    """ST010, and advice that only uvicorn can follow; in quotes it is not read."""
    monkeypatch.chdir(tmp_path)
    Path("Procfile").write_text("web: fastapi run main.py --limit-concurrency 9\n")
    flaws = {flaw.code: flaw.message for flaw in lint("Procfile", Known(), container=True).flaws}
    assert "--limit-concurrency: fastapi run prints" in flaws["ST010"]
    assert flaws["ST009"].endswith("start uvicorn itself")
    with pytest.raises(ProfileError, match="give uvicorn's command"):
        reading.read("fastapi run main.py", Known())


def test_a_command_of_a_service_has_the_files_of_the_image_that_it_builds(tmp_path, monkeypatch):
    """And its variables; what the service says itself counts more."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Dockerfile").write_text(
        "FROM python:3.13\nENV WEB_CONCURRENCY=5\nWORKDIR /app\nCOPY . .\nUSER app\n"
    )
    (tmp_path / "gunicorn.conf.py").write_text("threads = 7\n")
    (tmp_path / "compose.yaml").write_text(
        "services:\n  web:\n    build: .\n    command: gunicorn -c /app/gunicorn.conf.py a:b\n"
    )
    config = reading.read("compose.yaml", Known())
    values = {setting.option: setting.value for setting in config.settings}
    assert values["threads"] == "7"
    (start,) = starts_of("compose.yaml", Path("compose.yaml").read_text())
    assert (start.text, start.surroundings.user) == (
        "WEB_CONCURRENCY=5 gunicorn -c /app/gunicorn.conf.py a:b",
        "app",
    )


COMPOSE = """
services:
  shop:
    build: {build}
    restart: always
    environment:
      WEB_CONCURRENCY: 3
    {more}
"""


@pytest.mark.parametrize(
    ("build", "more", "text"),
    [
        ("./web", "", "WEB_CONCURRENCY=3 uvicorn a:b"),
        ("{context: web}", "", "WEB_CONCURRENCY=3 uvicorn a:b"),
        ("{context: web, target: first}", "", "WEB_CONCURRENCY=3 gunicorn a:b"),
        ("{context: web, dockerfile: Other}", "", "WEB_CONCURRENCY=3 uvicorn c:d"),
        ("./web", "command: gunicorn e:f", "WEB_CONCURRENCY=3 gunicorn e:f"),
        ("./web", "network_mode: host", None),
        ("./nowhere", "", None),
        ("../..", "", None),
        ("./.hidden", "", None),
    ],
)
def test_a_service_without_a_command_has_that_of_its_dockerfile(build, more, text, tmp_path):
    """Of the stage that it builds, with the variables of the service; nothing outside is read."""
    for folder in ("web", ".hidden"):
        (tmp_path / folder).mkdir()
        stages = (
            "FROM x AS first\nCMD gunicorn a:b\nFROM x\nENV WEB_CONCURRENCY=2\nCMD uvicorn a:b\n"
        )
        (tmp_path / folder / "Dockerfile").write_text(stages)
    (tmp_path / "web" / "Other").write_text("FROM x\nCMD uvicorn c:d\n")
    path = tmp_path / "compose.yaml"
    path.write_text(COMPOSE.format(build=build, more=more))
    starts = sources.starts_of(path, path.read_text())
    assert [start.text for start in starts] == ([text] if text else [])
    around = [(start.surroundings.supervisor, start.surroundings.restarts) for start in starts]
    assert around == ([("compose", "always")] if text else [])
