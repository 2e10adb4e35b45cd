"""The way into the management API: one console, one key, one organisation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from onlooker_client.client import Client, ConfigLike
from onlooker_client.config import Config, load_config
from onlooker_client.errors import BadArgument, NotSet
from onlooker_client.manage.api_request import PATIENCE_S, ManagementApi, Named, given, id_of
from onlooker_client.manage.devices import Devices
from onlooker_client.manage.enrolment import Codes, Templates
from onlooker_client.manage.fleet_numbers import Day, FleetNumbers, StreamGroup, StreamNumbers, read_each, read_total
from onlooker_client.manage.keys import Keys
from onlooker_client.manage.notes import Notes
from onlooker_client.manage.people import Members
from onlooker_client.manage.record_fields import read_record
from onlooker_client.manage.records import Addresses, OrganisationFacts
from onlooker_client.manage.sites import Sites
from onlooker_client.manage.streams import Streams, Tags
from onlooker_client.manage.webhooks import Webhooks
from onlooker_client.wire.transport import TIMEOUT_S


class Organisation:
    """What the console can do, for programs. Threads may share one.

    `url` is the console's address. What is not given comes from the environment (ONLOOKER_CONSOLE_URL, ONLOOKER_KEY or
    ONLOOKER_KEY_FILE, ONLOOKER_CA_FILE), and then from the settings file. What may be done is up to the key.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        ca_file: str | None = None,
        config: ConfigLike | None = None,
        timeout_s: float = TIMEOUT_S,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self.config = _checked(_settle(Config(console_url=url, key=key, ca_file=ca_file), config))
        self._timeout_s = timeout_s
        self._api = ManagementApi(
            self.config.console_url or "",
            self.config.key or "",
            ca_file=self.config.ca_file,
            timeout_s=timeout_s,
            patience_s=patience_s,
        )
        self.streams = Streams(self._api)
        self.tags = Tags(self._api)
        self.sites = Sites(self._api)
        self.devices = Devices(self._api)
        self.templates = Templates(self._api)
        self.codes = Codes(self._api)
        self.members = Members(self._api)
        self.keys = Keys(self._api)
        self.webhooks = Webhooks(self._api)
        self.notes = Notes(self._api)

    def __repr__(self) -> str:
        return f"Organisation({str(self._api.transport.address)!r})"

    def __enter__(self) -> Organisation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._api.transport.close()

    def get(self) -> OrganisationFacts:
        """Its name, and how much it has."""
        return read_record(OrganisationFacts, self._api.get("organisation"))

    def change(self, *, name: str | None = None, requires_second_factor: bool | None = None) -> OrganisationFacts:
        said = given(name=name, requires_second_factor=requires_second_factor)
        return read_record(OrganisationFacts, self._api.patch("organisation", said))

    def addresses(self) -> Addresses:
        """Where gateway, data endpoint and console are; any key may ask."""
        return read_record(Addresses, self._api.get("addresses"))

    def numbers(
        self,
        *,
        streams: Sequence[Named] = (),
        site: Named | None = None,
        tag: str | None = None,
        from_date: Day | None = None,
        to_date: Day | None = None,
    ) -> FleetNumbers:
        """Of all these streams together. Nothing named: of all streams; no days: the last 30."""
        return read_total(self._api, StreamGroup(streams, site, tag, from_date, to_date))

    def numbers_by_stream(
        self,
        *,
        streams: Sequence[Named] = (),
        site: Named | None = None,
        tag: str | None = None,
        from_date: Day | None = None,
        to_date: Day | None = None,
    ) -> Iterator[StreamNumbers]:
        """Of each of these streams; pages are fetched while one goes through them."""
        return read_each(self._api, StreamGroup(streams, site, tag, from_date, to_date))

    def client(self, stream: Named) -> Client:
        """A client of one stream with this key: its numbers by the hour, and, where the key may, its frames."""
        places = None if self.config.url and self.config.data_url else self.addresses()
        config = Config(
            url=self.config.url or (places.gateway_url if places else None),
            client_id=str(id_of(stream)),
            console_url=self.config.console_url,
            data_url=self.config.data_url or (places.data_url if places else None),
            ca_file=self.config.ca_file,
            key=self.config.key,
        )
        return Client(config=config, timeout_s=self._timeout_s)

    def ask(self, method: str, path: str, said: dict[str, Any] | None = None) -> dict[str, Any]:
        """Any operation of the API by its path after /api/v1/, such as one that is newer than this package."""
        if method == "GET":
            return self._api.get(path, said)
        if method == "POST":
            return self._api.post(path, said)
        if method == "PATCH":
            return self._api.patch(path, said or {})
        if method != "DELETE":
            raise BadArgument("The method is GET, POST, PATCH or DELETE.")
        self._api.delete(path)
        return {}


def _settle(given_config: Config, config: ConfigLike | None) -> Config:
    if isinstance(config, Config):
        return given_config.over(config)
    return load_config(given_config, Path(config) if config else None)


def _checked(config: Config) -> Config:
    missing = [name for name in ("console_url", "key") if not getattr(config, name)]
    if missing:
        raise NotSet(
            f"Not set: {', '.join(missing)}. Give Organisation(url=..., key=...), or set ONLOOKER_CONSOLE_URL and "
            "ONLOOKER_KEY. Owners and managers create keys in the console.",
            missing,
        )
    return config
