"""Play the small installation of deploy/kubernetes without a cluster: its containers as processes, in namespaces.

Each container has its command, variables, secrets and volumes, its user without any capability, and a root file system
that it can't write to. PostgreSQL is this machine's. Run it by `unshare --net --mount`, as root.
"""

import base64
import os
import pwd
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.lib.product import ROOT, conclude, concluding, say
from testkit.manifests import FOLDER, Manifest, pod_templates, read_manifests, render

PROCESSES = ("gateway", "dispatcher", "recorder", "console", "data", "worker")
HOSTS = ("vision.example.org", "console.example.org", "data.example.org")
USER = 10001
START_LIMIT_S, JOB_LIMIT_S = 90, 60
PROGRAMS = Path(sys.executable).parent


@dataclass
class Node:
    """Where pods run: their volumes, their logs, what was started."""

    folder: Path
    manifests: list[Manifest]
    secrets: dict[str, dict[str, str]]
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def pod(self, name: str) -> "PlayedPod":
        names = [one for one, _ in pod_templates(self.manifests)]
        return PlayedPod(self, name, dict(pod_templates(self.manifests))[name], f"127.0.1.{names.index(name) + 1}")

    def settings(self, name: str) -> dict[str, str]:
        [data] = [
            one["data"] for one in self.manifests if one["kind"] == "ConfigMap" and one["metadata"]["name"] == name
        ]
        return dict(data)

    def stop(self) -> None:
        for process in reversed(self.started):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
        for process in self.started:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)


@dataclass
class PlayedPod:
    """One pod: its containers share an address and its volumes."""

    node: Node
    name: str
    template: Manifest
    address: str

    def container(self, number: int, *, init: bool = False) -> Manifest:
        found: Manifest = self.template["spec"]["initContainers" if init else "containers"][number]
        return found

    def variables(self, container: Manifest) -> dict[str, str]:
        fields = {"status.podIP": self.address, "metadata.name": f"{self.name}-0"}
        values = {"PATH": f"{PROGRAMS}:/usr/bin:/bin"}
        for source in container.get("envFrom", []):
            values |= self.node.settings(source["configMapRef"]["name"])
        for one in container.get("env", []):
            values[one["name"]] = one["value"] if "value" in one else fields[one["valueFrom"]["fieldRef"]["fieldPath"]]
        return values

    def start(
        self, container: Manifest, command: list[str] | None = None, *, user: int = USER
    ) -> subprocess.Popen[bytes]:
        variables = self.variables(container)
        words = command or [*container["command"], *container.get("args", [])]
        words = [word.replace("$(POD_NAME)", variables.get("POD_NAME", "")) for word in words]
        steps = []
        for mount in sorted(container.get("volumeMounts", []), key=lambda one: str(one["mountPath"])):
            steps.append(f"mkdir -p {mount['mountPath']}")
            steps.append(f"mount --bind {self.volume(mount['name'], user)} {mount['mountPath']}")
        confined = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs"]
        confined += ["--bounding-set=-all", "--inh-caps=-all", "env", "-i"]
        confined += [f"{name}={value}" for name, value in variables.items()]
        steps += ["mount -o remount,bind,ro /", f"exec {shlex.join([*confined, *words])}"]
        with (self.node.folder / f"{self.name}-{container['name']}.log").open("ab") as log:
            process = subprocess.Popen(
                ["unshare", "--mount", "sh", "-euc", "\n".join(steps)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.node.started.append(process)
        return process

    def volume(self, name: str, user: int) -> Path:
        """A folder with the files of a secret, or an empty one that is the same for all containers of the pod."""
        volumes = {one["name"]: one for one in self.template["spec"]["volumes"]}
        volume = volumes.get(name, {})
        claim = volume.get("persistentVolumeClaim", {}).get("claimName")
        folder = self.node.folder / "volumes" / (claim or f"{self.name}-{name}")
        if folder.exists():
            return folder
        folder.mkdir(parents=True)
        os.chown(folder, user, user)
        secret = volume.get("secret")
        for key, value in self.node.secrets[secret["secretName"]].items() if secret else ():
            wanted = [item["key"] for item in secret.get("items", [])] or [key]
            if key in wanted:
                (folder / key).write_text(value, encoding="utf-8")
                (folder / key).chmod(0o440)
                os.chown(folder / key, 0, user)
        return folder

    def run(self, container: Manifest) -> None:
        """To its end, again after a failure, as Kubernetes does."""
        give_up_at = time.monotonic() + JOB_LIMIT_S
        while self.start(container).wait(JOB_LIMIT_S):
            if time.monotonic() > give_up_at:
                raise RuntimeError(f"{self.name}, {container['name']}: failed\n{self.log(container)}")
            time.sleep(2)

    def log(self, container: Manifest) -> str:
        return (self.node.folder / f"{self.name}-{container['name']}.log").read_text()[-2000:]

    def asks(self, kind: str) -> bool:
        """Whether a probe succeeds now."""
        [container] = self.template["spec"]["containers"]
        probe = container[f"{kind}Probe"]
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        url = f"http://{self.address}:{ports[probe['httpGet']['port']]}{probe['httpGet']['path']}"
        try:
            with urllib.request.urlopen(url, timeout=probe.get("timeoutSeconds", 1)) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def await_probe(self, kind: str) -> None:
        give_up_at = time.monotonic() + START_LIMIT_S
        while not self.asks(kind):
            if time.monotonic() > give_up_at:
                raise RuntimeError(f"{self.name}: no {kind}\n{self.log(self.container(0))}")
            time.sleep(0.5)


def start_postgresql(node: Node) -> None:
    """This machine's PostgreSQL with the arguments, the owner and the certificate of the StatefulSet."""
    pod = node.pod("postgresql")
    container = pod.container(0)
    variables = pod.variables(container)
    owner = pwd.getpwnam("postgres").pw_uid
    programs = max(Path("/usr/lib/postgresql").glob("*/bin"))
    data = pod.volume("files", owner)
    password = pod.volume("owner", owner) / "password"
    initdb = [str(programs / "initdb"), *shlex.split(variables["POSTGRES_INITDB_ARGS"]), "--auth=scram-sha-256"]
    initdb += ["--username", variables["POSTGRES_USER"], "--pwfile", str(password), "--pgdata", str(data / "pgdata")]
    as_owner = ["setpriv", f"--reuid={owner}", f"--regid={owner}", "--clear-groups"]
    subprocess.run([*as_owner, *initdb], check=True, capture_output=True)
    listen = ["-clisten_addresses=127.0.0.1", "-cunix_socket_directories=/tmp"]
    pod.start(
        container, [str(programs / "postgres"), "-D", variables["PGDATA"], *container["args"], *listen], user=owner
    )
    url = f"host=127.0.0.1 user={variables['POSTGRES_USER']} dbname=postgres password={password.read_text().strip()}"
    give_up_at = time.monotonic() + START_LIMIT_S
    create = [str(programs / "psql"), url, "-qc", f"CREATE DATABASE {variables['POSTGRES_DB']}"]
    while subprocess.run(create, capture_output=True, check=False).returncode:
        if time.monotonic() > give_up_at:
            raise RuntimeError(f"PostgreSQL does not start: {pod.log(container)}")
        time.sleep(0.5)


def make_secrets(folder: Path) -> dict[str, dict[str, str]]:
    subprocess.run([FOLDER / "secrets", "small", folder, *HOSTS], check=True, capture_output=True)
    return {
        one["metadata"]["name"]: {key: base64.b64decode(value).decode() for key, value in one["data"].items()}
        for one in read_manifests((folder / "secrets.yaml").read_text())
    }


def prepare_namespace(folder: Path) -> None:
    """Only our own names and addresses, and folders for volumes."""
    hosts = folder / "hosts"
    hosts.write_text(
        "127.0.0.1 localhost postgresql-rw\n127.0.1.1 bus-0.bus\n" + "".join(f"127.0.0.1 {one}\n" for one in HOSTS)
    )
    commands = ["mount --make-rprivate /", f"mount --bind {hosts} /etc/hosts", "ip link set lo up"]
    commands += ["mount -t tmpfs tmpfs /run", "mount -t tmpfs tmpfs /var/lib"]
    for command in commands:
        subprocess.run(shlex.split(command), check=True)


def ask(authority: Path, credentials: str, *arguments: str) -> str:
    command = ["curl", "-s", "--max-time", "30", "--cacert", str(authority), "-u", credentials, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def send_job(node: Node, authority: Path) -> str:
    """A stream made in the console's pod, and a job through the gateway's TLS."""
    console = node.pod("console")
    made = {"name": "stream", **{key: console.container(0)[key] for key in ("env", "envFrom", "volumeMounts")}}
    console.start(made, ["onlooker", "stream", "create", "Try", "--env"]).wait(60)
    words = dict(line.partition("=")[::2] for line in console.log(made).splitlines() if "=" in line)
    credentials = f"{words['CLIENT_ID']}:{words['ACCESS_TOKEN']}".replace("'", "")
    url = f"https://{HOSTS[0]}:8443/services/dummy/1/jobs"
    body = ("-H", "Content-Type: application/json", "-d", '{"async": false, "echo": "hello"}')
    return ask(authority, credentials, "-X", "POST", url, *body)


def require_readable_python() -> None:
    """Raises RuntimeError. Containers have a user of their own, who starts `onlooker` from this environment."""
    as_user = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
    command = [*as_user, "sh", "-c", '"$0" -c ""', sys.executable]  # setpriv itself starts a program with root's rights
    if subprocess.run(command, check=False, capture_output=True).returncode:
        python = Path(sys.executable).resolve()
        raise RuntimeError(f"user {USER} can't run {python}: use a Python in a folder that others may read")


@concluding
def main() -> None:
    began = time.monotonic()
    require_readable_python()
    (ROOT / "var").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / "var") as name:
        folder = Path(name)
        folder.chmod(0o755)
        node = Node(folder, read_manifests(render("small")), make_secrets(folder / "secrets"))
        prepare_namespace(folder)
        figures: dict[str, Any] = {"ok": False}
        try:
            start_postgresql(node)
            bus, pods = node.pod("bus"), [node.pod(process) for process in PROCESSES]
            bus.run(bus.container(0, init=True))
            bus.start(bus.container(0))
            for pod in pods:
                pod.start(pod.container(0))
            for pod in (bus, *pods):
                pod.await_probe("liveness")
            say("all are alive; those with a database wait for it")
            figures["waiting"] = [pod.name for pod in pods if not pod.asks("readiness")]
            jobs = [node.pod("prepare-database"), node.pod("prepare-bus")]
            for job in jobs:
                for number in range(len(job.template["spec"].get("initContainers", []))):
                    job.run(job.container(number, init=True))
                job.run(job.container(0))
            for pod in pods:
                pod.await_probe("readiness")
            say("all are ready")
            answer = send_job(node, folder / "secrets" / "ca.crt")
            figures |= {"ready": len(pods), "ready_target": len(PROCESSES), "answered": "hello" in answer}
            figures |= {"ok": "hello" in answer, "seconds": round(time.monotonic() - began)}
        finally:
            node.stop()
    conclude(figures)


if __name__ == "__main__":
    main()
