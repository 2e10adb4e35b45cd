"""Bodies of requests, against the server's own parser."""

import io
import json
import string
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multipart import MultipartSegment, PushMultipartParser
from onlooker_pipeline.catalogue.service import Field, FieldKind

from onlooker_client.errors import BadArgument
from onlooker_client.moments import read_moment
from onlooker_client.service import timestamp_text
from onlooker_client.wire.attachments import Body, media_body, multipart_body, read_content

NAMES = st.text(string.ascii_letters + string.digits + "_.-", min_size=1, max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def parse(body: Body) -> dict[str, bytes]:
    """As the gateway does it."""
    boundary = body.content_type.partition("boundary=")[2]
    found: dict[str, bytes] = {}
    with PushMultipartParser(boundary) as parser:
        name = ""
        for event in parser.parse(body.content):
            if isinstance(event, MultipartSegment):
                name = event.name
                found[name] = b""
            elif event:
                found[name] += bytes(event)
    return found


@given(fields=st.dictionaries(st.text(), JSON, max_size=5), attachments=st.dictionaries(NAMES, st.binary(), max_size=3))
def test_a_multipart_body_is_read_back_by_the_servers_parser(
    fields: dict[str, object], attachments: dict[str, bytes]
) -> None:
    parts = parse(multipart_body(fields, attachments))
    assert json.loads(parts.pop("meta")) == fields
    assert parts == {f"attachment://{name}": content for name, content in attachments.items()}


def test_a_picture_that_looks_like_a_boundary_is_still_a_picture() -> None:
    picture = b"\r\n--\r\n----\r\n--0123456789abcdef--\r\n"
    assert parse(multipart_body({}, {"image": picture}))["attachment://image"] == picture


@given(
    moment=st.datetimes(min_value=datetime(1971, 1, 1), max_value=datetime(2099, 1, 1)),
    offset=st.integers(-14 * 60, 14 * 60),
)
def test_a_timestamp_arrives_as_the_moment_that_was_meant(moment: datetime, offset: int) -> None:
    moment = moment.replace(tzinfo=timezone(timedelta(minutes=offset)))
    text = timestamp_text(moment)
    assert Field("timestamp", FieldKind.TIMESTAMP, "").complaint(text) is None
    assert read_moment(text) == datetime.fromisoformat(text) == moment


def test_a_time_without_a_zone_is_refused_with_the_remedy() -> None:
    with pytest.raises(BadArgument, match=r"datetime\.now\(timezone\.utc\)"):
        timestamp_text(datetime(2026, 11, 1, 9))
    assert timestamp_text("2026-11-01T09:00:00+01:00") == "2026-11-01T09:00:00+01:00"
    assert timestamp_text(datetime(2026, 11, 1, 9, tzinfo=UTC)) == "2026-11-01T09:00:00+00:00"


def test_pictures_come_as_bytes_paths_and_open_files(tmp_path: Path) -> None:
    path = tmp_path / "picture.jpg"
    path.write_bytes(b"picture")
    for content in (b"picture", bytearray(b"picture"), memoryview(b"picture"), path, str(path), io.BytesIO(b"picture")):
        meta = parse(media_body({"image": content, "store": True}))
        assert json.loads(meta["meta"]) == {"image": "attachment://image", "store": True}
        assert meta["attachment://image"] == b"picture"


@pytest.mark.parametrize("reference", ["https://vision.example.org/blobs/1", "attachment://image"])
def test_a_reference_is_sent_as_it_is(reference: str) -> None:
    body = media_body({"image": reference})
    assert body.content_type == "application/json"
    assert json.loads(body.content) == {"image": reference}


def test_a_text_that_is_no_picture_is_sent_as_it_is() -> None:
    assert json.loads(media_body({"echo": "picture.jpg"}).content) == {"echo": "picture.jpg"}


def test_what_cannot_be_sent_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadArgument, match="No such file"):
        read_content(tmp_path / "missing.jpg")
    with pytest.raises(BadArgument, match="'rb'"):
        read_content(io.StringIO("text"))  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="JSON"):
        media_body({"echo": object()})
    with pytest.raises(BadArgument, match="JSON"):
        media_body({"sensitivity": float("nan")})
    with pytest.raises(BadArgument, match="not a valid attachment name"):
        multipart_body({}, {'a"\r\nX: y': b""})


def test_a_huge_file_is_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    with path.open("wb") as file:
        file.truncate(10 * 2**30)
    with pytest.raises(BadArgument, match="64 MiB"):
        read_content(path)
