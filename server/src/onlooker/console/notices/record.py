"""The record of processing activities of one stream (article 30 GDPR), in English. Pure."""

from onlooker.console.notices.facts import ComputedFacts, ControllerFacts, NoticeFacts
from onlooker.console.notices.languages import Language, write_hours
from onlooker.console.notices.models import LegalBasis
from onlooker.console.notices.paper import Paper, PaperItem, PaperSection, PaperTable, sentences

BASIS_TEXTS = {
    LegalBasis.INTERESTS: "Legitimate interests, article 6(1)(f) GDPR.",
    LegalBasis.TASK: "A task in the public interest, article 6(1)(e) GDPR.",
    LegalBasis.CONSENT: "Consent, article 6(1)(a) GDPR.",
}
TRANSFER_REMARK = "none, or which country and which safeguard (articles 44 to 49)"


def write_record(facts: NoticeFacts, stream_name: str, *, is_https: bool) -> Paper:
    computed, controller = facts.computed, facts.controller
    return Paper(
        title="Record of processing activities",
        lead=f"Article 30(1) GDPR. Counting people in front of the camera “{stream_name}”. "
        + ("The stream is enabled." if computed.enabled else "The stream is disabled: nothing is computed."),
        sections=(
            PaperSection("(a) Controller", controller_items(controller)),
            PaperSection("(b) Purposes", purpose_items(controller)),
            PaperSection("(c) Categories of people and of data", (PaperItem(PEOPLE),), (data_table(computed),)),
            PaperSection("(d) Recipients", _recipients(controller)),
            PaperSection(
                "(e) Transfers to third countries",
                (PaperItem(label="Transfers:", remark=TRANSFER_REMARK),),
            ),
            PaperSection("(f) Time limits for erasure", (), (limits_table(computed),)),
            PaperSection(
                "(g) Technical and organisational measures (article 32)",
                sentences(*measures(computed, is_https=is_https)),
                is_list=True,
            ),
        ),
        closing=f"As the settings have been since {facts.since:%d %B %Y, %H:%M}. Not legal advice.",
    )


PEOPLE = "People who pass the camera or stand in its view, without distinction, children among them."


def controller_items(controller: ControllerFacts) -> tuple[PaperItem, ...]:
    return (
        PaperItem(controller.controller, "Name:", "the controller's name"),
        PaperItem(controller.address, "Address:", "the controller's address"),
        PaperItem(controller.contact, "Contact:", "an e-mail address or a telephone number"),
        PaperItem(controller.officer, "Data protection officer:", "name and contact, or: none"),
        PaperItem("", "Joint controllers, representative:", "names and contacts, or: none"),
    )


def purpose_items(controller: ControllerFacts) -> tuple[PaperItem, ...]:
    purpose = controller.purpose_en or controller.purpose_fr or controller.purpose_de
    basis = BASIS_TEXTS[LegalBasis(controller.legal_basis)] if controller.legal_basis else ""
    return (
        PaperItem(purpose, "Purpose:", "what people are counted for"),
        PaperItem(basis, "Legal basis:", "a point of article 6(1) GDPR"),
    )


def data_table(computed: ComputedFacts) -> PaperTable:
    """What is processed, each estimate exactly where its switch is on."""
    rows = {
        ("Pictures of the camera", "Analysed at once, in memory; not stored."): True,
        (
            "Visits: times",
            "When somebody was in view, stood still and looked towards the camera.",
        ): computed.reads_faces,
        ("Visits: times", "When somebody was in view and stood still."): not computed.reads_faces,
        ("Visits: age", "An estimate in years from the face, with its confidence."): computed.estimates_age,
        (
            "Visits: gender",
            "An estimate, female or male as the face appears, with confidence.",
        ): computed.estimates_gender,
        (
            "Visits: expression",
            "An estimate of what the face shows: neutral, happy, surprised, angry or sad.",
        ): computed.estimates_expression,
        ("Totals", "Counts and sums of visits for each 15 minutes; no ids."): True,
    }
    return PaperTable(("Data", "What it is"), tuple(row for row, is_so in rows.items() if is_so))


def limits_table(computed: ComputedFacts) -> PaperTable:
    days = "1 day" if computed.retention_days == 1 else f"{computed.retention_days} days"
    where = "the device" if computed.is_on_device else "the server"
    rows = {
        (
            f"Pictures, in the memory of {where}",
            "Until they are analysed; a small grey copy until the next picture, 60 seconds at most.",
        ): True,
        (
            "Journal of the device: visits that wait for the server",
            f"Until the server has taken them; without a connection, {days} at most.",
        ): computed.is_on_device,
        (
            "State of a session: positions and estimates of the last seconds, encrypted",
            "60 seconds after the last picture; unreadable in files after 16 minutes at most, at default settings.",
        ): not computed.is_on_device,
        ("Visits", days): True,
        ("Totals for 15 minutes", "Until the stream is removed."): True,
        ("Backups of the database: fill in", ""): True,
    }
    return PaperTable(("Data", "Erased after"), tuple(row for row, is_so in rows.items() if is_so))


def measures(computed: ComputedFacts, *, is_https: bool) -> list[str]:
    """What the product itself does; each is described in its documentation with the check that guards it."""
    found = {
        "No frame leaves the device: it sends visits only.": computed.is_on_device,
        "Pictures are decoded in a process without access to network, files and database.": True,
        "The address that devices send to uses HTTPS.": is_https,
        "Nobody is recognised: no identity embedding is computed or stored, and ids of visits are random.": True,
        "In statistics, estimates and how long people stood and looked are told only of at least "
        f"{computed.groups_of} people together, in groups that no two answers can divide.": computed.groups_of > 1,
        "Faces are not looked for: no net that reads faces is run.": not computed.reads_faces,
        f"Nothing is computed outside these hours: {write_hours(Language.ENGLISH, computed.hours)}.": bool(
            computed.hours
        ),
        "Each process has a role of its own in the database, with the rights it needs.": True,
        "Visits are deleted automatically when their time is over.": True,
        "Accounts have passwords that are hashed, and may have a second factor; viewers see numbers only.": True,
        "Changes of the settings that this record follows are kept in a version history.": True,
    }
    return [text for text, is_so in found.items() if is_so]


def _recipients(controller: ControllerFacts) -> tuple[PaperItem, ...]:
    return (
        PaperItem(
            "Accounts that the organisation invites as members, and programs with a token for its numbers.",
            "Within the product:",
        ),
        PaperItem(controller.recipients, "Others:", "an agency, a hosting company, or: none"),
    )
