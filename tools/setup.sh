#!/bin/sh
# Make .venv from nothing: system packages, pinned requirements, the compiled sequence, uWSGI.
#
# `make setup` runs this when something it read has changed, so a second run costs nothing.
# PYTHON=python3.13 make setup chooses another interpreter.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
say() { printf 'setup: %s\n' "$*" >&2; }

command -v "$python" >/dev/null || { say "no $python: install Python 3.11 or later"; exit 1; }
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    say "$("$python" --version) is too old: 3.11 or later is needed (PYTHON=python3.13 make setup)"; exit 1; }

# What is missing, as Debian and Ubuntu name it. libpcre2-dev gives uWSGI its internal routing.
missing=
"$python" -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3-venv"
header=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include") + "/Python.h")')
[ -e "$header" ] || missing="$missing python3-dev"
command -v cc >/dev/null && echo 'int main(void){return 0;}' | cc -x c -o /dev/null - 2>/dev/null \
    || missing="$missing gcc libc6-dev"
command -v pcre2-config >/dev/null || missing="$missing libpcre2-dev"
command -v ss >/dev/null || missing="$missing iproute2"
if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ]; then root=; else root='sudo -n'; fi
    if command -v apt-get >/dev/null && { [ -z "$root" ] || $root true 2>/dev/null; }; then
        say "installing$missing"
        $root apt-get update -qq
        # shellcheck disable=SC2086 # a list of names
        DEBIAN_FRONTEND=noninteractive $root apt-get install -y -qq --no-install-recommends $missing >&2
    else
        say "these system packages are missing; as root: apt-get install$missing"; exit 1
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
say "building this project (FIB_BUILD=${FIB_BUILD:-auto})"
$pip install --no-build-isolation --no-deps --editable .
.venv/bin/python -c 'import fib; print("setup: fib is", fib.BUILD, "" if fib.FALLBACK is None else "(" + fib.FALLBACK + ")")' >&2
