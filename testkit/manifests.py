"""The manifests of deploy/kubernetes as kubectl renders them, and the connections that their network policies allow."""

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).resolve().parents[1] / "deploy" / "kubernetes"
OVERLAYS = ("small", "cell")
NAMESPACES = {"monitoring": "Prometheus", "kube-system": "DNS", "cnpg-system": "CloudNativePG"}
"""Who is in the namespaces of others, as ARCHITECTURE.md calls them."""
OPERATOR_LABELS = {"cnpg.io/cluster": "postgresql"}
"""What CloudNativePG adds to the pods of its Cluster."""

Manifest = dict[str, Any]


def has_kubectl() -> bool:
    return shutil.which("kubectl") is not None


def render(overlay: str) -> str:
    """As `kubectl apply -k` would apply it."""
    command = ["kubectl", "kustomize", str(FOLDER / overlay)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def read_manifests(text: str) -> list[Manifest]:
    return [manifest for manifest in yaml.safe_load_all(text) if manifest]


def pod_templates(manifests: list[Manifest]) -> Iterator[tuple[str, Manifest]]:
    """Of everything that starts pods: its name and the template."""
    for manifest in manifests:
        if manifest["kind"] in ("Deployment", "StatefulSet", "Job"):
            yield manifest["metadata"]["name"], manifest["spec"]["template"]


def containers_of(template: Manifest) -> list[Manifest]:
    spec = template["spec"]
    return [*spec.get("initContainers", []), *spec["containers"]]


@dataclass(frozen=True, order=True)
class Connection:
    """From whom to whom, and to which port."""

    source: str
    target: str
    port: int


@dataclass
class Allowed:
    """What the policies of one direction allow: components of ours, and others by their name."""

    egress: set[Connection] = field(default_factory=set)
    ingress: set[Connection] = field(default_factory=set)


def allowed_connections(manifests: list[Manifest]) -> set[Connection]:
    """Between components, what both sides allow; with others, what our side allows."""
    pods = _pods(manifests)
    allowed = Allowed()
    for policy in (one["spec"] for one in manifests if one["kind"] == "NetworkPolicy"):
        for name, pod in pods.items():
            if _matches(policy["podSelector"], pod.labels):
                for rule in policy.get("ingress", []):
                    for peer in _peers(rule.get("from"), pods):
                        allowed.ingress |= {Connection(peer, name, pod.number(one)) for one in rule["ports"]}
                for rule in policy.get("egress", []):
                    for peer in _peers(rule.get("to"), pods):
                        allowed.egress |= {Connection(name, peer, one["port"]) for one in rule["ports"]}
    with_others = {one for one in allowed.ingress if one.source not in pods}
    with_others |= {one for one in allowed.egress if one.target not in pods}
    return (allowed.ingress & allowed.egress) | with_others


def denies_by_default(manifests: list[Manifest]) -> bool:
    """Whether what no policy names is refused, in both directions and for every pod."""
    policies = [one["spec"] for one in manifests if one["kind"] == "NetworkPolicy"]
    return any(one["podSelector"] == {} and one["policyTypes"] == ["Ingress", "Egress"] for one in policies)


@dataclass(frozen=True)
class Pod:
    """What a policy sees of a component."""

    labels: dict[str, str]
    ports: dict[str, int]

    def number(self, port: Manifest) -> int:
        return port["port"] if isinstance(port["port"], int) else self.ports[port["port"]]


def _pods(manifests: list[Manifest]) -> dict[str, Pod]:
    pods = {}
    for _, template in pod_templates(manifests):
        ports = [port for container in containers_of(template) for port in container.get("ports", [])]
        labels = template["metadata"]["labels"]
        pods[labels["onlooker"]] = Pod(labels, {port["name"]: port["containerPort"] for port in ports})
    for manifest in manifests:
        if manifest["kind"] == "Cluster":
            labels = manifest["spec"]["inheritedMetadata"]["labels"] | OPERATOR_LABELS
            pods[labels["onlooker"]] = Pod(labels, {})
    return pods


def _peers(peers: list[Manifest] | None, pods: dict[str, Pod]) -> Iterator[str]:
    if peers is None:
        yield "anyone"
    for peer in peers or []:
        if "ipBlock" in peer:
            yield "outside"
        elif "namespaceSelector" in peer:
            yield NAMESPACES[peer["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"]]
        else:
            yield from (name for name, pod in pods.items() if _matches(peer["podSelector"], pod.labels))


def _matches(selector: Manifest, labels: dict[str, str]) -> bool:
    wanted = selector.get("matchLabels", {})
    for expression in selector.get("matchExpressions", []):
        if expression["operator"] != "In":
            raise ValueError(f"No policy had this operator so far: {expression['operator']}")
        if labels.get(expression["key"]) not in expression["values"]:
            return False
    return all(labels.get(key) == value for key, value in wanted.items())
