"""What services are warmed up with is what they accept; otherwise most of them would stay cold."""

import time

import pytest

from onlooker_pipeline.catalogue import SERVICES
from onlooker_pipeline.catalogue.service import Service
from onlooker_pipeline.frame_time import time_frame
from onlooker_pipeline.service_call import Call
from onlooker_pipeline.warm_up import BASELINE_M, SOUND, make_recording, read_reference_picture, warm_up


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_every_service_gets_what_it_can_compute(service: Service) -> None:
    seen: list[Call] = []

    def compute(call: Call, state: object) -> tuple[dict[str, object], object]:
        seen.append(call)
        return {}, state

    warm_up(service, compute)
    assert len(seen) == 3
    for field in service.media_fields:
        expected = make_recording() if field.name == SOUND else read_reference_picture()
        assert [call.attachments[field.name] == expected for call in seen] == [True, True, False]


def test_the_recording_is_located() -> None:
    from onlooker_pipeline.services.sound_localization import compute

    timed = time_frame(None, round(time.time() * 1e6), None)
    call = Call({"baseline": BASELINE_M}, {SOUND: make_recording()}, in_session=False, timed=timed)
    assert compute(call, None)[0]["nb_sources"] == 1


def test_a_service_that_fails_does_not_stop_the_others() -> None:
    def fail(call: Call, state: object) -> tuple[dict[str, object], object]:
        raise ZeroDivisionError

    warm_up(SERVICES[0], fail)
