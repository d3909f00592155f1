#!/bin/sh
# Test the manifests on a Kubernetes cluster: `make test-cluster` runs this.
#
#   tools/cluster.sh                tests/deploy/test_cluster.py (minutes are in docs/contributing/tests.md)
#   tools/cluster.sh COMMAND ...    this command instead, with a kubectl of the cluster's version
#
# Three nodes and a control plane run beside the engine of tools/docker.sh, in its namespaces and on its
# system, so that everything ends with that script, which checks that nothing is left. A node is a
# kubelet, a containerd and a kube-proxy in namespaces of mounts, processes and network; the control
# plane has a network, with a kube-proxy and the cluster's DNS. Kubernetes and CoreDNS are built once
# from the Go module proxy, which checks their hashes; containerd, etcd and the network plug-ins are
# Debian's. The engine builds the images by the lines of docs/how-to/deploy-kubernetes.md, and each node
# gets a copy. No registry is asked. The cluster has no secrets: it trusts its network, which nobody else is in.
#
# Needs what tools/docker.sh needs, and Go. Everything is kept in $CLUSTER_WORK (~/.cache/...): the
# binaries by their versions, the images, and the logs of the last run.
set -eu
cd "$(dirname "$0")/.."
kubernetes=1.36.3
coredns=1.14.7
work=${CLUSTER_WORK:-${XDG_CACHE_HOME:-$HOME/.cache}/uwsgi-fibonacci-lab/cluster}
binaries=kubernetes-$kubernetes-coredns-$coredns
# The same folder, as the cluster sees it.
there=/var/lib/cluster
nodes='node1 node2 node3'
say() { printf 'cluster: %s\n' "$*" >&2; }
stop() { say "$*"; exit 1; }

# -- a node, with the engine's system as its root -----------------------------------------------------

if [ "${1:-}" = node ]; then
    name=$2
    number=${name#node}
    folder=$there/nodes/$name
    export PATH="$there/$binaries:$PATH"
    mkdir -p /run/cni
    cat >/run/cni/cluster.conflist <<CNI
{"cniVersion": "1.0.0", "name": "cluster", "plugins": [{
    "type": "bridge", "bridge": "pods", "isGateway": true, "hairpinMode": true,
    "ipam": {"type": "host-local", "dataDir": "/run/ipam", "ranges": [[{"subnet": "10.244.$number.0/24"}]],
             "routes": [{"dst": "0.0.0.0/0"}]}}]}
CNI
    containerd --config tools/cluster/containerd.toml --root "$folder/containerd" >"$folder/containerd.log" 2>&1 &
    kube-proxy --kubeconfig $there/state/kubeconfig --hostname-override "$name" --cluster-cidr 10.244.0.0/16 \
        --conntrack-max-per-core 0 --conntrack-min 0 >"$folder/kube-proxy.log" 2>&1 &
    timeout 60 sh -c 'until ctr version; do sleep 0.1; done' >/dev/null 2>&1
    kubelet --config tools/cluster/kubelet.yaml --kubeconfig $there/state/kubeconfig \
        --root-dir "$folder/kubelet" --cert-dir "$folder/certificates" --cgroup-root "$DOCKER_GROUP/$name" \
        --hostname-override "$name" --node-ip "10.0.0.1$number" >"$folder/kubelet.log" 2>&1 &
    # The first process of a namespace takes over those whose parent has ended.
    wait
    exit
fi

# -- within the engine's namespaces -------------------------------------------------------------------

machine=${DOCKER_MACHINE:-}
inside() { chroot "$machine" "$@"; }

# Become a node: mount what it writes that is not in its folder.
if [ "${1:-}" = enter ]; then
    mount -t proc proc "$machine/proc"
    mount -t sysfs sysfs "$machine/sys"
    mount --rbind /sys/fs/cgroup "$machine/sys/fs/cgroup"
    for folder in run var/log var/lib/cni; do
        mkdir -p "$machine/$folder"
        mount -t tmpfs tmpfs "$machine/$folder"
    done
    exec tools/docker.sh enter /root/lab/tools/cluster.sh node "$2"
fi

# The rest of the line in the network of the first word.
on() { network=$1; shift; nsenter --net="$machine/run/$network" "$@"; }

make_networks() {
    for network in control $nodes; do
        touch "$machine/run/$network"
        unshare --net="$machine/run/$network" ip link set lo up
        on "$network" sysctl -qw net.ipv4.ip_forward=1
    done
    on control ip link add nodes type bridge
    on control ip address add 10.0.0.1/24 dev nodes
    on control ip link set nodes up
    # Its bridge is a switch.
    on control sysctl -qw net.bridge.bridge-nf-call-iptables=0
    # A Service's address is translated after it has a route.
    on control ip route add 10.96.0.0/16 dev nodes
    for node in $nodes; do
        on control ip link add "$node" type veth peer name eth0 netns "$machine/run/$node"
        on control ip link set "$node" master nodes up
        on "$node" ip address add "10.0.0.1${node#node}/24" dev eth0
        on "$node" ip link set eth0 up
        on "$node" ip route add default via 10.0.0.1
        # Pods of one node reach each other by a Service, too.
        on "$node" sysctl -qw net.bridge.bridge-nf-call-iptables=1
    done
    # Where the pods of the others are.
    for place in control $nodes; do
        for node in $nodes; do
            [ "$place" = "$node" ] || on "$place" ip route add "10.244.${node#node}.0/24" via "10.0.0.1${node#node}"
        done
    done
}

make_images() {
    rm -rf "$machine/root/lab"
    mkdir "$machine/root/lab"
    git ls-files -z --cached --others --exclude-standard |
        tar --null --ignore-failed-read -T - -c | tar -x -C "$machine/root/lab"
    sed -n 's/^\$ \(docker build .*\)/\1/p' docs/how-to/deploy-kubernetes.md >"$work/builds"
    while read -r line; do
        say "$line"
        inside sh -c "cd /root/lab && $line" >"$work/build.log" 2>&1 </dev/null || { cat "$work/build.log" >&2; stop "no image"; }
    done <"$work/builds"
    # The container that holds a pod's network, and a next version of the service.
    printf 'FROM python:3.13-slim\nCMD ["sleep", "infinity"]\n' | inside docker build --quiet --tag pause:1 - >/dev/null
    names=$(sed 's/.* -t \([^ ]*\) .*/\1/' "$work/builds" | tr '\n' ' ')
    printf 'FROM %s\nLABEL next=1\n' "${names%% *}" | inside docker build --quiet --tag fibonacci:next - >/dev/null
    images="pause:1 fibonacci:next prom/prometheus:v3.5.0 $names"
    # shellcheck disable=SC2086 # a list of names
    inside docker inspect --format '{{.Id}}' $images >"$work/images.new"
    cmp -s "$work/images" "$work/images.new" && return
    say "importing the images"
    rm -rf "$work/images" "$work/containerd"
    inside sh -c "
        containerd --root $there/containerd --state /run/import --address /run/import.sock >$there/import.log 2>&1 &
        trap 'kill \$!; wait' EXIT
        timeout 60 sh -c 'until ctr --address /run/import.sock version; do sleep 0.1; done' >/dev/null 2>&1
        docker save $images | ctr --address /run/import.sock --namespace k8s.io images import - >/dev/null" ||
        stop "no images: $(tail -n 3 "$work/import.log")"
    mv "$work/images.new" "$work/images"
}

# A copy of all images takes no space: containerd never writes to the files of an image.
copy_images() {
    cp -al "$work/containerd" "$1"
    (cd "$work/containerd" && find . -name '*.db') | while read -r file; do
        cp --remove-destination "$work/containerd/$file" "$1/$file"
    done
}

start_control_plane() {
    state=$there/state
    rm -rf "$work/state"
    mkdir "$work/state"
    cp tools/cluster/kubeconfig "$work/state"
    echo 'test,admin,admin,system:masters' >"$work/state/tokens"
    openssl genrsa -out "$work/state/service-accounts.key" 2048 2>/dev/null
    start() { on control chroot "$machine" env PATH="$there/$binaries:$PATH" "$@" >"$work/state/$1.log" 2>&1 & }
    start etcd --data-dir /run/etcd --unsafe-no-fsync --log-level warn
    start kube-apiserver --etcd-servers http://127.0.0.1:2379 --advertise-address 10.0.0.1 --cert-dir $state \
        --token-auth-file $state/tokens --authorization-mode RBAC --allow-privileged \
        --service-account-issuer https://kubernetes.default.svc --service-cluster-ip-range 10.96.0.0/16 \
        --service-account-key-file $state/service-accounts.key \
        --service-account-signing-key-file $state/service-accounts.key \
        --kubelet-preferred-address-types InternalIP
    on control timeout 60 sh -c 'until kubectl get --raw /readyz; do sleep 0.2; done' >"$work/attempt.log" 2>&1 ||
        stop "no API: $(tail -n 3 "$work/state/kube-apiserver.log")"
    start kube-controller-manager --kubeconfig $state/kubeconfig --leader-elect=false \
        --service-account-private-key-file $state/service-accounts.key --root-ca-file $state/apiserver.crt
    start kube-scheduler --kubeconfig $state/kubeconfig --leader-elect=false
    start kube-proxy --kubeconfig $state/kubeconfig --hostname-override control --cluster-cidr 10.244.0.0/16 \
        --conntrack-max-per-core 0 --conntrack-min 0
    start coredns -conf /root/lab/tools/cluster/Corefile
}

# Make a control group in all hierarchies, or in the only one of version 2; a new one may have no CPUs.
make_groups() {
    for hierarchy in $([ -e /sys/fs/cgroup/cgroup.controllers ] && echo /sys/fs/cgroup || echo /sys/fs/cgroup/*); do
        mkdir -p "$hierarchy$1"
        for file in cpuset.cpus cpuset.mems; do
            [ ! -e "$hierarchy/$file" ] || for group in "${1%/*}" "$1"; do
                cat "$hierarchy/$file" >"$hierarchy$group/$file"
            done
        done
        [ ! -e "$hierarchy/cgroup.subtree_control" ] || for group in "" "${1%/*}"; do
            sed 's/[^ ]\+/+&/g' "$hierarchy$group/cgroup.controllers" >"$hierarchy$group/cgroup.subtree_control"
        done
    done
}

start_nodes() {
    rm -rf "$work/nodes"
    for node in $nodes; do
        mkdir -p "$work/nodes/$node"
        copy_images "$work/nodes/$node/containerd"
        make_groups "$DOCKER_GROUP/$node"
        on "$node" unshare --mount --propagation private --pid --fork --kill-child \
            tools/cluster.sh enter "$node" >"$work/nodes/$node/node.log" 2>&1 &
    done
    # shellcheck disable=SC2086 # a list of names
    {   kubectl wait --for=create serviceaccount/default --timeout=60s
        kubectl wait --for=create node $nodes --timeout=60s
        kubectl wait --for=condition=Ready node --all --timeout=60s
        # That of the control plane, which first waits half a minute for a node of its name.
        on control chroot "$machine" timeout 60 sh -c 'until iptables-save -t nat | grep -q 10.96.0.1/32; do sleep 0.2; done'
    } >"$work/attempt.log" 2>&1 || stop "no nodes: $(tail -n 3 "$work/attempt.log")"
}

if [ "${1:-}" = beside ]; then
    shift
    mkdir -p "$machine$there"
    mount --bind "$work" "$machine$there"
    inside sh -c 'command -v etcd && ls /usr/lib/cni' >/dev/null 2>&1 ||
        inside apt-get install -y -qq --no-install-recommends etcd-server containernetworking-plugins >"$work/install.log" 2>&1 ||
        stop "no etcd: $(tail -n 3 "$work/install.log")"
    make_images
    began=$(date +%s)
    make_networks
    export CLUSTER_WORK="$work" KUBECONFIG="$work/state/kubeconfig" PATH="$work/$binaries:$PATH"
    # From here on as on the control plane.
    kubectl() { on control kubectl "$@"; }
    start_control_plane
    start_nodes
    say "three nodes are ready after $(($(date +%s) - began)) s"
    on control "$@"
    exit
fi

# -- on this machine ----------------------------------------------------------------------------------

# Copy the files of a module.
copy() {
    folder=$(go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
    [ -n "$folder" ] || stop "no $1: does $(go env GOPROXY) answer?"
    rm -rf "$work/source"
    cp -r "$folder" "$work/source"
    chmod -R u+w "$work/source"
}

# Build commands of that module.
compile() {
    (cd "$work/source" && go build -mod=mod -buildvcs=false -trimpath -o "$work/new/" "$@") >"$work/build.log" 2>&1 ||
        stop "not built: $(tail -n 5 "$work/build.log")"
}

build() {
    command -v go >/dev/null || stop "not run: it needs Go: https://go.dev/doc/install"
    say "building Kubernetes $kubernetes and CoreDNS $coredns (a quarter of an hour of one CPU)"
    began=$(date +%s)
    rm -rf "$work/new"
    export GOMODCACHE="$work/go/mod" GOCACHE="$work/go/build" GOWORK=off CGO_ENABLED=0
    copy "k8s.io/kubernetes@v$kubernetes"
    # The module has none of the modules that its repository keeps beside it.
    sed -i "s#=> ./staging/src/\(.*\)#=> \1 v0.${kubernetes#*.}#" "$work/source/go.mod"
    compile -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=v$kubernetes" \
        ./cmd/kube-apiserver ./cmd/kube-controller-manager ./cmd/kube-proxy ./cmd/kube-scheduler ./cmd/kubectl ./cmd/kubelet
    copy "github.com/coredns/coredns@v$coredns"
    # Without its plug-ins for clouds.
    sed -i '/"github.com/{/plugin\/\(bind\|errors\|kubernetes\)"/!d}' "$work/source/core/plugin/zplugin.go"
    compile -ldflags '-s -w' .
    chmod -R u+w "$work/go"
    rm -rf "$work/go" "$work/source"
    mv "$work/new" "$work/$binaries"
    say "built in $(($(date +%s) - began)) s"
}

[ -e /proc/sys/net/bridge ] || stop "not run: this kernel does not filter what crosses a bridge (modprobe br_netfilter)"
mkdir -p "$work"
exec 8>"$work/lock"
flock --nonblock 8 || stop "another run uses $work"
[ -e "$work/$binaries" ] || build
[ $# -gt 0 ] || set -- .venv/bin/python -m pytest -q -s -n0 -m cluster tests/deploy/test_cluster.py
exec tools/docker.sh tools/cluster.sh beside "$@"
