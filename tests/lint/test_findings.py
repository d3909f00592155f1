"""What each rule finds: where, how bad, and whether its fix mends it."""

from dataclasses import replace

import pytest

from lab.config.configuration import Known
from lab.lint.rules.rule import RULES
from tests.kit.cases import cases
from tests.kit.linting import found, found_by

OWN = "UW9"
"""How the linter's own rules begin."""

REMARKS = (
    {"UW016", "UW112", "UW113", "UW206", "UW209", "UW210", "UW218", "UW317", "UW322"}
    | {"UW405", "UW410"}
    | {
        "GU006",
        "GU007",
        "GU010",
        "GU021",
        "GU022",
        "GU024",
        "GU026",
        "UV004",
        "HC012",
        "HC013",
        "HC017",
        "UV012",
        "UV015",
        "UV016",
        "ST008",
        "ST009",
        "GR002",
        "GR003",
        "GR004",
    }
    | {f"UW50{number}" for number in range(1, 10)}
)

PLACES = {
    "GR001": (1, 1),
    "GR002": (1, 1),
    "GR003": (1, 26),
    "GR004": (1, 48),
    "GR005": (1, 26),
    "GR006": (1, 26),
    "GR007": (1, 48),
    "GR008": (1, 48),
    "GR009": (1, 48),
    "GR010": (1, 48),
    "GR011": (1, 26),
    "GR012": (1, 26),
    "GR013": (1, 48),
    "GR014": (1, 26),
    "UV001": (1, 17),
    "UV002": (1, 17),
    "UV003": (1, 9),
    "UV004": (1, 17),
    "UV005": (1, 17),
    "UV006": (1, 32),
    "UV007": (1, 17),
    "UV008": (1, 9),
    "UV009": (1, 9),
    "UV010": (1, 9),
    "UV011": (1, 9),
    "UV012": (1, 1),
    "UV013": (1, 9),
    "UV014": (1, 9),
    "UV015": (1, 1),
    "UV016": (1, 1),
    "UV017": (1, 9),
    "UV018": (1, 1),
    "HC001": (2, 1),
    "HC002": (1, 11),
    "HC003": (2, 1),
    "HC004": (1, 1),
    "HC005": (1, 1),
    "HC006": (2, 1),
    "HC007": (2, 1),
    "HC008": (1, 1),
    "HC009": (1, 1),
    "HC010": (1, 1),
    "HC011": (1, 1),
    "HC012": (1, 1),
    "HC013": (1, 1),
    "HC014": (1, 31),
    "HC015": (2, 1),
    "HC016": (2, 1),
    "HC017": (1, 1),
    "ST010": (1, 1),
    "ST011": (1, 1),
    "ST012": (1, 1),
    "ST013": (1, 24),
    "ST014": (1, 1),
    "GU001": (1, 1),
    "GU002": (1, 1),
    "GU003": (1, 1),
    "GU004": (1, 1),
    "GU005": (2, 1),
    "GU006": (1, 1),
    "GU007": (2, 1),
    "GU008": (2, 1),
    "GU009": (1, 1),
    "GU010": (1, 1),
    "GU011": (1, 1),
    "GU012": (1, 1),
    "GU013": (1, 1),
    "GU014": (1, 1),
    "GU015": (1, 1),
    "GU016": (1, 1),
    "GU017": (1, 1),
    "GU018": (1, 10),
    "GU019": (1, 1),
    "GU020": (1, 1),
    "GU021": (1, 1),
    "GU022": (1, 1),
    "GU023": (4, 1),
    "GU024": (1, 1),
    "GU025": (3, 1),
    "GU026": (2, 1),
    "GU028": (1, 1),
    "GU027": (2, 1),
    "ST001": (1, 1),
    "ST002": (1, 54),
    "ST003": (1, 20),
    "ST004": (1, 41),
    "ST005": (1, 26),
    "ST006": (1, 1),
    "ST007": (1, 1),
    "ST008": (1, 1),
    "ST009": (1, 1),
    "UW001": (2, 1),
    "UW002": (2, 16),
    "UW003": (2, 1),
    "UW004": (2, 1),
    "UW005": (2, 10),
    "UW006": (2, 1),
    "UW007": (1, 1),
    "UW008": (1, 1),
    "UW009": (2, 12),
    "UW010": (2, 1),
    "UW011": (3, 1),
    "UW012": (3, 1),
    "UW013": (2, 1),
    "UW014": (2, 1),
    "UW015": (2, 1),
    "UW016": (2, 1),
    "UW017": (3, 1),
    "UW018": (1, 1),
    "UW019": (2, 1),
    "UW020": (2, 1),
    "UW021": (2, 1),
    "UW022": (2, 1),
    "UW101": (2, 1),
    "UW102": (3, 1),
    "UW103": (3, 1),
    "UW104": (4, 1),
    "UW105": (2, 1),
    "UW106": (2, 1),
    "UW107": (2, 1),
    "UW108": (2, 1),
    "UW109": (2, 1),
    "UW110": (2, 1),
    "UW111": (3, 1),
    "UW112": (1, 1),
    "UW113": (1, 1),
    "UW114": (3, 1),
    "UW115": (3, 1),
    "UW116": (2, 1),
    "UW117": (2, 1),
    "UW118": (2, 1),
    "UW119": (2, 1),
    "UW201": (3, 1),
    "UW202": (2, 1),
    "UW203": (3, 1),
    "UW204": (2, 1),
    "UW205": (2, 1),
    "UW206": (2, 1),
    "UW207": (2, 1),
    "UW208": (3, 1),
    "UW209": (4, 1),
    "UW210": (2, 1),
    "UW211": (3, 1),
    "UW212": (2, 1),
    "UW213": (3, 1),
    "UW214": (4, 1),
    "UW215": (4, 1),
    "UW216": (3, 1),
    "UW217": (3, 1),
    "UW218": (2, 1),
    "UW219": (4, 1),
    "UW220": (3, 1),
    "UW221": (3, 1),
    "UW222": (2, 1),
    "UW223": (4, 1),
    "UW224": (3, 1),
    "UW301": (2, 1),
    "UW302": (2, 1),
    "UW303": (4, 1),
    "UW304": (4, 1),
    "UW305": (4, 1),
    "UW306": (3, 1),
    "UW307": (4, 1),
    "UW308": (5, 1),
    "UW309": (2, 1),
    "UW310": (2, 1),
    "UW311": (4, 1),
    "UW312": (2, 1),
    "UW313": (3, 1),
    "UW314": (1, 1),
    "UW315": (3, 1),
    "UW316": (3, 1),
    "UW317": (1, 1),
    "UW318": (2, 1),
    "UW319": (1, 1),
    "UW320": (2, 1),
    "UW321": (1, 1),
    "UW322": (3, 1),
    "UW323": (2, 1),
    "UW324": (2, 1),
    "UW325": (2, 1),
    "UW326": (3, 1),
    "UW327": (2, 1),
    "UW329": (4, 1),
    "UW401": (2, 1),
    "UW402": (2, 1),
    "UW403": (1, 1),
    "UW404": (3, 1),
    "UW405": (2, 1),
    "UW406": (3, 1),
    "UW407": (2, 1),
    "UW408": (2, 1),
    "UW409": (3, 1),
    "UW410": (2, 1),
    "UW501": (2, 1),
    "UW502": (1, 1),
    "UW503": (3, 1),
    "UW504": (4, 1),
    "UW505": (2, 1),
    "UW506": (2, 1),
    "UW507": (2, 1),
    "UW508": (4, 1),
    "UW509": (3, 1),
}
"""Code -> line and column of what is found in the rule's bad example."""


def test_every_rule_is_here():
    """A new one has its place."""
    assert set(PLACES) == {code for code in RULES if not code.startswith(OWN)}


@cases("code", PLACES)
def test_a_fault_is_found_at_its_place(code):
    """In the bad example once; the good one has none; a remark is a remark."""
    (flaw,) = found_by(code, RULES[code].bad)
    assert (flaw.spot.line, flaw.spot.column) == PLACES[code]
    assert (flaw.severity == "remark") == (code in REMARKS)
    assert not found_by(code, RULES[code].good)


def test_a_message_is_one_sentence_that_says_what_to_do():
    """Without a full stop; what is wrong, and after a semicolon what to do."""
    messages = [flaw.message for code in PLACES for flaw in found_by(code, RULES[code].bad)]
    wrong = [text for text in messages if ";" not in text or text[-1] == "." or len(text) >= 360]
    assert not wrong, "\n".join(wrong)


FOUND = [
    ("UV001", "uvicorn a:b -w 4"),
    ("UV001", "python -m uvicorn a:b --bind 0.0.0.0:80"),
    ("UV001", "UVICORN_WORKER=4 uvicorn a:b"),
    ("UV002", "uvicorn a:b --port auto"),
    ("UV002", "uvicorn a:b --log-level warn"),
    ("UV002", "uvicorn a:b --loop uvlop"),
    ("UV002", "uvicorn a:b --ws-ping-interval soon"),
    ("UV002", "UVICORN_LIFESPAN=yes uvicorn a:b"),
    ("UV003", "uvicorn app"),
    ("UV003", "UVICORN_APP=app.py uvicorn"),
    ("UV005", "UVICORN_RELOAD=1 uvicorn a:b"),
    ("UV006", "FORWARDED_ALLOW_IPS='*' uvicorn --host :: a:b"),
    ("UW001", "strict = true\nbase = /srv\nchdir = %(base)"),
    ("UW001", "max_requests = 100"),
    ("UW002", "master = false ; not yet"),
    ("UW002", "listen = 100\t# the default"),
    ("UW002", "env = A=b # c"),
    ("UW002", "processes = %k ; all"),
    ("UW003", "processes = auto"),
    ("UW003", "processes"),
    ("UW003", "reload-on-rss = 300M"),
    ("UW003", "buffer-size = 32k"),
    ("UW005", "env = A='b c'"),
    ("UW005", 'master = "false"'),
    ("UW006", "chdir /srv/app"),
    ("UW007", "[uwsgi ]\nmaster = true"),
    ("UW007", "[UWSGI]\nmaster = true"),
    ("UW007", "master = true\n[uwsgi]\nvacuum = true"),
    ("UW009", "env = DB=postgres://u:p%40ss@h/db"),
    ("UW009", "env = A=50%"),
    ("UW009", "; 50 %\nmaster = true"),
    ("UW009", "log-date = %d.%m."),
    ("UW010", "for = a b\nenv = %(_)=1"),
    ("UW012", "processes = %(cpu_count * 2 + 1)"),
    ("UW012", "queue = 9\nlisten = %(queue)"),
    ("UW012", "chdir = $(HOEM)/app"),
    ("UW013", "env = A"),
    ("UW013", "env = A= b"),
    ("UW014", "workers = 2\nprocesses = 4"),
    ("UW014", "set-ph = a=1\nset-ph = a=2"),
    ("UW016", "include = sub/base.ini"),
    ("UW018", "; [uwsgi]\n[app]"),
    ("UW018", "[uwsgi]\nini = :nosuch"),
    ("UW019", "[uwsgi]\nini = :a\n[a]\ninclude = uwsgi.ini"),
    ("UW019", "inherit = uwsgi.ini"),
    ("UW101", "socket = /run/app.sock\nlisten = 99999"),
    ("UW102", "cheaper = 1"),
    ("UW104", "memory-report = true\ncheaper-rss-limit-soft = 9\ncheaper-rss-limit-hard = 8"),
    ("UW105", "gevent = 1"),
    ("UW108", "plugin = http,python311"),
    ("UW109", "chdir = %dnosuch"),
    ("UW111", "http-socket = 0.0.0.0:80\nstats = *:80"),
    ("UW111", "socket = /run/a.sock\nstats = /run/a.sock"),
    ("UW114", "socket = /run/a.sock\nchmod-socket"),
    ("UW115", "asyncio = 10\ngreenlet = true\nthreads = 4"),
    ("UW117", "static-map = /static = /srv/static"),
    ("UW117", "mount = site:app"),
    ("UW117", "static-expires = 3600"),
    ("UW201", "http = :80\nhttp-keepalive"),
    ("UW203", "master = true\nmax-requests-delta = 10"),
    ("UW207", "processes = 4\nhttp11-socket = :80\nthunder-lock = true"),
    ("UW208", "http-socket = :80\nhttp-timeout = 5"),
    ("UW211", "req-logger = file:/var/log/r.log\ndisable-logging = true"),
    ("UW212", "touch-logreopen = /run/reopen"),
    ("UW216", "processes = 4\ncheaper-algo = busyness"),
    ("UW217", "touch-workers-reload = /run/reload"),
    ("UW219", "master = true\nasyncio = 10\ngreenlet = true\nmax-requests = 9"),
    ("UW220", "cache2 = name=c,items=9,purge_lru=1\nroute-run = cachestore:key=x,expires=9"),
    ("UW221", "http = :80\nchown-socket = app"),
    ("UW223", "http = :80\nmount = /a=a:app"),
    ("UW301", "workers = 4"),
    ("UW302", "harakiri = 30"),
    ("UW302", "reload-on-rss = 300"),
    ("UW303", "master = true\nworkers = 4\nmax-requests = 1000"),
    ("UW303", "stats = 127.0.0.1:1717\nprocesses = 2\nmax-worker-lifetime = 60"),
    ("UW304", "master = true\nharakiri = 30\ngevent = 100"),
    ("UW305", "http = :8080\nmaster = true\nharakiri = 9"),
    ("UW307", "http = :80\nharakiri = 30\nhttp-timeout = 20"),
    ("UW310", "http-socket = [::]:8080"),
    ("UW310", "socket = :8080\nprotocol = http"),
    ("UW314", "http-socket = 127.0.0.1:8080\nwsgi-file = site.py"),
    ("UW315", "http-socket = 127.0.0.1:8080\nstats = 127.0.0.1:1717"),
    ("UW327", "async = 100\ngreenlet = true"),
    ("UW401", "uwsgi-socket = :3031"),
    ("UW401", "fastcgi-socket = 8.8.8.8:9000"),
    ("UW402", "stats-server = 0.0.0.0:9191"),
    ("UW404", "socket = /run/app.sock\nchmod-socket = 777"),
    ("UW404", "socket = /run/app.sock\nchmod-socket = 1"),
    ("UW405", "socket = /run/app.sock\npidfile = /tmp/app.pid"),
    ("UW406", "chdir = /srv/app\nstatic-map = /files=/srv"),
    ("UW406", "chdir = /srv/app\ncheck-static = ."),
    ("UW406", "check-static = %d"),
    ("UW408", "http = 127.0.0.1:8080\nwsgi-file = site.py"),
    ("UW408", "socket = /run/app.sock\nmodule = site:app"),
    ("UW503", "evil-reload-on-rss = 300"),
    ("GU001", "access_logfile = '-'"),
    ("GU001", "def on_start(server):\n    pass\n\n\npre_forks = 1"),
    ("GU001", "workers = 4\nmax_worker_memory = 300"),
    ("GU001", "workers = 4\nworker_timeout: int = 30"),
    ("GU001", "workers = 4\nport = 8000"),
    ("GU002", "keepalive = 5\nthreads = 1\nworker_class = 'sync'"),
    ("GU004", "worker_class = 'tornado'\nworker_connections = 10"),
    ("GU004", "worker_class = 'asgi'\nworker_connections = 10"),
    ("GU004", "worker_class = 'shop.MyUvicornWorker'\nworker_connections = 10"),
    ("GU007", "threads = 4\ntimeout = 120"),
    ("GU007", "worker_class = 'uvicorn_worker.UvicornWorker'\ntimeout = 120"),
    ("GU010", "worker_class = 'uvicorn_worker.UvicornH11Worker'\nkeepalive = 5"),
    ("GU023", "worker_class = 'asgi'\nbacklog = 512"),
    ("GU023", "worker_class = 'shop.MyUvicornWorker'\nthreads = many()"),
    ("GU023", "worker_class = 'uvicorn_worker.UvicornWorker'\nlimit_request_line = 4094"),
    ("GU023", "gunicorn -k asgi --threads 4 site:app"),
    ("GU024", "gunicorn -k uvicorn.workers.UvicornH11Worker site:app"),
    ("GR014", "GRANIAN_BLOCKING_THREADS=4 granian --interface rsgi site:app"),
    ("GU011", "preload_app = True\nreload = True"),
    ("GU012", "forwarded_allow_ips = '10.0.0.1,*'"),
    ("GU005", "gunicorn -w $N --max-requests 100 site:app"),
    ("GU016", "gunicorn -b 0.0.0.0:99999 site:app"),
    ("GU018", "gunicorn --max_requests 5 site:app"),
    ("GU019", "gunicorn -b :8080 -b unix:/run/app.sock site:app"),
    ("GU019", "bind = ['127.0.0.1:80', '[::]:80']"),
    ("GR001", "exec granian site:app"),
    ("GR002", "GRANIAN_INTERFACE=wsgi /venv/bin/granian site:app"),
    ("GR004", "granian --backlog=65536 site:app"),
    ("GR007", 'granian --workers "$(nproc)" site:app'),
    ("GR007", "granian --workers 2 --no-respawn-failed-workers site:app"),
    ("GR002", "granian --interface wsgi --backlog 4096 --workers 2 site:app"),
    ("GR010", "granian --interface asgi --workers-max-rss 300 site:app"),
    ("GR012", "granian --interface asgi --workers 2 --backpressure 16 site:app"),
    ("GR013", "granian --interface wsgi --port 80 /usr/local/bin/shop:application"),
    ("GR013", "granian --interface wsgi .venv/bin/shop:application"),
    ("GR013", "granian --interface asgi shop.asgi"),
    ("UW004", "strict = flase"),
    ("UW021", "logto = 0"),
    ("UW021", "stats = yes"),
    ("UW022", "stats = 9191"),
    ("UW022", "socket = unix:///run/app.sock"),
    ("UW022", "socket = tcp://127.0.0.1:3031"),
    ("UW022", "http-socket = http://0.0.0.0:8000/"),
    ("UW022", "http = 127.0.0.1"),
    ("UW022", "socket = /run/app.sock;"),
    ("UW022", "http-socket = localhost:8080;"),
    ("UW323", "daemonize2 = false"),
    ("UW329", "hook-pre-app = exec:./manage.py migrate"),
    ("UW329", "exec-as-user = cd /srv/shop && alembic -c a.ini upgrade head"),
    ("UW409", "http-socket = 0.0.0.0:80\nenable-proxy-protocol = true"),
    ("UW410", "daemonize2 = /var/log/app.log"),
]
"""Rule, and another configuration that it finds something in."""

SILENT = [
    ("UV001", "uvicorn a:b --no-access-log --no-server-header --ws-per-message-deflate false"),
    ("UV002", 'uvicorn a:b --port "$PORT" --http shop.http:Protocol --log-level trace'),
    ("UV003", 'uvicorn "$APP"'),
    ("UV003", "uvicorn shop.web:site.app --app-dir src"),
    ("UV006", "uvicorn a:b --forwarded-allow-ips '*'"),
    ("UV006", "uvicorn a:b --host 0.0.0.0 --no-proxy-headers --forwarded-allow-ips '*'"),
    ("GR010", "granian --interface wsgi --workers 4 --respawn-failed-workers site:app"),
    ("GR011", "granian --interface asgi --runtime-threads 4 site:app"),
    ("GR011", "granian --interface wsgi --runtime-threads 1 site:app"),
    ("GR012", "granian --interface wsgi --workers 2 --backpressure 32 site:app"),
    ("GR012", "GRANIAN_HTTP1_KEEP_ALIVE=false granian --interface wsgi --backpressure 4 site:app"),
    ("GR013", "granian --interface wsgi /srv/shop/app.py:application"),
    ("GR013", "granian --interface wsgi /srv/shop/app:application"),
    ("GR013", "granian --interface wsgi bin/shop:application"),
    ("GR013", 'granian --interface wsgi "$TARGET"'),
    ("GR013", "granian --interface wsgi --workers 2 --no-ws shop.wsgi:application --host web"),
    ("UW020", "ini = exec://cat base.ini"),
    ("UW020", "ini = $(BASE).ini"),
    ("UW021", "logto = /var/log/true"),
    ("UW022", "https = :443,shop.crt,shop.key"),
    ("UW022", "socket = /run/8080"),
    ("UW022", "socket = fd://3"),
    ("UW022", "socket = 127.0.0.1.sock"),
    ("UW119", "chown-socket = 10001:10001"),
    ("UW119", "chown-socket = nobody:nogroup"),
    ("UW119", "uid = $(SHOP_USER)"),
    ("UW329", "hook-pre-app = exec:./manage.py migrate --plan"),
    ("UW329", "exec-pre-app = ./manage.py collectstatic --noinput"),
    ("UW409", "http-socket = :8080\nhttp-enable-proxy-protocol = true"),
    ("UW409", "http = :8080\nhttp-enable-proxy-protocol = false"),
    ("UW001", "base = /srv\nchdir = %(base)/app"),
    ("UW001", "set-ph = base=/srv\nstrict = true\nchdir = %(base)/app"),
    ("UW001", "declare-option = slow=harakiri=$1\nslow = 60"),
    ("UW002", "add-header = X: a ; b"),
    ("UW002", "log-format = %(uri) # %(status)"),
    ("UW002", "exec-asap = echo a # b"),
    ("UW002", "env = COLOR=#fff"),
    ("UW002", "ini = exec://cat base.ini #x"),
    ("UW003", "post-buffering = off"),
    ("UW003", "processes = %k"),
    ("UW003", "harakiri = $(SECONDS_)"),
    ("UW003", "harakiri = 30 ; half a minute"),
    ("UW004", "master"),
    ("UW004", "master = sure"),
    ("UW005", 'log-format = "%(uri)"'),
    ("UW005", "attach-daemon = 'a b'"),
    ("UW005", 'env = A=b"c"'),
    ("UW006", "master\nvacuum"),
    ("UW007", "[lab]\na = b\n[uwsgi]\nmaster = true"),
    ("UW007", "; app\n\n  [uwsgi]  \nmaster = true"),
    ("UW007", "[uwsgi]\nmaster = true\n[other] ; x\na = b"),
    ("UW009", "socket = /run/%n.sock\nchdir = %d.."),
    ("UW009", "env = DB=p%%40ss"),
    ("UW009", "; %Y-%m\nlog-format = %(uri) took 100%%"),
    ("UW009", "pidfile = /run/%1.pid"),
    ("UW010", "if-env = A\nmaster = true\nendif"),
    ("UW011", "if-env = A\nmaster = 1\nendif =\nif-env = B\nvacuum = 1\nendif ="),
    ("UW012", "cores = 2\nprocesses = %(cores * 2)"),
    ("UW012", "log-format = %(addr) %(method)"),
    ("UW012", "exec-asap = echo $(date)"),
    ("UW012", "if-env = A\nprocesses = %(_)\nendif ="),
    ("UW012", "ini = exec://cat base.ini\nchdir = %(base)"),
    ("UW013", "env = A=b = c"),
    ("UW013", "env = A="),
    ("UW014", "harakiri = 30\nif-env = A\nharakiri = 60\nendif ="),
    ("UW014", "socket = :1\nsocket = :2\nenv = A=1\nenv = B=1"),
    ("UW014", "set-ph = a=1\nset-ph = b=2"),
    ("UW014", "hook-asap = print:a\nhook-asap = print:b"),
    ("UW016", "ini = /etc/base.ini"),
    ("UW016", "ini = :other"),
    ("UW018", "[uwsgi]\nini = :b\n[b]\nmaster = 1"),
    ("UW018", "\ufeff[uwsgi]"),
    ("UW018", "[uwsgi ]"),
    ("UW018", "master = true\n[app]"),
    ("UW019", "[uwsgi]\nfor = a b\nini = :%(_)\nendfor =\n[a]\nini = :c\n[b]\nini = :c\n[c]\n"),
    ("UW017", "[uwsgi]\nmaster = 1\n[other]\nmaster = 0"),
    ("UW101", "listen = 1024"),
    ("UW102", "processes = 4\ncheaper = 0"),
    ("UW103", "master = true\nmax-worker-lifetime = 0"),
    ("UW104", "reload-on-rss = 300\ncheaper-rss-limit-soft = 9"),
    ("UW105", "gevent = 2"),
    ("UW108", "plugins = cgi"),
    ("UW111", "http = :0\nstats = :0"),
    ("UW111", "shared-socket = :80\nhttp = =0"),
    ("UW111", "http = :80\nhttp-socket = 127.0.0.1:81"),
    ("UW112", "emperor = /etc/uwsgi\nmodule = app"),
    ("UW112", "processes = 4"),
    ("UW112", "module = app\nini = exec://cat sockets.ini"),
    ("UW113", "http = :80\nhttp-to = /run/app.sock"),
    ("UW113", "socket = :1\nroute-run = return:200"),
    ("UW113", "socket = :1\npsgi = app.pl"),
    ("UW113", "socket = :1\nmount = /=a:b"),
    ("UW115", "gevent = 100\nthreads = 1"),
    ("UW117", "static-map = $(MAP)"),
    ("UW117", "static-expires = \\.css$ = 60"),
    ("UW201", "http = :80\nhttp-keepalive = 75"),
    ("UW201", "http = :80\nhttp-keepalive = false"),
    ("UW202", "touch-reload = /x\nmax-worker-lifetime = 60"),
    ("UW203", "max-requests = 9\nmax-requests-delta = 3\nmax-worker-lifetime-delta = 0"),
    ("UW207", "processes = 2\nsocket = /run/a.sock\nthunder-lock = true"),
    ("UW208", "plugins = http\nhttp-timeout = 5"),
    ("UW208", "master = true\nhttp-timeout = 5"),
    ("UW208", "http-socket = :80\nhttp-socket-modifier1 = 9"),
    ("UW210", "offload-threads = 4\ncheck-static = /srv"),
    ("UW211", "log-format = %(uri)"),
    ("UW211", "disable-logging = true\nlog-slow = 1000\nlog-micros = true"),
    ("UW212", "daemonize = /var/log/a.log\nlog-maxsize = 9"),
    ("UW213", "emperor = /etc/uwsgi\nreload-mercy = 9"),
    ("UW214", "processes = 4\ncheaper = 2\ncheaper-algo = backlog\nhttp = :80"),
    ("UW214", "cheaper-algo = backlog\nsocket = /run/a.sock\nsocket = :3031"),
    ("UW217", "lazy = true\ntouch-chain-reload = /x"),
    ("UW220", "cache2 = name=c,items=9,purge_lru=1\nroute-run = cachestore:key=x,name=c"),
    ("UW221", "socket = :3031\nstats = /run/stats.sock\nchmod-socket = 660"),
    ("UW221", "socket = $(SOCK)\nchmod-socket = 660"),
    ("UW223", "socket = /run/a.sock\nmount = /a=a:app"),
    ("UW223", "http-socket = :80\nmount = /=a:app"),
    ("UW224", "http = :80\nhttp-keepalive = 1\nhttp-auto-chunked = true"),
    ("UW301", "processes = 4\nstats = 127.0.0.1:1717"),
    ("UW301", "processes = 1"),
    ("UW302", "harakiri = 0"),
    ("UW303", "master = true\nmax-worker-lifetime = 60"),
    ("UW303", "master = true\nprocesses = 4\nmax-worker-lifetime = 60\nmax-worker-lifetime = 0"),
    ("UW304", "master = true\nharakiri = 30\nprocesses = 8"),
    ("UW305", "socket = /run/app.sock\nmaster = true\nharakiri = 30"),
    ("UW305", "http-socket = 127.0.0.1:8080\nmaster = true\nharakiri = 30"),
    ("UW306", "master = true\nharakiri = 60"),
    ("UW307", "http-socket = 127.0.0.1:8080\nharakiri = 300"),
    ("UW308", "socket = :3031\nharakiri-queue-threshold = 10"),
    ("UW309", "http11-socket = 127.0.0.1:8080\nprocesses = 4\nthreads = 16"),
    ("UW310", "http-socket = 10.1.2.3:8080"),
    ("UW310", "http-socket = web:8080"),
    ("UW310", "http = :80"),
    ("UW311", "socket = /run/app.sock\ntouch-reload = /srv/reload"),
    ("UW312", "http-socket = 127.0.0.1:80\nroute-run = addheader:Connection: close"),
    ("UW313", "socket = /run/app.sock"),
    ("UW314", "socket = /run/app.sock\nstatic-map = /=/srv/files"),
    ("UW314", "module = site:app"),
    ("UW315", "socket = /run/app.sock\nmaster = true\ndie-on-term = true"),
    ("UW315", "socket = /run/app.sock"),
    ("UW315", "emperor = /etc/uwsgi\nmaster = true"),
    ("UW321", "socket = /run/app.sock\nbuffer-size = 65535"),
    ("UW401", "socket = /run/app.sock"),
    ("UW401", "socket = 10.0.0.7:3031"),
    ("UW403", "socket = /run/app.sock\nuid = app"),
    ("UW404", "socket = 127.0.0.1:3031\nchmod-socket = 666"),
    ("UW405", "socket = /tmp/checkout/app.sock"),
    ("UW406", "chdir = /srv/app\nstatic-map = /static=/srv/app/static"),
    ("UW406", "chdir = /srv/app\nstatic-map = /srv/app"),
    ("UW408", "socket = /run/app.sock\nstatic-map = /=/srv/files"),
    ("UW408", "http-socket = 127.0.0.1:80\nmodule = site:app\nroute-run = setscheme:https"),
    ("UW501", "http = 127.0.0.1:8080\nhttp-keepalive = 1"),
    ("UW503", "master = true\nmemory-report = false"),
    ("UW504", "thunder-lock = true"),
    ("UW505", "http = 127.0.0.1:80\nuid = app"),
    ("UW506", "post-buffering = 0"),
    ("UW506", "post-buffering = 8k"),
    ("UW508", "master = true\nprocesses = 16\ncheaper = 2\ncheaper-algo = busyness"),
    ("UW509", "socket = /run/app.sock\nlog-master = true\ndisable-logging = true"),
    ("GU001", "worker = 4\nworkers = worker * 2"),
    ("GU001", "import multiprocessing\n\ndef helper():\n    pass\n\nname = 'x'\nprint(name)"),
    ("GU001", "port = 8000\nbind = f'127.0.0.1:{port}'"),
    ("GU001", "workers = 4\nport = 8000\ndef when_ready(server):\n    print(port)\n"),
    ("GU001", "workers = 4\nPORT = 8000\n_port = 1\nport, host = 1, ''\nprint(globals())"),
    ("GU001", "workers = 4\nfor port in ():\n    host = port\n"),
    ("GU002", "worker_class = choose()\nkeepalive = 75"),
    ("GU002", "threads = 4\nkeepalive = 75"),
    ("GU002", "if fast:\n    worker_class = 'gthread'\nkeepalive = 75"),
    ("GU002", "from shared import *\nkeepalive = 75"),
    ("GU003", "threads = 4"),
    ("GU003", "worker_class = 'sync'\nthreads = 1"),
    ("GU005", "workers = 1\nmax_requests = 1000"),
    ("GU005", "max_requests = 0"),
    ("GU005", "gunicorn --max-requests 100 site:app"),
    ("GU020", "gunicorn --paste shop.ini"),
    ("GU022", "worker = 4"),
    ("GU022", "def post_fork(server, worker):\n    pass"),
    ("GU005", "max_requests = int(limit)"),
    ("GU007", "timeout = 0\nthreads = 4"),
    ("GU007", "worker_class = 'shop.workers.Worker'\ntimeout = 30"),
    ("GU008", "workers = min(8, multiprocessing.cpu_count())"),
    ("GU008", "workers = os.environ.get('W', cpu_count())"),
    ("GU008", "import os\nworkers = len(os.sched_getaffinity(0))"),
    ("GU010", "worker_class = 'sync'"),
    ("GU010", "worker_class = 'gthread'\nkeepalive = 0"),
    ("GU014", "worker_class = 'asgi'\nlimit_request_line = 65536"),
    ("GU023", "worker_class = 'asgi'\nthreads = 1\nlimit_request_line = 4094"),
    ("GU023", "worker_class = 'uvicorn_worker.UvicornWorker'\nbacklog = 512"),
    ("GU023", "worker_class = choose()\nthreads = 4"),
    ("GR014", "granian --blocking-threads 4 site:app"),
    ("GR014", "granian --interface $CALLED --blocking-threads 4 site:app"),
    ("GU011", "reload = debug"),
    ("GU012", "forwarded_allow_ips = '*'\nbind = 'unix:/run/app.sock'"),
    ("GU019", "gunicorn -b 0.0.0.0:$PORT site:app"),
    ("GU019", "import os\nbind = f'0.0.0.0:{os.environ[\"PORT\"]}'"),
    ("GU019", "gunicorn -b :8080 -k uvicorn.workers.UvicornWorker site:app"),
    ("GU019", "workers = 4"),
    ("GR001", "GRANIAN_INTERFACE=asgi granian site:app"),
    ("GR002", "granian --interface asgi site:app"),
    ("GR002", "granian --interface wsgi --backlog 128 site:app"),
    ("GR003", "granian --blocking-threads 16 site:app"),
    ("GR003", "granian --interface asgi --blocking-threads 1 site:app"),
    ("GR007", "granian --workers 1 site:app"),
    ("GR007", "GRANIAN_RESPAWN_FAILED_WORKERS=true granian --workers 4 site:app"),
    ("GR008", "granian --http1-buffer-size 65536 site:app"),
    ("GR008", "granian --http 2 --http1-buffer-size 8192 site:app"),
    ("GR009", "granian --no-reload site:app"),
    ("UW004", "strict = enabled"),
    ("UW118", "py-call-osafterfork = true\npy-call-uwsgi-fork-hooks = true"),
    ("UW118", "py-call-osafterfork = false"),
]
"""Rule, and a configuration that it has nothing to say about."""


@cases("code, text", FOUND)
def test_a_fault_is_found_in_other_words(code, text):
    """By another spelling, another option, or where it follows from several."""
    assert found_by(code, text)


@cases("code, text", SILENT)
def test_no_false_alarm(code, text):
    """What is meant so, is not known, or cannot do harm is not found."""
    assert not found_by(code, text)


@pytest.mark.parametrize(
    ("code", "text", "known"),
    [
        ("UW101", "listen = 200", Known(somaxconn=128)),
        ("UW106", "asyncio = 10", Known(python=(3, 13))),
        ("UW107", "route-run = last:", Known(options=frozenset({"socket"}))),
        ("UW108", "plugins = python", Known(plugins=frozenset({"python"}))),
        ("UW109", "home = %dnosuch", Known(here=True)),
        ("UW116", "gid = app", Known(root=False)),
        ("UW118", "py-call-osafterfork = true", Known(python=(3, 14))),
        ("UW313", "socket = /run/app.sock", Known(connections=500)),
        ("UW319", "http = 127.0.0.1:80", Known(container=True)),
        ("UW320", "processes = %k", Known(container=True)),
        ("UW322", "processes = 50\nthreads = 3", Known(db_connections=100)),
        ("UW323", "daemonize = /var/log/app.log", Known(container=True)),
        ("UW403", "socket = /run/app.sock", Known(root=True)),
        ("GU006", "workers = 4", Known(container=True)),
        ("GR004", "granian --backlog 2048 site:app", Known(somaxconn=128)),
    ],
)
def test_what_must_be_known_for_a_fault(code, text, known):
    """It is found where that is known, and not where nothing is."""
    assert found_by(code, text, known)
    assert not found_by(code, text, Known())


def test_a_heartbeat_that_kills_no_worker_may_be_on_a_disk():
    """With timeout = 0 gunicorn does not look at it."""
    assert not found_by("GU006", "timeout = 0", Known(container=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("processes = 4\ncheaper = 4", {"UW102"}),
        (
            "master = on\nprocesses = 8\nthreads = 2\nmax-requests = 9 ; all\nharakiri = 60 ; s",
            {"UW002", "UW303", "UW304"},
        ),
        (
            "stats = :9\nworkers = 4\nthreads = 2\nharakiri = 9\nmax-requests=9\nmemory-report = 1",
            {"UW303", "UW304", "UW402", "UW503"},
        ),
    ],
)
def test_what_public_configurations_have_in_common(text, expected):
    """Three patterns that are copied from one to the next."""
    assert expected <= {flaw.code for flaw in found(text)}


@pytest.mark.parametrize(
    ("doors", "severity", "line"),
    [
        ("http-socket = :8080", "dangerous", 2),
        ("http = 0.0.0.0:80", "dangerous", 2),
        ("https = 8.8.8.8:443,a.crt,a.key", "dangerous", 2),
        ("http-socket = 127.0.0.1:8080\nhttp-socket = [::]:80", "dangerous", 3),
        ("http-socket = 127.0.0.1:8080", "remark", 2),
        ("http-socket = 10.1.2.3:8080", "remark", 2),
        ("http-socket = :$(PORT)", "remark", 2),
        ("socket = /run/app.sock", "remark", 2),
    ],
)
def test_who_may_crash_a_worker_by_a_header(doors, severity, line):
    """Any host that reaches the port; behind a proxy, which may set the header, it is a remark."""
    known = Known()
    (flaw,) = found_by("UW408", f"{doors}\nmodule = site:app", known)
    assert (flaw.severity, flaw.spot.line) == (severity, line)
    assert ("unless a proxy sets that header" in flaw.message) == (severity == "remark")
    protected = f"{doors}\nmodule = site:app\nroute-run = setscheme:https"
    assert not found_by("UW408", protected, known)
    (flaw,) = found_by("UW408", f"{doors}\nmodule = site:app", replace(known, container=True))
    assert flaw.severity == "remark"


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("procesess = 4", "write processes"),
        ("max_requests = 9", "write max-requests"),
        ("process = 4", "write processes"),
        ("log_file = a", "write logto"),
        ("timeout = 60", "leave it out"),
        ("processes = 2\nprocesess = 4", "write processes"),
    ],
)
def test_what_an_unknown_option_may_be(line, advice):
    """Its fix is never safe: it switches on what is dead today."""
    (flaw,) = found_by("UW001", line)
    assert flaw.message.endswith(f"; {advice}")
    assert not (flaw.fix and flaw.fix.safe)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("harakiri = 30s", "30"),
        ("harakiri = 5m", None),
        ("log-slow = 2s", "2000"),
        ("log-slow = 500ms", "500"),
        ("buffer-size = 32k", "32768"),
        ("log-maxsize = 20M", "20971520"),
        ("reload-on-rss = 300 MB", "300"),
        ("limit-as = 2G", "2048"),
        ("limit-as = 512k", None),
        ("processes = 4k", None),
        ("processes = auto", "%k"),
    ],
)
def test_a_number_that_is_meant_is_written_in_the_unit_of_its_option(line, meant):
    """Megabytes or bytes, seconds or milliseconds; where it is not clear there is no fix."""
    (flaw,) = found_by("UW003", line)
    option = line.partition(" ")[0]
    assert flaw.message.endswith(f"; write {option} = {meant}" if meant else "; write a number")
    assert (flaw.fix and flaw.fix.edits[0].new) == meant


def test_a_comment_behind_a_value_is_no_part_of_what_others_say_of_it():
    """It is a flaw of its own."""
    (flaw,) = found_by("UW302", "max-requests = 5000   ; recycle")
    assert flaw.message.startswith("max-requests = 5000: this ends a worker")


@pytest.mark.parametrize(
    ("code", "text", "severity"),
    [
        ("UW002", "harakiri = 30 ; s", "remark"),
        ("UW002", "py-callos-afterfork = true ; s", "remark"),
        ("UW002", "base = /srv ; s\nchdir = %(base)", "error"),
        ("UW002", "processes = auto ; all", "remark"),
        ("UW002", "master = true # yes", "remark"),
        ("UW002", "master = no # yet", "error"),
        ("UW002", "chdir = /srv # app", "error"),
        ("UW012", "chdir = $(HOEM)", "remark"),
        ("UW012", "module = a:a\nchdir = %(hoem)", "error"),
        ("UW012", "listen = $(QUEUE)", "error"),
        ("UW108", "plugins = python3", "remark"),
        ("UW108", "need-plugin = python3", "error"),
    ],
)
def test_what_does_no_harm_is_a_remark(code, text, severity):
    """A comment behind a number is one; behind a path it is a fault."""
    (flaw,) = found_by(code, text)
    assert flaw.severity == severity


@pytest.mark.parametrize(("text", "mended"), [("vacuum = true", True), ("vacum = true", False)])
def test_strict_is_offered_where_all_options_are_known(text, mended):
    """Elsewhere a server that starts today would end by it."""
    (flaw,) = found_by("UW317", f"http-socket = 127.0.0.1:80\n{text}")
    assert (flaw.fix is not None) is mended


def test_a_strict_that_is_off_is_to_be_changed():
    """And not to be written a second time."""
    (flaw,) = found_by("UW317", "http-socket = 127.0.0.1:80\nstrict = false")
    assert (flaw.spot.line, flaw.message.partition(":")[0]) == (3, "strict = false")


@pytest.mark.parametrize("kind", ["asgi", "gthread"])
def test_a_longer_keepalive_is_half_of_the_advice_where_a_stop_waits_for_it(kind):
    """gunicorn's workers of ASGI end when the last idle connection does, or graceful_timeout."""
    (flaw,) = found_by("GU010", f'worker_class = "{kind}"\nkeepalive = 5')
    assert ("graceful_timeout = 80" in flaw.message) is (kind == "asgi")
    assert (flaw.fix is None) is (kind == "asgi")


def test_no_interface_is_not_mended():
    """WSGI or ASGI: the command does not say which."""
    (flaw,) = found_by("GR001", "granian site:app")
    assert flaw.fix is None
    assert not flaw.steps
    assert "--interface wsgi or --interface asgi" in flaw.message


@pytest.mark.parametrize("interface", ["asgi", "wsgi"])
def test_threads_are_advised_where_they_serve(interface):
    """granian does not start with more than one for an ASGI application."""
    (flaw,) = found_by("GR012", f"granian --interface {interface} --backpressure 4 site:app")
    assert ("--blocking-threads" in flaw.message) is (interface == "wsgi")


def test_workers_of_asgi_limit_no_connections():
    """GU004 named them among those that do."""
    (flaw,) = found_by("GU004", "worker_connections = 9")
    assert "asgi" not in flaw.message
