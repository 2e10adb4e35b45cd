"""The address of a stream's public page, unguessable, and the QR code that leads there."""

import base64
import secrets

import qrcode
from django.conf import settings
from django.db import transaction
from django.urls import reverse
from qrcode.image.svg import SvgPathImage

from onlooker.console.notices.models import NoticeDetails
from onlooker.streams.models import Stream

KEY_BYTES = 16
"""128 random bits: nobody finds one by trying."""
QUIET_MODULES = 4
"""The white edge that readers need."""


def public_url(details: NoticeDetails | None) -> str:
    """Empty while the page is off."""
    if details is None or not details.is_public or details.public_key is None:
        return ""
    return str(settings.ONLOOKER.console_url + reverse("notice", args=[details.public_key]))


@transaction.atomic
def switch_public_page(stream: Stream, *, is_on: bool) -> None:
    """The address stays the same when the page is switched off and on again: printed notices name it."""
    Stream.objects.select_for_update(no_key=True).get(pk=stream.pk)  # two clicks at once make one address
    details, _ = NoticeDetails.objects.get_or_create(stream=stream)
    details.is_public = is_on
    details.public_key = details.public_key or secrets.token_urlsafe(KEY_BYTES)
    details.save(update_fields=["is_public", "public_key"])


def draw_code(url: str) -> str:
    """An SVG picture as a data URI; pages may load nothing else."""
    code = qrcode.QRCode(error_correction=qrcode.constants.ERROR_CORRECT_M, border=QUIET_MODULES)
    code.add_data(url)
    drawn: bytes = code.make_image(image_factory=SvgPathImage).to_string(encoding="utf-8")
    return f"data:image/svg+xml;base64,{base64.b64encode(drawn).decode()}"
