"""What devices install the agent from: the script, the pins, the index and its files, to anyone and nothing else."""

import contextlib
import hashlib
import http.client
import io
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from onlooker.console.accounts.models import Account
from onlooker.console.agent import views, wheels
from onlooker.console.agent.wheels import SENDING, require_agent_packages
from onlooker.console.streams.connection import install_line
from onlooker.settings import SettingsError
from onlooker.streams.administration import create_stream
from onlooker.up.certificates import ensure_certificate

pytest_plugins = ["consoles", "pages"]

SignIn = Callable[[Account | None], Client]
AGENT = "onlooker_client-0.1.0-py3-none-any.whl"
NUMPY = "numpy-2.4.6-cp311-cp311-manylinux_2_28_x86_64.whl"


def wheel() -> bytes:
    """As much of one as pip looks at before it downloads."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("numpy-2.4.6.dist-info/METADATA", "Metadata-Version: 2.1\nName: numpy\nVersion: 2.4.6\n")
        archive.writestr("numpy-2.4.6.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: cp311-cp311-manylinux_2_28_x86_64\n")
        archive.writestr("numpy/data", bytes(400_000))
    return packed.getvalue()


WHEEL = wheel()
SHELLCHECK = Path(sys.executable).with_name("shellcheck")
NAMED_VALUES = ("console", "server", "agent", "requirements", "minor", "dependencies_from")
SCRIPTS = ("/agent/install.sh", "/agent/install-device.sh")
PARTS = {"onlooker_pipeline-0.1.0-py3-none-any.whl": b"the pipeline", "onlooker_models-0.1.0-py3-none-any.whl": b"nets"}


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As `just agent-packages` fills it."""
    folder = tmp_path / "packages"
    folder.mkdir()
    (folder / AGENT).write_bytes(b"the agent")
    (folder / "requirements.txt").write_text("numpy==2.4.6 --hash=sha256:00\n")
    for name, content in PARTS.items():
        (folder / name).write_bytes(content)
    (folder / "requirements-device.txt").write_text("onnxruntime==1.23.2 --hash=sha256:00\n")
    monkeypatch.setattr(wheels, "OWN_FOLDER", folder)
    monkeypatch.setattr(views, "OWN_FOLDER", folder)
    return folder


@pytest.fixture
def operators_folder(tmp_path: Path, settings: Settings) -> Path:
    folder = tmp_path / "dependencies"
    folder.mkdir()
    (folder / NUMPY).write_bytes(b"numpy")
    (folder / "notes.txt").write_text("not for devices")
    (folder / "no-wheel.whl").write_text("not for pip")
    settings.ONLOOKER = msgspec.structs.replace(settings.ONLOOKER, agent_packages=str(folder))
    return folder


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def values_of(script: str) -> dict[str, str]:
    """What a shell knows once it has read the script's head."""
    head = script.partition("\nfail()")[0]
    echo = "".join(f'printf "%s\\n" "${name}"; ' for name in NAMED_VALUES)
    said = subprocess.run(["sh", "-c", f"{head}\n{echo}"], capture_output=True, text=True, check=True).stdout
    return dict(zip(NAMED_VALUES, said.splitlines(), strict=True))


@pytest.mark.parametrize("path", SCRIPTS)
def test_the_script_is_short_and_has_no_fault_that_shellcheck_knows(
    sign_in: SignIn, own_folder: Path, path: str
) -> None:
    script = sign_in(None).get(path).content.decode()
    assert len(script.splitlines()) <= 60
    for text in (script, views.SCRIPT.read_text()):
        found = subprocess.run([SHELLCHECK, "-"], input=text, capture_output=True, text=True, check=False)
        assert (found.returncode, found.stdout) == (0, "")


def test_the_script_names_this_console_and_the_very_file_to_install(sign_in: SignIn, own_folder: Path) -> None:
    answer = sign_in(None).get("/agent/install.sh")
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert answer["Cache-Control"] == "no-cache"
    assert values_of(answer.content.decode()) == {
        "console": "https://console.example.org",
        "server": "https://gate.example.org",
        "agent": f"onlooker-client==0.1.0 --hash=sha256:{sha256(b'the agent')}",
        "requirements": "requirements.txt",
        "minor": "9",
        "dependencies_from": "public",
    }


def test_a_device_that_computes_gets_the_pipeline_and_the_models_too(sign_in: SignIn, own_folder: Path) -> None:
    values = values_of(sign_in(None).get("/agent/install-device.sh").content.decode())
    assert values["agent"].split(";") == [
        f"onlooker-client==0.1.0 --hash=sha256:{sha256(b'the agent')}",
        f"onlooker-pipeline==0.1.0 --hash=sha256:{sha256(b'the pipeline')}",
        f"onlooker-models==0.1.0 --hash=sha256:{sha256(b'nets')}",
    ]
    assert (values["requirements"], values["minor"]) == ("requirements-device.txt", "11")
    pins = sign_in(None).get("/agent/requirements-device.txt").content
    assert pins == (own_folder / "requirements-device.txt").read_bytes()


@pytest.mark.parametrize(
    ("compute", "script"), [("server", "/agent/install.sh"), ("device", "/agent/install-device.sh")]
)
def test_the_page_shows_the_line_of_where_the_stream_is_computed(
    sign_in: SignIn, owner: Account, own_folder: Path, compute: str, script: str
) -> None:
    stream = create_stream("Front door", owner=owner, kind="developer").stream
    stream.compute = compute
    stream.save()
    page = sign_in(owner).get(f"/streams/{stream.client_id}/").content.decode()
    assert f"{script} | sh" in page
    assert ("libseccomp2" in page) is (compute == "device")


@pytest.mark.parametrize("gone", [*PARTS, "requirements-device.txt"])
def test_without_all_parts_a_device_gets_none_of_them(
    sign_in: SignIn, owner: Account, own_folder: Path, gone: str
) -> None:
    (own_folder / gone).unlink()
    for path in ("/agent/install-device.sh", "/agent/requirements-device.txt"):
        answer = sign_in(None).get(path)
        assert answer.status_code == 404
        assert b"just models && just agent-packages" in answer.content
    stream = create_stream("Front door", owner=owner, kind="developer").stream
    stream.compute = "device"
    stream.save()
    page = sign_in(owner).get(f"/streams/{stream.client_id}/").content.decode()
    assert "no packages to offer that compute on the device" in page
    assert "install-line" not in page
    assert sign_in(None).get("/agent/install.sh").status_code == 200


def test_a_value_is_one_word_for_the_shell_whatever_it_is(own_folder: Path, settings: Settings) -> None:
    strange = "https://a'b\"c`touch x`$(d) e"
    parts = wheels.find_parts(settings.ONLOOKER, SENDING)
    assert parts
    script = views.render_script(msgspec.structs.replace(settings.ONLOOKER, console_url=strange), SENDING, parts)
    assert values_of(script)["console"] == strange


def test_devices_of_an_operator_with_a_folder_need_no_public_index(
    sign_in: SignIn, own_folder: Path, operators_folder: Path
) -> None:
    assert values_of(sign_in(None).get("/agent/install.sh").content.decode())["dependencies_from"] == "console"


def test_the_newest_agent_is_offered(own_folder: Path, operators_folder: Path, settings: Settings) -> None:
    for version in ("0.9.0", "0.10.0"):
        (operators_folder / AGENT.replace("0.1.0", version)).write_bytes(version.encode())
    (agent,) = wheels.find_parts(settings.ONLOOKER, SENDING)
    assert agent.requirement == f"onlooker-client==0.10.0 --hash=sha256:{sha256(b'0.10.0')}"


def test_a_file_that_was_replaced_has_its_new_checksum(own_folder: Path, settings: Settings) -> None:
    (before,) = wheels.find_parts(settings.ONLOOKER, SENDING)
    assert before.sha256 == sha256(b"the agent")
    (own_folder / AGENT).write_bytes(b"another agent")
    assert before.sha256 == sha256(b"another agent")


def test_the_index_lists_wheels_with_their_checksums(sign_in: SignIn, own_folder: Path, operators_folder: Path) -> None:
    browser = sign_in(None)
    index = browser.get("/agent/simple/").content.decode()
    assert [name for name in ("numpy", "onlooker-client", "notes", "no-wheel") if f">{name}<" in index] == [
        "numpy",
        "onlooker-client",
    ]
    assert ">onlooker-models<" in index
    for asked in ("onlooker-client", "Onlooker_Client"):
        files = browser.get(f"/agent/simple/{asked}/").content.decode()
        assert f'<a href="/agent/packages/{AGENT}#sha256={sha256(b"the agent")}">{AGENT}</a>' in files
    unknown = browser.get("/agent/simple/opencv/")
    assert (unknown.status_code, unknown["Content-Type"]) == (404, "text/plain; charset=utf-8")
    assert b"/agent/simple/ lists what it has" in unknown.content


def test_the_pins_are_those_of_the_repository(sign_in: SignIn, own_folder: Path) -> None:
    assert sign_in(None).get("/agent/requirements.txt").content == (own_folder / "requirements.txt").read_bytes()


@pytest.mark.parametrize("gone", [AGENT, "requirements.txt"])
def test_without_a_package_the_answer_and_the_page_say_what_to_do(
    sign_in: SignIn, owner: Account, own_folder: Path, gone: str
) -> None:
    (own_folder / gone).unlink()
    for path in ("/agent/install.sh", "/agent/requirements.txt"):
        answer = sign_in(None).get(path)
        assert answer.status_code == 404
        assert b"just agent-packages" in answer.content
    stream = create_stream("Front door", owner=owner, kind="developer").stream
    page = sign_in(owner).get(f"/streams/{stream.client_id}/").content.decode()
    assert "no package of the agent to offer" in page
    assert "install-line" not in page


def test_a_folder_that_is_not_there_ends_the_start(settings: Settings) -> None:
    with pytest.raises(SettingsError, match="ONLOOKER_AGENT_PACKAGES"):
        require_agent_packages(msgspec.structs.replace(settings.ONLOOKER, agent_packages="/nonexistent"))


def test_the_line_needs_no_certificate_where_there_is_no_authority() -> None:
    assert shlex.split(install_line()) == ["curl", "-fsS", "https://console.example.org/agent/install.sh", "|", "sh"]


def test_the_line_pins_the_authority_that_the_console_serves(
    sign_in: SignIn, settings: Settings, tmp_path: Path
) -> None:
    ensure_certificate(tmp_path / "tls", ["localhost"])
    settings.ONLOOKER = msgspec.structs.replace(settings.ONLOOKER, authority_file=str(tmp_path / "tls" / "ca.pem"))
    fetched, checked, installed = install_line().split(" &&\n")
    assert fetched.endswith("--insecure -o authority.pem https://console.example.org/authority.pem")
    (tmp_path / "authority.pem").write_bytes(sign_in(None).get("/authority.pem").content)
    assert subprocess.run(checked, shell=True, cwd=tmp_path, capture_output=True, check=False).returncode == 0
    (tmp_path / "authority.pem").write_bytes(b"of somebody in between")
    assert subprocess.run(checked, shell=True, cwd=tmp_path, capture_output=True, check=False).returncode != 0
    assert "--insecure" not in installed
    assert "--cacert authority.pem" in installed


@pytest.fixture(scope="module")
def console_settings_of_module(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A folder of the operator's, beside files that are nobody's business."""
    above = tmp_path_factory.mktemp("site")
    folder = above / "packages"
    folder.mkdir()
    (above / NUMPY).write_bytes(b"not in the folder")
    (folder / ".hidden-1-py3-none-any.whl").write_text("hidden")
    (folder / "notes.txt").write_text("not for devices")
    (folder / NUMPY).write_bytes(WHEEL)
    return {"agent_packages": folder}


def ask(console: Any, path: str, method: str = "GET") -> tuple[http.client.HTTPResponse, bytes]:
    """A path as it is: no client tidies it up."""
    with contextlib.closing(http.client.HTTPConnection("localhost", console.port, timeout=30)) as connection:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer, answer.read()


def test_a_file_comes_whole_and_is_revalidated(console: Any) -> None:
    answer, content = ask(console, f"/agent/packages/{NUMPY}")
    assert (answer.status, content) == (200, WHEEL)
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["Cache-Control"] == "no-cache"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["ETag"]
    assert ask(console, f"/agent/packages/{NUMPY}", "HEAD")[1] == b""
    assert ask(console, f"/agent/packages/{NUMPY}", "POST")[0].status in (403, 404, 405)


@pytest.mark.parametrize(
    "path",
    [
        "/agent/packages/",
        "/agent/packages/notes.txt",
        "/agent/packages/.hidden-1-py3-none-any.whl",
        "/agent/packages/nothing-1-py3-none-any.whl",
        f"/agent/packages/../{NUMPY}",
        f"/agent/packages/..%2F{NUMPY}",
        f"/agent/packages/%2e%2e/{NUMPY}",
        f"/agent/packages/..%5C{NUMPY}",
        f"/agent/packages/{NUMPY}%00",
        "/agent/packages//etc/passwd",
        "/agent/packages/%2Fetc%2Fpasswd",
        "/agent/simple/../packages/notes.txt",
        "/agent/simple/..%2Fpackages/",
    ],
)
def test_nothing_but_the_names_in_the_folder_is_served(console: Any, path: str) -> None:
    answer, content = ask(console, path)
    assert answer.status in (400, 404)
    assert b"not in the folder" not in content
    assert b"not for devices" not in content


def test_requests_are_counted_like_those_of_other_pages(console: Any) -> None:
    before = console.count("onlooker_console_requests_total")
    assert ask(console, "/agent/simple/numpy/")[0].status == 200
    assert console.count("onlooker_console_requests_total") == before + 1
