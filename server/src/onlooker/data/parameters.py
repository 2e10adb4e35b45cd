"""The parameters of a request: each at most once; what we do not know is passed over."""

from urllib.parse import parse_qsl

from onlooker.errors import bad_request

LONGEST_BYTES = 8 * 1024
NAMES = ("metrics", "from_date", "to_date", "time", "tz", "page")


def read_parameters(query_string: bytes) -> dict[str, str]:
    """Those that are known; historic clients send others too."""
    if len(query_string) > LONGEST_BYTES:
        raise bad_request(f"The query of a URL may have {LONGEST_BYTES} bytes. Send a shorter one.")
    try:
        pairs = parse_qsl(query_string.decode(), keep_blank_values=True, errors="strict")
    except ValueError:
        raise bad_request(
            "The query of the URL is not percent-encoded UTF-8. Encode each value, as `urlencode` does."
        ) from None
    found: dict[str, str] = {}
    for name, value in pairs:
        if name in found:
            raise bad_request(f"`{name}` is there twice. Send it once.")
        if name in NAMES:
            found[name] = value
    return found
