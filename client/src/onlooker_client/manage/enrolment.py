"""Templates and enrolment codes: how devices join."""

from __future__ import annotations

from collections.abc import Iterator

from onlooker_client.manage.api_request import ManagementApi, Named, given, id_of, path_to
from onlooker_client.manage.device_records import EnrolmentCode, NewCode, Settings, Template
from onlooker_client.manage.record_fields import read_record


class Templates:
    """`organisation.templates`."""

    def __init__(self, api: ManagementApi) -> None:
        self._api = api

    def __iter__(self) -> Iterator[Template]:
        return self.list()

    def list(self) -> Iterator[Template]:
        return self._api.items(Template, "templates")

    def get(self, template: Named) -> Template:
        return read_record(Template, self._api.get(path_to("templates", template)))

    def create(
        self,
        name: str,
        *,
        preset: str | None = None,
        place: str | None = None,
        compute: str | None = None,
        time_zone: str | None = None,
        hours: str | None = None,
        source: str | None = None,
        notice_given: bool | None = None,
        idempotency_key: str | None = None,
    ) -> Template:
        said = given(
            name=name,
            preset=preset,
            place=place,
            compute=compute,
            time_zone=time_zone,
            hours=hours,
            source=source,
            notice_given=notice_given,
        )
        return read_record(Template, self._api.post("templates", said, idempotency_key=idempotency_key))

    def configure(self, template: Named, device_settings: Settings) -> Template:
        """Settings of its devices, beneath those of site and device; None takes one away."""
        said = {"device_settings": dict(device_settings)}
        return read_record(Template, self._api.patch(path_to("templates", template), said))

    def delete(self, template: Named) -> None:
        """Its open codes end with it; streams and devices stay."""
        self._api.delete(path_to("templates", template))


class Codes:
    """`organisation.codes`."""

    def __init__(self, api: ManagementApi) -> None:
        self._api = api

    def __iter__(self) -> Iterator[EnrolmentCode]:
        return self.list()

    def list(self, *, state: str | None = None) -> Iterator[EnrolmentCode]:
        """`state="open"`: those that devices can still enrol with."""
        return self._api.items(EnrolmentCode, "enrolment-codes", {"state": state})

    def get(self, code: Named) -> EnrolmentCode:
        return read_record(EnrolmentCode, self._api.get(path_to("enrolment-codes", code)))

    def create(
        self,
        template: Named,
        *,
        site: Named | None = None,
        devices: int | None = None,
        life_days: int | None = None,
        idempotency_key: str | None = None,
    ) -> NewCode:
        """For `onlooker-agent enrol CODE`. The code is not shown again."""
        site_id = None if site is None else id_of(site)
        said = given(template=id_of(template), site=site_id, devices=devices, life_days=life_days)
        return read_record(NewCode, self._api.post("enrolment-codes", said, idempotency_key=idempotency_key))

    def end(self, code: Named) -> EnrolmentCode:
        """No more devices enrol with it."""
        return read_record(EnrolmentCode, self._api.post(path_to("enrolment-codes", code, "end")))
