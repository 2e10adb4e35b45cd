"""Every sentence of notices and of the public page by its key, said in the active language."""

from django.utils.translation import gettext_lazy, ngettext

from onlooker.console.languages import hours_text

SENTENCES = {
    "title": gettext_lazy("People are counted here"),
    "lead": gettext_lazy(
        "A camera watches this place. A computer analyses its pictures automatically (artificial intelligence)."
    ),
    "place": gettext_lazy("This notice is about the camera here: {place}"),
    "heading_computed": gettext_lazy("What is computed"),
    "computes_people": gettext_lazy(
        "How many people pass by, when they come and go, and how long they stand still and look towards the camera."
    ),
    "computes_bodies": gettext_lazy(
        "How many people pass by, when they come and go, and how long they stand still. Faces are not looked for."
    ),
    "computes_age": gettext_lazy("An estimate of each person's age, from the face."),
    "computes_gender": gettext_lazy("An estimate of each person's gender, as the face appears (female or male)."),
    "computes_expression": gettext_lazy(
        "An estimate of each face's expression: neutral, happy, surprised, angry or sad. It describes what a face "
        "shows, not what a person feels."
    ),
    "computes_nothing_else": gettext_lazy("Age, gender and facial expression are not estimated."),
    "law_categorisation": gettext_lazy(
        "This is a biometric categorisation system within the meaning of the EU AI Act, Regulation (EU) 2024/1689. You "
        "are hereby informed of its operation (Article 50(3))."
    ),
    "law_emotion": gettext_lazy(
        "This is an emotion recognition system within the meaning of the EU AI Act, Regulation (EU) 2024/1689. You "
        "are hereby informed of its operation (Article 50(3))."
    ),
    "law_both": gettext_lazy(
        "This is a biometric categorisation and emotion recognition system within the meaning of the EU AI Act, "
        "Regulation (EU) 2024/1689. You are hereby informed of its operation (Article 50(3))."
    ),
    "told_in_groups": gettext_lazy(
        "In statistics, these estimates are told only of at least {groups} people together."
    ),
    "open_hours": gettext_lazy("Nothing is computed outside these hours: {hours}."),
    # Translators: short names of the weekdays from Monday to Sunday, separated by spaces, as in opening hours.
    "weekdays": gettext_lazy("Mon Tue Wed Thu Fri Sat Sun"),
    "heading_not_done": gettext_lazy("What is not done"),
    "not_recognised": gettext_lazy(
        "Nobody is recognised. Faces are not compared with any list, with other cameras or with other days. Anyone who "
        "comes back is counted as someone new."
    ),
    "pictures_on_server": gettext_lazy(
        "Each picture is sent to a server, analysed there and then discarded. No picture and no video is recorded."
    ),
    "pictures_on_device": gettext_lazy(
        "Each picture is analysed in a device at the camera and then discarded. No picture leaves that device, and "
        "none is recorded."
    ),
    "heading_kept": gettext_lazy("What is kept, and for how long"),
    "kept_entry": gettext_lazy("For each person one entry is kept, without a picture and without a name."),
    "kept_totals": gettext_lazy(
        "Totals for each quarter of an hour (counts and sums) are kept until the camera is removed from the system."
    ),
    "heading_purpose": gettext_lazy("Purpose and legal basis"),
    "label_purpose": gettext_lazy("Purpose:"),
    # Translators: what to write on the line after "Purpose:".
    "blank_purpose": gettext_lazy("what it is done for"),
    "label_basis": gettext_lazy("Legal basis:"),
    # Translators: what to write on the line after "Legal basis:".
    "blank_basis": gettext_lazy("Article 6(1) GDPR: which point"),
    # Translators: after "Legal basis:".
    "basis_interests": gettext_lazy("our legitimate interest in this purpose (Article 6(1)(f) GDPR)"),
    "basis_task": gettext_lazy("a task carried out in the public interest (Article 6(1)(e) GDPR)"),
    "basis_consent": gettext_lazy("your consent (Article 6(1)(a) GDPR)"),
    "heading_controller": gettext_lazy("Who is responsible (controller)"),
    "blank_controller": gettext_lazy("name"),
    "blank_address": gettext_lazy("address"),
    "label_contact": gettext_lazy("Contact:"),
    "blank_contact": gettext_lazy("e-mail or telephone"),
    "label_officer": gettext_lazy("Data protection officer:"),
    "label_recipients": gettext_lazy("Recipients:"),
    "heading_rights": gettext_lazy("Your rights"),
    "rights": gettext_lazy(
        "You have the right of access, to rectification, to erasure and to restriction of processing, and the right to "
        "lodge a complaint with a data protection supervisory authority."
    ),
    "right_to_object": gettext_lazy(
        "You may object to the processing at any time on grounds relating to your particular situation (Article 21 "
        "GDPR)."
    ),
    "right_to_withdraw": gettext_lazy(
        "You may withdraw your consent at any time; what was processed until then remains lawful. You also have the "
        "right to data portability."
    ),
    "rights_limit": gettext_lazy(
        "Since nobody is identified, we usually cannot tell which entries are yours (Article 11 GDPR). The exact time "
        "and place of your visit may help."
    ),
    "rights_short": gettext_lazy(
        "You have the right of access, erasure, objection and complaint to a supervisory authority, among others."
    ),
    "rights_short_consent": gettext_lazy(
        "You may withdraw your consent at any time, and have the right of access, erasure and complaint to a "
        "supervisory authority, among others."
    ),
    # Translators: a QR code stands beside this sentence.
    "more_by_code": gettext_lazy("More, and how many people were counted today:"),
    "more_by_contact": gettext_lazy("Ask the contact above for more."),
    "as_of": gettext_lazy("As of {date}"),
    "page_title": gettext_lazy("What this camera computes"),
    "state_on": gettext_lazy("Switched on"),
    "state_closed": gettext_lazy("Closed at present: nothing is computed"),
    "state_off": gettext_lazy("Switched off at present: nothing is computed"),
    "count_none": gettext_lazy("Nobody has been counted between midnight and {time}."),
    "count_early": gettext_lazy("The first count of the day is shown from {time} on."),
    "in_force_since": gettext_lazy("These settings have applied since {date}."),
}


def say(key: str, **values: object) -> str:
    """A whole sentence."""
    return str(SENTENCES[key]).format(**values)


def say_when_deleted(days: int) -> str:
    return ngettext("It is deleted after one day.", "It is deleted after {days} days.", days).format(days=days)


def write_hours(hours: str) -> str:
    """Opening hours with longer names of weekdays than people type."""
    return hours_text.write_hours(hours, say("weekdays").split())
