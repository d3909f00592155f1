"""What users have reported of files of theirs, each in its shortest form."""

from __future__ import annotations

import json
import os
import re
from functools import partial
from pathlib import Path

import pytest

from lab.config import sources
from tests.kit import in_process

FLY = """\
kill_signal = "SIGTERM"
[processes]
  app = "gunicorn --bind {} --workers 3 shop.wsgi:application"
[http_service]
  internal_port = 8000
"""
SCRIPTS = """\
{"scripts": {"start:api": "uvicorn app.main:app --port 8000 --reload",
             "start": "uvicorn app.main:app --port 8001"}}
"""
UNIT = """\
[Service]
EnvironmentFile=/etc/shop.env
ExecStart=/usr/bin/granian --host 127.0.0.1 shop:app
"""
SERVICES = """\
services:
  shop:
    env_file: .env
    command: granian --host 0.0.0.0 shop:app
  other:
    command: granian --host 0.0.0.0 other:app
"""
POD = """\
kind: Pod
spec:
  containers:
  - name: shop
    envFrom: [{configMapRef: {name: shop}}]
    command: [granian, --host, 0.0.0.0, shop:app]
"""


@pytest.fixture
def lint(tmp_path, monkeypatch, capsys):
    """Return a function that lints in an empty folder: exit status, output, errors."""
    monkeypatch.chdir(tmp_path)
    sources.starts_of.cache_clear()  # a process reads a file once, with the scripts that it starts
    return partial(in_process.lab, monkeypatch, capsys, "lint")


def test_on_fly_a_server_is_in_a_container(lint):
    """It was told to bind to 127.0.0.1, and then nothing was found."""
    Path("fly.toml").write_text(FLY.format("0.0.0.0:8000"))
    code, out, _ = lint("fly.toml")
    assert code == 0, out
    assert "127.0.0.1" not in lint("fly.toml", "--all", "--select", "GU019")[1]
    Path("fly.toml").write_text(FLY.format("127.0.0.1:8000"))
    assert "ST005 dangerous" in lint("fly.toml")[1]


def test_hypercorn_has_no_option_that_is_called_as_in_its_files(lint):
    """--worker_class is none, though worker_class is a setting."""
    words = "hypercorn --bind 127.0.0.1:5000 --worker_class asyncio app:app"
    code, out, _ = lint(words)
    assert code == 1
    assert "HC002 error  --worker_class: " in out
    assert "write --worker-class" in out


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("start.sh", "#!/bin/sh\nexec granian shop:app\n"),
        ("shop.service", UNIT),
        ("compose.yaml:shop", SERVICES),
        ("pod.yaml", POD),
    ],
)
def test_granians_interface_may_be_set_elsewhere(lint, name, text):
    """In the image that has the script, or in a file that is not here."""
    Path(name.partition(":")[0]).write_text(text)
    out = lint(name, "--all", "--select", "GR001")[1]
    assert "GR001 remark" in out
    assert "unless GRANIAN_INTERFACE is set" in out


def test_granians_interface_is_missing_where_only_another_service_has_a_file(lint):
    """What `env_file` of one service names, the others do not get."""
    Path("compose.yaml").write_text(SERVICES)
    assert "GR001 error" in lint("compose.yaml:other", "--select", "GR001")[1]


def test_an_option_that_is_a_variable_is_not_called_unknown(lint):
    """Which it is only the shell knows."""
    Path("start.sh").write_text('#!/bin/sh\nexec uwsgi "--${MODE}" :3031 --module app:app\n')
    code, _, errors = lint("start.sh")
    assert code == 2
    assert "which option this is depends on a variable" in errors


@pytest.mark.parametrize("name", ["package.json", "package.json:start:api"])
def test_a_script_of_npm_may_have_a_colon(lint, name):
    """`start:api` and its like are common."""
    Path("package.json").write_text(SCRIPTS)
    code, out, errors = lint(name)
    assert (code, errors) == (1, "")
    assert "UV005 dangerous  start:api: --reload" in out


def test_threads_do_nothing_for_greenlets(lint):
    """Only gthread reads them."""
    Path("gunicorn.conf.py").write_text('worker_class = "gevent"\nthreads = 16\nkeepalive = 75\n')
    assert "GU023 no effect  threads = 16: " in lint("gunicorn.conf.py")[1]


def test_other_lines_have_the_names_of_other_settings(lint):
    """Of `keep_alive ...; write keep_alive_timeout; the same in line 2` the second was another."""
    Path("hypercorn.toml").write_text('keep_alive = 5\nlog_level = "info"\nbind = "127.0.0.1:1"\n')
    out = lint("hypercorn.toml")[1]
    assert "write keep_alive_timeout; also in line 2 (log_level)" in out


def test_a_path_through_the_folder_above_is_named_from_here(lint, tmp_path):
    """A compose file in a folder builds the folder above, and that has the file here."""
    (tmp_path / "docker").mkdir()
    os.chdir("docker")
    Path("uwsgi.ini").write_text("[uwsgi]\nprocesses = 4\nmodule = a:b\nhttp-socket = :80\n")
    code, out, _ = lint("../docker/uwsgi.ini")
    assert code == 1
    assert out.startswith("uwsgi.ini:")


MISSING = [
    ("gunicorn -c /opt/shop/gunicorn.py -k nope shop:app", "GU009 error"),
    ("hypercorn -c /opt/shop/hypercorn.toml --worker_class asyncio shop:app", "HC002 error"),
    ("uwsgi --ini /opt/shop/uwsgi.ini --http-keepalive=true", "UW201 no effect"),
]


@pytest.mark.parametrize(("command", "finding"), MISSING)
def test_a_file_of_a_start_command_that_is_not_here_hides_only_what_it_may_set(
    lint, command, finding
):
    """It lies on the server; what the command sets is judged all the same."""
    Path("shop.service").write_text(f"[Service]\nExecStart=/venv/bin/{command}\n")
    code, out, _ = lint("shop.service")
    assert code == 1
    assert re.findall(r"[A-Z]{2}\d{3} [a-z ]+?(?=  )", out) == [finding, "UW901 remark"]
    assert "which could not be read" in out


@pytest.mark.parametrize(
    ("words", "codes"),
    [
        ("--http :80 --http-keepalive", set()),
        ("--socket /run/a.sock --chmod-socket", {"UW404"}),
        ("-s /run/a.sock -C666", {"UW404"}),
        ("--http :80 --process 4", {"UW301"}),
    ],
)
def test_words_of_uwsgis_command_are_read_as_getopt_reads_them(lint, words, codes):
    """Letters, the beginning of one option's name, and options that need no value."""
    out = lint(f"uwsgi {words}", "--all", "--select", "UW114,UW201,UW301,UW404")[1]
    assert set(re.findall(r"UW\d{3}", out)) == codes


@pytest.mark.parametrize(
    ("name", "text", "dollars"),
    [
        ("compose.yaml", "services:\n  web:\n    command: uwsgi --http :80 -w a:b\n", "$$"),
        ("shop.service", "[Service]\nExecStart=uwsgi --http :80 -w a:b\n", "$$"),
        ("supervisord.conf", "[program:shop]\ncommand = uwsgi --http :80 -w a:b\n", "$"),
    ],
)
def test_a_variable_of_uwsgi_in_advice_is_safe_from_the_file_that_has_the_command(
    lint, name, text, dollars
):
    """Compose and systemd replace ${NAME}, so that the action of UW408 never ran."""
    Path(name).write_text(text)
    out = lint(name, "--all", "--select", "UW408")[1]
    assert f"'regexp:{dollars}{{HTTP_X_FORWARDED_PROTO}}" in out


def test_a_variable_of_an_older_granian_is_that_of_todays_option(lint):
    """It was to become GRANIAN_RELOAD; and a default in braces may be no."""
    out = lint(
        "GRANIAN_THREADS=1 GRANIAN_RELOAD=${R:-false} granian --interface asgi a:b", "--all"
    )[1]
    assert "write GRANIAN_RUNTIME_THREADS" in out
    assert "GR009" not in out


def test_an_unknown_address_is_no_unix_socket(lint):
    """Of UW404, which is dangerous."""
    Path("a.ini").write_text("[uwsgi]\nmodule = a\nhttp = ${ADDRESS}\nchmod-socket = 666\n")
    assert "UW404" not in lint("a.ini", "--all")[1]


@pytest.mark.parametrize(
    "command",
    [
        "gunicorn ${GUNICORN_OPTS:- --workers 4 --timeout 180} shop:app",
        "uvicorn --port {{ port }} shop:app",
    ],
)
def test_what_a_shell_or_a_template_fills_in_is_one_word(lint, command):
    """The brace at its end was read as a part of the last option's value."""
    Path("start.sh").write_text(f"#!/bin/sh\nexec {command}\n")
    code, out, _ = lint("start.sh")
    assert code == 0, out


IMAGE = """\
FROM python:3.12-slim
WORKDIR /app
COPY . .
COPY docker/start.sh /usr/local/bin/start
{}
"""


@pytest.mark.parametrize(
    "lines",
    ['CMD ["start"]', 'ENTRYPOINT ["/app/docker/start.sh"]', "CMD exec sh docker/start.sh web"],
)
@pytest.mark.parametrize(("word", "codes"), [("", ["GU009", "ST001"]), ("exec ", ["GU009"])])
def test_a_script_that_an_image_starts_is_read(lint, lines, word, codes):
    """Most images have one; without exec it holds back what stops the server."""
    Path("docker").mkdir()
    script = "#!/bin/sh\nset -e\ncd /app\npython manage.py migrate\n"
    Path("docker/start.sh").write_text(f"{script}{word}gunicorn -k nope shop:app\n")
    Path("Dockerfile").write_text(IMAGE.format(lines))
    out = lint("Dockerfile", "--select", "GU009,ST001")[1]
    assert re.findall(r"^docker/start.sh:5:\d+ +(\w+)", out, re.MULTILINE) == codes


def test_a_script_starts_the_server_behind_it_and_not_its_others(lint):
    """It ends with exec "$@"."""
    Path("boot").write_text('#!/bin/sh\n[ -z "$DEBUG" ] || exec uvicorn --reload a:b\nexec "$@"\n')
    Path("Dockerfile").write_text(
        'FROM python\nCOPY boot /\nENTRYPOINT ["/boot"]\nCMD ["gunicorn", "a:b"]\n'
    )
    assert "--reload" not in lint("Dockerfile", "--all")[1]


@pytest.mark.parametrize("calls", ["./b.sh\n./b.sh\n" * 40, "./a.sh\n./a.sh\n" * 40])
def test_scripts_that_start_each_other_are_read_once(lint, calls):
    """Forty calls in both would be read for days."""
    for name in ("a.sh", "b.sh"):
        Path(name).write_text(f"#!/bin/sh\n./c.sh\n{calls}./a.sh\nexec gunicorn -k nope a:b\n")
    Path("Procfile").write_text("web: ./a.sh\n")
    assert "GU009" in lint("Procfile")[1]


def test_a_script_outside_of_the_project_is_not_read(lint, tmp_path):
    """Its lines may have secrets, and a finding quotes them."""
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "start.sh").write_text("#!/bin/sh\nexec gunicorn -k nope a:b\n")
    os.chdir(inside)
    Path("link.sh").symlink_to("../start.sh")
    Path("Procfile").write_text("web: ../start.sh\nother: ./link.sh\n")
    assert "GU009" not in lint("Procfile")[1]


def test_a_file_that_a_start_command_names_is_not_checked_alone(lint):
    """`lint .` said of the ini alone what `lint Dockerfile` knew better."""
    Path("uwsgi.ini").write_text("[uwsgi]\nhttp = :8000\nmodule = a:b\nprocesses = 4\n")
    Path("start.sh").write_text("#!/bin/sh\nexec uwsgi --ini uwsgi.ini --master\n")
    Path("Dockerfile").write_text('FROM python\nCOPY . /app\nWORKDIR /app\nCMD ["./start.sh"]\n')

    def messages(name):
        return [
            finding["message"] for finding in json.loads(lint(name, "--all", "--format", "json")[1])
        ]

    assert messages(".") == messages("Dockerfile")


def test_a_python_file_of_hypercorn_is_not_taken_for_gunicorns(lint):
    """It has a worker class that gunicorn does not have."""
    Path("hypercorn.py").write_text('bind = "127.0.0.1:8000"\nworker_class = "asyncio"\n')
    assert lint("hypercorn.py")[0] == 0


STOPPED = {
    "shop.service": "[Service]\nTimeoutStopSec=1min 5s\nExecStart={}\n",
    "supervisord.conf": "[program:a]\ncommand={}\nstopwaitsecs=65\n",
    "compose.yaml": "services:\n  a:\n    stop_grace_period: 1m5s\n    command: {}\n",
    "pod.yaml": "kind: Pod\nspec:\n  terminationGracePeriodSeconds: 65\n  containers:\n"
    "  - args: [sh, -c, 'exec {}']\n",
    "fly.toml": 'kill_signal = "SIGTERM"\nkill_timeout = "65s"\n[processes]\nweb = "{}"\n',
    "render.yaml": "services:\n- startCommand: {}\n  maxShutdownDelaySeconds: 65\n",
}


@pytest.mark.parametrize("name", STOPPED)
@pytest.mark.parametrize(
    ("command", "severity"),
    [
        ("gunicorn --graceful-timeout 66 a:b", "dangerous"),
        ("gunicorn --graceful-timeout 65 a:b", ""),
        ("gunicorn a:b", ""),
        ("hypercorn --graceful-timeout 90 a:b", "dangerous"),
        ("uwsgi --worker-reload-mercy 90 --http :80 -w a", ""),
    ],
)
def test_a_stop_may_not_take_longer_than_the_platform_waits(lint, name, command, severity):
    """ST013: whatever the file calls that time."""
    Path(name).write_text(STOPPED[name].format(command))
    out = lint(name, "--all", "--select", "ST013")[1]
    assert re.findall(r"ST013 (\w+) ", out) == [severity] * bool(severity)


@pytest.mark.parametrize(
    ("name", "limit"), [("compose.yaml", "8 s"), ("fly.toml", "4 s"), ("shop.service", None)]
)
def test_a_suggested_limit_ends_before_the_platforms_default(lint, name, limit):
    """ST009 suggested 20 s, where compose kills after 10 s, and Fly after 5 s."""
    text = re.sub(r".*(stop_grace|kill_timeout|TimeoutStop).*\n", "", STOPPED[name])
    Path(name).write_text(text.format("uvicorn --host 0.0.0.0 a:b"))
    out = lint(name, "--all", "--select", "ST009")[1]
    assert re.findall(r"such as (.*)", out) == [limit] * bool(limit)
    Path(name).write_text(text.format("gunicorn --bind 0.0.0.0:8000 a:b"))
    assert ("ST013 remark" in lint(name, "--all")[1]) is bool(limit)


@pytest.mark.parametrize("time", ["9" * 4000, "1" * 9000 + "!", "1e999", "{{ time }}", "-1"])
def test_a_stop_time_that_makes_no_sense_is_passed_over(lint, time):
    """None may end the linter, or hold it up."""
    text = STOPPED["compose.yaml"].replace("1m5s", f'"{time}"')
    Path("compose.yaml").write_text(text.format("uvicorn --host 0.0.0.0 a:b"))
    assert "such as 20 s" in lint("compose.yaml", "--all", "--select", "ST009")[1]


SLIM = "FROM python:3.12-slim\nWORKDIR /app\nCOPY . .\n"
SERVER = "gunicorn --worker-tmp-dir /dev/shm -b 0.0.0.0:8000 -k gthread --keep-alive 75 a.wsgi"


@pytest.fixture
def lint_image(lint):
    """Return a function that lints an image whose start.sh has a text: as `lint` does."""

    def linted(text, start='CMD ["/app/start.sh"]', *options):
        Path("start.sh").write_text(f"#!/bin/bash\n{text}\n")
        Path("Dockerfile").write_text(f"{SLIM}{start}\n")
        sources.starts_of.cache_clear()
        return lint("Dockerfile", *options)

    return linted


@pytest.mark.parametrize(
    "text", [f"exec {SERVER} > /proc/1/fd/1 2>/proc/1/fd/2", f"/proc/1/cwd/x.sh\nexec {SERVER}"]
)
def test_a_file_of_the_kernel_in_a_script_is_not_tried(lint_image, text):
    """Anybody but root may not even look, and the linter ended with a traceback."""
    assert lint_image(text)[0] == 0


@pytest.mark.parametrize("value", ["${GT:-5}", "$GT", "'{{ gt }}'"])
def test_a_stop_time_that_is_a_variable_is_unknown(lint, value):
    """It was taken for gunicorn's default, as of a dangerous finding."""
    Path("compose.yaml").write_text(
        f"services:\n  a:\n    command: {SERVER} --graceful-timeout {value}\n"
    )
    assert "ST013" not in lint("compose.yaml", "--all")[1]


@pytest.mark.parametrize(
    "pattern", ["gunicorn|uvicorn)", "gunicorn | web)", "'asgi' | 'uvicorn' | 'http')", "(uwsgi)"]
)
def test_a_pattern_of_case_is_no_command(lint_image, pattern):
    """`gunicorn|uvicorn)` was two servers."""
    code, out, errors = lint_image(f'case "$1" in\n  {pattern}\n    exec {SERVER} ;;\nesac')
    assert (code, errors) == (0, ""), out


def test_an_error_in_a_script_names_the_script(lint_image):
    """It named the Dockerfile, with a line that it does not have."""
    code, _, errors = lint_image("set -e\n\n\n\nexec daphne a:b")
    assert code == 2
    assert errors.startswith("lab: start.sh:6: ")


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        (SERVER, "write exec before the command"),
        (f"{SERVER} &\nwait", "or pass the signal on with trap and wait"),
        (f"exec {SERVER} &\nsleep 9", "or pass the signal on with trap and wait"),
        (f"trap 'kill 0' TERM\n{SERVER}", "write exec before the command"),
        (f"exec {SERVER}", ""),
        (f"trap 'kill $!' TERM\n{SERVER} &\nwait", ""),
    ],
)
def test_whether_a_script_passes_a_stop_on(lint_image, text, advice):
    """ST001: a shell runs a trap when the command in the foreground has ended."""
    code, out, _ = lint_image(text)
    assert (code, "ST001" in out) == (int(bool(advice)), bool(advice))
    assert not advice or out.splitlines()[0].endswith(advice)


def test_a_script_that_waits_for_another_is_named(lint_image):
    """The other has its exec, and yet the first stays."""
    Path("inner.sh").write_text(f"#!/bin/sh\nexec {SERVER}\n")
    out = lint_image("cd /app\n./inner.sh")[1]
    assert re.search(r"^inner.sh:2:\d+ +ST001 .* in line 3 of start.sh$", out, re.MULTILINE)
    assert lint_image("cd /app\nexec ./inner.sh")[0] == 0


@pytest.mark.parametrize(
    ("lines", "is_reported"), [("", True), ('ENTRYPOINT ["/tini", "--"]\n', False)]
)
def test_a_script_that_compose_starts_in_an_image_is_judged(lint, lines, is_reported):
    """ST001: unless an ENTRYPOINT stands before it."""
    Path("start.sh").write_text(f"#!/bin/sh\n{SERVER}\n")
    Path("Dockerfile").write_text(SLIM + lines)
    Path("compose.yaml").write_text("services:\n  a:\n    build: .\n    command: sh ./start.sh\n")
    assert ("ST001" in lint("compose.yaml")[1]) is is_reported


@pytest.mark.parametrize("beside", ["extends", "override"])
def test_a_stop_time_of_compose_may_stand_in_another_file(lint, beside):
    """`extends` and compose.override.yaml were passed over."""
    extends = "    extends: {file: base.yaml, service: a}\n" * (beside == "extends")
    Path("compose.yaml").write_text(f"services:\n  a:\n{extends}    command: {SERVER}\n")
    if beside == "override":
        Path("compose.override.yaml").write_text("services:\n  a:\n    stop_grace_period: 60s\n")
    assert "ST013" not in lint("compose.yaml", "--all")[1]


def test_a_last_stage_that_is_no_server_is_not_called_for_development(lint):
    """Such as one for a queue, or for AWS Lambda."""
    stages = 'FROM python AS served\nCMD ["uvicorn", "a:b"]\nFROM python AS jobs\nCMD ["celery"]\n'
    Path("Dockerfile").write_text(stages)
    code, _, errors = lint("Dockerfile")
    assert code == 2
    assert "starts no server by default: name Dockerfile:served" in errors


def test_a_folder_and_its_dockerfile_say_the_same_of_an_ini(lint):
    """`lint .` called it dangerous, as for another machine; and alone it has the fix."""
    Path("uwsgi.ini").write_text("[uwsgi]\nhttp-socket = 0.0.0.0:80\nmodule = a:b\nthreads = 2\n")
    Path("Dockerfile").write_text(f'{SLIM}CMD ["uwsgi", "uwsgi.ini"]\n')
    in_image, everywhere = (
        json.loads(lint(name, "--all", "--format", "json")[1]) for name in ("Dockerfile", ".")
    )
    keys = ("code", "severity", "message")
    assert [[one[key] for key in keys] for one in in_image] == [
        [one[key] for key in keys] for one in everywhere
    ]
    assert any(one["fix"] for one in everywhere)


@pytest.mark.parametrize("trusted", [(), ("--trusted",)])
@pytest.mark.parametrize("option", ["uwsgi --ini {}.ini", "gunicorn -c {}.py a:b", "ini"])
def test_a_file_that_may_not_be_looked_at_is_no_crash(lint, option, trusted):
    """Such as one in a folder of root: Python's Path raises there."""
    Path("a.ini").write_text("[uwsgi]\nhttp = :80\nmodule = a:b\nini = /proc/1/cwd/a.ini\n")
    name = "a.ini" if option == "ini" else option.format("/proc/1/cwd/a")
    assert "Traceback" not in "".join(map(str, lint(name, *trusted)))


def test_a_file_that_gunicorn_reads_by_itself_is_not_judged_twice(lint):
    """GU006 stood at the command, and at the file that it did not name."""
    Path("gunicorn.conf.py").write_text("workers = 3\n")
    Path("Dockerfile").write_text(SLIM + 'CMD ["gunicorn", "-b", "0.0.0.0:80", "a:b"]\n')
    out = lint(".", "--all")[1]
    assert re.findall(r"^(\S+) +GU006", out, re.MULTILINE) == ["Dockerfile:4:7"]


@pytest.mark.parametrize(
    ("text", "is_reported"),
    [('set -e\n"$@"', True), ('set -e\nexec "$@"', False), ("trap x TERM\n$@ &\nwait", False)],
)
def test_whether_a_script_becomes_the_command_behind_it(lint_image, text, is_reported):
    """ST001: of an ENTRYPOINT that ends with "$@"."""
    words = ", ".join(f'"{word}"' for word in SERVER.split())
    start = f'ENTRYPOINT ["/app/start.sh"]\nCMD [{words}]'
    out = lint_image(text, start)[1]
    place = re.search(r"^Dockerfile:5:.* ST001 .*in line 3 of start.sh$", out, re.MULTILINE)
    assert bool(place) is is_reported


def test_a_command_that_a_script_does_not_start_is_not_judged(lint_image):
    """It was an error that the container never comes to."""
    start = 'ENTRYPOINT ["/app/start.sh"]\nCMD ["gunicorn", "--bogus", "a:b"]'
    assert lint_image(f"exec {SERVER}", start)[0] == 0
    assert lint_image('exec "$@"', start)[0] == 1


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f'CMD ["{SERVER}"]', 1),
        (f'ENTRYPOINT ["{SERVER}"]', 1),
        (f'ENTRYPOINT ["sh", "-c"]\nCMD ["exec {SERVER}"]', 0),
        (f'ENTRYPOINT ["./start.sh"]\nCMD ["{SERVER}"]', 0),
    ],
)
def test_a_command_in_one_string_is_reported(lint, text, code):
    """ST014; a script of ENTRYPOINT that is not here may take it apart."""
    Path("Dockerfile").write_text(f"{SLIM}{text}\n")
    assert lint("Dockerfile", "--select", "ST014,GR001,GU014")[0] == code


def test_a_command_in_one_string_is_reported_in_other_files(lint):
    """Of compose and Kubernetes."""
    Path("compose.yaml").write_text(
        f'services:\n  a:\n    image: "python:3.12"\n    command: ["{SERVER}"]\n'
    )
    Path("pod.yaml").write_text(
        f'kind: Pod\nspec:\n  containers:\n  - name: a\n    command: ["{SERVER}"]\n'
    )
    for name in ("compose.yaml", "pod.yaml"):
        assert " ST014 error " in lint(name, "--select", "ST014")[1]


@pytest.mark.parametrize(
    ("text", "code"), [("worker_clas = 1", "GU001"), ("workers = 2\nworkers = 3", "GU017")]
)
def test_the_names_of_a_file_are_judged_that_a_command_reads(lint, text, code):
    """With the command they were passed over, so `lint .` said nothing of them."""
    Path("gunicorn.conf.py").write_text(f"threads = 2\n{text}\n")
    Path("Dockerfile").write_text(SLIM + 'CMD ["gunicorn", "-b", "0.0.0.0:80", "a:b"]\n')
    for name, is_fixable in (("Dockerfile", False), (".", True)):
        (line,) = re.findall(rf"^gunicorn.conf.py:2:1 +{code} .*", lint(name)[1], re.MULTILINE)
        assert ("--fix" in line) is is_fixable


def test_a_folder_that_a_subshell_enters_is_its_own(lint):
    """The gunicorn.conf.py of another folder is not read."""
    Path("shop").mkdir()
    Path("shop/gunicorn.conf.py").write_text("worker = 4\n")
    Path("start.sh").write_text(f"#!/bin/sh\n(cd shop && ls)\nexec {SERVER}\n")
    assert lint("start.sh")[0] == 0
    Path("start.sh").write_text(f"#!/bin/sh\n(cd shop && {SERVER})\n")
    assert "shop/gunicorn.conf.py:1:1  GU001" in lint("start.sh")[1]


def test_a_configuration_that_is_named_as_a_module_is_read(lint):
    """`-c python:config.gunicorn` names config/gunicorn.py, if that is here."""
    Path("config").mkdir()
    command = f"gunicorn -c python:config.gunicorn {SERVER.removeprefix('gunicorn')}"
    assert "is a module, config/gunicorn.py does not exist here" in lint(command)[2]
    Path("config/gunicorn.py").write_text("worker = 4\n")
    assert "config/gunicorn.py:1:1  GU001" in lint(command, "--all")[1]
