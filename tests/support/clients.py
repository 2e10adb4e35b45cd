"""Clients of a running product, and the services that only tests host."""

import ssl

import httpx2

from testkit import Stack, TestStream

EXTRA_SERVICES = "extra.measure,extra.trouble"


def client_of(stack: Stack, stream: TestStream | None) -> httpx2.Client:
    trust = ssl.create_default_context(cafile=stack.ca_file)
    return httpx2.Client(base_url=stack.url, auth=stream.auth if stream else None, verify=trust, timeout=30)
