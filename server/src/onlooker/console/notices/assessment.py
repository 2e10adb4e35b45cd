"""The draft of a data protection impact assessment of one stream (article 35 GDPR), in English. Pure."""

from onlooker.console.notices.facts import ComputedFacts, NoticeFacts
from onlooker.console.notices.paper import Paper, PaperItem, PaperSection, PaperTable, sentences
from onlooker.console.notices.record import (
    PEOPLE,
    TRANSFER_REMARK,
    controller_items,
    data_table,
    limits_table,
    measures,
    purpose_items,
)


def write_assessment(facts: NoticeFacts, stream_name: str, *, is_https: bool, has_public_page: bool) -> Paper:
    computed, controller = facts.computed, facts.controller
    return Paper(
        title="Data protection impact assessment: draft",
        lead=(
            f"Article 35 GDPR. Camera “{stream_name}”. What the system does is written from its settings. What only "
            "you can judge is a blank. This is a draft to work with, not legal advice."
        ),
        sections=(
            PaperSection("1. Controller", controller_items(controller)),
            PaperSection("2. Whether an assessment is required", _requirement(computed)),
            PaperSection(
                "3. The processing (article 35(7)(a))",
                (*purpose_items(controller), *_description(computed)),
                (data_table(computed), limits_table(computed)),
            ),
            PaperSection("4. Necessity and proportionality (article 35(7)(b))", _necessity(computed)),
            PaperSection("5. How people are informed, and their rights", _information(has_public_page=has_public_page)),
            PaperSection("6. EU AI Act", _ai_act(computed)),
            PaperSection("7. Risks (article 35(7)(c))", (), (_risks(computed, is_https=is_https),)),
            PaperSection(
                "8. Measures of the product (article 35(7)(d))",
                sentences(*measures(computed, is_https=is_https)),
                is_list=True,
            ),
            PaperSection("9. Conclusion", _conclusion()),
        ),
        closing=f"As the settings have been since {facts.since:%d %B %Y, %H:%M}.",
    )


def _requirement(computed: ComputedFacts) -> tuple[PaperItem, ...]:
    found = {
        "Systematic monitoring of a publicly accessible area on a large scale requires one (article 35(3)(c)).": True,
        "Estimates about people are made from their faces, by a technology that many lists of supervisory authorities "
        "name (article 35(4)).": computed.estimates_attributes,
    }
    texts = sentences(*(text for text, is_so in found.items() if is_so))
    return (
        *texts,
        PaperItem("", "People in view on a usual day:", "how many, and whether children or patients are among them"),
        PaperItem("", "Your conclusion:", "required or not, with the reason and your authority's list"),
    )


def _description(computed: ComputedFacts) -> tuple[PaperItem, ...]:
    where = (
        "Pictures are analysed on a device at the camera, and do not leave it."
        if computed.is_on_device
        else "Pictures are sent to the server and analysed there."
    )
    return (
        PaperItem(PEOPLE, "People:"),
        PaperItem(where, "Place of processing:"),
        PaperItem("", "The camera:", "where it hangs, what it sees, and what you masked or left out of view"),
        PaperItem("", "Server, its operator, transfers:", TRANSFER_REMARK),
        PaperItem(
            "",
            "Videos, blobs, asynchronous jobs:",
            "confirm that the agent runs without --save, and that no program stores pictures as blobs",
        ),
    )


def _necessity(computed: ComputedFacts) -> tuple[PaperItem, ...]:
    found = {
        ("Why counting is needed:", "why the purpose can't be reached without a camera"): True,
        ("Why age is estimated:", "what it adds for the purpose; it can be switched off"): computed.estimates_age,
        ("Why gender is estimated:", "what it adds for the purpose; it can be switched off"): computed.estimates_gender,
        (
            "Why expression is estimated:",
            "what it adds for the purpose; it can be switched off",
        ): computed.estimates_expression,
        (f"Why visits are kept for {computed.retention_days} days:", "why fewer would not do"): (
            computed.retention_days != 1
        ),
        ("Balance of interests:", "for legitimate interests: why those of the people in view do not prevail"): True,
    }
    return tuple(PaperItem("", label, remark) for (label, remark), is_so in found.items() if is_so)


def _information(*, has_public_page: bool) -> tuple[PaperItem, ...]:
    page = (
        "A public page, to which the notice's code leads, says what is computed now."
        if has_public_page
        else "The public page is switched off."
    )
    return (
        PaperItem("The product writes a notice to hang up, in English, French and German.", "Notice:"),
        PaperItem(page, "Public page:"),
        PaperItem("", "Where notices hang:", "before people come into view (article 13 GDPR; article 50(3) AI Act)"),
        PaperItem(
            "Nobody is identified, so an entry can be found only by the exact time and place (article 11 GDPR). The "
            "owner can erase the visits of a range, or the whole stream.",
            "Rights:",
        ),
        PaperItem("", "Who answers requests:", "name and time limit"),
    )


def _ai_act(computed: ComputedFacts) -> tuple[PaperItem, ...]:
    found = {
        "Nothing is estimated from faces beyond where people look: no biometric categorisation and no emotion "
        "recognition takes place.": not computed.estimates_attributes,
        "Assigning people to categories by their faces is biometric categorisation. People must be informed "
        "(article 50(3)). It may count as high-risk (Annex III, 1(b)).": computed.categorises,
        "Reading expressions is emotion recognition. People must be informed (article 50(3)). At work and in education "
        "it is forbidden (article 5(1)(f)). It is high-risk (Annex III, 1(c)), with duties from 2 December "
        "2027.": computed.estimates_expression,
    }
    texts = sentences(*(text for text, is_so in found.items() if is_so))
    confirmed = PaperItem(
        "", "The place:", "confirm that it is neither a workplace nor a school, and that no staff is in view"
    )
    return (*texts, confirmed) if computed.estimates_expression else texts


def _risks(computed: ComputedFacts, *, is_https: bool) -> PaperTable:
    line = "HTTPS." if is_https else "None: the address that devices send to does not use HTTPS."
    rows = {
        (
            "A total describes one person",
            "A quarter of an hour with one interested person tells what was estimated about that person to anyone who "
            "may read the numbers and knows who was there.",
            "Switches; access for few; deletion of visits. Totals stay.",
        ): computed.estimates_attributes and computed.groups_of == 1,
        (
            "A group whose people are all alike",
            f"What is told of {computed.groups_of} people tells what each of them is, where they are all alike.",
            "Larger groups; switches; access for few.",
        ): computed.estimates_attributes and computed.groups_of > 1,
        (
            "Somebody's coming and going is found out",
            "Anyone with a token may ask for any range while visits are kept: to the millisecond, unless ranges are "
            "rounded to quarters of an hour (grid).",
            "Tokens for few; short retention.",
        ): True,
        ("Pictures are intercepted", "On the way from the camera to the server.", line): not computed.is_on_device,
        (
            "The device is stolen",
            "Its journal has visits that wait for the server.",
            "No picture is on its disk; what was sent is overwritten.",
        ): computed.is_on_device,
        (
            "The analysing process is taken over",
            "By a damaged picture: an attacker there sees the pictures that it is sent.",
            "It has no network, no files and no database.",
        ): True,
        (
            "Estimates are wrong for some groups more often",
            "Figures by group are in the conformity sheets.",
            "Uncertain values count as unknown; estimates are for totals, not for decisions about a person.",
        ): computed.estimates_attributes,
        (
            "More is computed than people were told",
            "Somebody changes a switch.",
            "The notice and the public page follow the switches; the history says what held when. Printed notices have "
            "to be replaced.",
        ): True,
    }
    head = ("Risk", "How", "What the product does", "Likelihood, severity")
    return PaperTable(head, tuple((*row, "") for row, is_so in rows.items() if is_so))


def _conclusion() -> tuple[PaperItem, ...]:
    blanks = {
        "Remaining risk:": "acceptable, or prior consultation (article 36)",
        "Advice of the data protection officer:": "article 35(2)",
        "Views of the people concerned:": "article 35(9), or why they were not asked",
        "Next review:": "a day, or: when a switch changes",
        "Day, name, signature:": "of who decides for the controller",
    }
    return tuple(PaperItem("", label, remark) for label, remark in blanks.items())
