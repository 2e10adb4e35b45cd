"""The certificate that devices must trust, for download."""

import logging
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from onlooker.logs import fields

log = logging.getLogger(__name__)


@require_safe
def show_authority(request: HttpRequest) -> HttpResponse:
    """Certificates only, read and written anew: whatever else is in the file stays there."""
    if not settings.ONLOOKER.authority_file:
        raise Http404
    try:
        certificates = x509.load_pem_x509_certificates(Path(settings.ONLOOKER.authority_file).read_bytes())
    except (OSError, ValueError) as error:
        log.error("authority can't be read", extra=fields(error=type(error).__name__))
        raise Http404 from None
    pem = b"".join(one.public_bytes(Encoding.PEM) for one in certificates)
    headers = {"Content-Disposition": 'attachment; filename="authority.pem"'}
    return HttpResponse(pem, content_type="application/x-pem-file", headers=headers)
