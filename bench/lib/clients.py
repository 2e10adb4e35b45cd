"""Clients of a running product: over HTTPS, and what an agent is started with."""

import os
import ssl
from pathlib import Path

import httpx2

from testkit import Stack, TestStream


def open_client(stack: Stack, stream: TestStream, *, timeout_s: float = 30) -> httpx2.Client:
    trust = ssl.create_default_context(cafile=stack.ca_file)
    return httpx2.Client(base_url=stack.url, auth=stream.auth, verify=trust, timeout=timeout_s)


OWNER = "owner@example.org"
"""Who owns the streams that a stack makes straight in the database."""
ENTITIES = "/api/1/entities"
ENTITIES_CSV = "/api/1/entities.csv"


def fetch_token(stack: Stack, stream: TestStream, *, username: str = OWNER) -> str:
    """From the console, as any program gets one."""
    credentials = {"username": username, "client_id": stream.client_id, "access_token": stream.access_token}
    with _open(stack, stack.console_url) as client:
        answer = client.post("/api-token-authstream/", json=credentials)
    answer.raise_for_status()
    return str(answer.json()["token"])


def open_data_client(stack: Stack, token: str) -> httpx2.Client:
    """HTTPS to the data endpoint, with the token on every request."""
    client = _open(stack, stack.data_url)
    client.headers["Authorization"] = f"Bearer {token}"
    return client


def _open(stack: Stack, url: str) -> httpx2.Client:
    trust = ssl.create_default_context(cafile=stack.ca_file)
    return httpx2.Client(base_url=url, verify=trust, timeout=30, trust_env=False)


def agent_environment(stack: Stack, stream: TestStream, folder: Path) -> dict[str, str]:
    """Of an agent that knows this stream alone, and keeps its files in a folder."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("ONLOOKER_")}
    return clean | {
        "ONLOOKER_URL": stack.url,
        "ONLOOKER_CLIENT_ID": stream.client_id,
        "ONLOOKER_ACCESS_TOKEN": stream.access_token,
        "ONLOOKER_CA_FILE": stack.ca_file,
        "XDG_CONFIG_HOME": str(folder),
    }
