#!/bin/sh
# Make .venv from nothing: system packages, pinned requirements, the compiled sequence, uWSGI.
#
# `make setup` runs this when something it read has changed, so a second run costs nothing.
# `make setup PYTHON=python3.13` chooses another interpreter.
set -eu
cd "$(dirname "$0")/.."
# The interpreter asked for, else the one that .venv has, else the system's.
python=${PYTHON:-}
if [ -z "$python" ] && .venv/bin/python -c '' 2>/dev/null; then python=.venv/bin/python; fi
python=${python:-python3}
export FIB_BUILD="${FIB_BUILD:-auto}"
say() { printf 'setup: %s\n' "$*" >&2; }

command -v "$python" >/dev/null || { say "no $python: install Python 3.11 or later"; exit 1; }
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    say "$("$python" --version) is too old: 3.11 or later is needed (make setup PYTHON=python3.13)"; exit 1; }
"$python" -c 'import sys; sys.exit(sys.version_info >= (3, 14))' ||
    say "$("$python" --version) was not tried; 3.11 to 3.13 were"

# What is missing, as Debian and Ubuntu name it. libpcre2-dev gives uWSGI its internal routing.
missing=
# The packages of the default interpreter, or of the one that was asked for by name.
case $python in
    python3.*) debian=$python ;;
    *) debian=python3 ;;
esac
"$python" -c 'import ensurepip, venv' 2>/dev/null || missing="$missing $debian-venv"
header=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include") + "/Python.h")')
[ -e "$header" ] || missing="$missing $debian-dev"
command -v cc >/dev/null && echo 'int main(void){return 0;}' | cc -x c -o /dev/null - 2>/dev/null \
    || missing="$missing gcc libc6-dev"
command -v pcre2-config >/dev/null || missing="$missing libpcre2-dev"
command -v ss >/dev/null || missing="$missing iproute2"
if [ -n "$missing" ]; then
    # At a terminal sudo may ask for the password; elsewhere nobody could answer.
    if [ "$(id -u)" = 0 ]; then root=; elif [ -t 0 ]; then root=sudo; else root='sudo -n'; fi
    if command -v apt-get >/dev/null && { [ -z "$root" ] || $root true 2>/dev/null; }; then
        say "installing$missing"
        $root apt-get update -qq
        # sudo drops variables of its caller, so they are set behind it.
        # shellcheck disable=SC2086 # a list of names
        $root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=a \
            apt-get install -y -qq --no-install-recommends $missing >&2
    else
        say "system packages are missing: sudo apt-get update && sudo apt-get install -y$missing"; exit 1
    fi
fi

if [ "$(.venv/bin/python -c 'import sys; print(sys.version)' 2>/dev/null)" \
    != "$("$python" -c 'import sys; print(sys.version)')" ]; then
    say "creating .venv with $("$python" --version)"
    rm -rf .venv
    "$python" -m venv .venv
fi
pip=".venv/bin/python -m pip --disable-pip-version-check --quiet --no-input"
# pip's warning about root is about system folders; this is a virtual environment.
export PIP_ROOT_USER_ACTION=ignore
say "installing the pinned requirements"
$pip install --require-hashes -r requirements/build.txt
$pip install --require-hashes -r requirements/dev.txt
# pip's cache knows neither the interpreter's build nor uWSGI's options: a cached wheel made by
# another of either is reused silently and breaks, so uWSGI is always compiled here.
stamp=.venv/uwsgi.stamp
if ! cmp -s requirements/service.txt "$stamp"; then
    say "compiling uWSGI (about a minute)"
    $pip install --require-hashes --no-cache-dir --no-binary uwsgi --no-build-isolation \
        --force-reinstall --no-deps -r requirements/service.txt
    [ "$(.venv/bin/uwsgi --help | grep -c route)" -gt 100 ] || {
        say "uWSGI was built without internal routing: install libpcre2-dev, then: rm -r .venv; make setup"; exit 1; }
    cp requirements/service.txt "$stamp"
fi
say "building this project (FIB_BUILD=$FIB_BUILD)"
# setuptools warns of editable installations as such; a missing compiler must still be heard.
PYTHONWARNINGS="ignore:Editable installation" $pip install --no-build-isolation --no-deps --editable .
.venv/bin/python -c 'import fib; print("setup: fib is", fib.BUILD, "" if fib.FALLBACK is None else "(" + fib.FALLBACK + ")")' >&2
