"""Request bodies come uncompressed: what a compressed one would grow to is not known before it is read."""

from onlooker.errors import Code, Problem

UNCOMPRESSED = ("", "identity")


def require_uncompressed(content_encoding: str) -> None:
    """Refuse a body whose Content-Encoding is anything but `identity`."""
    if any(one.strip().lower() not in UNCOMPRESSED for one in content_encoding.split(",")):
        raise Problem(
            Code.UNSUPPORTED_MEDIA_TYPE,
            "The body has a Content-Encoding. Send it uncompressed, without that header.",
            headers={"Accept-Encoding": "identity", "Connection": "close"},
        )
