"""The private copy of a user's ini: what it has otherwise, and that uWSGI reads it so."""

from __future__ import annotations

import socket

import pytest
from hypothesis import HealthCheck, given, settings

from lab.bench import profiles
from lab.config.uwsgi import flat, roles
from lab.config.uwsgi.private import private, protocol_of
from lab.errors import ProfileError
from lab.model.runtime import Runtime
from lab.model.workload import Transport, Wire
from tests.kit.cases import cases
from tests.kit.generated_inis import TEXTS
from tests.kit.lab_process import PACED, compare
from tests.kit.uwsgi_options import confirmed

UNIX, TCP = (Wire.UWSGI, Transport.UNIX), (Wire.UWSGI, Transport.TCP)
HTTP = (Wire.HTTP, Transport.TCP)
FREE = "{host}:{port}"


def copied(*lines, keep=(), root=False, pinned=True):
    """Return the options of the copy of an ini with these lines, and what it has otherwise."""
    pairs = [tuple(line.split(" = ", 1)) for line in lines]
    return private(pairs, Runtime(keep=frozenset(keep), pinned=pinned), root=root)


@pytest.mark.parametrize(
    ("lines", "addresses", "asked"),
    [
        (["http-socket = 0.0.0.0:8000"], [FREE], HTTP),
        (["http-socket = 127.0.0.1:{port}"], ["127.0.0.1:{port}"], HTTP),
        (["http11-socket = /run/a.sock"], [FREE], HTTP),
        (["http = :80", "http = :81"], [FREE, "{folder}/other.sock"], HTTP),
        (["http = :80", "socket = /run/a.sock"], [FREE, "{folder}/other.sock"], HTTP),
        (["http = :80", "socket = :3031"], [FREE, "127.0.0.1:0"], HTTP),
        (["socket = /run/a.sock"], ["{socket}"], UNIX),
        (["socket = @abstract"], ["{socket}"], UNIX),
        (["uwsgi-socket = :3031", "socket = /a"], [FREE, "{folder}/other.sock"], TCP),
        (["protocol = http", "socket = :80"], ["http", FREE], HTTP),
        (["https = :443,a.crt,a.key"], [FREE], HTTP),
        (["https2 = addr=:443,cert=a,key=b"], [FREE], HTTP),
        (["shared-socket = :443", "https = =0,a.crt,a.key"], [FREE, "=0"], HTTP),
        (["shared-socket = /run/a", "socket = =0"], ["{socket}", "=0"], UNIX),
        (["socket = :3031", "http-socket = :{port}"], ["127.0.0.1:0", ":{port}"], HTTP),
        (["fastcgi-socket = /run/f", "socket = /a"], ["{folder}/other.sock", "{socket}"], UNIX),
    ],
)
def test_addresses_are_a_trials_own(lines, addresses, asked):
    """One is asked: of those for HTTP, else of uWSGI's own, the first; all keep kind and order."""
    options, _ = copied(*lines)
    assert [value for _, value in options] == addresses
    assert protocol_of(options) == asked


def test_a_router_keeps_its_kind_of_backend():
    """A UNIX socket that became a TCP one would cost CPU that is none of the ini's."""
    options, altered = copied("https = :443,a.crt,a.key", "socket = /run/a.sock")
    assert options == (("http", FREE), ("socket", "{folder}/other.sock"))
    assert [str(alteration) for alteration in altered] == [
        "https = :443,a.crt,a.key -> a free port without TLS",
        "socket = /run/a.sock -> a private UNIX socket",
    ]


@pytest.mark.parametrize(
    ("line", "copy"),
    [
        ("stats = 127.0.0.1:9191", "stats = {folder}/stats.sock"),
        ("http-stats = :9192", "http-stats = {folder}/http-stats.sock"),
        ("pidfile2 = /run/a.pid", "pidfile2 = {folder}/pidfile2"),
        ("safe-pidfile = /run/a.pid", "safe-pidfile = {folder}/safe-pidfile"),
        ("master-fifo = /run/fifo", "master-fifo = {folder}/master-fifo"),
        ("touch-reload = /srv/reload", "touch-reload = {folder}/touch-reload"),
        ("touch-signal = /srv/t 17", "touch-signal = {folder}/touch-signal 17"),
        ("py-tracebacker = /tmp/tb", "py-tracebacker = {folder}/py-tracebacker"),
        ("metrics-dir = /srv/metrics", "metrics-dir = {folder}"),
        ("logto = /var/log/a.log", "logto = {folder}/server.log"),
        ("daemonize = /var/log/a.log", "logto = {folder}/server.log"),
        ("daemonize2 = 10.0.0.1:514", "logto2 = {folder}/server.log"),
        ("logger = app syslog:shop", "logger = app file:{folder}/server.log"),
        ("log-syslog = shop", "logger = file:{folder}/server.log"),
        ("req-logger = file:/var/log/r", "req-logger = file:{folder}/req-logger.log"),
        ("logger = stdio", "logger = stdio"),
        ("cache2 = name=a,items=9,store=/a,nodes=b:1,udp=:2",
         "cache2 = name=a,items=9,store={folder}/cache.store"),
        ("hook-master-start = unix_signal:15 end", "hook-master-start = unix_signal:15 end"),
        ("chdir = site", "chdir = site"),
        ("die-on-term = true", "die-on-term = true"),
        ("http-use-socket = 0", "http-use-socket = 0"),
    ],
)  # fmt: skip
def test_files_are_a_trials_own(line, copy):
    """Those that a server writes, or takes as its own; all else is unchanged."""
    options, altered = copied("http-socket = :{port}", line)
    assert [" = ".join(pair) for pair in options[1:]] == [copy]
    assert [alteration.option for alteration in altered] == [line.split()[0]] * (line != copy)


REACHING = """
spooler spooler-external subscribe-to subscribe2 subscription-server http-subscription-server
legion legion-lord cron cron2 unique-cron legion-cron attach-daemon attach-daemon2
smart-attach-daemon2 legion-attach-daemon attach-control-daemon mule mules farm timer rbtimer
signal-timer exec-asap exec-as-user-atexit exec-pre-app call-post-app mount-asap umount-as-root
hook-asap hook-post-fork hook-touch touch-exec fallback-config file-write signal snmp udp
cache-udp-node cache-sync vassal-sos-backlog notify-socket zerg zerg-server zergpool http-zerg
carbon stats-push rrdtool alarm log-alarm alarm-backlog http-to http-fallback http-use-pattern
http-to-https ftok flock flock-wait2 stop reload pause after-request-call after-request-hook
worker-exec worker-exec2 symcall-post-fork pty-socket pty-exec forkptyrouter forkpty-urouter
forkptyrouter-cmd tuntap-router tuntap-device zabbix-template exception-handler metric-threshold
gridfs-mount rados-mount glusterfs-mount wait-for-socket pam
"""


@pytest.mark.parametrize(
    "option",
    REACHING.split(),
)
def test_what_acts_on_the_world_is_left_out_unless_it_is_kept(option):
    """And it is named."""
    lines = ("http-socket = :{port}", "master = true", f"{option} = exec:x")
    options, (altered,) = copied(*lines)
    assert options == (("http-socket", ":{port}"), ("master", "true"))
    assert (altered.option, altered.became) == (option, None)
    assert altered.why
    options, altered = copied(*lines, keep=(option,))
    assert (options[-1], altered) == ((option, "exec:x"), ())


ROUTES = ("route", "route-host", "route-uri", "error-route", "error-route-status",
          "response-route-qs", "final-route-remote-addr")  # fmt: skip
"""Of each kind of rule that has a condition before its action."""

GO_AWAY = """
http:127.0.0.1:1 httpdumb:127.0.0.1:1 proxyhttp:127.0.0.1:1 httpconnect:127.0.0.1:1
proxyhttpconnect:127.0.0.1:1 uwsgi:127.0.0.1:1,0,0 proxyuwsgi:127.0.0.1:1,0,0 uwsgidump:127.0.0.1:1
redis:server=127.0.0.1:1,key=x redis-continue:key=x redisstore:key=x redis-store:key=x
memcached:addr=127.0.0.1:1,key=x memcached-continue:key=x memcachedstore:key=x memcached-store:key=x
gridfs:server=127.0.0.1,itemname=x mongodb:x spooler:x signal:17 alarm:boss cgi:x.cgi
cgihelper:sh symcall:exit symcall-next:exit ldapauth:x,url=ldap://10.0.0.1 ldapauth-next:x
radius:realm=x radius-next:realm=x spnego:x spnego-next:x access:action=hosts tofile:filename=/srv/x
to-file:filename=/srv/x exec:x something-of-a-plug-in:x rpc:say@10.0.0.1:3031 call:say@10.0.0.1:3031
rpcret:say@10.0.0.1:3031 rpcblob:say@h:1 rpcnext:say@h:1 rpcraw:say@h:1
cache:key=x,name=c@10.0.0.1:1 cache-continue:key=x,name=c@h:1 cachevar:key=x,var=Y,name=c@h:1
cacheset:key=x,value=y,name=c@h:1 cachestore:key=x,name=c@h:1 cache-store:key=x,name=c@h:1
cacheinc:key=x,name=c@h:1 cachedec:key=x,name=c@h:1 cachemul:key=x,name=c@h:1
cachediv:key=x,name=c@h:1 setfile:exec://x setfile:http://10.0.0.1/app.py
"""
"""Actions of internal routing that reach beyond the server, or may."""

STAY = """
continue: last: break: break:404 return:403 break-with-status:403 goto:there log:${PATH_INFO}
donotlog: donotoffload: logvar:a=b addvar:A=http://b addheader:A:b delheader:A remheader:A
clearheaders:200 resetheaders:200 disableheaders: send:x send-crnl:x chdir:/srv setapp:x setuser:me
sethome:/venv setfile:/srv/app.py setscriptname:/x setmethod:GET seturi:/x setremoteaddr:::1
setpathinfo:/x fixpathinfo: setdocroot:/srv setscheme:https setprocname:x setmodifier1:9
setmodifier2:1 +:a -:a *:a /:a flush: fixcl: forcecl: harakiri:9 rewrite:/x rewrite-last:/x
redirect:https://www.example.org/x redirect-302:/x redirect-permanent:/x redirect-301:/x
static:/srv static-next:/srv file:filename=x file-next:filename=x sendfile:filename=x
sendfile-next:filename=x fastfile:filename=x fastfile-next:filename=x expires:value=9 gzip: chunked:
toupper: template: offload: hash:key=x,var=Y,items=a;b metricinc:x metricdec:x metricmul:x
metricdiv:x metricset:x basicauth:shop,me:secret basicauth-next:shop,.htpasswd ssi:x.shtml
xslt:doc=x toxslt:stylesheet=x xmldir:/srv rpc:say rpcret:say call:say cache:key=x,name=c
cache-continue:key=x cachestore:key=${PATH_INFO},name=c cacheset:key=x,value=y cachevar:key=x,var=Y
"""
"""Actions that stay within the server."""


@cases("action", GO_AWAY.split())
def test_a_rule_that_leads_out_of_the_server_is_left_out(action):
    """Whichever kind of rule it is; it is named with the reason, and --keep leaves it in."""
    rules = [f"{option} = ^/ {action}" for option in ROUTES]
    rules += [f"{option}-run = {action}" for option in ("route", "error-route", "response-route")]
    rules += [f"route-if = equal:${{A}};b {action}", f"final-route-if-not = exists:/x {action}"]
    options, altered = copied("http-socket = :{port}", *rules)
    assert options == (("http-socket", ":{port}"),)
    assert [alteration.option for alteration in altered] == [rule.split()[0] for rule in rules]
    assert {alteration.became for alteration in altered} == {None}
    assert all(alteration.why for alteration in altered)
    kept = copied("http-socket = :{port}", rules[0], keep=("route",))
    assert kept[0][1:] == (("route", f"^/ {action}"),)


@cases("action", STAY.split())
def test_a_rule_that_stays_within_the_server_stays(action):
    """It is a part of what the user's server does for a request."""
    rules = [f"{option} = ^/ {action}" for option in ROUTES]
    rules += [f"route-run = {action}", f"route-if = equal:${{A}};b@c {action}"]
    options, altered = copied("http-socket = :{port}", *rules, "route-label = http:x")
    assert [" = ".join(pair) for pair in options[1:-1]] == rules
    assert altered == ()


def test_a_condition_asks_no_other_server():
    """What is in another server's cache."""
    there, here = (f"incache:key=/x,name={name} break:" for name in ("c@10.0.0.1:1", "c"))
    options, (altered,) = copied(
        "http-socket = :{port}", f"route-if = {there}", f"route-if = {here}"
    )
    assert options[1:] == (("route-if", here),)
    assert str(altered) == f"route-if = {there} (would send the load to another server)"


@pytest.mark.parametrize(
    "line",
    ["load-file-in-cache = exec://touch x", "load-file-in-cache-gzip = c http://10.0.0.1/x",
     "mime-file = exec://touch x", "wsgi-file = http://10.0.0.1/app.py", "file = call://x",
     "sharedarea = file=/dev/shm/shop,size=4096", "sharedarea = size=4096,fd=3"],
)  # fmt: skip
def test_a_value_that_reaches_out_is_left_out(line):
    """Where the option itself does not, and with another value stays."""
    options, (altered,) = copied("http-socket = :{port}", line)
    assert (len(options), altered.became) == (1, None)
    harmless = f"{line.split()[0]} = 4"
    assert copied("http-socket = :{port}", harmless)[1] == ()


@pytest.mark.parametrize(
    "line",
    ["stats = 127.0.0.1:9191", "pidfile = /run/a.pid", "touch-reload = /t", "metrics-dir = /m",
     "logger = syslog:a", "log-syslog = a", "req-logger = file:/r", "cache2 = name=a,nodes=b:1"],
)  # fmt: skip
def test_a_file_that_is_kept_is_the_users_own(line):
    """As is a log, where what it costs is the question."""
    option = line.split()[0]
    options, altered = copied("http-socket = :{port}", line, keep=(option,))
    assert (" = ".join(options[1]), altered) == (line, ())


@pytest.mark.parametrize(
    "option", ["mount", "cron-harakiri", "spooler-processes", "touch-logrotate", "import", "env"]
)
def test_what_only_looks_like_it_stays(option):
    """An application's place below a path is no file system that is mounted."""
    options, _ = copied("http-socket = :{port}", f"{option} = 3")
    assert options[-1][0] == option


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("emperor = /etc/uwsgi", "give the ini of a vassal"),
        ("vassals-include = x", "give the ini of a vassal"),
        ("chroot = /srv", "run lab in there, or leave it out: --drop chroot"),
        ("unshare = pid", "run lab in there"),
        ("cgroup = x", "run lab in there"),
        ("declare-option = x", "give a copy without"),
        ("fastcgi-socket = /run/f", "speaks FastCGI, which lab cannot; add `http-socket` in a"),
        ("suwsgi-socket = :1,a,b", "speaks uwsgi over TLS, which"),
        ("ping = 10.0.0.1:3031", "does this and exits"),
        ("pty-uconnect = 10.0.0.1:3031", "does this and exits"),
        ("pyrun = jobs.py", "does this and exits"),
        ("ldap = ldap://10.0.0.1/x", "its options are in a database"),
    ],
)
def test_of_what_no_copy_can_be_made_is_refused(line, said):
    """In a line that has the option, and what to do."""
    with pytest.raises(ValueError, match="^" + line.split(",")[0]) as caught:
        copied(line)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_users_are_for_root():
    """uWSGI would end where it cannot become another one."""
    lines = ("http-socket = :{port}", "uid = www-data", "chown-socket = www-data")
    assert len(copied(*lines)[0]) == 1
    assert copied(*lines, root=True)[0][1:] == (("uid", "www-data"), ("chown-socket", "www-data"))


def test_the_lab_gives_out_the_cpus_unless_it_does_not():
    """`cpu-affinity` counts from CPU 0, and leaves those that the server was given."""
    lines = ("http-socket = :{port}", "cpu-affinity = 1")
    (altered,) = copied(*lines)[1]
    assert str(altered) == "cpu-affinity = 1 (lab assigns the CPUs)"
    assert copied(*lines, pinned=False)[1] == ()


def test_a_master_that_was_implied_stays():
    """`cron` has switched it on, and a server without one is another."""
    options, altered = copied("http-socket = :{port}", "cron = 1 2 3 4 5 true")
    assert options[-1] == ("master", "true")
    assert str(altered[-1]) == "master = true (the option that switched it on is left out)"
    assert copied("http-socket = :{port}", "exec-asap = true")[0] == (("http-socket", ":{port}"),)


def test_an_ini_without_an_address_gets_one():
    """It may stand on the command line in production."""
    options, (altered,) = copied("module = a:b")
    assert options[-1] == ("http-socket", FREE)
    assert "there is no address" in str(altered)


INIS = {
    "escapes": "env = DATABASE_URL=postgres://u:p%%%%40ss@h/db\nlog-date = %%%%Y\nenv = E=50%%\n",
    "for": "for = a b\nenv = X_%%(_)=%%n\nendfor =\nif-env = NOWHERE\nthreads = 9\nendif =\n",
    "inherit": "inherit = base.ini\nset-ph = name=site\nmodule = %%(name):app\n",
    "format": 'log-format = %%(addr) - %%(method) 100%%%% "%%(uri)"\n',
    "world": "cron = 1 2 3 4 5 touch x\nstats = :1\nlogto = %dlog\npidfile = %%dpid\nmaster = 1\n",
    "socket": "socket = %%d%%n.sock\nchmod-socket = 660\nvacuum = true\nstrict = true\n",
    "placeholder": "mine = 3\nthreads = %%(mine)\nset = processes=2\n@(nothing = 1\n",
}
"""Name -> lines, `%%` for `%`."""


@pytest.mark.parametrize("name", INIS)
def test_uwsgi_reads_the_copy_as_it_was_meant(tmp_path, name):
    """The options of the copy are those of the file, rewritten: nothing more, nothing twice."""
    (tmp_path / "base.ini").write_text("[uwsgi]\nthreads = 3\n")
    ini = tmp_path / "mine.ini"
    ini.write_text("[uwsgi]\n" + INIS[name].replace("%%", "%"))
    copied_as_meant(confirmed(ini, Runtime(cwd=tmp_path)), tmp_path)


def copied_as_meant(original, folder):
    """Write the copy of what uWSGI read from an ini, and hold it to what uWSGI reads from that."""
    here = Runtime(cwd=folder)
    options, _ = private(original, here, root=False)
    copy = folder / "copy.ini"
    places = {"{here}": str(folder), "{host}": "$(BIND)", "{port}": "$(PORT)"}
    copy.write_text("\n".join([*flat(options, places), ""]))
    assert confirmed(copy, here) == options
    assert private(options, here, root=False) == (options, ())


def generated_is_copied(lines, others, folder):
    """Hold the copy of a generated ini to what uWSGI reads from it, if it reads it at all."""
    ini = folder / "a.ini"
    ini.write_text("\n".join(["[uwsgi]", "set-ph = foo=2", *lines, ""]))
    (folder / "b.ini").write_text("\n".join(["[uwsgi]", *others, ""]))
    try:
        original = confirmed(ini, Runtime(cwd=folder))
    except ProfileError:
        return
    copied_as_meant(original, folder)


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(lines=TEXTS, others=TEXTS)
def test_what_a_generator_writes_is_copied_as_it_was_meant(lines, others, tmp_path):
    """Sections, conditions, loops, includes and variables, in any order."""
    generated_is_copied(lines, others, tmp_path)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(lines=TEXTS, others=TEXTS)
def test_a_thousand_are_copied_as_they_were_meant(lines, others, tmp_path):
    """The same, more of them."""
    generated_is_copied(lines, others, tmp_path)


def test_includes_are_looked_for_in_the_inis_folder(tmp_path):
    """As uWSGI finds them there when it is started there; or in the folder that is named."""
    ini, other = tmp_path / "mine.ini", tmp_path / "other"
    other.mkdir()
    ini.write_text("[uwsgi]\ninherit = base.ini\nhttp-socket = :$(PORT)\n")
    (tmp_path / "base.ini").write_text("[uwsgi]\nthreads = 3\n")
    (other / "base.ini").write_text("[uwsgi]\nthreads = 4\n")
    assert dict(profiles.read(str(ini)).options)["threads"] == "3"
    assert dict(profiles.read(str(ini), Runtime(cwd=other)).options)["threads"] == "4"


def test_a_section_is_read_by_its_name(tmp_path):
    """As `uwsgi FILE:SECTION` does; one that is not there is told."""
    ini = tmp_path / "mine.ini"
    ini.write_text("[uwsgi]\nthreads = 2\n[dev]\nini = :uwsgi\nprocesses = 3\n")
    profile = profiles.read(f"{ini}:dev")
    assert (profile.name, profile.options[:2]) == (
        "mine-dev",
        (("threads", "2"), ("processes", "3")),
    )
    with pytest.raises(ProfileError, match=r"mine\.ini: it has no section \[prod\]"):
        profiles.read(f"{ini}:prod")


def test_a_refusal_has_its_line(tmp_path):
    """Of the user's file."""
    ini = tmp_path / "mine.ini"
    ini.write_text("[uwsgi]\nchroot = /srv\n")
    with pytest.raises(ProfileError, match=r"mine\.ini:2: chroot = /srv: this confines the server"):
        profiles.read(str(ini))


def test_application_and_server_are_two_parts():
    """Of ours the server stays, with what its commands need; of theirs comes what they serve."""
    ours = [("env", "A=1"), ("chdir", "{root}"), ("module", "app.wsgi:app"), ("threads", "2")]
    theirs = [("plugins", "python3"), ("home", "/venv"), ("pythonpath", "lib"), ("env", "B=2")]
    theirs += [("wsgi-file", "wsgi.py"), ("mount", "/x=y.py"), ("threads", "9"), ("chdir", "site")]
    application = [pair for pair in theirs if pair[0] != "threads"]
    assert roles.served_by(ours, theirs) == (*application, ours[0], ours[3])


def test_our_own_profiles_are_no_copies():
    """They obey the lab, and their commands are part of them."""
    assert [
        name for name in profiles.find() if profiles.described(name).private_copy is not None
    ] == []


def test_a_caller_may_say_that_an_ini_is_ours(tmp_path):
    """It runs as it is, as those of the self-test do; else it is the user's, wherever it lies."""
    ini = tmp_path / "a.ini"
    ini.write_text("[lab]\nsummary = A\n[uwsgi]\nhttp-socket = $(BIND):$(PORT)\nmodule = app\n")
    assert profiles.described(str(ini)).private_copy is not None
    assert profiles.described(str(ini), ours=True).private_copy is None


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("route = ^/ http:127.0.0.1:18999", "would send the load to another server"),
        ("route-run = httpdumb:127.0.0.1:18999", "would send the load to another server"),
        ("route-if = eq:${X};1 uwsgi:/run/a.sock,0,0", "would send the load to another server"),
        ("error-route-status = 502 proxyhttp:10.0.0.1:80", "would send the load to another server"),
        (
            "response-route = ^/ redisstore:server=10.0.0.1:6379,key=a",
            "would contact a real database",
        ),
        ("final-route = .* memcached:addr=10.0.0.1:11211", "would contact a real database"),
        ("route-uri = ^/x rpc:hello@10.0.0.1:3031", "would send the load to another server"),
        ("route = ^/x cache:key=a,name=c@10.0.0.1:1717", "would send the load to another server"),
        ("route-host = ^a spooler:", "would add real jobs"),
        ("route = ^/ signal:17", "would signal a server"),
        ("route = ^/ alarm:mail down", "would raise alarms"),
        ("route = ^/ radius:server=10.0.0.1:1812", "would ask a real server for permission"),
        (
            "route = ^/ ldapauth-next:realm;url=ldap://10.0.0.1/",
            "would ask a real server for permission",
        ),
        ("response-route = ^/ tofile:/srv/x", "would write it"),
        ("route = ^/ cgi:/srv/x.sh", "would run it"),
        ("route = ^/ nobodyknows:x", "may reach beyond the server"),
        ("worker-exec = /srv/x", "would run it"),
        ("mongrel2 = tcp://10.0.0.1:9999", "would take real requests"),
    ],
)
def test_what_sends_requests_or_commands_away_is_left_out(line, why):
    """Of internal routing all that may reach beyond the server."""
    _, (altered, *_) = copied(line)
    assert str(altered) == f"{line} ({why})"


@pytest.mark.parametrize(
    "line",
    [
        "route = ^/old redirect-permanent:/new",
        "route-if-not = regexp:${HTTP_X_FORWARDED_PROTO};^(https?)?\\z setscheme:http",
        "route-label = end",
        "route = ^/a goto:end",
        "route-run = addheader:Connection: close",
        "route = ^/a static:/srv/a@2x.png",
        "route = ^/a cache:key=${REQUEST_URI},name=pages",
        "route = ^/ basicauth:users,a:b@c",
        "log-route = mine ^/a",
    ],
)
def test_routing_within_the_server_stays(line):
    """It is part of what is measured."""
    options, _ = copied(line)
    assert line in [" = ".join(pair) for pair in options]


def test_a_run_sends_no_request_to_a_backend_of_its_routes(tmp_path):
    """The route is left out and named, and the application answers."""
    (tmp_path / "web.py").write_text(
        'def application(environ, start):\n    start("200 OK", [])\n    return [b"hi"]\n'
    )
    with socket.create_server(("127.0.0.1", 0)) as backend:
        backend.settimeout(0)
        line = f"route = ^/ http:127.0.0.1:{backend.getsockname()[1]}"
        ini = f"[uwsgi]\nhttp-socket = 127.0.0.1:0\nmodule = web\n{line}\n"
        (tmp_path / "u.ini").write_text(ini)
        done = compare("lab", "run", "./u.ini", "--path", "/", *PACED, cwd=tmp_path)
        with pytest.raises(BlockingIOError):
            backend.accept()
    assert f"{line} (would send the load to another server)" in done.stdout + done.stderr
