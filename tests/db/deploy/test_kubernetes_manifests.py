"""The manifests of deploy/kubernetes name real settings, secrets, probes and metrics."""

import base64
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from onlooker.bus.server_configuration import POOL, ROUTE, roles_of
from onlooker.database_roles.grants import ROLES
from onlooker.monitoring import monitoring_app
from onlooker.settings import read_settings
from testkit.manifests import (
    FOLDER,
    OVERLAYS,
    Manifest,
    containers_of,
    has_kubectl,
    pod_templates,
    read_manifests,
    render,
)

pytestmark = [
    pytest.mark.skipif(not has_kubectl(), reason="kubectl is not installed"),
    pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed"),
]

OF_THE_OPERATOR = {"postgresql-app", "postgresql-ca"}
"""Secrets that CloudNativePG makes in a cell."""
HOSTS = ("vision.example.org", "console.example.org", "data.example.org")
PROCESSES = ("gateway", "dispatcher", "recorder", "console", "data", "worker")
BESIDE = ("bus configuration", "nats-server", "roles", "migrations", "grants", "bus prepare")
"""What else runs from the image."""
METRICS = FOLDER.parents[1] / "docs" / "reference" / "metrics.md"


@pytest.fixture(scope="module", params=OVERLAYS)
def overlay(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def manifests(overlay: str) -> list[Manifest]:
    return read_manifests(render(overlay))


@pytest.fixture(scope="module")
def secrets(overlay: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """Of the script, by name and key."""
    folder = tmp_path_factory.mktemp("secrets")
    command = [str(FOLDER / "secrets"), overlay, str(folder), *HOSTS]
    subprocess.run(command, check=True, capture_output=True)
    found = read_manifests((folder / "secrets.yaml").read_text())
    return {
        one["metadata"]["name"]: {key: base64.b64decode(value).decode() for key, value in one["data"].items()}
        for one in found
    }


def mounted_files(template: Manifest, container: Manifest, secrets: dict[str, dict[str, str]]) -> dict[str, str]:
    """The files of secrets in a container, by path."""
    volumes = {volume["name"]: volume.get("secret") for volume in template["spec"]["volumes"]}
    files: dict[str, str] = {}
    for mount in container.get("volumeMounts", []):
        secret = volumes.get(mount["name"])  # a volume of a claim is not among them
        if secret:
            known = secrets.get(secret["secretName"], {})
            names = [item["key"] for item in secret.get("items", [])] or list(known)
            files |= {
                f"{mount['mountPath']}/{name}": known.get(name, "postgresql:///of-the-operator") for name in names
            }
    return files


def settings_of(container: Manifest, manifests: list[Manifest]) -> dict[str, str]:
    """The variables of a container, with an address in place of the pod's."""
    values: dict[str, str] = {}
    for source in container.get("envFrom", []):
        name = source["configMapRef"]["name"]
        [found] = [one for one in manifests if (one["kind"], one["metadata"]["name"]) == ("ConfigMap", name)]
        values |= found["data"]
    return values | {one["name"]: one.get("value", "10.1.2.3") for one in container.get("env", [])}


def test_every_container_starts_with_settings_that_onlooker_accepts(
    manifests: list[Manifest], secrets: dict[str, dict[str, str]], tmp_path: Path
) -> None:
    checked = 0
    for name, template in pod_templates(manifests):
        for container in (one for one in containers_of(template) if one["image"].startswith("onlooker:")):
            files = mounted_files(template, container, secrets)
            variables = settings_of(container, manifests)
            for variable, value in variables.items():
                if variable.endswith("_FILE") and value not in files:
                    is_of_the_bus = variable.startswith("ONLOOKER_NATS_") and not variable.endswith("PASSWORD_FILE")
                    assert is_of_the_bus, f"{name}: {variable} names {value}, which is not mounted"
                if variable.endswith("_FILE") and value in files:
                    variables[variable] = str(tmp_path / variable)
                    (tmp_path / variable).write_text(files[value])
            read_settings(variables)
            checked += 1
    assert checked == len(PROCESSES) + len(BESIDE)


def test_every_secret_is_made(manifests: list[Manifest], secrets: dict[str, dict[str, str]], overlay: str) -> None:
    known = secrets.keys() | (OF_THE_OPERATOR if overlay == "cell" else set())
    for name, template in pod_templates(manifests):
        for volume in template["spec"]["volumes"]:
            if "secret" in volume:
                assert volume["secret"]["secretName"] in known, name


def test_no_process_has_the_secret_of_another(manifests: list[Manifest]) -> None:
    templates = dict(pod_templates(manifests))
    for process in PROCESSES:
        volumes = templates[process]["spec"]["volumes"]
        mounted = {volume["secret"]["secretName"] for volume in volumes if "secret" in volume}
        assert mounted & {*PROCESSES, "database-roles", "bus-passwords", "bus-tls", "postgresql-app"} == {process}


def test_every_container_is_confined(manifests: list[Manifest]) -> None:
    for name, template in pod_templates(manifests):
        spec = template["spec"]
        assert spec["automountServiceAccountToken"] is False, name
        assert spec["enableServiceLinks"] is False, name
        assert spec["securityContext"]["runAsNonRoot"] is True, name
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        for container in containers_of(template):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }, name


def test_probes_ask_for_what_monitoring_serves(manifests: list[Manifest]) -> None:
    served = {route.path for route in monitoring_app(dict).routes}  # type: ignore[attr-defined]
    for process in PROCESSES:
        [container] = dict(pod_templates(manifests))[process]["spec"]["containers"]
        probes = {kind: container[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "liveness", "readiness")}
        assert probes == {"startup": "/livez", "liveness": "/livez", "readiness": "/readyz"}
        assert set(probes.values()) <= served


def test_the_script_makes_the_users_of_the_bus_and_the_roles_of_the_database(
    secrets: dict[str, dict[str, str]],
) -> None:
    passwords = json.loads(secrets["bus-passwords"]["passwords.json"])
    assert passwords.keys() == {*(role.user for role in roles_of((POOL,), read_settings({}))), ROUTE}
    assert secrets["database-roles"].keys() == set(ROLES)
    assert len({*passwords.values(), *secrets["database-roles"].values()}) == len(passwords) + len(ROLES)


def test_workers_are_scaled_by_a_metric_that_workers_have() -> None:
    [scaler] = [one for one in read_manifests(render("cell")) if one["kind"] == "HorizontalPodAutoscaler"]
    [metric] = scaler["spec"]["metrics"]
    rules: list[dict[str, Any]] = yaml.safe_load((FOLDER / "cell" / "prometheus-adapter.yaml").read_text())["rules"]
    assert metric["pods"]["metric"]["name"] == rules[0]["name"]["as"]
    assert set(re.findall(r"onlooker_\w+", rules[0]["metricsQuery"])) == {
        "onlooker_worker_queue_seconds_sum",
        "onlooker_worker_queue_seconds_count",
    }
    assert "| `onlooker_worker_queue_seconds` | histogram |" in METRICS.read_text(encoding="utf-8")
