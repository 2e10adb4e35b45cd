"""Login and Password: their form, and whether the server takes them."""

from __future__ import annotations

import time
import uuid

from onlooker_client.config import Config
from onlooker_client.doctor.credentials import check_credentials, check_quota, check_stream
from onlooker_client.doctor.examination import Examination
from onlooker_client.doctor.finding import Finding, Level, named
from onlooker_client.errors import ConfigError


def checked_login(text: str) -> str:
    """As the server knows it."""
    try:
        return str(uuid.UUID(text.strip()))
    except ValueError:
        raise ConfigError(
            "That is not a Login. One looks like 0b6f2a3e-8c1d-4f7a-9e25-d4c1a7b85e60, and is on the stream's page in "
            "the console."
        ) from None


def try_credentials(config: Config) -> list[Finding]:
    """What the server says of the stream and its month; raises where it does not know the two."""
    examination = Examination(config, clock=time.time)
    try:
        taken = check_credentials(examination)
        if taken.level is Level.BAD:
            raise ConfigError(
                f"{taken.figure}. The Login is on the stream's page in the console. A lost Password is replaced there."
            )
        return [named("Login and Password", taken), check_stream(examination), named("Quota", check_quota(examination))]
    finally:
        examination.close()
