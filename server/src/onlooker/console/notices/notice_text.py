"""The text of a notice to hang up and of the public page in the active language: which sentences hold. Pure."""

from collections.abc import Iterator
from enum import StrEnum

from onlooker.console.languages.locale_text import write_date
from onlooker.console.notices.facts import ComputedFacts, ControllerFacts, NoticeFacts
from onlooker.console.notices.models import LegalBasis
from onlooker.console.notices.paper import Paper, PaperItem, PaperSection, sentences
from onlooker.console.notices.sentences import say, say_when_deleted, write_hours


class NoticeForm(StrEnum):
    """Where it is read."""

    A4 = "a4"
    A6 = "a6"
    """The first layer only: the rest is behind the code or with the contact."""
    PAGE = "page"


def write_notice(facts: NoticeFacts, form: NoticeForm) -> Paper:
    computed, controller = facts.computed, facts.controller
    is_short = form is NoticeForm.A6
    sections = [
        PaperSection(
            say("heading_computed"),
            sentences(
                *(say(key) for key in computed_keys(computed)),
                *(() if is_short else _bounds(computed)),
            ),
            is_list=True,
        ),
        PaperSection(
            say("heading_not_done"),
            sentences(say("not_recognised"), say(picture_key(computed))),
            is_list=True,
        ),
        PaperSection(say("heading_kept"), (PaperItem(_kept(computed)),)),
        PaperSection(say("heading_purpose"), tuple(_purpose(controller))),
        PaperSection(say("heading_controller"), tuple(_controller(controller, is_short=is_short))),
        _section("heading_rights", short_right_keys(controller) if is_short else right_keys(controller)),
    ]
    is_page = form is NoticeForm.PAGE
    lead = say("lead")
    if controller.place and not is_short:
        lead = f"{lead} {say('place', place=controller.place)}"
    dated = "in_force_since" if is_page else "as_of"
    return Paper(
        title=say("page_title" if is_page else "title"),
        lead=lead,
        sections=tuple(sections),
        closing=say(dated, date=write_date(facts.since.date())),
    )


def computed_keys(computed: ComputedFacts) -> tuple[str, ...]:
    """The sentences about what is computed, each exactly where its switch is on, and the duty that follows."""
    holds = {
        "computes_people": computed.reads_faces,
        "computes_bodies": not computed.reads_faces,
        "computes_age": computed.estimates_age,
        "computes_gender": computed.estimates_gender,
        "computes_expression": computed.estimates_expression,
        "computes_nothing_else": not computed.estimates_attributes,
        "law_categorisation": computed.categorises and not computed.estimates_expression,
        "law_emotion": computed.estimates_expression and not computed.categorises,
        "law_both": computed.estimates_expression and computed.categorises,
    }
    return tuple(key for key, is_so in holds.items() if is_so)


def _bounds(computed: ComputedFacts) -> Iterator[str]:
    """Whom numbers are told of, and when nothing is computed."""
    if computed.groups_of > 1 and computed.estimates_attributes:
        yield say("told_in_groups", groups=computed.groups_of)
    if computed.hours:
        yield say("open_hours", hours=write_hours(computed.hours))


def picture_key(computed: ComputedFacts) -> str:
    return "pictures_on_device" if computed.is_on_device else "pictures_on_server"


def short_right_keys(controller: ControllerFacts) -> tuple[str, ...]:
    return ("rights_short_consent",) if controller.legal_basis == LegalBasis.CONSENT else ("rights_short",)


def right_keys(controller: ControllerFacts) -> tuple[str, ...]:
    by_basis = "right_to_withdraw" if controller.legal_basis == LegalBasis.CONSENT else "right_to_object"
    return ("rights", by_basis, "rights_limit")


def _section(heading: str, keys: tuple[str, ...], *, is_list: bool = False) -> PaperSection:
    return PaperSection(say(heading), sentences(*(say(key) for key in keys)), is_list=is_list)


def _kept(computed: ComputedFacts) -> str:
    return " ".join([say("kept_entry"), say_when_deleted(computed.retention_days), say("kept_totals")])


def _purpose(controller: ControllerFacts) -> Iterator[PaperItem]:
    basis = controller.legal_basis
    yield PaperItem(controller.purpose, say("label_purpose"), remark=say("blank_purpose"))
    yield PaperItem(
        say(f"basis_{basis}") if basis else "",
        say("label_basis"),
        remark=say("blank_basis"),
    )


def _controller(controller: ControllerFacts, *, is_short: bool) -> Iterator[PaperItem]:
    yield PaperItem(controller.controller, remark=say("blank_controller"))
    yield PaperItem(controller.address, remark=say("blank_address"))
    yield PaperItem(controller.contact, say("label_contact"), remark=say("blank_contact"))
    if controller.officer and not is_short:
        yield PaperItem(controller.officer, say("label_officer"))
    if controller.recipients and not is_short:
        yield PaperItem(controller.recipients, say("label_recipients"))
