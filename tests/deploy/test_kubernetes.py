"""The manifests of Kubernetes: contained, probed, stopped in the right order, and in step."""

import re

import pytest
import yaml

from lab.bench import profiles
from lab.cli.options.table import OPTIONS
from tests.deploy.conftest import last_stage, manifests
from tests.kit.lab_process import ROOT

FILES = ("kubernetes.yaml", "kubernetes-load.yaml", "kubernetes-compare.yaml")
PODS = {
    name: manifest["spec"]["template"]
    for file in FILES
    for (kind, name), manifest in manifests(file).items()
    if kind in ("Deployment", "Job")
}


@pytest.fixture(params=PODS)
def pod(request):
    """Return the template of one kind of pod."""
    return PODS[request.param]


def test_pods_are_nobody(pod):
    """A pod runs as no user of any machine, without a token, under the runtime's seccomp filter."""
    spec = pod["spec"]
    assert spec["automountServiceAccountToken"] is False
    assert (
        spec["securityContext"].items()
        >= {
            "runAsNonRoot": True,
            "runAsUser": 65534,
            "runAsGroup": 65534,
            "seccompProfile": {"type": "RuntimeDefault"},
        }.items()
    )


def test_containers_are_contained(pod):
    """A container writes to no root file system, has no capability, and cannot get one."""
    for container in pod["spec"]["containers"]:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


def test_containers_are_bounded(pod):
    """A container says what it needs and what it may have, of the CPU and of memory."""
    for container in pod["spec"]["containers"]:
        for bound in ("requests", "limits"):
            assert container["resources"][bound].keys() == {"cpu", "memory"}
        assert container["image"].count(":") == 1


def test_what_is_written_is_bounded_and_gone_with_the_pod(pod):
    """The only volumes are in memory and have a size."""
    for volume in pod["spec"]["volumes"]:
        assert volume["emptyDir"].keys() == {"medium", "sizeLimit"}


def test_images_have_the_version_of_this_project(pod):
    """What is applied is what this checkout builds."""
    project = (ROOT / "pyproject.toml").read_text()
    version = re.search(r'^version = "(.+)"$', project, re.MULTILINE)[1]
    for container in pod["spec"]["containers"]:
        assert container["image"] in {
            f"{name}:{version}"
            for name in ("fibonacci", "fibonacci-nginx", "fibonacci-locust", "fibonacci-lab")
        }


def test_the_image_has_the_configuration_that_is_tested():
    """nginx's image copies production.nginx.conf, and no manifest mounts another one over it."""
    copied = [rest for word, rest in last_stage(ROOT / "deploy/nginx.Dockerfile") if word == "COPY"]
    assert copied == ["profiles/production.nginx.conf /etc/nginx/nginx.conf"]
    assert "ConfigMap" not in "".join((ROOT / "deploy" / file).read_text() for file in FILES)
    mounts = {
        mount["mountPath"]
        for template in PODS.values()
        for container in template["spec"]["containers"]
        for mount in container["volumeMounts"]
    }
    assert mounts == {"/run/fibonacci", "/tmp"}


def test_each_container_is_probed(containers):
    """A container that hangs is started again, and one that is starting is given time."""
    for container in containers.values():
        assert {"startupProbe", "livenessProbe"} <= container.keys(), container["name"]


def test_the_pod_is_ready_while_an_instance_is(containers):
    """Readiness goes through nginx to an instance; an instance alone decides nothing."""
    assert containers["nginx"]["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "http"}
    assert "readinessProbe" not in containers["a"]
    assert "readinessProbe" not in containers["b"]


def test_an_instance_that_is_dead_does_not_end_nginx(containers):
    """nginx's own probe asks no instance: starting nginx again would mend none of them."""
    assert containers["nginx"]["livenessProbe"].keys() & {"httpGet", "exec"} == set()


def test_the_instances_differ_by_their_sockets_only(containers, nginx):
    """Both are the same, but for the socket, and nginx looks for just these two."""
    a, b = dict(containers["a"]), dict(containers["b"])
    sockets = {container.pop("env")[0]["value"] for container in (a, b)}
    assert {a.pop("name"), b.pop("name")} == {"a", "b"}
    assert a == b
    assert sockets == set(re.findall(r"server unix:(\S+)", nginx))


def test_the_instances_outlive_nginx(containers, deployment, nginx):
    """An instance is stopped when nginx has removed its pid file, and all in the pod's time."""
    pid = re.search(r"pid (\S+);", nginx)[1]
    command = containers["a"]["lifecycle"]["preStop"]["exec"]["command"]
    assert command[0] == "timeout"
    assert f"[ -e {pid} ]" in command[-1]
    *_, hook = containers["nginx"]["lifecycle"]["preStop"]["exec"]["command"]
    leaving = int(re.fullmatch(r"touch /run/fibonacci/leaving; sleep (\d+)", hook)[1])
    assert "-f /run/fibonacci/leaving" in nginx
    longest = int(re.search(r"uwsgi_read_timeout (\d+)s;", nginx)[1])
    grace = deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
    assert leaving + longest <= int(command[1]) < grace


def test_what_hangs_is_not_waited_for(containers):
    """The hook is for a pod that leaves; an instance that failed its probe is replaced at once."""
    assert containers["a"]["livenessProbe"]["terminationGracePeriodSeconds"] <= 10


def test_an_update_takes_no_pod_away_first(deployment):
    """A new pod is ready before an old one goes."""
    assert deployment["spec"]["replicas"] >= 2
    assert deployment["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0


def test_selectors_find_the_pods():
    """Services, the Deployment and the budget select labels that the pods have."""
    labels = [template["metadata"]["labels"] for template in PODS.values()]
    for file in FILES:
        for (kind, name), manifest in manifests(file).items():
            selector = manifest["spec"].get("selector")
            if selector is not None:
                wanted = selector.get("matchLabels", selector)
                assert sum(wanted.items() <= pod_labels.items() for pod_labels in labels) == 1, (
                    kind,
                    name,
                )


def test_ports_are_those_that_nginx_listens_on(containers, nginx):
    """The named ports of nginx's container are those of its configuration."""
    ports = [port["containerPort"] for port in containers["nginx"]["ports"]]
    assert ports == [int(port) for port in re.findall(r"listen (\d+)", nginx)]
    service = manifests("kubernetes.yaml")["Service", "fibonacci"]
    assert [port["targetPort"] for port in service["spec"]["ports"]] == ["http"]


def test_figures_are_for_prometheus_alone(containers, deployment):
    """In the cluster, too: the pods' own policy opens port 8081 to its pods, 8080 to everybody."""
    spec = manifests("kubernetes.yaml")["NetworkPolicy", "fibonacci"]["spec"]
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert spec["podSelector"] == {"matchLabels": labels}
    assert spec["policyTypes"] == ["Ingress"]
    public, private = spec["ingress"]
    assert public == {"ports": [{"port": "http"}]}
    assert private["ports"] == [{"port": "metrics"}]
    (source,) = private["from"]  # one: its namespace and its labels, and not either of them
    prometheus = {"matchLabels": {"app.kubernetes.io/name": "prometheus"}}
    assert source == {"namespaceSelector": {}, "podSelector": prometheus}
    assert {port["name"] for port in containers["nginx"]["ports"]} == {"http", "metrics"}


def test_prometheus_finds_each_instance(containers, deployment, nginx):
    """Its job keeps the containers of instances, and makes of their names what nginx answers."""
    text = (ROOT / "deploy/prometheus-kubernetes.yml").read_text()
    rules = yaml.safe_load(text)["scrape_configs"][0]["relabel_configs"]
    label = deployment["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/name"]
    kept = [name for name in containers if re.fullmatch(rules[0]["regex"], f"{label};{name}")]
    replaced = {
        rule["target_label"]: rule["replacement"] for rule in rules if "replacement" in rule
    }
    paths = [replaced["__metrics_path__"].replace("$1", name) for name in kept]
    assert paths == re.findall(r"location = (/metrics/\w+)", nginx)
    port = replaced["__address__"].rpartition(":")[2]
    assert port == re.findall(r"listen (\d+)", nginx)[1]


@pytest.mark.parametrize(
    ("file", "master", "workers"),
    [
        ("kubernetes-load.yaml", "locust-master", "locust-workers"),
        ("kubernetes-compare.yaml", "lab", "lab-workers"),
    ],
)
def test_the_load_meets_its_workers(file, master, workers):
    """Workers look for the master where its Service is, and it waits for as many as there are."""
    load = manifests(file)
    worker_args = PODS[workers]["spec"]["containers"][0]["args"]
    assert worker_args[worker_args.index("--master-host") + 1] == master
    service = load["Service", master]["spec"]
    assert service["selector"].items() <= PODS[master]["metadata"]["labels"].items()
    args = PODS[master]["spec"]["containers"][0]["args"]
    spec = load["Job", workers]["spec"]
    assert int(args[args.index("--expect-workers") + 1]) == spec["parallelism"]
    assert spec["parallelism"] == spec["completions"]


def test_the_load_is_that_of_the_service():
    """It names the Service of the other file."""
    args = PODS["locust-master"]["spec"]["containers"][0]["args"]
    host = args[args.index("--host") + 1].removeprefix("http://")
    assert ("Service", host) in manifests("kubernetes.yaml")


@pytest.fixture
def compared():
    """Return the containers of the comparison: servers and load."""
    return [PODS[name]["spec"]["containers"][0] for name in ("lab", "lab-workers")]


def test_a_comparison_has_cpus_of_its_own(compared):
    """Whole ones, as many as at most, as the kubelet wants it; and none that the load is on."""
    for container in compared:
        resources = container["resources"]
        assert resources["requests"] == resources["limits"]
        assert resources["limits"]["cpu"].isdecimal()
    apart = PODS["lab-workers"]["spec"]["affinity"]["podAntiAffinity"]
    (rule,) = apart["requiredDuringSchedulingIgnoredDuringExecution"]
    assert rule["topologyKey"] == "kubernetes.io/hostname"
    labels = rule["labelSelector"]["matchLabels"].items()
    assert all(labels <= PODS[n]["metadata"]["labels"].items() for n in ("lab", "lab-workers"))


def test_servers_of_a_comparison_listen_where_workers_reach_them(compared):
    """On the pod's address, which is known when it runs; and its options are Locust's and ours."""
    master, _ = compared
    args, env = master["args"], {setting["name"]: setting["valueFrom"] for setting in master["env"]}
    assert args[args.index("--bind") + 1] == "$(POD_IP)"
    assert env["POD_IP"] == {"fieldRef": {"fieldPath": "status.podIP"}}
    assert env["PROCESSES"] == {"resourceFieldRef": {"resource": "limits.cpu"}}
    assert args[args.index("--results") + 1].startswith("/tmp/")
    ours = {option.name for option in OPTIONS.values() if not option.not_in_locust}
    assert {"--bind", "--results"} <= ours
    assert {*args[args.index("--profiles") + 1 :]} <= set(profiles.find())
