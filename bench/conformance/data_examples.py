"""The examples of the historic data API, the dashboard's way with pages, and services that are not offered."""

import httpx2

from bench.conformance.programs import Installation
from bench.lib.clients import ENTITIES, fetch_token, open_client, open_data_client

UNKNOWN = ("upper_body_detection", "qrcode_decoder", "sound_detection", "text_to_speech", "face_recognition")
AS_ASKED = "2017-09-03T05%3A45%3A00%2B0200"


def _ask(place: Installation, query: str) -> httpx2.Response:
    with open_data_client(place.stack, fetch_token(place.stack, place.stream)) as client:
        return client.get(f"{ENTITIES}?{query}")


def answers_with_the_offset_that_was_asked_with(place: Installation) -> None:
    answer = _ask(place, f"metrics=interested,passing_by&from_date={AS_ASKED}&time=global")
    assert answer.json()["from_date"] == "2017-09-03T05:45:00+02:00", answer.text
    answer = _ask(place, f"metrics=interested&from_date={AS_ASKED}&to_date=2017-09-05T05%3A45%3A00%2B0200&time=by_day")
    body = answer.json()
    assert (body["time"], body["to_date"]) == ("by_day", "2017-09-05T05:45:00+02:00"), body
    assert body["total_results"] == len(body["entities"]) == 3, body


def next_page_is_a_complete_url(place: Installation) -> None:
    """As the interface document says; a program that puts its own base in front of it can't follow it."""
    answer = _ask(place, f"metrics=passing_by&from_date={AS_ASKED}&to_date=2017-09-09T05%3A45%3A00%2B0200&time=by_hour")
    next_page = answer.json()["next_page"]
    assert next_page.startswith(f"{place.stack.data_url}{ENTITIES}?"), next_page
    with open_data_client(place.stack, fetch_token(place.stack, place.stream)) as client:
        assert client.get(next_page).json()["page"] == 2


def _refused_with(place: Installation, service: str) -> httpx2.Response:
    with open_client(place.stack, place.stream) as client:
        return client.get(f"/services/{service}/1")


def services_that_are_not_offered_are_not_found(place: Installation) -> None:
    for service in UNKNOWN:
        answer = _refused_with(place, service)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found"), (service, answer.text)
