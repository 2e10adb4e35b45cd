"""The options of the local feed: checked before a run begins."""

import argparse
from pathlib import Path

import pytest

from onlooker_client.device import feed
from onlooker_client.device.feed import open_feed
from onlooker_client.device.feed_options import FeedOptions, add_feed_options, read_feed_options
from onlooker_client.errors import ConfigError

TOKEN = "0123456789abcdef"


def read(*words: str) -> "FeedOptions | None":
    parser = argparse.ArgumentParser()
    add_feed_options(parser)
    return read_feed_options(parser.parse_args(words))


def test_without_a_port_there_is_no_feed() -> None:
    assert read() is None
    assert open_feed(None) is None


def test_origins_are_written_as_browsers_write_them() -> None:
    given = ["HTTPS://Signage.Example.org/", "http://localhost:8000", "https://a.example:443", "http://[::1]:81"]
    options = read("--feed-port", "8765", *(word for url in given for word in ("--feed-origin", url)))
    assert options
    assert options.origins == (
        "https://signage.example.org",
        "http://localhost:8000",
        "https://a.example",
        "http://[::1]:81",
    )
    assert (options.host, options.token) == ("127.0.0.1", None)


@pytest.mark.parametrize(
    "url", ["*", "null", "signage.example.org", "https://a.example/page", "file:///", "http://:80"]
)
def test_what_is_no_origin_is_refused(url: str) -> None:
    with pytest.raises(SystemExit):
        read("--feed-port", "8765", "--feed-origin", url)


def test_a_token_is_read_and_never_shown(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    options = read("--feed-port", "8765", "--feed-token-file", str(file), "--feed-host", "0.0.0.0")
    assert options
    assert options.token == TOKEN
    assert TOKEN not in repr(options)


@pytest.mark.parametrize("content", [b"", b"short", b"0123456789 abcdef", b"\xff\xfe0123456789abcdef"])
def test_a_poor_token_is_refused_without_being_shown(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "token"
    file.write_bytes(content)
    with pytest.raises(ConfigError) as refused:
        read("--feed-port", "8765", "--feed-token-file", str(file))
    assert "short" not in str(refused.value)
    assert "0123456789 " not in str(refused.value)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::"])
def test_another_address_needs_a_token(host: str) -> None:
    with pytest.raises(ConfigError, match="--feed-token-file"):
        read("--feed-port", "8765", "--feed-host", host)


@pytest.mark.parametrize(
    "words",
    [
        ["--feed-attributes"],
        ["--feed-origin", "http://localhost:8000"],
        ["--feed-port", "8765", "--feed-host", "localhost"],
    ],
)
def test_options_that_make_no_sense_are_refused(words: "list[str]") -> None:
    with pytest.raises(ConfigError):
        read(*words)


@pytest.mark.parametrize(
    ("words", "is_grouped", "is_told"),
    [([], False, True), ([], True, False), (["--feed-attributes"], True, True), (["--feed-attributes"], False, True)],
)
def test_a_stream_that_tells_of_groups_has_a_feed_without_age_and_gender(
    words: "list[str]", is_grouped: bool, is_told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless the option says otherwise."""
    opened: list[bool] = []
    monkeypatch.setattr(feed, "LocalFeed", lambda *_, **given: opened.append(given["tells_attributes"]))
    open_feed(read("--feed-port", "8765", *words), is_grouped=is_grouped)
    assert opened == [is_told]


def test_a_token_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="none"):
        read("--feed-port", "8765", "--feed-token-file", str(tmp_path / "none"))
