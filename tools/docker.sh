#!/bin/sh
# Test the images and compose.yaml on a Docker engine: `make test-docker` runs this.
#
#   tools/docker.sh                tests/deploy/test_docker.py (minutes are in docs/contributing/tests.md)
#   tools/docker.sh COMMAND ...    this command instead; $DOCKER_MACHINE is the folder of the engine's system,
#                                  $DOCKER_GROUP where its control groups are; tools/cluster.sh is one
#
# The engine, buildx and compose are those of Debian 13, bootstrapped into a folder; nothing of Docker
# is installed on this machine, and a Docker that runs here is not touched. They run in namespaces of
# mounts, processes and network, so that rules, connection tracking, interfaces and mounts are the
# engine's, and everything ends with this script, however it ends. Packages are fetched through
# slirp4netns, a network in user space. No registry of images is asked: the base images are Debian 13
# with its Python, nginx and Prometheus, under the names of the official ones. The script keeps
# everything in $DOCKER_WORK (~/.cache/...), checks that it leaves nothing else, and ends with 1 if it does.
#
# Needs root, Debian and mmdebstrap.
set -eu
cd "$(dirname "$0")/.."
work=${DOCKER_WORK:-${XDG_CACHE_HOME:-$HOME/.cache}/uwsgi-fibonacci-lab/docker}
machine=$work/machine
# Of all containers, below each hierarchy.
group=/fibonacci-docker
say() { printf 'docker: %s\n' "$*" >&2; }
stop() { say "$*"; exit 1; }
# The rest of the line, and all that it starts, end with this script.
namespaced() { setpriv --pdeathsig KILL unshare --mount --propagation private --pid --fork --kill-child "$@"; }
inside() { chroot "$machine" "$@"; }

# Become the rest of the line, with the folder as the root. chroot would not do for the engine: its
# `docker exec` would come out in this machine's root, not in the container's.
if [ "${1:-}" = enter ]; then
    shift
    cd "$machine"
    pivot_root . mnt
    umount --lazy /mnt
    exec "$@"
fi

# -- within namespaces of mounts and processes --------------------------------------------------------

if [ "${1:-}" = within ]; then
    shift
    mount -t proc proc /proc
    mount --bind "$machine" "$machine"
    mount -t proc proc "$machine/proc"
    mount --rbind /dev "$machine/dev"
    mount -t tmpfs tmpfs "$machine/run"
    # A file that holds a network.
    touch "$machine/run/network"
    unshare --net="$machine/run/network" ip link set lo up
    inside slirp4netns --configure --mtu=1500 --disable-host-loopback --cidr=198.18.0.0/24 \
        --netns-type=path /run/network tap0 >"$work/network.log" 2>&1 &
    # A later run may have another resolver.
    cp -L /etc/resolv.conf "$machine/etc/resolv.conf"
    status=0
    nsenter --net="$machine/run/network" tools/docker.sh networked "$@" || status=$?
    # What is left to check once all have ended: the namespaces that only they were in.
    readlink /proc/[0-9]*/ns/* 2>/dev/null | sort -u >"$work/namespaces"
    exit $status
fi

# -- and within the network ---------------------------------------------------------------------------

# Run the rest until it succeeds, for at most 20 seconds.
within_20s() {
    deadline=$(($(date +%s) + 20))
    until "$@" >"$work/attempt.log" 2>&1; do
        [ "$(date +%s)" -lt $deadline ] || { cat "$work/attempt.log" >&2; return 1; }
        sleep 0.1
    done
}

build_base() {
    inside docker build --quiet --tag "$1" - >"$work/build.log" 2>&1 || { cat "$work/build.log" >&2; stop "no $1"; }
}

if [ "${1:-}" = networked ]; then
    shift
    # The sysfs of this network; the engine reads its interfaces there.
    mount -t sysfs sysfs "$machine/sys"
    mount --rbind /sys/fs/cgroup "$machine/sys/fs/cgroup"
    # The default route, which slirp4netns makes.
    within_20s ip route get 192.0.2.1 || stop "no network: $(cat "$work/network.log")"
    unshare --mount --propagation private tools/docker.sh enter \
        dockerd --exec-opt native.cgroupdriver=cgroupfs --cgroup-parent $group >"$work/engine.log" 2>&1 &
    engine=$!
    within_20s inside docker version || stop "the engine does not start: $(tail -n 3 "$work/engine.log")"
    # Containers of a run that was cut off.
    # shellcheck disable=SC2046 # a list of names
    { inside docker rm --force --volumes $(inside docker ps --all --quiet)
      inside docker volume prune --all --force
      inside docker network prune --force; } >/dev/null 2>&1 || true
    if ! inside docker image inspect python:3.13-slim prom/prometheus:v3.5.0 nginx:1.30-alpine >/dev/null 2>&1; then
        say "making the base images"
        docker_import() { inside docker import --change 'CMD ["python3"]' - python:3.13-slim; }
        docker_import <"$work/base.tar" >/dev/null
        build_base nginx:1.30-alpine <<'DOCKERFILE'
FROM python:3.13-slim
RUN apt-get update && apt-get install -y --no-install-recommends nginx-light curl \
    && ln -sf /dev/stdout /var/log/nginx/access.log && ln -sf /dev/stderr /var/log/nginx/error.log
DOCKERFILE
        build_base prom/prometheus:v3.5.0 <<'DOCKERFILE'
FROM python:3.13-slim
RUN apt-get update && apt-get install -y --no-install-recommends prometheus wget \
    && install -d -o 65534 -g 65534 /prometheus
ENTRYPOINT ["prometheus"]
DOCKERFILE
    fi
    status=0
    DOCKER_MACHINE=$machine DOCKER_GROUP=$group "$@" || status=$?
    # shellcheck disable=SC2046
    inside docker rm --force --volumes $(inside docker ps --all --quiet) >/dev/null 2>&1 || true
    kill $engine
    wait $engine || true
    exit $status
fi

# -- what is needed -----------------------------------------------------------------------------------

[ "$(id -u)" = 0 ] || stop "not run: only root may start an engine (sudo make test-docker)"
command -v apt-get >/dev/null || stop "not run: it needs Debian or Ubuntu, whose packages it unpacks"
missing=
for program in mmdebstrap:mmdebstrap ip:iproute2 unshare:util-linux git:git; do
    command -v "${program%:*}" >/dev/null || missing="$missing ${program#*:}"
done
# shellcheck disable=SC2086 # a list of names
[ -z "$missing" ] || apt-get install -y -qq --no-install-recommends $missing >&2 ||
    stop "not run: missing$missing: apt-get update && apt-get install$missing"
[ -c /dev/net/tun ] || stop "not run: this machine has no /dev/net/tun (modprobe tun)"
grep -qw overlay /proc/filesystems || stop "not run: this kernel has no overlay file system (modprobe overlay)"
unshare --mount --pid --net --fork true 2>/dev/null || stop "not run: no namespaces may be made here (a container?)"
mkdir -p "$work"
exec 9>"$work/lock"
flock --nonblock 9 || stop "another run uses $work"

# -- the engine's system ------------------------------------------------------------------------------

bootstrap() {
    say "bootstrapping Debian 13 with its Python"
    # shellcheck disable=SC2016 # apt-get's variable
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' | head -n 1)
    {   # A mirror may be a copy of some weeks ago: its signatures are checked, not their age.
        echo 'Acquire::Check-Valid-Until "false";'
        apt-config dump | grep -i '^Acquire::https\?::.*\(proxy\|cainfo\)' || true
    } >"$work/apt.conf"
    # With this machine's way to the package indexes, as for a proxy with an authority of its own.
    for file in /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
        [ ! -e "$file" ] || set -- "$@" "--customize-hook=cp -L $file \"\$1$file\""
    done
    mmdebstrap --quiet --variant=minbase --mode=root --aptopt="$work/apt.conf" \
        --include=ca-certificates,netbase,tzdata,python3-venv,python3-dev \
        "$@" trixie "$work/new.tar" "${mirror:-http://deb.debian.org/debian}" >"$work/bootstrap.log" 2>&1 ||
        stop "no base: $(tail -n 3 "$work/bootstrap.log")"
    mv "$work/new.tar" "$work/base.tar"
}

packages='docker.io docker-cli docker-compose docker-buildx curl iptables iproute2 procps slirp4netns'

install_engine() {
    say "installing the engine into $machine"
    rm -rf "$machine" "$machine.new"
    mkdir "$machine.new"
    tar -xf "$work/base.tar" -C "$machine.new"
    cp -L /etc/resolv.conf /etc/hosts "$machine.new/etc"
    namespaced chroot "$machine.new" env DEBIAN_FRONTEND=noninteractive sh -c "mount -t proc proc /proc &&
        apt-get update -qq && apt-get install -y -qq --no-install-recommends $packages" >"$work/bootstrap.log" 2>&1 ||
        stop "no engine: $(tail -n 3 "$work/bootstrap.log")"
    mv "$machine.new" "$machine"
    printf '%s\n' "$packages" >"$work/packages"
}

# -- what it may not leave on this machine ------------------------------------------------------------

groups() { find /sys/fs/cgroup -depth -type d -path "*$group*"; }
remove_groups() { groups | while read -r folder; do rmdir "$folder" 2>/dev/null || true; done; }
# What an engine and a cluster add to a network: their chains in each kind of table, their bridges.
rules() {
    for tables in iptables-save ip6tables-save iptables-legacy-save ip6tables-legacy-save iptables-nft-save; do
        "$tables" 2>/dev/null | grep -i 'docker\|kube' || true
    done
    ip -o link | grep -o 'docker0\|br-[0-9a-f]\{12\}\|tap0\|node[s0-9]' || true
}
left() {
    grep -F "$work/" /proc/self/mounts && echo "is mounted"
    find /proc -maxdepth 2 -path '/proc/[0-9]*/root' -lname "$machine*" 2>/dev/null
    find /proc -maxdepth 3 -path '/proc/[0-9]*/ns/*' -printf '%l\n' 2>/dev/null | sort -u >"$work/here"
    # Those of the initial namespaces that the engine shared are held by this shell, too.
    readlink /proc/$$/ns/* | sort -u >"$work/shared"
    comm -12 "$work/namespaces" "$work/here" | comm -23 - "$work/shared"
    groups
    rules >"$work/rules.after"
    diff "$work/rules" "$work/rules.after"
}

began=$(date +%s)
[ -e "$work/base.tar" ] || bootstrap
[ -e "$machine" ] && [ "$(cat "$work/packages" 2>/dev/null)" = "$packages" ] || install_engine
rules >"$work/rules"
: >"$work/namespaces"
[ $# -gt 0 ] || set -- .venv/bin/python -m pytest -q -s -n0 -m docker tests/deploy/test_docker.py
# Those of a run that was killed, too.
remove_groups
trap remove_groups EXIT
trap 'exit 130' INT TERM HUP
status=0
namespaced tools/docker.sh within "$@" || status=$?
remove_groups
remains=$(left) || true
[ -z "$remains" ] || stop "left behind: $remains"
say "nothing is left behind: no mount, process, namespace, control group, rule or interface; $(($(date +%s) - began)) s"
exit $status
