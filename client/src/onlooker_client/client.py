"""The way into the SDK: one server, one stream."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Union
from urllib.parse import quote

from onlooker_client.blob import Blob, Content, create_blob
from onlooker_client.config import Config, check_config, load_config
from onlooker_client.errors import BadArgument, NotSet
from onlooker_client.numbers.endpoint import DataEndpoint
from onlooker_client.numbers.metrics import Filter, Metrics, Moment, Query
from onlooker_client.service import Service
from onlooker_client.wire.transport import TIMEOUT_S, Repeat, Transport, basic_authorization

ConfigLike = Union[Config, Path, str]


class Client:
    """Asks one server in the name of one stream. Threads may share one.

    What is not given comes from the environment (ONLOOKER_URL, ONLOOKER_CLIENT_ID, ONLOOKER_ACCESS_TOKEN and so on),
    and then from the file that `onlooker-agent setup` writes. `config` is another file, or a Config to take as it is.
    `key` is a key of the organisation: it stands for the Password where it may send frames, and for username and
    Password where it may read numbers.
    """

    def __init__(
        self,
        url: str | None = None,
        client_id: str | None = None,
        access_token: str | None = None,
        *,
        ca_file: str | None = None,
        username: str | None = None,
        console_url: str | None = None,
        data_url: str | None = None,
        key: str | None = None,
        config: ConfigLike | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        given = Config(
            url=url,
            client_id=client_id,
            access_token=access_token,
            ca_file=ca_file,
            username=username,
            console_url=console_url,
            data_url=data_url,
            key=key,
        )
        self.config = check_config(_settle(given, config))
        self._gateway = _open_gateway(self.config, timeout_s) if self.config.url else None
        self._data = DataEndpoint(self.config, self.stream, timeout_s=timeout_s)

    def __repr__(self) -> str:
        address = self._gateway.address if self._gateway else self.config.data_url or self.config.console_url
        return f"Client({str(address)!r}, {self.config.client_id!r})"

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._data.close()
        if self._gateway:
            self._gateway.close()

    @property
    def transport(self) -> Transport:
        """To the gateway. With a key and no address of one, there are only numbers."""
        if self._gateway is None:
            raise NotSet("Not set: url. This needs the gateway: Client(url=...), or ONLOOKER_URL.", ["url"])
        return self._gateway

    def services(self) -> list[str]:
        """Names of the services there are. With wrong credentials it raises BadCredentials."""
        return list(self._get("/services").get("services", {}))

    def service(self, name: str, version: int | None = None) -> Service:
        """One service; the newest version, unless one is given. With a version nothing is asked of the server yet."""
        if version is None:
            path = f"/services/{quote(name, safe='')}"
            versions = [int(number) for number in self._get(path).get("versions", {}) if number.isdigit()]
            if not versions:
                raise BadArgument(f"The service {name} has no version.")
            version = max(versions)
        return Service(self.transport, name, version)

    def stream(self) -> dict[str, Any]:
        """What the server says of the stream itself: its state, its month, where its numbers are.

        Servers before it was there raise BadRequest, code `not_found`.
        """
        return self._get("/stream")

    def create_blob(self, content: Content) -> Blob:
        """Store bytes once, for several jobs."""
        return create_blob(self.transport, content)

    def blob(self, url: str) -> Blob:
        """A blob that was stored before."""
        return Blob(self.transport, url)

    def metrics(
        self,
        metrics: Sequence[str],
        from_date: Moment,
        to_date: Moment | None = None,
        *,
        time: str = "by_hour",
        tz: str | None = None,
        by: Sequence[str] = (),
        filter: Filter | None = None,
    ) -> Metrics:
        """The stream's numbers over a range, and what was watched of it. Nothing is asked before they are read.

        `by` breaks them down by one or two dimensions, such as gender and age, into `bucket.cells`. `filter` says of
        which visits they are, such as {"gender": "female"}.
        """
        return Metrics(
            self._data.ask,
            Query.of(metrics, from_date, to_date, time=time, tz=tz, by=by, filter=filter),
            download=self._data.download_parquet,
        )

    def _get(self, path: str) -> dict[str, Any]:
        return self.transport.request_json("GET", path, repeat=Repeat.IF_LOST)


def _open_gateway(config: Config, timeout_s: float) -> Transport:
    return Transport(
        config.url or "",
        authorization=basic_authorization(config.client_id or "", config.password or ""),
        ca_file=config.ca_file,
        timeout_s=timeout_s,
    )


def _settle(given: Config, config: ConfigLike | None) -> Config:
    if isinstance(config, Config):
        return given.over(config)
    return load_config(given, Path(config) if config else None)
