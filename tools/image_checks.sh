# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # variables are shared with image.sh
# Parts of image.sh: how to build, wait and check, and the service's image, run by itself.
answer='[0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597, 2584, 4181, 6765, 10946]'
version=$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)

say() { printf 'image: %s\n' "$*" >&2; }
skip() { say "skipped: $*"; exit 0; }

# Run the rest; its output is shown when it fails, and that ends the script.
check() {
    what=$1
    shift
    if output=$("$@" 2>&1); then printf 'ok      %s\n' "$what"; return; fi
    printf 'FAILED  %s\n%s\n' "$what" "$output"
    podman ps --all --quiet 2>/dev/null | while read -r each; do
        printf -- '-- %s\n' "$(podman inspect --format '{{.Name}}' "$each")"
        podman logs --tail 20 "$each" 2>&1
    done
    exit 1
}

# The certificates are this machine's, for one with an authority of its own; none is left in the
# image. The format is the one that knows health checks.
build() {
    say "building $1"
    set -- "$1" "$2" --volume /etc/ssl/certs:/etc/ssl/certs:ro
    [ ! -e /etc/pip.conf ] || set -- "$@" --volume /etc/pip.conf:/etc/pip.conf:ro
    name=$1 file=$2
    shift 2
    buildah bud --quiet --format docker --layers --pull-never --isolation chroot \
        "$@" --tag "$name" --file "$file" . >"$work/build.log" 2>&1 ||
        { cat "$work/build.log" >&2; exit 1; }
}

# Only what is in the private store, so all of it is ours.
clean_up() {
    {
        podman pod rm --all --force
        podman rm --all --force --time 0
        podman volume rm --all --force
        podman network prune --force
    } >/dev/null 2>&1 || true
}

free_port() { python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# Run the rest again and again until it succeeds, for at most half a minute.
within_30s() {
    deadline=$(($(date +%s) + 30))
    until "$@" >"$work/attempt.log" 2>&1; do
        [ "$(date +%s)" -lt $deadline ] || { echo "not within 30 s: $*"; cat "$work/attempt.log"; return 1; }
        sleep 0.2
    done
}

get() { curl --silent --show-error --noproxy '*' --max-time 5 "$@"; }

# URL $1 answers with $2.
answers() {
    reply=$(get "$1") || return 1
    [ "$reply" = "$2" ] || { echo "$1 answers '$reply', not '$2'"; return 1; }
}

# Its own health check passes. Without systemd podman runs it only when it is told to.
healthy() { podman healthcheck run "$1"; }

# Every process of container $1: user 65534, no capability, none to be had, filtered system calls.
unprivileged() {
    expected='CapBnd: 0000000000000000 CapEff: 0000000000000000 NoNewPrivs: 1 Seccomp: 2 Uid: 65534 65534 65534 65534 '
    pids=$(podman top "$1" hpid | sed 1d)
    [ -n "$pids" ] || { echo "$1 has no processes"; return 1; }
    for pid in $pids; do
        found=$(grep -E '^(Uid|CapEff|CapBnd|NoNewPrivs|Seccomp):' "/proc/$pid/status" | sort | tr '\t\n' '  ')
        [ "$found" = "$expected" ] || { echo "process $pid of $1: $found"; return 1; }
    done
}

# Not even root may write to its root.
read_only() { podman exec --user 0 "$1" touch /written 2>&1 | grep 'Read-only file system'; }

exited() {
    for each; do
        status=$(podman inspect --format '{{.State.Status}} {{.State.ExitCode}}' "$each")
        [ "$status" = "exited 0" ] || { echo "$each: $status"; return 1; }
    done
}

# Python names a source file where it had to compile one.
bytecode() {
    podman run --rm --entrypoint python fibonacci -v -c 'import app.wsgi, app.serve' >"$work/imports" 2>&1 || return 1
    grep -q "code object from '.*app/__pycache__/serve" "$work/imports" && ! grep "code object from .*[.]py$" "$work/imports"
}

# Debian's Prometheus knows no Kubernetes: there the rest of that job is read.
metrics_jobs() {
    sed 's/kubernetes_sd_configs:/static_configs:/; s/- role: pod/- targets: [pod]/' \
        deploy/prometheus-kubernetes.yml >"$work/prometheus-kubernetes.yml"
    for each in "$PWD/deploy/prometheus.yml" "$work/prometheus-kubernetes.yml"; do
        podman run --rm --entrypoint promtool --volume "$each:/prometheus.yml:ro" \
            prom/prometheus:v3.5.0 check config --syntax-only /prometheus.yml || return 1
    done
}

# Two requests to $1, which take three seconds; in the midst of them the rest is run.
in_flight() {
    url=$1
    shift
    : >"$work/replies"
    get --parallel --parallel-immediate --no-progress-meter --max-time 30 "$url" "$url" >"$work/replies" &
    sleep 1
    [ ! -s "$work/replies" ] && "$@" && wait $! && [ "$(grep -c -x 3000 "$work/replies")" = 2 ] && return
    echo "replies: $(cat "$work/replies")"
    return 1
}

run_image() {
    podman run --detach --name image --network image --publish "127.0.0.1:$port:8080" --tmpfs /tmp \
        --read-only --read-only-tmpfs=false --cap-drop ALL --security-opt no-new-privileges \
        --memory 256m --cpus 1 --pids-limit 100 "$@" fibonacci
}

check_image() {
    # Its addresses are chosen so that they meet no other network's of this machine.
    podman network create image >/dev/null
    port=$(free_port) url=http://127.0.0.1:$port
    check "the image starts, contained" run_image
    check "it answers" within_30s answers "$url/9000" "$answer"
    check "it is healthy" within_30s healthy image
    check "it has no privileges" unprivileged image
    check "it cannot write to its root" read_only image
    check "it stops" podman stop --time 30 image
    check "its exit status is 0" exited image
    podman rm image >/dev/null 2>&1
    check "the image starts, with slow requests" run_image \
        --volume "$PWD/loadtests:/srv/loadtests:ro" --env WSGI_APP=loadtests.workloads.waiting:app
    check "it answers" within_30s answers "$url/0" 0
    check "SIGTERM: what is under way is answered" in_flight "$url/3000" podman stop --time 30 image
    check "its exit status is 0" exited image
}
