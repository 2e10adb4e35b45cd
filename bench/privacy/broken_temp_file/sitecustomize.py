"""Breaks a promise on purpose: the gateway copies each picture that it receives into a temporary file."""

import sys
import tempfile
from collections.abc import AsyncIterator

if "gateway" in sys.orig_argv:
    from onlooker.gateway import bodies

    _segments = bodies._segments

    async def _copying(chunks: AsyncIterator[bytes], boundary: str) -> AsyncIterator[tuple[str, bytes]]:
        async for name, data in _segments(chunks, boundary):
            if name.startswith("attachment://"):
                with tempfile.NamedTemporaryFile(delete=False) as file:
                    file.write(data)
            yield name, data

    bodies._segments = _copying
