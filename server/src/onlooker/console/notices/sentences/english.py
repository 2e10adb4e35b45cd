"""The sentences in English."""

ENGLISH = {
    "title": "People are counted here",
    "lead": "A camera watches this place. A computer analyses its pictures automatically (artificial intelligence).",
    "place": "This notice is about the camera here: {place}",
    "heading_computed": "What is computed",
    "computes_people": (
        "How many people pass by, when they come and go, and how long they stand still and look towards the camera."
    ),
    "computes_bodies": (
        "How many people pass by, when they come and go, and how long they stand still. Faces are not looked for."
    ),
    "computes_age": "An estimate of each person's age, from the face.",
    "computes_gender": "An estimate of each person's gender, as the face appears (female or male).",
    "computes_expression": (
        "An estimate of each face's expression: neutral, happy, surprised, angry or sad. It describes what a face "
        "shows, not what a person feels."
    ),
    "computes_nothing_else": "Age, gender and facial expression are not estimated.",
    "law_categorisation": (
        "This is a biometric categorisation system within the meaning of the EU AI Act, Regulation (EU) 2024/1689. You "
        "are hereby informed of its operation (Article 50(3))."
    ),
    "law_emotion": (
        "This is an emotion recognition system within the meaning of the EU AI Act, Regulation (EU) 2024/1689. You "
        "are hereby informed of its operation (Article 50(3))."
    ),
    "law_both": (
        "This is a biometric categorisation and emotion recognition system within the meaning of the EU AI Act, "
        "Regulation (EU) 2024/1689. You are hereby informed of its operation (Article 50(3))."
    ),
    "told_in_groups": "In statistics, these estimates are told only of at least {groups} people together.",
    "open_hours": "Nothing is computed outside these hours: {hours}.",
    "heading_not_done": "What is not done",
    "not_recognised": (
        "Nobody is recognised. Faces are not compared with any list, with other cameras or with other days. Anyone who "
        "comes back is counted as someone new."
    ),
    "pictures_on_server": (
        "Each picture is sent to a server, analysed there and then discarded. No picture and no video is recorded."
    ),
    "pictures_on_device": (
        "Each picture is analysed in a device at the camera and then discarded. No picture leaves that device, and "
        "none is recorded."
    ),
    "heading_kept": "What is kept, and for how long",
    "kept_entry": "For each person one entry is kept, without a picture and without a name.",
    "kept_days": "It is deleted after {days} days.",
    "kept_one_day": "It is deleted after one day.",
    "kept_totals": (
        "Totals for each quarter of an hour (counts and sums) are kept until the camera is removed from the system."
    ),
    "heading_purpose": "Purpose and legal basis",
    "label_purpose": "Purpose:",
    "blank_purpose": "what it is done for",
    "label_basis": "Legal basis:",
    "blank_basis": "Article 6(1) GDPR: which point",
    "basis_interests": "our legitimate interest in this purpose (Article 6(1)(f) GDPR)",
    "basis_task": "a task carried out in the public interest (Article 6(1)(e) GDPR)",
    "basis_consent": "your consent (Article 6(1)(a) GDPR)",
    "heading_controller": "Who is responsible (controller)",
    "blank_controller": "name",
    "blank_address": "address",
    "label_contact": "Contact:",
    "blank_contact": "e-mail or telephone",
    "label_officer": "Data protection officer:",
    "label_recipients": "Recipients:",
    "heading_rights": "Your rights",
    "rights": (
        "You have the right of access, to rectification, to erasure and to restriction of processing, and the right to "
        "lodge a complaint with a data protection supervisory authority."
    ),
    "right_to_object": (
        "You may object to the processing at any time on grounds relating to your particular situation (Article 21 "
        "GDPR)."
    ),
    "right_to_withdraw": (
        "You may withdraw your consent at any time; what was processed until then remains lawful. You also have the "
        "right to data portability."
    ),
    "rights_limit": (
        "Since nobody is identified, we usually cannot tell which entries are yours (Article 11 GDPR). The exact time "
        "and place of your visit may help."
    ),
    "rights_short": (
        "You have the right of access, erasure, objection and complaint to a supervisory authority, among others."
    ),
    "rights_short_consent": (
        "You may withdraw your consent at any time, and have the right of access, erasure and complaint to a "
        "supervisory authority, among others."
    ),
    "more_by_code": "More, and how many people were counted today:",
    "more_by_contact": "Ask the contact above for more.",
    "as_of": "As of {date}",
    "page_title": "What this camera computes",
    "state_on": "Switched on",
    "state_closed": "Closed at present: nothing is computed",
    "state_off": "Switched off at present: nothing is computed",
    "heading_today": "Today",
    "count_none": "Nobody has been counted between midnight and {time}.",
    "count_one": "One person has been counted between midnight and {time}.",
    "count_many": "{count} people have been counted between midnight and {time}.",
    "count_early": "The first count of the day is shown from {time} on.",
    "count_note": (
        "This is how many people passed by, and tells nothing about them. The number changes every quarter of an hour; "
        "times are those of the camera's place."
    ),
    "not_stated": "not stated yet",
    "in_force_since": "These settings have applied since {date}.",
    "written_by_product": "The system writes this page from its own settings.",
    "languages": "Language",
    "date": "{day} {month} {year}",
    "date_first": "{day} {month} {year}",
    "weekdays": "Mon Tue Wed Thu Fri Sat Sun",
    "months": "January February March April May June July August September October November December",
    "thousands": ",",
}
