"""Which streams or devices a change of many is for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from onlooker_client.errors import BadArgument
from onlooker_client.manage.api_request import Named, id_of


@dataclass(frozen=True)
class Selection:
    """Those that are named; or of a site, of a tag, of both; or all, which must be said."""

    named: Sequence[Named] = ()
    site: Named | None = None
    tag: str | None = None
    all: bool = False
    no_site: bool = False
    """Those at no site."""

    def said(self, plural: str) -> dict[str, Any]:
        """As the API takes it; `plural` is `streams` or `devices`."""
        if not (self.named or self.site is not None or self.tag or self.all or self.no_site):
            raise BadArgument(f"Say which {plural}: some by their ids, those of a site, those with a tag, or all.")
        said: dict[str, Any] = {}
        if self.named:
            said[plural] = [id_of(one) for one in self.named]
        if self.site is not None:
            said["site"] = id_of(self.site)
        elif self.no_site:
            said["site"] = None
        if self.tag:
            said["tag"] = self.tag
        if self.all:
            said["all"] = True
        return said
