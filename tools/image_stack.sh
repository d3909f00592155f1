# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # variables are shared with image.sh
# Parts of image.sh: compose.yaml, and the manifests of deploy/, run.

# By itself podman adds tmpfs on /run and /tmp to what is read-only; Docker does not.
compose() {
    "$work/tools/bin/podman-compose" --podman-run-args=--read-only-tmpfs=false --profile load "$@"
}

# Prometheus has asked nginx and both instances.
scraped() {
    [ "$(get http://127.0.0.1:9090/api/v1/targets | grep -o '"health":"up"' | wc -l)" = 3 ]
}

# While instance $2 stops, is gone and starts again, and when it is back, no request to $1 fails.
survives() {
    touch "$work/asking"
    while [ -e "$work/asking" ]; do hundred "$1" || exit 1; done &
    podman stop --time 35 "$2" && exited "$2" && hundred "$1" && podman start "$2" && within_30s healthy "$2"
    back=$?
    rm "$work/asking"
    wait $! && [ "$back" = 0 ] && hundred "$1"
}

hundred() {
    # A hundred requests in one run of curl: [1-100] makes the addresses.
    right=$(get "$1?[1-100]" | grep -o -F "$answer" | wc -l)
    [ "$right" = 100 ] || { echo "$right of 100 were answered"; return 1; }
}

# A body above post-buffering is kept in a file of /tmp; what cannot be written would be a 5xx.
large_body() {
    head -c 12000 /dev/zero |
        get --output /dev/null --write-out '%{http_code}' --data-binary @- "$1" | grep -x 405
}

# Locust made requests, and all replies were right.
none_failed() { grep -E 'Aggregated +[1-9][0-9]* +0\(0[.]00%\)' "$work/locust.log" || { cat "$work/locust.log"; return 1; }; }

locust_in_compose() {
    podman exec fibonacci_locust_1 locust -f loadtests/ --headless --host http://nginx:8080 \
        --users 8 --run-time 3s >"$work/locust.log" 2>&1
    none_failed
}

# The requests of tests/corpus, as its tests play them.
corpus() {
    before=$(podman top fibonacci_app-a_1 hpid; podman top fibonacci_app-b_1 hpid)
    .venv/bin/python -m tests.corpus.play "${LISTEN#*:}" || return 1
    [ "$before" = "$(podman top fibonacci_app-a_1 hpid; podman top fibonacci_app-b_1 hpid)" ]
}

check_stack() {
    LISTEN=127.0.0.1:$(free_port) url=http://$LISTEN
    export LISTEN
    check "compose.yaml starts" compose up --detach --no-build
    check "the stack answers" within_30s answers "$url/9000" "$answer"
    for each in app-a app-b nginx prometheus locust; do
        check "$each is healthy" within_30s healthy "fibonacci_${each}_1"
        check "$each has no privileges" unprivileged "fibonacci_${each}_1"
        check "$each cannot write to its root" read_only "fibonacci_${each}_1"
    done
    check "Prometheus finds both instances" within_30s scraped
    check "a large body is refused, not an error" large_body "$url/9"
    check "app-a stops and starts again, no request fails" survives "$url/9000" fibonacci_app-a_1
    check "app-b stops and starts again, no request fails" survives "$url/9000" fibonacci_app-b_1
    check "Locust loads it" locust_in_compose
    [ ! -x .venv/bin/python ] || check "each malformed request gets what it may get, no process dies" corpus
    check "compose.yaml stops" compose stop
    check "nginx and the instances end with status 0" exited fibonacci_nginx_1 fibonacci_app-a_1 fibonacci_app-b_1
    check "compose.yaml leaves nothing" compose down --volumes
}

slow() { compose --file compose.yaml --file "$work/slow.yaml" "$@"; }

check_drain() {
    printf 'services:\n' >"$work/slow.yaml"
    for each in app-a app-b; do
        printf '  %s: {environment: {WSGI_APP: "loadtests.workloads.waiting:app"}, volumes: ["%s:/srv/loadtests:ro"]}\n' \
            $each "$PWD/loadtests" >>"$work/slow.yaml"
    done
    check "the stack starts, with slow requests" slow up --detach --no-build app-a app-b nginx
    check "it answers" within_30s answers "$url/0" 0
    check "the stack stops: what is under way is answered" in_flight "$url/3000" slow stop
    check "they end with status 0" exited fibonacci_nginx_1 fibonacci_app-a_1 fibonacci_app-b_1
    check "it leaves nothing" slow down --volumes
}

# Of the manifest, podman runs the Deployment. Left out: the second replica, which would share the
# first one's folder here, and the ports, which podman would publish on every address. It has no
# Service and no disruption budget, and no probes without systemd. The hooks are run by hand, as the
# jobs are, whose arguments are the manifest's but for the address and the time.
manifest() {
    "$work/tools/bin/python" - "$@" <<'END'
import sys, yaml
deployment = next(yaml.safe_load_all(open("deploy/kubernetes.yaml")))
containers = deployment["spec"]["template"]["spec"]["containers"]
load = {each["metadata"]["name"]: each for each in yaml.safe_load_all(open("deploy/kubernetes-load.yaml")) if each["kind"] == "Job"}
if sys.argv[1] == "pod":
    deployment["spec"]["replicas"] = 1
    for container in containers:
        container.pop("ports", None)
    yaml.safe_dump(deployment, sys.stdout)
elif sys.argv[1] == "hook":
    print(containers[1]["lifecycle"]["preStop"]["exec"]["command"][-1])
else:
    print(*load[sys.argv[1]]["spec"]["template"]["spec"]["containers"][0]["args"])
END
}

job() {
    name=$1 job=$2
    shift 2
    # shellcheck disable=SC2046 # its words
    podman run --detach --name "$name" --network image --tmpfs /tmp \
        --read-only --read-only-tmpfs=false --cap-drop ALL --security-opt no-new-privileges \
        "fibonacci-locust:$version" $(manifest "$job") "$@"
}

locust_jobs() {
    job locust-master locust-master --host "http://$address:8080" --run-time 3s &&
        job worker-1 locust-workers && job worker-2 locust-workers || return 1
    status=$(podman wait locust-master worker-1 worker-2)
    podman logs locust-master >"$work/locust.log" 2>&1
    [ "$(echo "$status" | tr -d '\n')" = 000 ] && none_failed
}

# What is run before an instance is stopped ends when nginx has, and not before.
hook() {
    podman exec fibonacci-pod-0-a timeout 40 sh -c "$(manifest hook)" &
    sleep 1
    kill -0 $! || { echo "it did not wait"; return 1; }
    podman stop --time 40 fibonacci-pod-0-nginx && wait $! && exited fibonacci-pod-0-nginx
}

check_pod() {
    manifest pod >"$work/pod.yaml"
    check "the Deployment starts" podman play kube --network image "$work/pod.yaml"
    address=$(podman inspect --format '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$(podman pod inspect fibonacci-pod-0 --format '{{.InfraContainerID}}')")
    check "the pod answers" within_30s answers "http://$address:8080/9000" "$answer"
    check "the pod is ready" within_30s answers "http://$address:8080/readyz" ok
    for each in nginx a b; do
        check "$each has no privileges" unprivileged "fibonacci-pod-0-$each"
        check "$each cannot write to its root" read_only "fibonacci-pod-0-$each"
    done
    check "Locust's jobs, a master and two workers, load it" locust_jobs
    check "the hook of an instance waits for nginx" hook
    check "the Deployment stops" podman play kube --down "$work/pod.yaml"
}
