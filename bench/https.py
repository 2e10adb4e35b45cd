"""HTTPS clients of a running product."""

import ssl

import httpx2

from onlooker.testing import Stack, TestStream


def open_client(stack: Stack, stream: TestStream, *, timeout_s: float = 30) -> httpx2.Client:
    trust = ssl.create_default_context(cafile=stack.ca_file)
    return httpx2.Client(base_url=stack.url, auth=stream.auth, verify=trust, timeout=timeout_s)
