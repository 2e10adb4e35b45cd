"""`onlooker-agent setup` with a person at a terminal, against the real product."""

import json
import ssl
import stat
from hashlib import sha256
from pathlib import Path

import pytest
from doctor_scenes import shop, write_video
from terminal_command import TerminalCommand
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


@pytest.mark.alone
def test_four_answers_make_a_config_that_only_its_owner_can_read(
    product: Stack, stream: TestStream, place: Place
) -> None:
    with place.set_up() as setup:
        setup.answer("1. Server address:", product.url.removeprefix("https://"))
        setup.answer("File, or address of the console:", product.console_url)
        setup.expect(fingerprint(product.ca_file))
        setup.answer("Are the two the same?", "y")
        setup.answer("2. Login:", stream.client_id)
        setup.answer("3. Password", stream.access_token)
        setup.expect("enterprise stream, switched on")
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


def test_options_are_not_asked_for_and_enter_keeps_the_rest(product: Stack, stream: TestStream, place: Place) -> None:
    options = ("--url", product.url, "--client-id", stream.client_id, "--ca", product.ca_file)
    with place.set_up(*options) as setup:
        setup.answer("3. Password", stream.access_token)
        setup.answer("Which one:", "camera.mp4")
        assert setup.end() == 0
        assert "Login:" in setup.text
    before = place.kept()
    with place.set_up("--username", "owner@example.org") as again:
        for question in ("1. Server address [", "2. Login [", "3. Password (not shown) [unchanged]", "Which one ["):
            again.answer(question, "")
        assert again.end() == 0
    assert place.kept() == before | {"username": "owner@example.org"}


def test_wrong_answers_are_explained_and_asked_for_again(product: Stack, stream: TestStream, place: Place) -> None:
    with place.set_up("--ca", product.ca_file) as setup:
        setup.answer("1. Server address:", "nosuch.invalid")
        setup.expect("name is unknown")
        setup.answer("1. Server address:", product.console_url)
        setup.expect("not an Onlooker gateway")
        setup.answer("1. Server address:", product.url)
        setup.answer("2. Login:", "me@example.org")
        setup.expect("That is not a Login")
        setup.answer("2. Login:", stream.client_id)
        setup.answer("3. Password", "wrong")
        setup.expect("Login or Password is wrong")
        setup.answer("3. Password (not shown; Enter alone changes the Login): ", stream.access_token)
        setup.answer("Which one:", "nothing.mp4")
        setup.expect("does not exist")
        setup.answer("Which one:", "nothing.mp4")  # it may come later
        assert setup.end() == 0
    assert place.kept()["source"] == str(place.folder / "nothing.mp4")


def test_after_a_wrong_password_enter_alone_leads_back_to_the_login(
    product: Stack, stream: TestStream, place: Place
) -> None:
    another = product.create_stream()
    with place.set_up("--url", product.url, "--ca", product.ca_file, "--client-id", another.client_id) as setup:
        setup.answer("3. Password (not shown): ", stream.access_token)
        setup.expect("Login or Password is wrong")
        setup.answer("3. Password (not shown; Enter alone changes the Login): ", "")
        setup.answer(f"2. Login [{another.client_id}]: ", stream.client_id)
        setup.answer("3. Password (not shown): ", stream.access_token)
        setup.answer("Which one:", "camera.mp4")
        assert setup.end() == 0
        assert stream.access_token not in setup.text
    assert (place.kept()["client_id"], place.kept()["access_token"]) == (stream.client_id, stream.access_token)


def test_a_kept_password_that_is_refused_is_not_offered_again(product: Stack, stream: TestStream, place: Place) -> None:
    place.config.parent.mkdir()
    kept = {"url": product.url, "ca_file": product.ca_file, "client_id": stream.client_id, "access_token": "old"}
    place.config.write_text(json.dumps(kept))
    place.config.chmod(0o600)
    with place.set_up("--url", product.url, "--client-id", stream.client_id, "--source", "camera.mp4") as setup:
        setup.answer("3. Password (not shown) [unchanged]: ", "")
        setup.expect("Login or Password is wrong")
        setup.answer("3. Password (not shown; Enter alone changes the Login): ", "")
        setup.answer(f"2. Login [{stream.client_id}]: ", "")
        setup.answer("3. Password (not shown): ", stream.access_token)
        assert setup.end() == 0
    assert place.kept()["access_token"] == stream.access_token


def test_an_authority_that_nobody_vouches_for_is_not_trusted(product: Stack, place: Place) -> None:
    with place.set_up() as setup:
        setup.answer("1. Server address:", product.url)
        setup.answer("File, or address of the console:", product.url)
        setup.expect("offers no authority.pem")
        setup.answer("File, or address of the console:", product.console_url)
        setup.answer("Are the two the same? [y/N]", "")
        setup.expect("The authority is not trusted")
        setup.answer("File, or address of the console:", product.ca_file)
        setup.press("2. Login:", "\x03")
        setup.end()
    assert not place.config.exists()
    assert not place.config.with_name("authority.pem").exists()


@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["Ctrl-C", "Ctrl-D"])
@pytest.mark.parametrize("at_password", [False, True])
def test_who_leaves_early_leaves_everything_as_it_was(
    product: Stack, place: Place, key: str, at_password: bool
) -> None:
    place.config.parent.mkdir()
    place.config.write_text('{"url": "https://before.example.org"}')
    place.config.chmod(0o600)
    options = ("--url", product.url, "--ca", product.ca_file) if at_password else ()
    with place.set_up(*options) as setup:
        if at_password:
            setup.answer("2. Login:", "0b6f2a3e-8c1d-4f7a-9e25-d4c1a7b85e60")
        setup.press("3. Password" if at_password else "1. Server address", key)
        setup.expect("Nothing was changed.")
        assert setup.end() == 130
    assert place.kept() == {"url": "https://before.example.org"}


def test_five_answers_that_do_not_work_are_enough(place: Place) -> None:
    with place.set_up() as setup:
        for _ in range(5):
            setup.answer("1. Server address:", "https://localhost:1")
        setup.expect("Nothing was changed.")
        assert setup.end() == 78
    assert not place.config.exists()


def test_a_config_that_is_broken_is_made_anew(product: Stack, stream: TestStream, place: Place) -> None:
    place.config.parent.mkdir()
    place.config.write_text("{")
    place.config.chmod(0o600)
    with place.set_up("--url", product.url, "--ca", product.ca_file, "--source", "camera.mp4") as setup:
        setup.expect("is not JSON")
        setup.answer("2. Login:", stream.client_id)
        setup.answer("3. Password", stream.access_token)
        assert setup.end() == 0
    assert place.kept()["client_id"] == stream.client_id
