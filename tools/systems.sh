#!/bin/sh
# Set the last commit up, and run its default tests, on other systems: `make test-systems` runs this.
#
#   tools/systems.sh                                    every cell: about 15 minutes for one
#   tools/systems.sh debian-13-user forky-python3.15    these: make test-systems ARGS="debian-13 ..."
#
# A cell is SUITE, with -pythonX.Y for another interpreter than the suite's default, and with -user
# for a user with sudo instead of root. `here` is this machine, with one of pyenv's interpreters. A
# suite is bootstrapped once, into .systems/SUITE.tar, from where this machine takes its packages. For
# a cell it is unpacked and entered as a container is, in namespaces of mounts and of processes, so
# that nothing stays mounted or running, however this ends. It has what the README asks for: git,
# make, an interpreter and the certificates. .systems/CELL.log has what was printed; of a cell that
# failed the folder .systems/CELL is kept.
#
# Needs root, Debian and mmdebstrap. Prints a row for each cell; ends with 1 if one of them failed.
set -eu
cd "$(dirname "$0")/.."
every='debian-12 debian-13 debian-13-user forky-python3.14 forky-python3.15 here-python3.12'
systems=$PWD/.systems
say() { printf 'systems: %s\n' "$*" >&2; }

# Within new namespaces: make the folder $1 the root, and become the rest of the line.
if [ "${1:-}" = enter ]; then
    folder=$2
    shift 2
    mount --bind "$folder" "$folder"
    mount -t proc proc "$folder/proc"
    mount --rbind /sys "$folder/sys"
    mount --rbind /dev "$folder/dev"
    cd "$folder"
    pivot_root . mnt
    umount --lazy /mnt
    exec "$@"
fi

# -- what runs in a cell: two set-ups and the tests, timed -------------------------------------------

if [ "${1:-}" = cell ]; then
    python=$2
    began=$(date +%s)
    make setup PYTHON="$python"
    make .venv/tests.stamp
    set_up=$(date +%s)
    status=0
    make test ARGS="--color=no" || status=$?
    .venv/bin/python - $((set_up - began)) $(($(date +%s) - set_up)) <<'PYTHON'
import platform, sys
from importlib.metadata import version

names = ("uwsgi", "gunicorn", "granian", "locust")
print("cell:", platform.python_version(), *map(version, names), *sys.argv[1:], sep="\t")
PYTHON
    exit $status
fi

# -- a suite -----------------------------------------------------------------------------------------

suite_of() {
    case $1 in
        debian-12*) echo bookworm ;;
        debian-13*) echo trixie ;;
        here-python*) echo here ;;
        *) echo "${1%%-*}" ;;
    esac
}

bootstrap() {
    [ ! -e "$systems/$1.tar" ] || return 0
    say "bootstrapping $1"
    # shellcheck disable=SC2016 # apt-get's variable
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' | head -n 1)
    [ -n "$mirror" ] || { say "this machine knows no mirror of Debian: apt-get update"; return 1; }
    {   # A mirror may be a copy of some weeks ago: its signatures are checked, not their age.
        echo 'Acquire::Check-Valid-Until "false";'
        apt-config dump | grep -i '^Acquire::https\?::.*\(proxy\|cainfo\)' || true
    } >"$systems/apt.conf"
    setpriv --pdeathsig TERM mmdebstrap --quiet --variant=minbase --mode=root --aptopt="$systems/apt.conf" \
        --hook-dir=/usr/share/mmdebstrap/hooks/maybe-merged-usr \
        --include=ca-certificates,git,make "$1" "$systems/new-$1.tar" "$mirror" &&
        mv "$systems/new-$1.tar" "$systems/$1.tar"
}

# Unpack the suite $1 into the folder $2, with the way of this machine to the package indexes.
unpack() {
    rm -rf "$2"
    mkdir -p "$2"
    tar -xf "$systems/$1.tar" -C "$2"
    for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
        [ ! -e "$file" ] || cp -L "$file" "$2$file"
    done
}

# Run the rest of the line in the folder $1, with no variable of this machine but those of its network.
# It ends with this script, whatever ends that.
inside() {
    folder=$1
    shift
    setpriv --pdeathsig KILL \
        unshare --mount --propagation private --pid --fork --kill-child tools/systems.sh enter "$folder" \
        env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        ${HTTPS_PROXY:+"HTTPS_PROXY=$HTTPS_PROXY"} ${PIP_INDEX_URL:+"PIP_INDEX_URL=$PIP_INDEX_URL"} \
        "$@" </dev/null
}

# -- a cell ------------------------------------------------------------------------------------------

run_cell() {
    suite=$(suite_of "$1") folder=$systems/$1 python=python3 user=root home=/root
    case $1 in *-python*) python=python${1##*-python} ;; esac
    case $1 in *-user) python=${python%-user} user=lab home=/home/lab ;; esac
    if [ "$suite" = here ]; then
        interpreter=$(ls -d "$HOME"/.pyenv/versions/"${python#python}".*/bin/python) && rm -rf "$folder" &&
            git clone --quiet . "$folder" &&
            (cd "$folder" && tools/systems.sh cell "$interpreter")
        return
    fi
    bootstrap "$suite" && unpack "$suite" "$folder" &&
        inside "$folder" sh -c "apt-get update -qq && apt-get install -y -qq --no-install-recommends $python" ||
        return
    if [ $user != root ]; then
        inside "$folder" sh -c "apt-get install -y -qq --no-install-recommends sudo && useradd -m $user" &&
            echo "$user ALL=(ALL) NOPASSWD: ALL" >"$folder/etc/sudoers.d/$user" || return
    fi
    git clone --quiet --no-local . "$folder$home/lab" &&
        inside "$folder" sh -c "chown -R $user: $home/lab && cd $home/lab && HOME=$home exec setpriv \
            --reuid=$user --regid=$user --init-groups tools/systems.sh cell $python"
}

[ "$(id -u)" = 0 ] || { say "this needs root: a system is entered by mounts"; exit 1; }
command -v mmdebstrap >/dev/null || apt-get install -y -qq mmdebstrap >&2
mkdir -p "$systems"
failed=0
row() { printf '%-18s %-8s %-8s %-9s %-8s %-8s %9s %8s  %s\n' "$@"; }
rows=$(row cell Python uWSGI gunicorn granian Locust 'set-up, s' 'tests, s' 'default tests')
# shellcheck disable=SC2086 # a list of names
[ $# -gt 0 ] || set -- $every
for cell; do
    say "$cell: .systems/$cell.log"
    if run_cell "$cell" >"$systems/$cell.log" 2>&1; then rm -rf "${systems:?}/$cell"; else failed=1; fi
    facts=$(sed -n 's/^cell:\t//p' "$systems/$cell.log")
    counts=$(sed -n 's/^=* \(.*\(passed\|failed\).*\) in .*=*$/\1/p' "$systems/$cell.log" | tail -n 1)
    # shellcheck disable=SC2086 # versions and seconds have no blanks
    rows="$rows
$(row "$cell" ${facts:-- - - - - - -} "${counts:-none: $(grep -v '^cell:' "$systems/$cell.log" | tail -n 1)}")"
done
printf '%s\n' "$rows"
exit $failed
