"""What the staff pages call tables and columns in the reader's language. Django derives the English from the models."""

from django.db.models import Model
from django.utils.translation import gettext_lazy, gettext_noop

TABLES = (
    *(gettext_noop("account"), gettext_noop("accounts")),
    *(gettext_noop("stream"), gettext_noop("streams")),
    # Translators: how much video of a stream was computed in a month.
    *(gettext_noop("month of usage"), gettext_noop("months of usage")),
    *(gettext_noop("organisation"), gettext_noop("organisations")),
    *(gettext_noop("membership"), gettext_noop("memberships")),
    *(gettext_noop("invitation"), gettext_noop("invitations")),
    *(gettext_noop("job"), gettext_noop("jobs")),
    # Translators: a process that computes.
    *(gettext_noop("worker"), gettext_noop("workers")),
)
COLUMNS = (
    gettext_noop("accepted at"),
    gettext_noop("blind alert minutes"),
    gettext_noop("client id"),
    # Translators: where a stream is computed, "Server" or "Device".
    gettext_noop("compute"),
    gettext_noop("created at"),
    gettext_noop("deadline at"),
    gettext_noop("email"),
    gettext_noop("enabled"),
    gettext_noop("expires at"),
    gettext_noop("finished at"),
    # Translators: whether ranges are rounded to quarters of an hour.
    gettext_noop("grid"),
    # Translators: nothing is told about fewer people than this number.
    gettext_noop("groups of"),
    # Translators: of a worker: its random name.
    gettext_noop("instance"),
    gettext_noop("invited at"),
    gettext_noop("is active"),
    gettext_noop("is staff"),
    gettext_noop("job id"),
    # Translators: of a stream: "Developer" or "Enterprise".
    gettext_noop("kind"),
    gettext_noop("last frame at"),
    gettext_noop("leased until"),
    gettext_noop("month"),
    gettext_noop("name"),
    gettext_noop("reads age"),
    gettext_noop("reads expression"),
    gettext_noop("reads faces"),
    gettext_noop("reads gender"),
    gettext_noop("removed at"),
    gettext_noop("request id"),
    gettext_noop("requires second factor"),
    gettext_noop("retention days"),
    gettext_noop("role"),
    gettext_noop("seen at"),
    gettext_noop("service"),
    gettext_noop("silence alert minutes"),
    gettext_noop("time zone"),
    gettext_noop("unusual alert"),
    gettext_noop("version"),
    # Translators: how many workers ended while they computed a job.
    gettext_noop("worker deaths"),
)
_BETTER = {"usage": "month of usage", "usages": "months of usage"}
"""What Django derives, and what people say."""
LOGGED = (gettext_noop("Is active"), gettext_noop("Is staff"), gettext_noop("Kind"))
"""What staff can change, as the log of changes names it."""


def translate_names(model: type[Model]) -> None:
    """From now on its names are those of the reader's language. The models stay as they are, and need no migration."""
    options = model._meta
    options.verbose_name, options.verbose_name_plural = (
        gettext_lazy(_BETTER.get(str(name), str(name))) for name in (options.verbose_name, options.verbose_name_plural)
    )
    for field in options.fields:
        if isinstance(field.verbose_name, str):
            field.verbose_name = gettext_lazy(field.verbose_name)
