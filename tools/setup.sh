#!/bin/sh
# Make .venv from nothing, in layers. make runs this when something it read has changed.
#
#   tools/setup.sh          what runs the service and compares profiles (make setup)
#   tools/setup.sh tests    on top of it, what tests, lint and types need (make test, make lint)
#   tools/setup.sh peers    on top of the first, the other servers of the articles (make peers)
#   tools/setup.sh dist     an environment of its own that builds and checks a release (make dist)
#   tools/setup.sh site     an environment that builds the documentation of the site (make site)
#   tools/setup.sh browser  the browsers that tests use (make test-browser)
#   tools/setup.sh framework  an environment for the tests of Flask and Werkzeug (make test-framework)
#
# Each step is a line with its seconds. What apt-get and pip say is in build/setup.log. The last line of
# a set-up that did not end says why and what to do; the next one goes on from there.
# `make setup PYTHON=python3.13` chooses another interpreter.
set -eu
cd "$(dirname "$0")/.."
layer=${1:-setup}
case $layer in
    setup) again='make setup' ;;
    tests) again='make test' ;;
    peers) again='make peers' ;;
    framework) again='make test-framework' ;;
    dist) again='make dist' ;;
    site) again='make site' ;;
    browser) again='make test-browser' ;;
    *) echo "usage: tools/setup.sh [tests|peers|framework|dist|site|browser]" >&2; exit 2 ;;
esac
began=$(date +%s)
told=
log=build/setup.log
since=
# End the line of the step that is under way, if one is, with the seconds that it took.
end_step() { [ -z "$since" ] || printf ': %s s\n' $(($(date +%s) - since)) >&2; since=; }
say() { end_step; printf 'setup: %s\n' "$*" >&2; }
step() { end_step; printf 'setup: %s' "$*" >&2; since=$(date +%s); }
stop() { told=1; say "$*"; exit 1; }
reason='the reason is above'
finish() { [ $? = 0 ] || [ -n "$told" ] || say "stopped; $reason. When it is mended: $again"; }
trap finish EXIT
trap 'told=1; say "interrupted; to go on: $again"; exit 130' INT TERM HUP

# Where the path has a blank or is long, the first lines of pip's scripts give it to sh in double
# quotes, or in none: with one of these characters in it, .venv/bin/lab would not start.
character=$(printf %s "$PWD" | tr -dc '"$`' | cut -c 1)
case $PWD in *' '*) by_sh=1 ;; *) by_sh=$((${#PWD} > 100)) ;; esac
[ -z "$character" ] || [ $by_sh = 0 ] ||
    stop "the folder $PWD has a $character in its name, and no program of .venv would start there:" \
        "rename it, then: $again"
mkdir -p build
true >"$log" || true

# -- Debian's packages -----------------------------------------------------------------------------

# Install $missing with apt-get, as root or by this sudo. 1 where that is not possible.
apt_install() {
    if [ "$(id -u)" = 0 ]; then root=; else root=$1; fi
    command -v apt-get >/dev/null && { [ -z "$root" ] || $root true 2>/dev/null; } || return 1
    step "installing$missing"
    # Debian's nginx comes as a service, too; here nothing but the lab starts it.
    case $missing in *nginx*) ! command -v systemctl >/dev/null || $root systemctl --quiet mask nginx ;; esac
    # sudo drops variables of its caller, so they are set behind it.
    # shellcheck disable=SC2086 # a list of names
    { $root apt-get update -qq && $root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=a \
        apt-get install -y -qq --no-install-recommends $missing; } >>"$log" 2>&1 ||
        { words=" ($log has what apt-get said)"; return 1; }
}
words=

find_python() {
    # The interpreter asked for, else the one that .venv was made with, else the system's.
    python=${PYTHON:-$(.venv/bin/python -c 'import sys; print(sys._base_executable)' 2>/dev/null)} ||
        python=python3
    command -v "$python" >/dev/null || stop "no $python: install Python 3.11 or later, then: $again"
    "$python" -c '' 2>>"$log" || stop "$python does not run ($log has what it said): name another one, then: $again"
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        stop "$("$python" --version) is too old: 3.11 or later is needed (make setup PYTHON=python3.13)"
    "$python" -c 'import sys; sys.exit(sys.version_info >= (3, 16))' ||
        say "$("$python" --version) was not tried; 3.11 to 3.15 were"
}

compiles() { printf '%s\nint main(void) { return 0; }\n' "$1" | cc -x c -o /dev/null - 2>/dev/null; }

# What is missing, as Debian and Ubuntu name it. libpcre2-dev gives uWSGI its internal routing,
# libcrypt-dev its crypt.h, which came with libc6-dev until Debian 13.
system_for_setup() {
    missing=
    # The packages of the default interpreter, or of the one that was asked for by name.
    case $python in
        python3.*) debian=$python ;;
        *) debian=python3 ;;
    esac
    "$python" -c 'import ensurepip, venv' 2>/dev/null || missing="$missing $debian-venv"
    header=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include") + "/Python.h")')
    [ -e "$header" ] || missing="$missing $debian-dev"
    compiles '' || missing="$missing gcc libc6-dev"
    compiles '#include <crypt.h>' || missing="$missing libcrypt-dev"
    command -v pcre2-config >/dev/null || missing="$missing libpcre2-dev"
    command -v ss >/dev/null || missing="$missing iproute2"
    [ -n "$missing" ] || return 0
    # At a terminal sudo may ask for the password; elsewhere nobody could answer.
    if [ -t 0 ]; then sudo=sudo; else sudo='sudo -n'; fi
    apt_install "$sudo" ||
        stop "system packages are missing$words:" \
            "sudo apt-get update && sudo apt-get install -y$missing && $again"
}

# Where nobody has to be asked; elsewhere the tests that need them are skipped.
system_for_tests() {
    missing=
    for program in valgrind strace patch curl busybox; do
        command -v $program >/dev/null || missing="$missing $program"
    done
    # In sbin, which is not on everybody's PATH.
    [ -x /usr/sbin/nginx ] || command -v nginx >/dev/null || missing="$missing nginx-light"
    [ -z "$missing" ] || apt_install 'sudo -n' ||
        say "tests are skipped that need$missing$words: sudo apt-get install$missing"
}

# As above: without them the peers that need them are skipped.
system_for_peers() {
    missing=
    [ -x /usr/sbin/nginx ] || command -v nginx >/dev/null || missing="$missing nginx-light"
    command -v node >/dev/null || missing="$missing nodejs"
    command -v go >/dev/null || missing="$missing golang-go"
    [ -z "$missing" ] || apt_install 'sudo -n' ||
        say "peers are skipped that need$missing$words: sudo apt-get install$missing"
}

# As above: without them the site is not built, or not used.
system_for_site() {
    missing=
    command -v node >/dev/null || missing="$missing nodejs"
    command -v npm >/dev/null || missing="$missing npm"
    [ -z "$missing" ] || apt_install 'sudo -n' ||
        say "the site is not built without$missing$words: sudo apt-get install$missing"
}
system_for_browser() {
    missing=
    command -v chromium >/dev/null || missing="$missing chromium"
    command -v chromedriver >/dev/null || missing="$missing chromium-driver"
    command -v firefox-esr >/dev/null || command -v firefox >/dev/null || missing="$missing firefox-esr"
    [ -z "$missing" ] || apt_install 'sudo -n' ||
        say "tests are skipped that need$missing$words: sudo apt-get install$missing"
}

# -- Python's packages -----------------------------------------------------------------------------

# pip's warning about root is about system folders; this is a virtual environment.
export PIP_ROOT_USER_ACTION=ignore

# Where packages are installed.
into=.venv

# Print the first error of a compiler or a linker, and Debian's package for a header that is missing.
# Where a build fails, the last line of pip's is but the name of what was built.
first_error() {
    sed -n 's/^ *\([^ :]*:[0-9:]* \(fatal \)*error: .*\)/\1/p; s/.*\(ld: cannot find .*\)/\1/p' |
        sed "1!d; s/ crypt\.h: .*/& (libcrypt-dev has it)/; s/ pcre2\.h: .*/& (libpcre2-dev has it)/
            s/ Python\.h: .*/& (${debian:-python3}-dev has it)/"
}

# What pip says is kept in memory until it has ended, because it is the disk that may be full.
install() {
    status=0
    said=$("$into/bin/python" -m pip --disable-pip-version-check --quiet --no-input install "$@" 2>&1) ||
        status=$?
    words="$log has what pip said"
    [ -z "$said" ] || printf '%s\n' "$said" >>"$log" 2>/dev/null ||
        { end_step; printf '%s\n' "$said" >&2; words="what pip said is above"; }
    case $status$said in
        0*) ;;
        *'No space left on device'*)
            stop "the disk is full ($words): make room in $PWD and ${TMPDIR:-/tmp}, then: $again" ;;
        *NewConnectionError* | *TimeoutError* | *ProxyError* | *'from versions: none'*)
            stop "packages cannot be downloaded ($words): is there a network, a proxy (HTTPS_PROXY)" \
                "or a mirror (PIP_INDEX_URL)? When it answers: $again" ;;
    esac
    error=$(printf '%s\n' "$said" | first_error)
    said=$(printf '%s\n' "$said" | tail -n 1)
    if [ -n "$error" ]; then said="first error: $error"; else said="last words: ${said%.}"; fi
    reason="$words; its $said"
    return $status
}

make_venv() {
    # One that an interruption left has no whole pip, or does not know that it is one.
    .venv/bin/python -c 'import sys, pip._internal.cli.main
sys.exit(sys.prefix == sys.base_prefix or sys.version != sys.argv[1])' \
        "$("$python" -c 'import sys; print(sys.version)')" 2>/dev/null && return
    step "creating .venv with $("$python" --version)"
    # The old one stays if this interpreter can make none.
    "$python" -m venv --without-pip build/try-venv >>"$log" 2>&1 ||
        { rm -rf build/try-venv; stop "$python makes no environment ($log has what it said): name another one, then: $again"; }
    rm -rf build/try-venv .venv
    "$python" -m venv .venv >>"$log" 2>&1 || { reason="$log has what it said"; return 1; }
}

# Into the one binary, beside what uWSGI embeds by itself. gevent is among that: named here again, it
# would be linked twice.
plugins=asyncio,greenlet

# What the binary was made of; greenlet gives its headers.
made_of() { cat requirements/service.txt; grep "^greenlet==" requirements/locust.txt; echo "$plugins"; }

# pip's cache knows neither the interpreter's build nor uWSGI's options: a cached wheel made by
# another of either is reused silently and breaks, so uWSGI is always compiled here.
compile_uwsgi() {
    stamp=.venv/uwsgi.stamp
    [ -x .venv/bin/uwsgi ] && made_of | cmp -s - "$stamp" && return
    step "compiling uWSGI (about a minute)"
    rm -f "$stamp"
    # Not in CFLAGS, which uWSGI takes apart at each blank, and a folder may have one in its name.
    headers=$(.venv/bin/python -c "import greenlet, os; print(os.path.dirname(greenlet.__path__[0]))")
    export C_INCLUDE_PATH="$headers${C_INCLUDE_PATH:+:$C_INCLUDE_PATH}" UWSGI_EMBED_PLUGINS="$plugins"
    install --require-hashes --no-cache-dir --no-binary uwsgi --no-build-isolation \
        --force-reinstall --no-deps -r requirements/service.txt
    unset UWSGI_EMBED_PLUGINS
    [ "$(.venv/bin/uwsgi --help | grep -c route)" -gt 100 ] ||
        stop "uWSGI was built without internal routing: install libpcre2-dev, then: rm -r .venv; $again"
    made_of >"$stamp"
}

# Other servers of the articles, in .venv.
install_articles() {
    stamp=.venv/articles.stamp
    cmp -s requirements/articles.txt "$stamp" && return
    step "installing the other servers of the articles"
    install --require-hashes -r requirements/articles.txt
    cp requirements/articles.txt "$stamp"
}

# The environment .peers/$1, or $3, made by the interpreter $2, for what cannot stand beside the others.
make_environment() {
    made="$("$2" --version) $(cat "requirements/$1.txt")"
    into=${3:-.peers/$1}
    [ "$(cat "$into/stamp" 2>/dev/null)" != "$made" ] || { into=.venv; return; }
    step "making $into with $("$2" --version)"
    rm -rf "$into"
    "$2" -m venv "$into"
    install --require-hashes -r "requirements/$1.txt" && printf '%s\n' "$made" >"$into/stamp"
    status=$?
    into=.venv
    return $status
}

# Tornado 4.5 is for no later one. pyenv's python3.6 is there, and fails, where another is chosen.
find_python36() {
    for old in python3.6 "$HOME"/.pyenv/versions/3.6.*/bin/python; do
        "$old" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 6))' 2>/dev/null && return
    done
    return 1
}

# -- the layers ------------------------------------------------------------------------------------

packages() { find .venv/lib/python3*/site-packages -maxdepth 1 -name '*.dist-info' 2>/dev/null | wc -l; }
megabytes() { if [ -d .venv ]; then du -sm .venv | cut -f1; else echo 0; fi; }
had_packages=$(packages) had_megabytes=$(megabytes)

case $layer in
    setup)
        find_python
        system_for_setup
        make_venv
        what='the service with uWSGI, the lab with Locust, gunicorn, granian' ;;
    tests)
        system_for_tests
        what='for tests, lint and types: Schemathesis, Django, Selenium, ruff, mypy' ;;
    peers)
        system_for_peers
        what='the other servers of the articles' ;;
    framework)
        what='an environment for the tests of Flask and Werkzeug' ;;
    site)
        system_for_site
        what='an environment that builds the documentation, .site' ;;
    browser)
        system_for_browser
        what='nothing; the browsers are packages of the system' ;;
    dist)
        what='an environment that builds and checks a release, .dist' ;;
esac
halves=$(.venv/bin/python tools/halves.py)
# shellcheck disable=SC2086 # a list of names
[ -z "$halves" ] || say "installing again what is not whole:" $halves
if [ "$layer" = setup ]; then
    step "installing what builds packages"
    install --require-hashes -r requirements/build.txt
    # Before uWSGI, which is compiled with the headers of Locust's greenlet.
    step "installing the lab, Locust and other servers"
    install --require-hashes -r requirements/locust.txt -r requirements/peers.txt
    compile_uwsgi
    step "building this project (FIB_BUILD=${FIB_BUILD:=auto})"
    export FIB_BUILD
    # setuptools warns of editable installations as such; a missing compiler must still be heard.
    PYTHONWARNINGS='ignore:Editable installation' install --no-build-isolation --no-deps --editable .
    say "$(.venv/bin/python -c 'import fib; print("fib is", fib.BUILD, *() if fib.FALLBACK is None else ("(" + fib.FALLBACK + ")",))')"
elif [ "$layer" = tests ]; then
    step "installing what tests, lint and types need"
    install --require-hashes -r requirements/dev.txt
elif [ "$layer" = framework ]; then
    make_environment framework .venv/bin/python
elif [ "$layer" = dist ]; then
    make_environment dist .venv/bin/python .dist
elif [ "$layer" = site ]; then
    make_environment site .venv/bin/python .site
elif [ "$layer" = peers ]; then
    install_articles
    make_environment eventlet .venv/bin/python
    # Of 2017: on a system of today its build may fail, and nothing else needs it.
    find_python36 && make_environment tornado45 "$old" ||
        say "peers are skipped that need Python 3.6 and Tornado 4.5: the profiles tornado45-*"
fi
say "done in $(($(date +%s) - began)) s," \
    "$(($(packages) - had_packages)) packages and $(($(megabytes) - had_megabytes)) MB new in .venv: $what"
