#!/bin/sh
# Build CPython twice from Debian's source package, with the GIL and with --disable-gil, and measure
# both: `make free-threaded` runs this.
#
#   tools/free_threaded.sh                          build both, then studies/free_threading.py
#   tools/free_threaded.sh 3.14                     another version than 3.13
#   tools/free_threaded.sh PYTHON FREE_THREADED     measure two interpreters that are there
#   BLOCKS=0 tools/free_threaded.sh                 say what runs, and compare nothing
#
# Both are compiled by the same compiler with configure's defaults, so that the GIL is all that differs.
# They stay in .free-threaded/X.Y and .free-threaded/X.Yt: 6 minutes once, another 20 to measure.
# The source comes from where this machine takes its packages: the suite `forky`, or SUITE=trixie.
set -eu
cd "$(dirname "$0")/.."
into=$PWD/.free-threaded
say() { printf 'free-threaded: %s\n' "$*" >&2; }
stop() { say "$*"; exit 1; }

# Download the source package $1, checked by apt against Debian's signature, and unpack it into $2.
source_of() {
    # shellcheck disable=SC2016 # apt-get's variable
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' | head -n 1)
    [ -n "$mirror" ] || stop 'this machine knows no mirror of Debian: apt-get update'
    rm -rf "$into/apt" "$2"
    mkdir -p "$into/apt/lists/partial" "$2"
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror ${SUITE:-forky} main" \
        >"$into/apt/sources.list"
    # A mirror may be a copy of some weeks ago: its signatures are checked, not their age.
    set -- "$1" "$2" -qq -o Dir::Etc::SourceList="$into/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$into/apt/lists" -o Acquire::Check-Valid-Until=false -o APT::Sandbox::User=root
    name=$1 folder=$2
    shift 2
    (cd "$into/apt" && apt-get "$@" update && apt-get "$@" source --download-only "$name") ||
        stop "no source of $name is to be had from ${SUITE:-forky}; another: make free-threaded ARGS=3.13 SUITE=trixie"
    tar -xf "$(ls "$into/apt/$name"_*.orig.tar.*z)" -C "$folder" --strip-components 1
}

# Compile the source $1 into $2 with the options that follow.
build() {
    source=$1 target=$2
    shift 2
    say "compiling $(basename "$target"): $target.log"
    rm -rf "$target" "$target.build"
    mkdir -p "$target.build"
    (cd "$target.build" && "$source/configure" --prefix="$target" "$@" && make -j"$(nproc)" && make install) \
        >"$target.log" 2>&1 || stop "it did not compile; $target.log says why"
    rm -rf "$target.build"
}

case ${1:-3.13} in
    */*) python=$1 free=$2 ;;
    *)
        version=${1:-3.13} missing=
        for package in libbz2-dev libffi-dev liblzma-dev libsqlite3-dev libssl-dev zlib1g-dev; do
            dpkg -s $package >/dev/null 2>&1 || missing="$missing $package"
        done
        # shellcheck disable=SC2086 # a list of names
        [ -z "$missing" ] || apt-get install -y -qq --no-install-recommends $missing >&2 ||
            stop "packages are missing: sudo apt-get install$missing"
        mkdir -p "$into"
        python=$into/$version/bin/python$version free=$into/${version}t/bin/python${version}t
        [ -x "$python" ] && [ -x "$free" ] || source_of "python$version" "$into/source"
        [ -x "$python" ] || build "$into/source" "$into/$version"
        [ -x "$free" ] || build "$into/source" "$into/${version}t" --disable-gil
        rm -rf "$into/source" "$into/apt"
        ;;
esac
exec .venv/bin/python studies/free_threading.py "$python" "$free" ${BLOCKS:+--blocks "$BLOCKS"}
