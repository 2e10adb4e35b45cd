"""`onlooker-agent setup` at the real product: with a person at a terminal, and with --yes."""

import json
import ssl
import stat
from hashlib import sha256
from pathlib import Path

import pytest
from doctor_scenes import shop, write_video
from terminal_command import TerminalCommand, run_agent
from testkit import Stack, TestStream


class Place:
    """A folder with a video as the camera, and a config that is not there yet."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config = folder / "config" / "client.json"
        self.video = write_video(folder / "camera.mp4", [shop(seed=number) for number in range(10)])

    def set_up(self, *options: str) -> TerminalCommand:
        environment = {"ONLOOKER_CONFIG": str(self.config)}
        return TerminalCommand("setup", *options, folder=self.folder, environment=environment)

    def kept(self) -> dict[str, str]:
        return json.loads(self.config.read_text())


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def fingerprint(file: str) -> str:
    digits = sha256(ssl.PEM_cert_to_DER_cert(Path(file).read_text())).hexdigest().upper()
    return ":".join(digits[at : at + 2] for at in range(0, 32, 2))


def test_answers_are_explained_until_they_work_and_make_a_config_that_only_its_owner_can_read(
    product: Stack, stream: TestStream, place: Place
) -> None:
    place.config.parent.mkdir()
    place.config.write_text("{")
    place.config.chmod(0o600)
    another = product.create_stream()
    with place.set_up() as setup:
        setup.expect("is not JSON")
        setup.answer("1. Server address:", "nosuch.invalid")
        setup.expect("name is unknown")
        setup.answer("1. Server address:", product.url.removeprefix("https://"))
        setup.answer("File, or address of the console:", product.console_url)
        setup.expect(fingerprint(product.ca_file))
        setup.answer("Are the two the same?", "y")
        setup.answer("2. Login:", "me@example.org")
        setup.expect("That is not a Login")
        setup.answer("2. Login:", another.client_id)
        setup.answer("3. Password (not shown): ", stream.access_token)
        setup.expect("Login or Password is wrong")
        setup.answer("3. Password (not shown; Enter alone changes the Login): ", "")
        setup.answer(f"2. Login [{another.client_id}]: ", stream.client_id)
        setup.answer("3. Password (not shown): ", stream.access_token)
        setup.expect("enterprise stream, switched on")
        setup.answer("Which one:", "nothing.mp4")
        setup.expect("does not exist")
        setup.answer("Which one:", "camera.mp4")
        setup.expect("light fine, focus fine")
        setup.expect("onlooker-agent run")
        assert setup.end() == 0
        assert stream.access_token not in setup.text
    assert place.kept() == {
        "url": product.url,
        "client_id": stream.client_id,
        "access_token": stream.access_token,
        "ca_file": str(place.config.with_name("authority.pem")),
        "source": str(place.video),
    }
    assert stat.S_IMODE(place.config.stat().st_mode) == 0o600
    assert Path(place.kept()["ca_file"]).read_text().strip() == Path(product.ca_file).read_text().strip()


def test_options_are_not_asked_for_and_enter_keeps_the_rest_but_no_password_that_is_refused(
    product: Stack, stream: TestStream, place: Place
) -> None:
    place.config.parent.mkdir()
    kept = {"url": product.url, "ca_file": product.ca_file, "client_id": stream.client_id, "access_token": "old"}
    place.config.write_text(json.dumps(kept))
    place.config.chmod(0o600)
    with place.set_up("--url", product.url, "--client-id", stream.client_id) as setup:
        setup.answer("3. Password (not shown) [unchanged]: ", "")
        setup.expect("Login or Password is wrong")
        setup.answer("3. Password (not shown; Enter alone changes the Login): ", "")
        setup.answer(f"2. Login [{stream.client_id}]: ", "")
        setup.answer("3. Password (not shown): ", stream.access_token)
        setup.answer("Which one:", "nothing.mp4")
        setup.expect("does not exist")
        setup.answer("Which one:", "nothing.mp4")  # it may come later
        assert setup.end() == 0
    before = place.kept()
    assert before == kept | {"access_token": stream.access_token, "source": str(place.folder / "nothing.mp4")}
    with place.set_up("--username", "owner@example.org", "--source", "camera.mp4") as again:
        for question in ("1. Server address [", "2. Login [", "3. Password (not shown) [unchanged]"):
            again.answer(question, "")
        assert again.end() == 0
    assert place.kept() == before | {"username": "owner@example.org", "source": str(place.video)}


def test_without_a_terminal_everything_that_is_given_and_works_is_kept(
    product: Stack, stream: TestStream, tmp_path: Path
) -> None:
    write_video(tmp_path / "camera.mp4", [shop(seed=number) for number in range(10)])
    (tmp_path / "authority.pem").write_bytes(Path(product.ca_file).read_bytes())
    given = ("--url", product.url, "--client-id", stream.client_id, "--ca", "authority.pem", "--source", "camera.mp4")
    words = ("setup", *given, "--yes", "--access-token-stdin")
    ended = run_agent(*words, folder=tmp_path, stdin=f"{stream.access_token}\n")
    assert ended.returncode == 0, ended.stderr
    assert stream.access_token not in ended.stdout + ended.stderr
    kept = json.loads((tmp_path / "client.json").read_text())
    assert kept["access_token"] == stream.access_token
    assert (kept["ca_file"], kept["source"]) == (str(tmp_path / "authority.pem"), str(tmp_path / "camera.mp4"))
    another = ("--client-id", "0b6f2a3e-8c1d-4f7a-9e25-d4c1a7b85e60")
    again = run_agent("setup", "--yes", *another, folder=tmp_path, ONLOOKER_ACCESS_TOKEN="other")
    assert (again.returncode, "Password is wrong" in again.stderr) == (78, True)
    assert json.loads((tmp_path / "client.json").read_text()) == kept
