"""The sentences in German."""

GERMAN = {
    "title": "Hier werden Personen gezählt",
    "lead": (
        "Eine Kamera beobachtet diesen Bereich. Ein Computer wertet ihre Bilder automatisch aus (künstliche "
        "Intelligenz)."
    ),
    "place": "Dieser Hinweis gilt für die Kamera hier: {place}",
    "heading_computed": "Was berechnet wird",
    "computes_people": (
        "Wie viele Personen vorbeigehen, wann sie kommen und gehen und wie lange sie stehen bleiben und zur Kamera "
        "schauen."
    ),
    "computes_bodies": (
        "Wie viele Personen vorbeigehen, wann sie kommen und gehen und wie lange sie stehen bleiben. Nach "
        "Gesichtern wird nicht gesucht."
    ),
    "computes_age": "Eine Schätzung des Alters jeder Person anhand des Gesichts.",
    "computes_gender": (
        "Eine Schätzung des Geschlechts jeder Person nach dem Erscheinungsbild des Gesichts (weiblich oder männlich)."
    ),
    "computes_expression": (
        "Eine Schätzung des Gesichtsausdrucks jeder Person: neutral, fröhlich, überrascht, verärgert oder traurig. Sie "
        "beschreibt, was ein Gesicht zeigt, nicht, was ein Mensch empfindet."
    ),
    "computes_nothing_else": "Alter, Geschlecht und Gesichtsausdruck werden nicht geschätzt.",
    "law_categorisation": (
        "Es handelt sich um ein System zur biometrischen Kategorisierung im Sinne der KI-Verordnung (EU) 2024/1689. "
        "Über seinen Betrieb werden Sie hiermit informiert (Artikel 50 Absatz 3)."
    ),
    "law_emotion": (
        "Es handelt sich um ein Emotionserkennungssystem im Sinne der KI-Verordnung (EU) 2024/1689. Über seinen "
        "Betrieb werden Sie hiermit informiert (Artikel 50 Absatz 3)."
    ),
    "law_both": (
        "Es handelt sich um ein System zur biometrischen Kategorisierung und zur Emotionserkennung im Sinne der "
        "KI-Verordnung (EU) 2024/1689. Über seinen Betrieb werden Sie hiermit informiert (Artikel 50 Absatz 3)."
    ),
    "told_in_groups": (
        "In Statistiken werden diese Schätzungen nur für mindestens {groups} Personen gemeinsam mitgeteilt."
    ),
    "open_hours": "Außerhalb dieser Zeiten wird nichts berechnet: {hours}.",
    "heading_not_done": "Was nicht geschieht",
    "not_recognised": (
        "Niemand wird erkannt. Gesichter werden weder mit einer Liste noch mit anderen Kameras oder anderen Tagen "
        "abgeglichen. Wer wiederkommt, wird als neue Person gezählt."
    ),
    "pictures_on_server": (
        "Jedes Bild wird an einen Server gesendet, dort ausgewertet und danach verworfen. Es werden keine Bilder und "
        "keine Videos aufgezeichnet."
    ),
    "pictures_on_device": (
        "Jedes Bild wird in einem Gerät an der Kamera ausgewertet und danach verworfen. Kein Bild verlässt dieses "
        "Gerät, und keines wird aufgezeichnet."
    ),
    "heading_kept": "Was gespeichert wird und wie lange",
    "kept_entry": "Zu jeder Person wird ein Eintrag gespeichert, ohne Bild und ohne Namen.",
    "kept_days": "Er wird nach {days} Tagen gelöscht.",
    "kept_one_day": "Er wird nach einem Tag gelöscht.",
    "kept_totals": (
        "Gesamtwerte je Viertelstunde (Anzahlen und Summen) bleiben gespeichert, bis die Kamera aus dem System "
        "entfernt wird."
    ),
    "heading_purpose": "Zweck und Rechtsgrundlage",
    "label_purpose": "Zweck:",
    "blank_purpose": "wofür",
    "label_basis": "Rechtsgrundlage:",
    "blank_basis": "Artikel 6 Absatz 1 DSGVO: welcher Buchstabe",
    "basis_interests": "unser berechtigtes Interesse an diesem Zweck (Artikel 6 Absatz 1 Buchstabe f DSGVO)",
    "basis_task": "die Wahrnehmung einer Aufgabe im öffentlichen Interesse (Artikel 6 Absatz 1 Buchstabe e DSGVO)",
    "basis_consent": "Ihre Einwilligung (Artikel 6 Absatz 1 Buchstabe a DSGVO)",
    "heading_controller": "Verantwortlicher",
    "blank_controller": "Name",
    "blank_address": "Anschrift",
    "label_contact": "Kontakt:",
    "blank_contact": "E-Mail oder Telefon",
    "label_officer": "Datenschutzbeauftragte Person:",
    "label_recipients": "Empfänger:",
    "heading_rights": "Ihre Rechte",
    "rights": (
        "Sie haben das Recht auf Auskunft, Berichtigung, Löschung und Einschränkung der Verarbeitung sowie das Recht, "
        "sich bei einer Datenschutz-Aufsichtsbehörde zu beschweren."
    ),
    "right_to_object": (
        "Sie können der Verarbeitung jederzeit aus Gründen widersprechen, die sich aus Ihrer besonderen Situation "
        "ergeben (Artikel 21 DSGVO)."
    ),
    "right_to_withdraw": (
        "Sie können Ihre Einwilligung jederzeit widerrufen; die bis dahin erfolgte Verarbeitung bleibt rechtmäßig. Sie "
        "haben außerdem das Recht auf Datenübertragbarkeit."
    ),
    "rights_limit": (
        "Da niemand identifiziert wird, können wir in der Regel nicht feststellen, welche Einträge zu Ihnen gehören "
        "(Artikel 11 DSGVO). Genaue Angaben zu Zeit und Ort Ihres Besuchs können dabei helfen."
    ),
    "rights_short": (
        "Sie haben unter anderem das Recht auf Auskunft, Löschung, Widerspruch und Beschwerde bei einer "
        "Aufsichtsbehörde."
    ),
    "rights_short_consent": (
        "Sie können Ihre Einwilligung jederzeit widerrufen und haben unter anderem das Recht auf Auskunft, Löschung "
        "und Beschwerde bei einer Aufsichtsbehörde."
    ),
    "more_by_code": "Mehr dazu, und wie viele Personen heute gezählt wurden:",
    "more_by_contact": "Mehr dazu erfahren Sie beim oben genannten Kontakt.",
    "as_of": "Stand: {date}",
    "page_title": "Was diese Kamera berechnet",
    "state_on": "Eingeschaltet",
    "state_closed": "Zurzeit geschlossen: Es wird nichts berechnet",
    "state_off": "Zurzeit ausgeschaltet: Es wird nichts berechnet",
    "heading_today": "Heute",
    "count_none": "Zwischen Mitternacht und {time} Uhr wurde niemand gezählt.",
    "count_one": "Zwischen Mitternacht und {time} Uhr wurde eine Person gezählt.",
    "count_many": "Zwischen Mitternacht und {time} Uhr wurden {count} Personen gezählt.",
    "count_early": "Die erste Zählung des Tages wird ab {time} Uhr angezeigt.",
    "count_note": (
        "So viele Personen sind vorbeigegangen; über sie selbst sagt die Zahl nichts. Sie ändert sich jede "
        "Viertelstunde; alle Zeiten gelten am Ort der Kamera."
    ),
    "not_stated": "noch nicht angegeben",
    "in_force_since": "Diese Einstellungen gelten seit dem {date}.",
    "written_by_product": "Das System schreibt diese Seite aus seinen eigenen Einstellungen.",
    "languages": "Sprache",
    "date": "{day}. {month} {year}",
    "date_first": "{day}. {month} {year}",
    "weekdays": "Mo Di Mi Do Fr Sa So",
    "months": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "thousands": ".",
}
