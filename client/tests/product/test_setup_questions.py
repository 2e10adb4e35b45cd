"""`onlooker-agent setup` with a person at a terminal, against the real product."""

import json
from pathlib import Path

import pytest
from doctor_scenes import shop, write_video
from terminal_command import TerminalCommand
from testkit import Stack


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
