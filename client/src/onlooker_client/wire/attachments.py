"""Bytes that travel beside the JSON of a request, as parts of a multipart body."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple, Union

from onlooker_client.errors import BadArgument

Fields = Mapping[str, Any]
Content = Union[bytes, bytearray, memoryview, str, "os.PathLike[str]", IO[bytes]]
"""Bytes, the path of a file, or a file that is open for reading bytes."""
MEDIA_FIELDS = ("image", "sound")
"""A text in one of these is a path or the URL of a blob; elsewhere a text is a text."""
LARGEST_BYTES = 64 * 1024 * 1024
"""No server takes more; a wrong path must not fill the memory."""
_SAFE_NAME = re.compile(r"[A-Za-z0-9_.-]+")


class Body(NamedTuple):
    """A request's body and its type."""

    content: bytes
    content_type: str
    encoding: str = ""
    """How the content is compressed, as HTTP says it."""


def json_body(fields: Fields) -> Body:
    return Body(_json(fields), "application/json")


def multipart_body(fields: Fields, attachments: Mapping[str, bytes]) -> Body:
    """`fields` as the part `meta`, and a part `attachment://<name>` for each attachment."""
    boundary = secrets.token_hex(16)
    pieces = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="meta"\r\n'
        f"Content-Type: application/json\r\n\r\n".encode(),
        _json(fields),
        b"\r\n",
    ]
    for name, content in attachments.items():
        if not _SAFE_NAME.fullmatch(name):
            raise BadArgument(f"{name!r} is not a valid attachment name. Use only letters, digits and _ . -")
        pieces.append(
            f'--{boundary}\r\nContent-Disposition: form-data; name="attachment://{name}"; filename="{name}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n".encode()
        )
        pieces.append(content)
        pieces.append(b"\r\n")
    pieces.append(f"--{boundary}--\r\n".encode())
    return Body(b"".join(pieces), f"multipart/form-data; boundary={boundary}")


def media_body(fields: Fields) -> Body:
    """Fields as they are, and those that hold media beside them."""
    said, attachments = dict(fields), {}
    for name, value in fields.items():
        if _is_media(name, value):
            attachments[name] = read_content(value)
            said[name] = f"attachment://{name}"
    return multipart_body(said, attachments) if attachments else json_body(said)


def read_content(content: Content) -> bytes:
    """The bytes that a caller means."""
    if isinstance(content, (bytes, bytearray, memoryview)):
        return bytes(content)
    if isinstance(content, (str, os.PathLike)):
        try:
            with Path(content).open("rb") as file:
                return _read(file)
        except OSError as error:
            raise BadArgument(f"{os.fspath(content)} can't be read: {error.strerror}.") from None
    return _read(content)


def _read(file: IO[bytes]) -> bytes:
    content = file.read(LARGEST_BYTES + 1)
    if not isinstance(content, bytes):
        raise BadArgument("The file is open in text mode. Open it in binary mode: open(path, 'rb').")
    if len(content) > LARGEST_BYTES:
        raise BadArgument(f"The file is larger than {LARGEST_BYTES // 2**20} MiB. No server accepts that.")
    return content


def _is_media(name: str, value: Any) -> bool:
    if isinstance(value, (bytes, bytearray, memoryview, os.PathLike)) or hasattr(value, "read"):
        return True
    is_reference = isinstance(value, str) and value.startswith(("http://", "https://", "attachment://"))
    return name in MEDIA_FIELDS and isinstance(value, str) and not is_reference


def _json(fields: Fields) -> bytes:
    try:
        return json.dumps(fields, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise BadArgument(f"A field of the job can't be sent as JSON: {error}.") from None
