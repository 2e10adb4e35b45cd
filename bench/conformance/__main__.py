"""Every program of docs/guides/historic.md against the running product, at its default limits."""

import sys
import tempfile
from pathlib import Path

from bench.conformance import data_examples, java_sdk
from bench.conformance.dashboard import play_dashboard
from bench.conformance.films import prepare_films
from bench.conformance.programs import PYTHON, Installation, Outcome, Row, played_here, played_on_the_sdk
from bench.lib.product import conclude, running_product, say
from testkit import Stack, TestStream

SDK = "angus-sdk-python 0.0.15"


def _play_scene(place: Installation) -> Outcome:
    switched_off = played_on_the_sdk("examples", "switched_off", silent=True)
    return played_on_the_sdk("examples", "scene")(place) | switched_off(place)


ROWS = (
    Row("Python SDK", played_on_the_sdk("python_sdk")),
    Row("Python SDK, composite", played_on_the_sdk("python_sdk_composite")),
    Row("Java SDK", played_here(java_sdk.CHECKS)),
    Row("documentation's webcam example", played_on_the_sdk("examples", "webcam")),
    Row(
        "documentation's building-block example, web visualiser, local pipeline",
        played_on_the_sdk("examples", "building_blocks"),
    ),
    Row("getting-started `scene_analysis` example", _play_scene),
    Row("getting-started examples of the other services", played_on_the_sdk("examples", "others")),
    Row("dashboard (browser, other origin)", play_dashboard),
    Row("dashboard, next pages", played_here([data_examples.next_page_is_a_complete_url])),
    Row("data API examples", played_here([data_examples.answers_with_the_offset_that_was_asked_with])),
    Row(
        "services outside the interface document",
        played_here([data_examples.services_that_are_not_offered_are_not_found]),
    ),
)


def _switch(stack: Stack, stream: TestStream, *, reads: bool) -> TestStream:
    stack.execute(
        "UPDATE streams_stream SET reads_age = %s, reads_gender = %s, reads_expression = %s WHERE id = %s",
        *[reads] * 3,
        stream.id,
    )
    return stream


def main() -> None:
    if not PYTHON.exists():
        sys.exit("The historic client's environment is missing. Make it and run this with: just conformance")
    outcomes: dict[str, Outcome] = {}
    with tempfile.TemporaryDirectory(prefix="onlooker-conformance-") as folder, running_product() as stack:
        films = Path(folder)
        prepare_films(films)
        stream, silent = (_switch(stack, stack.create_stream(), reads=reads) for reads in (True, False))
        for row in ROWS:
            say(row.program)
            outcomes[row.program] = row.play(Installation(stack, stream, silent, films))
    passed = {program: bool(checks) and all(checks.values()) for program, checks in outcomes.items()}
    failed = [f"{program}: {name}" for program, checks in outcomes.items() for name, fine in checks.items() if not fine]
    conclude(
        {
            "ok": all(passed.values()) and len(passed) == len(ROWS),
            "client": SDK,
            "programs": passed,
            "passed": sum(passed.values()),
            "target": len(ROWS),
            "checks": sum(map(len, outcomes.values())),
            "failed": failed,
        }
    )


if __name__ == "__main__":
    main()
