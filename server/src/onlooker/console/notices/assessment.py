"""The draft of a data protection impact assessment of one stream (article 35 GDPR), in the active language. Pure."""

from django.utils.translation import gettext as _

from onlooker.console.languages.locale_text import write_datetime
from onlooker.console.notices.facts import ComputedFacts, NoticeFacts
from onlooker.console.notices.paper import Paper, PaperItem, PaperSection, PaperTable, sentences
from onlooker.console.notices.record import (
    controller_items,
    data_table,
    describe_people,
    limits_table,
    measures,
    purpose_items,
    transfer_remark,
)


def write_assessment(facts: NoticeFacts, stream_name: str, *, is_https: bool, has_public_page: bool) -> Paper:
    computed, controller = facts.computed, facts.controller
    lead = _(
        "Article 35 GDPR. Camera “{name}”. What the system does is written from its settings. What only you can judge "
        "is a blank. This is a draft to work with, not legal advice."
    )
    since = write_datetime(facts.since)
    return Paper(
        title=_("Data protection impact assessment: draft"),
        lead=lead.format(name=stream_name),
        sections=(
            PaperSection(_("1. Controller"), controller_items(controller)),
            PaperSection(_("2. Whether an assessment is required"), _requirement(computed)),
            PaperSection(
                _("3. The processing (article 35(7)(a))"),
                (*purpose_items(controller), *_description(computed)),
                (data_table(computed), limits_table(computed)),
            ),
            PaperSection(_("4. Necessity and proportionality (article 35(7)(b))"), _necessity(computed)),
            PaperSection(
                _("5. How people are informed, and their rights"), _information(has_public_page=has_public_page)
            ),
            PaperSection(_("6. EU AI Act"), _ai_act(computed)),
            PaperSection(_("7. Risks (article 35(7)(c))"), (), (_risks(computed, is_https=is_https),)),
            PaperSection(
                _("8. Measures of the product (article 35(7)(d))"),
                sentences(*measures(computed, is_https=is_https)),
                is_list=True,
            ),
            PaperSection(_("9. Conclusion"), _conclusion()),
        ),
        closing=_("As the settings have been since {moment}.").format(moment=since),
    )


def _requirement(computed: ComputedFacts) -> tuple[PaperItem, ...]:
    found = {
        _("Systematic monitoring of a publicly accessible area on a large scale requires one (article 35(3)(c))."): (
            True
        ),
        _(
            "Estimates about people are made from their faces, by a technology that many lists of supervisory "
            "authorities name (article 35(4))."
        ): computed.estimates_attributes,
    }
    texts = sentences(*(text for text, is_so in found.items() if is_so))
    return (
        *texts,
        PaperItem(
            "",
            _("People in view on a usual day:"),
            _("how many, and whether children or patients are among them"),
        ),
        PaperItem("", _("Your conclusion:"), _("required or not, with the reason and your authority's list")),
    )


def _description(computed: ComputedFacts) -> tuple[PaperItem, ...]:
    where = (
        _("Pictures are analysed on a device at the camera, and do not leave it.")
        if computed.is_on_device
        else _("Pictures are sent to the server and analysed there.")
    )
    return (
        PaperItem(describe_people(), _("People:")),
        PaperItem(where, _("Place of processing:")),
        PaperItem("", _("The camera:"), _("where it hangs, what it sees, and what you masked or left out of view")),
        PaperItem("", _("Server, its operator, transfers:"), transfer_remark()),
        PaperItem(
            "",
            _("Videos, blobs, asynchronous jobs:"),
            _("confirm that the agent runs without --save, and that no program stores pictures as blobs"),
        ),
    )


def _necessity(computed: ComputedFacts) -> tuple[PaperItem, ...]:
    optional = _("what it adds for the purpose; it can be switched off")
    kept = _("Why visits are kept for {days} days:").format(days=computed.retention_days)
    found = {
        (_("Why counting is needed:"), _("why the purpose can't be reached without a camera")): True,
        (_("Why age is estimated:"), optional): computed.estimates_age,
        (_("Why gender is estimated:"), optional): computed.estimates_gender,
        (_("Why expression is estimated:"), optional): computed.estimates_expression,
        (kept, _("why fewer would not do")): computed.retention_days != 1,
        (
            _("Balance of interests:"),
            _("for legitimate interests: why those of the people in view do not prevail"),
        ): True,
    }
    return tuple(PaperItem("", label, remark) for (label, remark), is_so in found.items() if is_so)


def _information(*, has_public_page: bool) -> tuple[PaperItem, ...]:
    page = (
        _("A public page, to which the notice's code leads, says what is computed now.")
        if has_public_page
        else _("The public page is switched off.")
    )
    return (
        PaperItem(_("The product writes a notice to hang up, in English, French, German and Spanish."), _("Notice:")),
        PaperItem(page, _("Public page:")),
        PaperItem(
            "",
            _("Where notices hang:"),
            _("before people come into view (article 13 GDPR; article 50(3) AI Act)"),
        ),
        PaperItem(
            _(
                "Nobody is identified, so an entry can be found only by the exact time and place (article 11 GDPR). "
                "The owner can erase the visits of a range, or the whole stream."
            ),
            _("Rights:"),
        ),
        PaperItem("", _("Who answers requests:"), _("name and time limit")),
    )


def _ai_act(computed: ComputedFacts) -> tuple[PaperItem, ...]:
    found = {
        _(
            "Nothing is estimated from faces beyond where people look: no biometric categorisation and no emotion "
            "recognition takes place."
        ): not computed.estimates_attributes,
        _(
            "Assigning people to categories by their faces is biometric categorisation. People must be informed "
            "(article 50(3)). It may count as high-risk (Annex III, 1(b))."
        ): computed.categorises,
        _(
            "Reading expressions is emotion recognition. People must be informed (article 50(3)). At work and in "
            "education it is forbidden (article 5(1)(f)). It is high-risk (Annex III, 1(c)), with duties from 2 "
            "December 2027."
        ): computed.estimates_expression,
    }
    texts = sentences(*(text for text, is_so in found.items() if is_so))
    confirmed = PaperItem(
        "", _("The place:"), _("confirm that it is neither a workplace nor a school, and that no staff is in view")
    )
    return (*texts, confirmed) if computed.estimates_expression else texts


def _risks(computed: ComputedFacts, *, is_https: bool) -> PaperTable:
    line = _("HTTPS.") if is_https else _("None: the address that devices send to does not use HTTPS.")
    alike = _("What is told of {people} people tells what each of them is, where they are all alike.")
    rows = {
        (
            _("A total describes one person"),
            _(
                "A quarter of an hour with one interested person tells what was estimated about that person to anyone "
                "who may read the numbers and knows who was there."
            ),
            _("Switches; access for few; deletion of visits. Totals stay."),
        ): computed.estimates_attributes and computed.groups_of == 1,
        (
            _("A group whose people are all alike"),
            alike.format(people=computed.groups_of),
            _("Larger groups; switches; access for few."),
        ): computed.estimates_attributes and computed.groups_of > 1,
        (
            _("Somebody's coming and going is found out"),
            _(
                "Anyone with a token may ask for any range while visits are kept: to the millisecond, unless ranges "
                "are rounded to quarters of an hour (grid)."
            ),
            _("Tokens for few; short retention."),
        ): True,
        (
            _("Pictures are intercepted"),
            _("On the way from the camera to the server."),
            line,
        ): not computed.is_on_device,
        (
            _("The device is stolen"),
            _("Its journal has visits that wait for the server."),
            _("No picture is on its disk; what was sent is overwritten."),
        ): computed.is_on_device,
        (
            _("The analysing process is taken over"),
            _("By a damaged picture: an attacker there sees the pictures that it is sent."),
            _("It has no network, no files and no database."),
        ): True,
        (
            _("Estimates are wrong for some groups more often"),
            _("Figures by group are in the conformity sheets."),
            _("Uncertain values count as unknown; estimates are for totals, not for decisions about a person."),
        ): computed.estimates_attributes,
        (
            _("More is computed than people were told"),
            _("Somebody changes a switch."),
            _(
                "The notice and the public page follow the switches; the history says what held when. Printed notices "
                "have to be replaced."
            ),
        ): True,
    }
    head = (_("Risk"), _("How"), _("What the product does"), _("Likelihood, severity"))
    return PaperTable(head, tuple((*row, "") for row, is_so in rows.items() if is_so))


def _conclusion() -> tuple[PaperItem, ...]:
    blanks = {
        _("Remaining risk:"): _("acceptable, or prior consultation (article 36)"),
        _("Advice of the data protection officer:"): _("article 35(2)"),
        _("Views of the people concerned:"): _("article 35(9), or why they were not asked"),
        _("Next review:"): _("a day, or: when a switch changes"),
        _("Day, name, signature:"): _("of who decides for the controller"),
    }
    return tuple(PaperItem("", label, remark) for label, remark in blanks.items())
