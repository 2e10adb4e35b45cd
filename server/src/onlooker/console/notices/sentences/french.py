"""The sentences in French."""

FRENCH = {
    "title": "Ici, les personnes sont comptées",
    "lead": (
        "Une caméra observe ce lieu. Ses images sont analysées automatiquement par un ordinateur (intelligence "
        "artificielle)."
    ),
    "place": "Le présent avis concerne la caméra située ici : {place}",
    "heading_computed": "Ce qui est calculé",
    "computes_people": (
        "Le nombre de personnes qui passent, le moment où elles arrivent et repartent, et le temps pendant lequel "
        "elles s’arrêtent et regardent vers la caméra."
    ),
    "computes_bodies": (
        "Le nombre de personnes qui passent, le moment où elles arrivent et repartent, et le temps pendant lequel "
        "elles s’arrêtent. Les visages ne sont pas recherchés."
    ),
    "computes_age": "Une estimation de l’âge de chaque personne, d’après son visage.",
    "computes_gender": (
        "Une estimation du genre de chaque personne, d’après l’apparence de son visage (féminin ou masculin)."
    ),
    "computes_expression": (
        "Une estimation de l’expression de chaque visage : neutre, joyeux, surpris, en colère ou triste. Elle décrit "
        "ce que montre le visage, non ce que ressent la personne."
    ),
    "computes_nothing_else": "Ni l’âge, ni le genre, ni l’expression du visage ne sont estimés.",
    "law_categorisation": (
        "Il s’agit d’un système de catégorisation biométrique au sens du règlement (UE) 2024/1689 sur l’intelligence "
        "artificielle. Le présent texte vous informe de son fonctionnement (article 50, paragraphe 3)."
    ),
    "law_emotion": (
        "Il s’agit d’un système de reconnaissance des émotions au sens du règlement (UE) 2024/1689 sur l’intelligence "
        "artificielle. Le présent texte vous informe de son fonctionnement (article 50, paragraphe 3)."
    ),
    "law_both": (
        "Il s’agit d’un système de catégorisation biométrique et de reconnaissance des émotions au sens du règlement "
        "(UE) 2024/1689 sur l’intelligence artificielle. Le présent texte vous informe de son fonctionnement "
        "(article 50, paragraphe 3)."
    ),
    "told_in_groups": (
        "Dans les statistiques, ces estimations ne sont communiquées que pour au moins {groups} personnes ensemble."
    ),
    "open_hours": "Rien n’est calculé en dehors de ces horaires : {hours}.",
    "heading_not_done": "Ce qui n’est pas fait",
    "not_recognised": (
        "Personne n’est reconnu. Les visages ne sont comparés ni à une liste, ni à ceux d’autres caméras ou d’autres "
        "jours. Une personne qui revient est comptée comme une nouvelle personne."
    ),
    "pictures_on_server": (
        "Chaque image est transmise à un serveur, y est analysée, puis supprimée. Aucune image ni aucune vidéo n’est "
        "enregistrée."
    ),
    "pictures_on_device": (
        "Chaque image est analysée dans un appareil placé près de la caméra, puis supprimée. Aucune image ne quitte "
        "cet appareil et aucune n’est enregistrée."
    ),
    "heading_kept": "Ce qui est conservé, et combien de temps",
    "kept_entry": "Pour chaque personne, une entrée est conservée, sans image et sans nom.",
    "kept_days": "Elle est supprimée au bout de {days} jours.",
    "kept_one_day": "Elle est supprimée au bout d’un jour.",
    "kept_totals": (
        "Les totaux par quart d’heure (nombres et sommes) sont conservés jusqu’à ce que la caméra soit retirée du "
        "système."
    ),
    "heading_purpose": "Finalité et base juridique",
    "label_purpose": "Finalité :",
    "blank_purpose": "à quelle fin",
    "label_basis": "Base juridique :",
    "blank_basis": "article 6, paragraphe 1, du RGPD : quel point",
    "basis_interests": (
        "notre intérêt légitime à poursuivre cette finalité (article 6, paragraphe 1, point f), du RGPD)"
    ),
    "basis_task": "l’exécution d’une mission d’intérêt public (article 6, paragraphe 1, point e), du RGPD)",
    "basis_consent": "votre consentement (article 6, paragraphe 1, point a), du RGPD)",
    "heading_controller": "Responsable du traitement",
    "blank_controller": "nom",
    "blank_address": "adresse",
    "label_contact": "Contact :",
    "blank_contact": "adresse électronique ou téléphone",
    "label_officer": "Délégué à la protection des données :",
    "label_recipients": "Destinataires :",
    "heading_rights": "Vos droits",
    "rights": (
        "Vous disposez d’un droit d’accès, de rectification, d’effacement et de limitation du traitement, ainsi que du "
        "droit d’introduire une réclamation auprès d’une autorité de protection des données."
    ),
    "right_to_object": (
        "Vous pouvez à tout moment vous opposer au traitement pour des raisons tenant à votre situation particulière "
        "(article 21 du RGPD)."
    ),
    "right_to_withdraw": (
        "Vous pouvez retirer votre consentement à tout moment ; le traitement effectué jusque-là reste licite. Vous "
        "disposez en outre d’un droit à la portabilité des données."
    ),
    "rights_limit": (
        "Comme personne n’est identifié, nous ne pouvons en général pas savoir quelles entrées vous concernent "
        "(article 11 du RGPD). L’heure et le lieu exacts de votre passage peuvent nous y aider."
    ),
    "rights_short": (
        "Vous disposez notamment d’un droit d’accès, d’effacement, d’opposition et de réclamation auprès d’une "
        "autorité de protection des données."
    ),
    "rights_short_consent": (
        "Vous pouvez retirer votre consentement à tout moment et disposez notamment d’un droit d’accès, d’effacement "
        "et de réclamation auprès d’une autorité de protection des données."
    ),
    "more_by_code": "En savoir plus, et combien de personnes ont été comptées aujourd’hui :",
    "more_by_contact": "Pour en savoir plus, adressez-vous au contact ci-dessus.",
    "as_of": "Version du {date}",
    "page_title": "Ce que calcule cette caméra",
    "state_on": "En service",
    "state_closed": "Actuellement fermé : rien n’est calculé",
    "state_off": "Actuellement hors service : rien n’est calculé",
    "heading_today": "Aujourd’hui",
    "count_none": "Personne n’a été compté entre minuit et {time}.",
    "count_one": "Une personne a été comptée entre minuit et {time}.",
    "count_many": "{count} personnes ont été comptées entre minuit et {time}.",
    "count_early": "Le premier comptage du jour est affiché à partir de {time}.",
    "count_note": (
        "Il s’agit du nombre de personnes qui sont passées ; il ne dit rien d’elles. Ce nombre change tous les quarts "
        "d’heure ; les heures sont celles du lieu de la caméra."
    ),
    "not_stated": "pas encore indiqué",
    "in_force_since": "Ces réglages s’appliquent depuis le {date}.",
    "written_by_product": "Le système rédige cette page d’après ses propres réglages.",
    "languages": "Langue",
    "date": "{day} {month} {year}",
    "date_first": "{day}er {month} {year}",
    "weekdays": "lun. mar. mer. jeu. ven. sam. dim.",
    "months": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "thousands": "\u202f",
}
