"""gunicorn.conf.py as production has it: names, values, blocks, encodings, and what fixes make."""

import ast

import pytest
from gunicorn.config import KNOWN_SETTINGS

from lab.config.configuration import Known
from lab.config.gunicorn import reader as gunicorn
from lab.errors import ProfileError
from lab.lint.flaw import Severity
from lab.lint.lint import lint
from lab.lint.rules.gunicorn_values import WANTED, refuses
from tests.kit.linting import found_by

VALUES = [
    None,
    True,
    0,
    3,
    -1,
    2.5,
    "",
    "3",
    " 3",
    "0x1f",
    "030",
    "thirty",
    "4x",
    "True",
    " false ",
]
VALUES += [
    "yes",
    [],
    ["a"],
    ["a", 1],
    ("a", None),
    {},
    {"a": "b"},
    "*",
    "10.0.0.1, *",
    "10.0.0.1/24",
]
VALUES += ["nginx", "a,b", "127.0.0.1,::1", 8000, b"a"]


def mended(path):
    """Return what unsafe fixes make of a file."""
    return lint(str(path), Known(), fixes="unsafe", container=False).config.texts[path]


@pytest.fixture
def conf(tmp_path):
    """Return a function that writes a gunicorn.conf.py."""
    path = tmp_path / "gunicorn.conf.py"

    def write(text):
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.mark.parametrize("kind", WANTED)
def test_the_table_takes_what_gunicorns_own_validator_takes(kind):
    """So that gunicorn need not be asked, of which a part imports what a file names."""
    kinds = gunicorn.carried()["validators"]
    name = next(name for name, validator_kind in kinds.items() if validator_kind == kind)
    validator = next(setting.validator for setting in KNOWN_SETTINGS if setting.name == name)

    def taken(value):
        try:
            validator(value)
        except (TypeError, ValueError):
            return False
        return True

    assert [refuses(name, value) is None for value in VALUES] == list(map(taken, VALUES))
    assert {taken(value) for value in VALUES} == {True, False}


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ('timeout = "thirty"', "write a whole number, 0 or more"),
        ('workers = "4x"', "write a whole number, 0 or more"),
        ("timeout = 30.0", "write 30"),
        ("timeout = None", "write a whole number, 0 or more"),
        ('umask = "022"', "write 0o22"),
        ('daemon = "yes"', "write True"),
        ("preload_app = 1", "write True"),
        ("accesslog = True", "write a string"),
        ("bind = 8000", "write a list of strings"),
        (
            'forwarded_allow_ips = ["10.0.0.1"]',
            'write one string of addresses, as in "10.0.0.1,10.',
        ),
        ('if True:\n    timeout = "thirty"', "write a whole number, 0 or more"),
        ('workers, timeout = 4, "30s"', "write a whole number, 0 or more"),
    ],
)
def test_what_gunicorn_refuses_is_told_with_what_it_takes(line, advice):
    """Of the type or of the text, wherever in the file it stands."""
    (flaw,) = found_by("GU013", line)
    assert advice in flaw.message


@pytest.mark.parametrize(
    "text",
    [
        'timeout = "30"',
        'workers = int("4")',
        'timeout = "thirty"\ntimeout = 30',
        'timeout = "30s"\ntimeout = int(timeout[:-1])',
        "workers, timeout = 4, 30",
        'def post_fork(server, worker):\n    timeout = "thirty"',
        'class Config:\n    timeout = "thirty"',
        'user = "nobody-here"\nchdir = "/not/here"',
        "limit_request_fields = 100\nlimit_request_field_size = 65536",
    ],
)
def test_what_gunicorn_takes_or_decides_by_the_machine_is_no_fault(text):
    """The last value counts, and what is a function's own is none."""
    assert not found_by("GU013", text)
    assert not found_by("GU014", text)


@pytest.mark.parametrize(
    ("code", "text", "advice"),
    [
        ("GU014", "limit_request_line = 0", "write 8190 at most"),
        ("GU014", "limit_request_fields = 0", "write 32768"),
        ("GU014", "limit_request_field_size = 0", "write 8190"),
        ("GU015", 'loglevel = "WARN"', 'write "warning"'),
        ("GU015", 'loglevel = "verbose"', "write one of debug, info"),
        ("GU016", 'bind = ["127.0.0.1:8000", "8080"]', 'write ":8080"'),
        ("GU016", 'bind = "http://0.0.0.0:8000"', 'write "HOST:PORT"'),
        ("GU016", 'bind = "/run/app.sock"', 'write "unix:/run/app.sock"'),
        ("GU016", 'bind = "0.0.0.0:$PORT"', "write 0 to 65535"),
        ("GU009", 'worker_class = "gaiohttp"', 'write "asgi"'),
        ("GU001", 'x_forwarded_for_header = "X"', "earlier versions had it; leave it out"),
        ("GU001", 'django_settings = "a.b"', 'write raw_env = ["DJANGO_SETTINGS_MODULE=..."]'),
        (
            "GU002",
            "keepalive = 5",
            '"gthread", unless the command line has --worker-class or --threads',
        ),
        (
            "GU004",
            "worker_connections = 9",
            "out, unless the command line has --worker-class or --th",
        ),
        ("GU009", 'worker_class = "gthreads"', 'write "gthread"'),
    ],
)
def test_what_means_something_else_is_told(code, text, advice):
    """With what to write."""
    (flaw,) = found_by(code, text)
    assert advice in flaw.message


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("GU009", 'worker_class = "uvicorn.workers.UvicornWorker"'),
        ("GU009", 'worker_class = "egg:meinheld#gunicorn_worker"'),
        ("GU012", 'forwarded_allow_ips = "*"\nbind = ["unix:/run/a.sock"]'),
        ("GU012", 'forwarded_allow_ips = "*"\nbind = f"unix:{folder}/a.sock"'),
        ("GU012", 'forwarded_allow_ips = "*"\nbind = "127.0.0.1:8000"'),
        ("GU015", 'loglevel = "warn"\nlogger_class = "site.Log"'),
        ("GU015", 'loglevel = "WARNING"'),
        ("GU015", "loglevel = None"),
        ("GU017", "workers = 4\nif small:\n    workers = 1"),
        ("GU017", "workers = 4\nthreads = workers\nworkers = 8"),
        ("GU017", "workers = 4\nworkers = int(env or workers)"),
        ("GU017", "name = 4\nname = 5"),
        ("GU016", 'bind = ["unix:/run/a.sock", "[::]:80", ":8080", "localhost", "fd://3"]'),
        ("GU001", "from multiprocessing import cpu_count\n\nclass Log:\n    worker = 4"),
    ],
)
def test_what_is_meant_so_is_not_found(code, text):
    """Where it cannot be known, a rule is silent."""
    assert not found_by(code, text)


@pytest.mark.parametrize(
    "function",
    [
        "def post_fork(server, worker):\n    worker.log.info(worker.pid)",
        "def when_ready(server):\n    worker = server.pid\n    print(worker)",
        "pre_request = lambda worker, req: worker.log.debug(req.path)",
        "names = [worker for worker in range(3)]\nprint(names)",
    ],
)
def test_a_name_of_a_functions_own_does_not_hide_an_unknown_one(function):
    """Only what reads the module's own name says that it is no setting."""
    (flaw,) = found_by("GU001", f"worker = 4\n\n{function}\n")
    assert flaw.message.endswith("; write workers")
    assert not found_by("GU001", "worker = 4\n\ndef when_ready(server):\n    print(worker)\n")


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("max_request = 10\nmax_requests = 9\nworkers = 1\n", "max_requests = 9\nworkers = 1\n"),
        ("worker = 2\nworkerss = 4\n", "workers = 2\n"),
        ("worker, threads = 2, 4\n", "workers, threads = 2, 4\n"),
        ("if a:\n    worker = 2\nelse:\n    worker = 4\n",
         "if a:\n    workers = 2\nelse:\n    workers = 4\n"),
        ("from base import *\nworker = 2\n", "from base import *\nworkers = 2\n"),
    ],
)  # fmt: skip
def test_a_name_that_is_mended_is_there_once(conf, text, after):
    """Of two that mean one setting the second is left out, or left to the reader."""
    assert mended(conf(text)) == after


@pytest.mark.parametrize(
    "text",
    [
        "if fast:\n    worker_connections = 10\n",
        "worker_connections = 10; workers = 4\n",
        "worker_connections = graceful_timeout = 10\n",
        "if fast:\n    keepalive = 5\n    timeout = 9\n",
        "keepalive = int(\n    '5'\n)\n",
        "max_requests = (\n    1000\n)\n",
        "worker_class = 'sync'\nkeepalive = 5\n",
        "max_requests = 1000\nmax_requests_jitter = 0\n",
        "worker_class = 'eventlet'\nworkers = 'a'\n",
        "bind = '''8000'''\n",
        "reload = True  # in a hurry\n",
        "worker_class = 'gevent'\nkeep_alive = 2\n",
        "max_requests = 1000\nmax_request_jitter = 100\n",
    ],
)
def test_what_is_mended_is_python_and_says_each_setting_once(conf, text):
    """No fix takes away the one line of a block, or puts another line into it."""
    names = [binding.name for binding in gunicorn.bindings(mended(conf(text)))]
    assert len(names) == len(set(names))


BOM = b"\xef\xbb\xbf"


def test_a_byte_order_mark_is_none_of_the_text(conf):
    """Python takes it, and so does gunicorn; it stays where it is, and no column counts it."""
    path = conf(BOM + b"worker = 4\r\ntimeout = '30s'\r\n")
    flaws = lint(str(path), Known(), select=("GU001", "GU013")).flaws
    assert [(flaw.code, flaw.spot.line, flaw.spot.column) for flaw in flaws] == [
        ("GU001", 1, 1),
        ("GU013", 2, 1),
    ]
    linted = lint(str(path), Known(), fixes="unsafe", container=False)
    list(linted.write([path]))
    assert path.read_bytes() == BOM + b"workers = 4\r\ntimeout = '30s'\r\n"


def test_the_comment_of_an_encoding_counts(conf):
    """A file of another encoding is read as Python reads it, and stays in it."""
    path = conf("# -*- coding: latin-1 -*-\nproc_name = 'café'; worker = 4\n".encode("latin-1"))
    (flaw,) = lint(str(path), Known(), select=("GU001",)).flaws
    assert (flaw.spot.line, flaw.spot.column) == (2, 21)
    list(lint(str(path), Known(), fixes="unsafe", select=("GU001",)).write([path]))
    assert "'café'; workers = 4".encode("latin-1") in path.read_bytes()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"proc_name = 'caf\xe9'\n", "is not Python: invalid or missing encoding"),
        (b"# coding: klingon\n", "is not Python: unknown encoding"),
        (b"workers = 4\0\n", "is not text"),
        (b"workers = 08\n", "1: is not Python: leading zeros"),
        (b"x = 1\nworkers = 1" + b"0" * 4400, "2: has a number of more than 4,300 digits"),
        (b"workers = 4\nreturn\n", "2: is not Python: 'return' outside function"),
    ],
)
def test_what_python_refuses_is_refused(conf, data, said):
    """In its words; but for its advice to its own programmers."""
    with pytest.raises(ProfileError, match=said):
        lint(str(conf(data)), Known())


def test_one_reader_says_what_a_module_sets():
    """Literals as they are; what is computed, or decided elsewhere, with its source."""
    text = (
        "from base import daemon\nworkers, threads = 2, 4\nbind = f'unix:{x}'\n"
        "if x:\n    timeout = 9\ndef on_exit(server):\n    backlog = 1\n"
    )
    assignments = gunicorn.assignments(text)
    assert assignments == {
        "daemon": "from base import daemon",
        "workers": 2,
        "threads": 4,
        "bind": ast.unparse(ast.parse("f'unix:{x}'")),
        "timeout": "9",
        "on_exit": "def on_exit",
    }
    assert [
        name for name, value in assignments.items() if isinstance(value, gunicorn.ComputedValue)
    ] == [
        "daemon",
        "bind",
        "timeout",
        "on_exit",
    ]
    assert gunicorn.hooks(text) == ("on_exit",)


@pytest.mark.parametrize(
    "later",
    [
        "for threads in [1]: pass",
        "(threads := 1)",
        "[threads := 1 for _ in (1,)]",
        "match 1:\n    case threads: pass",
        "with open('/dev/null') as threads: pass",
        "def set():\n    global threads\n    threads = 1\nset()",
        "globals()['threads'] = 1",
        "vars().update(threads=1)",
        "exec('threads = 1')",
        "def set():\n    globals()['threads'] = 1\nset()",
        "del threads",
    ],
)
def test_what_is_bound_again_in_another_way_is_not_known(later):
    """Nothing is said of workers that the file may not have."""
    text = f'worker_class = "sync"\nthreads = 4\n{later}'
    alike = 'worker_class = "sync"\nthreads = 4\nx = [threads for threads in (1,)]'
    assert found_by("GU003", alike)
    assert not found_by("GU003", text)


def test_sync_workers_behind_a_containers_port_are_a_remark():
    """Who reaches the port is decided where the container runs."""
    text = 'bind = "0.0.0.0:8080"'
    for container, severity in ((False, Severity.DANGEROUS), (True, Severity.REMARK)):
        (flaw,) = found_by("GU019", text, Known(container=container))
        assert flaw.severity is severity


@pytest.mark.parametrize(
    "line",
    [
        "from gunicorn_conf import site",
        "import gunicorn_conf as conf",
        "from . import gunicorn_conf",
    ],
)
def test_a_name_that_another_module_may_read_is_not_called_useless(tmp_path, line):
    """A module in its folder that imports the file; gunicorn.conf.py cannot be imported."""
    path = tmp_path / "gunicorn_conf.py"
    path.write_text("workers = 4\nsite = 'shop'\n")
    (flaw,) = lint(str(path), Known(), select=("GU001",)).flaws
    assert (flaw.severity, flaw.spot.line) == ("remark", 2)
    (tmp_path / "serve.py").write_text(f"{line}\n")
    assert not lint(str(path), Known(), select=("GU001",)).flaws
