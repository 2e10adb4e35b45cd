"""A document of settings is taken as a whole or refused with a reason, whatever stands in it."""

import json
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from onlooker.streams import business_hours

from onlooker_client.agent.options import AgentOptions
from onlooker_client.agent.remote.console_link import clean_etag
from onlooker_client.agent.remote.merge import find_changes, find_remarks, merge_settings
from onlooker_client.agent.remote.settings import NAMES, RemoteSettings, SettingsRefused, read_settings
from onlooker_client.agent.remote.week_hours import find_hours, parse_hours

BASE = AgentOptions("0")
WHOLE = {
    "source": "rtsp://camera.example/stream1",
    "fps": 5,
    "idle_fps": 0.5,
    "width": 320,
    "height": 240,
    "quality": 60,
    "max_kbytes": 0,
    "compute": "device",
    "hours": "mo-fr 09:00-18:30",
    "time_zone": "Europe/Paris",
    "log_level": "debug",
}


def test_every_setting_of_the_list_is_taken() -> None:
    settings = read_settings(json.loads(json.dumps(WHOLE)))
    assert settings.named() == WHOLE
    assert set(WHOLE) == set(NAMES)
    assert read_settings({}) == RemoteSettings()


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"shutter": 1}, "'shutter': this version of the agent has no such setting"),
        ({"fps": 0.1}, "fps: 0.1 is not a number between 0.2 and 30"),
        ({"fps": "10"}, "fps: '10' is not a number"),
        ({"fps": True}, "fps: True is not"),
        ({"fps": float("nan")}, "fps: nan is not"),
        ({"fps": 10**400}, "fps: that is not"),
        ({"width": 320.5}, "width: 320.5 is not a whole number"),
        ({"quality": 100}, "quality: 100 is not a number between 10 and 95"),
        ({"max_kbytes": -1}, "max_kbytes"),
        ({"compute": "cloud"}, "compute: 'cloud' is none of server, device"),
        ({"log_level": None}, "log_level: None is none of"),
        ({"hours": "always"}, "hours: Opening hours are a text such as"),
        ({"hours": 7}, "hours: "),
        ({"time_zone": "../etc/passwd"}, "time_zone: "),
        ({"source": ""}, "source: a camera is"),
        ({"source": "-"}, "source: a camera is"),
        ({"source": "/etc/passwd"}, "source: a camera is"),
        ({"source": "/dev/../etc/passwd"}, "source: a camera is"),
        ({"source": "file:///etc/passwd"}, "source: a camera is"),
        ([], "no settings"),
        (None, "no settings"),
    ],
)
def test_what_is_wrong_is_named(said: Any, words: str) -> None:
    with pytest.raises(SettingsRefused) as refused:
        read_settings(said)
    assert words in str(refused.value)


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(SettingsRefused) as refused:
        read_settings({"source": "rtsp://admin:hunter2@camera.example/1"})
    assert "hunter2" not in str(refused.value)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=20), ANYTHING, max_size=5) | ANYTHING)
def test_whatever_comes_is_taken_within_bounds_or_refused_with_a_short_sentence(said: Any) -> None:
    try:
        settings = read_settings(said)
    except SettingsRefused as refused:
        words = str(refused)
    else:
        words = ""
    assert len(words) < 300
    assert "\n" not in words
    if words:
        return
    merged = merge_settings(BASE, settings, frozenset())
    assert 0.2 <= merged.idle_fps <= merged.fps <= 30
    assert 10 <= merged.quality <= 95
    assert read_settings(json.loads(json.dumps(settings.named()))) == settings


@given(st.text(alphabet="mondtuwefrsa 0123456789:-,", max_size=40))
def test_hours_are_read_as_the_server_reads_them(text: str) -> None:
    try:
        theirs = business_hours.parse_hours(text)
    except ValueError:
        return  # the server sends only what it takes
    assert bool(parse_hours(text)) is (theirs is not None)


@pytest.mark.parametrize("text", ["mo-fr 09:00-18:30, sa 10:00-16:00", "su 22:00-02:00", "sa-mo 00:00-24:00"])
def test_a_week_of_hours_is_open_when_the_server_says_so(text: str) -> None:
    zone = ZoneInfo("Europe/Paris")
    theirs, ours = business_hours.parse_hours(text), find_hours(text, "Europe/Paris")
    assert theirs is not None
    assert ours is not None
    for quarter in range(7 * 96):
        at_s = datetime(2026, 3, 23, tzinfo=UTC).timestamp() + quarter * 900  # with a change of the clocks
        assert ours.is_open(at_s) is business_hours.is_open(theirs, zone, datetime.fromtimestamp(at_s, UTC))


def test_without_a_zone_the_streams_own_hours_hold_and_that_is_said() -> None:
    settings = read_settings({"hours": "mo 09:00-10:00", "time_zone": "Nowhere/Town"})
    assert find_hours(settings.hours, settings.time_zone) is None
    assert "stream's own hours hold" in find_remarks(settings, frozenset())


def test_the_command_line_wins_and_is_named() -> None:
    settings = read_settings(WHOLE)
    fixed = frozenset({"fps", "source", "compute"})
    merged = merge_settings(BASE, settings, fixed)
    assert (merged.fps, merged.source, merged.computes_here) == (BASE.fps, "0", False)
    assert (merged.width_px, merged.idle_fps, merged.quality) == (320, 0.5, 60)
    assert find_remarks(settings, fixed) == "source, fps, compute: set by the device's command line, which wins."


def test_what_says_the_same_changes_nothing() -> None:
    same = read_settings({"compute": "server", "fps": BASE.fps, "log_level": "info"})
    assert find_changes(BASE, merge_settings(BASE, same, frozenset())) == set()
    other = read_settings({"compute": "device", "width": 320})
    assert find_changes(BASE, merge_settings(BASE, other, frozenset())) == {"computes_here", "width_px"}


@pytest.mark.parametrize("said", [None, 5, "", 'a"b', "a\r\nX: y", "a" * 101, "Ä", "a\\b", {"a": 1}])
def test_a_version_that_is_none_is_not_taken(said: Any) -> None:
    assert clean_etag(said) == ""
