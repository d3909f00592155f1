"""
Every command of the documentation, and what runs it: a new one fails until it is in a table here.

`tests/test_docs.py` runs by itself what `how` names, in a small form where the whole takes minutes,
so those need no entry. Of every other command ELSEWHERE says which test runs it, or NOT_RUN why
none does. An entry is the command as it stands on the page, without its comment.
"""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Iterator
from itertools import dropwhile
from pathlib import Path
from typing import Any

import yaml

from tests.kit.lab_process import ROOT

PAGES = tuple(sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")} - {ROOT / "CHANGELOG.md"}))

ELSEWHERE = {
    "tests/ab/test_ab.py::test_two_commits_are_served_in_one_run": (
        (
            ".venv/bin/lab ab $(git merge-base main HEAD) HEAD --config deploy/uwsgi.ini "
            "--path /items/3 --fail-if 'cpu > 1.10'"
        ),
    ),
    "tests/deploy/test_cluster.py::test_the_manifest_starts_the_service": (
        "kubectl apply -f deploy/kubernetes.yaml",
    ),
    "tests/deploy/test_cluster.py::test_no_get_is_lost": (
        "kubectl set image deployment/fibonacci a=fibonacci:next b=fibonacci:next",
        "kubectl rollout status deployment/fibonacci",
    ),
    "tests/deploy/test_cluster.py::test_a_mistake_is_shown_and_costs_nothing": (
        "kubectl rollout undo deployment/fibonacci",
    ),
    "tests/deploy/test_cluster.py::test_locust_loads_the_service": (
        "kubectl apply -f deploy/kubernetes-load.yaml",
    ),
    "tests/deploy/test_cluster.py::test_profiles_are_compared_on_the_cluster": (
        "kubectl apply -f deploy/kubernetes-compare.yaml",
        "kubectl logs --follow job/lab",
    ),
    "tests/deploy/test_docker.py::test_an_image_is_built": (
        "docker build -t fibonacci .",
        "docker build -t fibonacci:0.2.0 .",
        "docker build -t fibonacci-nginx:0.2.0 -f deploy/nginx.Dockerfile .",
        "docker build -t fibonacci-locust:0.2.0 -f deploy/locust.Dockerfile .",
        "docker build -t fibonacci-lab:0.2.0 -f deploy/lab.Dockerfile .",
    ),
    "tests/deploy/test_docker.py::test_the_image_serves_by_itself": (
        "docker run --rm -p 127.0.0.1:8080:8080 --read-only --cap-drop ALL --tmpfs /tmp fibonacci",
    ),
    "tests/deploy/test_docker.py::test_compose_starts_the_stack": (
        "docker compose up --build --detach --wait",
    ),
    "tests/deploy/test_docker.py::test_new_code_loses_no_get": (
        "docker compose up --detach --no-deps --no-recreate --wait app-a app-b",
        "docker compose build app-a app-b nginx",
        "docker compose up --detach --no-deps --wait app-a",
        "docker compose up --detach --no-deps --wait app-b",
        "docker compose up --detach --no-deps --wait nginx",
    ),
    "tests/deploy/test_installed.py::test_it_lints_by_either_name": (
        "pipx install git+https://github.com/YOU/uwsgi-fibonacci-lab",
        "uvx git+https://github.com/YOU/uwsgi-fibonacci-lab lint uwsgi.ini",
    ),
    "tests/deploy/test_make.py::test_what_make_compare_is_told_reaches_the_lab": ("make compare",),
    "tests/deploy/test_setup.py::"
    "test_a_new_checkout_is_set_up_in_two_layers_whatever_interrupts_it": ("make setup",),
    "tests/test_docs.py::test_a_script_of_a_pipeline_ends_as_its_page_says": (
        "status=0",
        "case $status in",
        "0) ;;",
        '3) echo "warning: this machine was too noisy to tell" ;;',
        "*) exit $status ;;",
        "esac",
    ),
    "tests/servers/test_containers.py::"
    "test_a_variable_of_the_container_is_an_option_as_in_the_container": (
        (
            ".venv/bin/lab run docker/uwsgi.ini --chdir . --env UWSGI_WORKERS=2 --drop uid "
            "--drop gid --path /"
        ),
    ),
    "tests/servers/test_profiles_run.py::test_without_the_lab": (
        ".venv/bin/uwsgi profiles/tuned.ini",
    ),
    "tests/servers/test_profiles_run.py::test_profile": (".venv/bin/uwsgi profiles/baseline.ini",),
    "tests/locust/test_web.py::test_the_page_follows_the_run": (".venv/bin/locust -f loadtests/",),
    "tests/locust/test_compare.py::test_a_running_server_is_loaded_when_only_a_host_is_given": (
        ".venv/bin/locust -f loadtests/ --headless -H http://127.0.0.1:8080 -t 10s",
    ),
    "tests/faults/test_restart.py::test_a_rolling_restart_loses_nothing": (
        "SOCKET=/run/fibonacci/a.sock .venv/bin/fibonacci serve production",
        "SOCKET=/run/fibonacci/b.sock .venv/bin/fibonacci serve production",
        "nginx -c $PWD/profiles/production.nginx.conf -g 'daemon off;'",
    ),
    "tests/ab/test_count.py::test_what_a_request_takes_is_counted": (
        (
            ".venv/bin/lab ab $(git merge-base main HEAD) HEAD --app shop.wsgi:application "
            "--path /items/3 --count --fail-if 'instructions > 1.02'"
        ),
    ),
    "tests/ab/test_noise.py::test_the_noise_of_this_machine_is_measured": (
        ".venv/bin/lab check --noise 3m",
    ),
    "tests/watch/test_command.py::test_the_text_has_seconds_and_an_end": (
        ".venv/bin/lab watch 8000",
        ".venv/bin/lab watch 8000 --for 60s",
        ".venv/bin/lab watch pid:4711",
        ".venv/bin/lab watch shop.service",
    ),
    "tests/watch/test_command.py::test_a_tune_takes_what_is_in_flight": (
        ".venv/bin/lab tune uwsgi.ini --path /items/3 --watch 8000",
    ),
    "tests/watch/test_servers.py::"
    "test_the_port_of_nginx_tells_what_a_unix_socket_behind_it_does_not": (
        ".venv/bin/lab watch 80",
    ),
    "tests/watch/test_servers.py::test_requests_on_a_unix_socket_are_those_that_the_test_holds": (
        ".venv/bin/lab watch /run/shop.sock",
    ),
    "tests/watch/test_command.py::test_prometheus_can_read_it": (
        (
            ".venv/bin/lab watch 8000 --for 50s --format prometheus "
            "> shop.new && mv shop.new /var/lib/node_exporter/shop.prom"
        ),
    ),
    "tests/studies/test_selftest.py::test_the_quick_form_passes_here": (
        ".venv/bin/lab selftest --quick",
    ),
    "tests/studies/test_selftest.py::test_planted_faults_are_found": (
        ".venv/bin/lab selftest --verbose",
    ),
    "tests/studies/test_bounds.py::test_the_ends_hold_here": (".venv/bin/lab selftest bounds",),
    "tests/app/test_instructions.py::test_the_default_path_costs_what_is_stored": (
        ".venv/bin/python studies/instructions.py",
    ),
    "tests/corpus/test_direct.py::test_the_published_table_lists_each_deviation": (
        ".venv/bin/python studies/malformed.py",
    ),
    "tests/corpus/test_mutations.py::test_on_http_socket_no_worker_dies": (
        ".venv/bin/python studies/malformed.py --mutations 200000",
    ),
    "tests/lint/test_first_change.py::test_the_first_change_of_contributing_works": (
        "printf '[uwsgi]\\nauto-procname = true\\n' > x.ini",
        ".venv/bin/lab lint --select UW32 x.ini",
    ),
    "tests/migrate/test_page.py::test_the_example_is_what_the_command_prints": (
        ".venv/bin/lab migrate uwsgi.ini --to gunicorn",
    ),
    "tests/tune/test_page.py::test_the_example_is_what_the_command_prints": (
        ".venv/bin/lab tune uwsgi.ini --dry-run",
    ),
    "tests/test_fastapi_tutorial.py::test_the_findings_are_what_the_command_prints": (
        ".venv/bin/lab lint Dockerfile",
    ),
    "tests/test_fastapi_tutorial.py::test_servers_are_compared": (
        (
            ".venv/bin/lab run ~/shop/Dockerfile uvicorn granian-asgi --python ~/shop/venv "
            "--path /items/3"
        ),
    ),
    "tests/test_fastapi_tutorial.py::test_a_dry_run_names_what_it_would_try": (
        ".venv/bin/lab tune ~/shop/Dockerfile --dry-run",
    ),
    "tests/tune/test_tune.py::test_a_tune_writes_what_it_proved": (
        ".venv/bin/lab tune uwsgi.ini --python ~/shop/venv --path /items/3",
    ),
    "tests/tune/test_tune.py::test_both_files_are_compared_elsewhere": (
        (".venv/bin/lab run uwsgi.ini uwsgi.tuned.ini --python ~/shop/venv --path /items/3"),
    ),
    "tests/tune/test_command.py::test_a_command_is_printed_whole": (
        (
            ".venv/bin/lab tune 'granian --interface wsgi --workers 4 shop.wsgi:application' "
            "--dry-run"
        ),
    ),
    "tests/migrate/test_measure.py::test_the_command_prints_the_table": (
        (
            ".venv/bin/lab migrate uwsgi.ini --to gunicorn --measure --path / --slow-path /report "
            "--quick-path /health"
        ),
    ),
    "tests/migrate/test_page.py::test_the_linter_finds_nothing_wrong_in_what_is_written": (
        ".venv/bin/lab lint gunicorn.conf.py",
    ),
    "tests/migrate/test_migrate.py::test_a_python_file_is_read_and_not_run": (
        ".venv/bin/lab migrate gunicorn.conf.py --to granian",
    ),
    "tests/migrate/test_migrate.py::test_a_command_is_read_as_a_file_is": (
        (
            ".venv/bin/lab migrate 'gunicorn -w 4 --threads 2 -b :8000 shop.wsgi:application' "
            "--to uwsgi"
        ),
    ),
    "tests/migrate/test_switch.py::test_no_request_is_lost_on_the_way_there_and_back": (
        "ln -sfn old.conf /etc/nginx/shop/now.conf && nginx -t && nginx -s reload",
        "ln -sfn both.conf /etc/nginx/shop/now.conf && nginx -t && nginx -s reload",
        "ln -sfn new.conf /etc/nginx/shop/now.conf && nginx -t && nginx -s reload",
        "ln -sfn old.conf /etc/nginx/shop/now.conf && nginx -s reload",
    ),
    "tests/lint/test_acting_files.py::test_no_command_of_a_file_is_run": (
        ".venv/bin/lab lint ~/shop/uwsgi.ini",
    ),
    "tests/test_cli_requests.py::test_a_body_is_posted_as_it_is_typed": (
        (
            ".venv/bin/lab run --app shop.wsgi:application --chdir ~/shop --path /cart "
            "--data '{\"item\": 3}' --header 'Content-Type: application/json' "
            "--cookie sessionid=3f9c --writes"
        ),
    ),
    "tests/corpus/test_bytes.py::test_every_byte": (".venv/bin/python studies/one_header.py",),
    "tests/servers/test_databases.py::test_a_database_is_there_for_a_run_alone": (
        '.venv/bin/python loadtests/backing/mongodb.py "$MONGODB_URL"',
    ),
    "tests/studies/articles/test_run.py::test_what_was_interrupted_goes_on_and_ends": (
        ".venv/bin/lab claims --run",
    ),
    "tests/scale/test_hosts.py::test_two_hosts_measure_one_server": (
        (
            ".venv/bin/locust -f loadtests/ --headless --master --master-bind-host 10.0.0.1 "
            "--expect-workers 2 --bind 10.0.0.1 --no-pin --profiles listen tuned -u 64"
        ),
        ".venv/bin/locust -f loadtests/ --worker --master-host 10.0.0.1",
    ),
    "tests/test_framework.py::test_two_builds_are_the_same": ("make framework",),
    "tests/studies/test_results.py::test_their_own_tests_pass_as_without_it": (
        "make test-framework",
    ),
}
"""Test -> the commands whose work it does, with other numbers and addresses where those differ."""

NOT_RUN = {
    "it slows the machine down; make test-slowed runs its like": (
        "sudo .venv/bin/lab run baseline processes-threads --server-share 25%",
    ),
    "it needs root, Debian and a quarter of an hour": ("make free-threaded",),
    "it measures for minutes; tests/studies/judges records some blocks, counts and judges": (
        ".venv/bin/python -m studies.judges record --mood quiet --minutes 5",
        ".venv/bin/python -m studies.judges count",
        ".venv/bin/python -m studies.judges judge",
    ),
    "it measures for ten minutes; tests/tune has its changes, and whole runs of other servers": (
        ".venv/bin/lab tune ~/shop/Dockerfile --python ~/shop/venv --path /items/3",
    ),
    "it needs the address of this repository": (
        "git clone https://github.com/YOU/uwsgi-fibonacci-lab lab && cd lab",
    ),
    "it needs a network; tests/deploy/test_databases.py has an apt-get of its own": (
        "make peers databases",
    ),
    "it needs what that gets; tests/servers/test_peers_run.py starts the servers and databases": (
        ".venv/bin/lab run tornado-asyncpg-connect tornado-asyncpg-pool --workload db",
        (
            ".venv/bin/lab run tornado-asyncpg-pool-in-turn tornado-asyncpg-connect --workload db "
            "--sweep connections=10,50,100,200,500 --blocks 3"
        ),
        (
            ".venv/bin/lab run tornado-asyncpg-pool-in-turn tornado-asyncpg-pool --workload db "
            "--connections 50"
        ),
    ),
    "it measures for minutes what `make framework` has made": (
        ".venv/bin/python studies/framework.py",
        ".venv/bin/python studies/framework.py modules",
    ),
    "it is about a rule that the reader writes": (
        ".venv/bin/python -m tools.pages",
        "make t F=tests/lint/test_findings.py",
    ),
    "it is about another clone and its interpreter": (
        "git clone . ../python3.13",
        "cd ../python3.13",
        "make setup PYTHON=python3.13",
        ".venv/bin/lab run tuned ./python3.13.toml ./python3-debian.toml",
        ".venv/bin/python -m sysconfig | grep CONFIG_ARGS",
    ),
    "it is about files of the reader's": (
        r"grep -rnE '^\s*(import|from) (uwsgi|uwsgidecorators)' --include='*.py' .",
        ".venv/bin/python studies/public_lint.py ~/configurations --collected 2026-11-23",
        (
            "WSGI_APP=shop.wsgi:application WSGI_CHDIR=/path/to/shop .venv/bin/uwsgi "
            "profiles/threads-64.ini"
        ),
    ),
    "it changes the machine, as root; tests/deploy/test_systemd.py tries the files in a folder": (
        "cd /opt/fibonacci/deploy/systemd",
        "sudo install -D -m 644 fibonacci.sysusers /etc/sysusers.d/fibonacci.conf",
        "sudo install -D -m 644 fibonacci.tmpfiles /etc/tmpfiles.d/fibonacci.conf",
        "sudo install -D -m 644 fibonacci.logrotate /etc/logrotate.d/fibonacci",
        (
            "sudo install -m 644 fibonacci@.service fibonacci-nginx.service fibonacci.target "
            "/etc/systemd/system/"
        ),
        "sudo systemd-sysusers",
        "sudo systemd-tmpfiles --create",
        "sudo systemctl daemon-reload",
        "sudo systemctl enable --now fibonacci.target",
    ),
    "it needs systemd as the first process; tests/faults/test_restart.py restarts without it": (
        "sudo systemctl restart fibonacci@a",
        "sudo systemctl restart fibonacci@b",
        "sudo systemctl reload fibonacci-nginx",
        "sudo systemctl stop 'fibonacci*'",
        "journalctl --unit 'fibonacci@*' --output cat",
    ),
}  # fmt: skip
"""Why -> the commands that no test runs."""

HERE = "127.0.0.1:8080", "localhost:8080"
"""Where a page's server answers."""


def commands(text: str) -> Iterator[str]:
    """
    Yield the commands in a page's fenced blocks.

    They are what stands after `$ ` in any block, and each line of a script, see `scripts`. A line
    that ends with a backslash goes on in the next.
    """
    typed = (
        line[2:] for _, body in _fences(text) for line in body.splitlines() if line[:2] == "$ "
    )
    for line in (*typed, *(line for script in scripts(text) for line in script.splitlines())):
        if command := re.split(r"(?:^|\s+)# ", line)[0].strip():
            yield " ".join(command.split())


def inline(text: str) -> Iterator[str]:
    """Yield the commands of the lab that stand within a sentence, as in `lab run tuned --quick`."""
    outside = re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)
    for command in re.findall(r"`((?:\.venv/bin/)?lab [^`]+)`", outside):
        yield " ".join(command.split())


def scripts(text: str) -> Iterator[str]:
    """Yield the blocks in sh or bash, and what stands in YAML at `run` and `script`."""
    for language, body in _fences(text):
        if language in ("yaml", "yml"):
            yield from _steps(yaml.safe_load_all(body))
        elif language in ("sh", "bash", "shell"):
            yield body


def _fences(text: str) -> Iterator[tuple[str, str]]:
    for fence in re.finditer(r"^ *```([\w-]*)[^\n]*\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE):
        yield fence[1], textwrap.dedent(fence[2]).replace("\\\n", " ")


def _steps(content: Any) -> Iterator[str]:
    """Yield the pieces of shell in the description of a pipeline."""
    if isinstance(content, dict):
        for key, value in content.items():
            if key in ("run", "script", "before_script", "after_script"):
                yield from [value] if isinstance(value, str) else value
            else:
                yield from _steps(value)
    elif not isinstance(content, str) and hasattr(content, "__iter__"):
        for part in content:
            yield from _steps(part)


def words_of(command: str) -> list[str]:
    """Return the words of a command, without the variables before it and what follows on it."""
    substituted = re.sub(r"\$\([^)]*\)", "SAID", command)  # what a shell puts there is one word
    words = [*dropwhile(re.compile("[A-Z_]+=").match, shlex.split(substituted))]
    ends = (n for n, word in enumerate(words) if word in ("||", "&&", "|", ">", ">>", ";"))
    return words[: next(ends, len(words))]


def how(command: str) -> str | None:
    """Return how `tests/test_docs.py` runs a command; None where it does not, or not all of it."""
    if command in listed() or {"&&", "|", ";"} & {*shlex.split(command)}:
        return None
    program, *words = words_of(command)
    name = Path(program).name
    if name == "lab":
        small = {"run": "compares", "stress": "stresses", "selftest": None}
        return small.get(words[0], "says")
    if name == "locust" and "--headless" in words:
        return None if {"-H", "--host"} & {*words} else "compares"
    if name == "curl" and any(address in command for address in HERE):
        return "asks"
    return None


def listed() -> list[str]:
    """Return the commands of both tables."""
    return [
        command for table in (ELSEWHERE, NOT_RUN) for some in table.values() for command in some
    ]


def unknown(text: str) -> list[str]:
    """Return the commands of a page of which nobody says what runs them."""
    return [
        command for command in commands(text) if how(command) is None and command not in listed()
    ]
