"""The record of processing activities of one stream (article 30 GDPR), in the active language. Pure."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from onlooker.console.languages.locale_text import write_datetime
from onlooker.console.notices.facts import ComputedFacts, ControllerFacts, NoticeFacts
from onlooker.console.notices.models import LegalBasis
from onlooker.console.notices.paper import Paper, PaperItem, PaperSection, PaperTable, sentences
from onlooker.console.notices.sentences import say, write_hours

BASIS_TEXTS = {
    LegalBasis.INTERESTS: gettext_lazy("Legitimate interests, article 6(1)(f) GDPR."),
    LegalBasis.TASK: gettext_lazy("A task in the public interest, article 6(1)(e) GDPR."),
    LegalBasis.CONSENT: gettext_lazy("Consent, article 6(1)(a) GDPR."),
}


def write_record(facts: NoticeFacts, stream_name: str, *, is_https: bool) -> Paper:
    computed, controller = facts.computed, facts.controller
    about = _("Article 30(1) GDPR. Counting people in front of the camera “{name}”.").format(name=stream_name)
    state = _("The stream is enabled.") if computed.enabled else _("The stream is disabled: nothing is computed.")
    since = write_datetime(facts.since)
    return Paper(
        title=_("Record of processing activities"),
        lead=f"{about} {state}",
        sections=(
            PaperSection(_("(a) Controller"), controller_items(controller)),
            PaperSection(_("(b) Purposes"), purpose_items(controller)),
            PaperSection(
                _("(c) Categories of people and of data"), (PaperItem(describe_people()),), (data_table(computed),)
            ),
            PaperSection(_("(d) Recipients"), _recipients(controller)),
            PaperSection(
                _("(e) Transfers to third countries"),
                (PaperItem(label=_("Transfers:"), remark=transfer_remark()),),
            ),
            PaperSection(_("(f) Time limits for erasure"), (), (limits_table(computed),)),
            PaperSection(
                _("(g) Technical and organisational measures (article 32)"),
                sentences(*measures(computed, is_https=is_https)),
                is_list=True,
            ),
        ),
        closing=_("As the settings have been since {moment}. Not legal advice.").format(moment=since),
    )


def transfer_remark() -> str:
    return _("none, or which country and which safeguard (articles 44 to 49)")


def describe_people() -> str:
    return _("People who pass the camera or stand in its view, without distinction, children among them.")


def controller_items(controller: ControllerFacts) -> tuple[PaperItem, ...]:
    return (
        PaperItem(controller.controller, _("Name:"), _("the controller's name")),
        PaperItem(controller.address, _("Address:"), _("the controller's address")),
        PaperItem(controller.contact, _("Contact:"), _("an e-mail address or a telephone number")),
        PaperItem(controller.officer, _("Data protection officer:"), _("name and contact, or: none")),
        PaperItem("", _("Joint controllers, representative:"), _("names and contacts, or: none")),
    )


def purpose_items(controller: ControllerFacts) -> tuple[PaperItem, ...]:
    basis = str(BASIS_TEXTS[LegalBasis(controller.legal_basis)]) if controller.legal_basis else ""
    return (
        PaperItem(controller.any_purpose, _("Purpose:"), _("what people are counted for")),
        PaperItem(basis, _("Legal basis:"), _("a point of article 6(1) GDPR")),
    )


def data_table(computed: ComputedFacts) -> PaperTable:
    """What is processed, each estimate exactly where its switch is on."""
    rows = {
        (_("Pictures of the camera"), _("Analysed at once, in memory; not stored.")): True,
        (
            _("Visits: times"),
            _("When somebody was in view, stood still and looked towards the camera."),
        ): computed.reads_faces,
        (_("Visits: times"), _("When somebody was in view and stood still.")): not computed.reads_faces,
        (
            _("Visits: age"),
            _("An estimate in years from the face, with its confidence."),
        ): computed.estimates_age,
        (
            _("Visits: gender"),
            _("An estimate, female or male as the face appears, with confidence."),
        ): computed.estimates_gender,
        (
            _("Visits: expression"),
            _("An estimate of what the face shows: neutral, happy, surprised, angry or sad."),
        ): computed.estimates_expression,
        (_("Totals"), _("Counts and sums of visits for each 15 minutes; no ids.")): True,
    }
    return PaperTable((_("Data"), _("What it is")), tuple(row for row, is_so in rows.items() if is_so))


def limits_table(computed: ComputedFacts) -> PaperTable:
    days = computed.retention_days
    journal = ngettext(
        "Until the server has taken them; without a connection, {days} day at most.",
        "Until the server has taken them; without a connection, {days} days at most.",
        days,
    )
    rows = {
        (
            _("Pictures, in the memory of the device")
            if computed.is_on_device
            else _("Pictures, in the memory of the server"),
            _("Until they are analysed; a small grey copy until the next picture, 60 seconds at most."),
        ): True,
        (
            _("Journal of the device: visits that wait for the server"),
            journal.format(days=days),
        ): computed.is_on_device,
        (
            _("State of a session: positions and estimates of the last seconds, encrypted"),
            _("60 seconds after the last picture; unreadable in files after 16 minutes at most, at default settings."),
        ): not computed.is_on_device,
        (_("Visits"), ngettext("{days} day", "{days} days", days).format(days=days)): True,
        (_("Totals for 15 minutes"), _("Until the stream is removed.")): True,
        (_("Backups of the database: fill in"), ""): True,
    }
    return PaperTable((_("Data"), _("Erased after")), tuple(row for row, is_so in rows.items() if is_so))


def measures(computed: ComputedFacts, *, is_https: bool) -> list[str]:
    """What the product itself does; each is described in its documentation with the check that guards it."""
    grouped = _(
        "In statistics, estimates and how long people stood and looked are told only of at least {people} people "
        "together, in groups that no two answers can divide."
    )
    found = {
        _("No frame leaves the device: it sends visits only."): computed.is_on_device,
        _("Pictures are decoded in a process without access to network, files and database."): True,
        _("The address that devices send to uses HTTPS."): is_https,
        _("Nobody is recognised: no identity embedding is computed or stored, and ids of visits are random."): True,
        grouped.format(people=computed.groups_of): computed.groups_of > 1,
        _("Faces are not looked for: no net that reads faces is run."): not computed.reads_faces,
        say("open_hours", hours=write_hours(computed.hours)): bool(computed.hours),
        _("Each process has a role of its own in the database, with the rights it needs."): True,
        _("Visits are deleted automatically when their time is over."): True,
        _("Accounts have passwords that are hashed, and may have a second factor; viewers see numbers only."): True,
        _("Changes of the settings that this record follows are kept in a version history."): True,
    }
    return [text for text, is_so in found.items() if is_so]


def _recipients(controller: ControllerFacts) -> tuple[PaperItem, ...]:
    return (
        PaperItem(
            _("Accounts that the organisation invites as members, and programs with a token for its numbers."),
            _("Within the product:"),
        ),
        PaperItem(controller.recipients, _("Others:"), _("an agency, a hosting company, or: none")),
    )
