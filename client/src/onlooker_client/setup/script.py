"""The same without questions, for scripts: everything must be set, and must work."""

from __future__ import annotations

from dataclasses import replace

from onlooker_client.config import Config
from onlooker_client.errors import ConfigError
from onlooker_client.setup.account import checked_login, try_credentials
from onlooker_client.setup.camera import absolute_source, try_camera
from onlooker_client.setup.greeting import find_server

_OPTIONS = {
    "url": "--url",
    "client_id": "--client-id",
    "access_token": "ONLOOKER_ACCESS_TOKEN or --access-token-stdin",
    "source": "--source",
}


def check_settings(config: Config) -> Config:
    """The same, tested; raises at the first that is missing or does not work."""
    missing = [option for name, option in _OPTIONS.items() if not getattr(config, name)]
    if missing:
        raise ConfigError(f"Without questions everything must be given. Missing: {', '.join(missing)}.")
    source = absolute_source(config.source or "")
    config = replace(config, client_id=checked_login(config.client_id or ""), source=source)
    config = replace(config, url=find_server(config.url or "", config.ca_file))
    try_credentials(config)
    try_camera(source)
    return config
