"""The page that tries a stream out, with a camera that is a film: is what it draws where the face is?"""

import base64
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from selenium.webdriver.common.by import By

from bench.journeys.console.person import Person
from bench.journeys.dashboard.fake_camera import FakeCamera, make_camera
from bench.journeys.dashboard.stage import Stage
from bench.journeys.figures import JourneyFigure
from bench.lib.browser import requests_elsewhere
from bench.lib.clients import OWNER
from bench.lib.testdata import find_testdata, overlap
from testkit import Stack, TestStream

CLIP = Path("clips") / "intel_head_pose_face_detection_male.mp4"
WATCHED_S = 22.0
SAMPLE_EVERY_S = 0.4
FRAMES_PER_SECOND = 8.0
FOLLOWED_OVERLAP = 0.5
FOLLOWED_SHARE = 0.95
MOVED_PX = 100
BUSY_S = 15.0
MOST_PER_SECOND = 10
BUSY_SHARE = 0.8
"""Of what the round trip allows, one picture after the other."""
ENCODE_MS = 500
"""Where Chromium waits for an idle moment of the page to encode a picture, it waits for 1000."""
STORED = ("visits_visit", "streams_coverage", "streams_refusal", "gateway_blob", "gateway_job")

_DRAWN = """
const [done] = [arguments[arguments.length - 1]];
const { drawn } = document.querySelector("#trial canvas");
if (!drawn) { done(null); return; }
const reader = new FileReader();
reader.onload = () => done({ ...drawn, picture: reader.result.split(",")[1] });
reader.readAsDataURL(drawn.picture);
"""
_SHORT_LIVED = """
const real = window.fetch;
window.tokens = 0;
window.fetch = async (...asked) => {
  const answer = await real(...asked);
  if (!String(asked[0]).endsWith("/try/token/") || !answer.ok) return answer;
  window.tokens += 1;
  return new Response(JSON.stringify({ ...(await answer.json()), expires_in_s: 125 }), answer);
};
"""
_ASKED = """
const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
navigator.mediaDevices.getUserMedia = async (...wanted) => {
  await new Promise((allow) => (window.allow = allow));
  return (window.given = await open(...wanted));
};
"""
_NEVER_IDLE = """
const { port1, port2 } = new MessageChannel();
port1.onmessage = () => setTimeout(() => port2.postMessage(null));
port2.postMessage(null);
"""
_REFUSED = """
navigator.mediaDevices.getUserMedia = async () => { throw new DOMException("by the person", "NotAllowedError"); };
"""


@dataclass(frozen=True)
class Watched:
    """What was seen on the page over some time."""

    seconds: float
    frames: int
    overlaps: list[float]
    lefts: list[float]
    last: dict[str, Any]


def try_it(stage: Stage) -> list[JourneyFigure]:
    """With the camera, with a file, and with what goes wrong."""
    stage.person.browser.get("about:blank")  # a dashboard that is open elsewhere would share the machine
    stream = stage.stack.create_stream(kind="developer")
    clip = find_testdata() / CLIP
    folder = stage.open_things.enter_context(tempfile.TemporaryDirectory(prefix="onlooker-film-"))
    camera = make_camera(clip, Path(folder) / "film.mjpeg")
    trial = stage.open_browser("camera", *camera.arguments)
    trial.sign_in(OWNER)
    figures = watch_camera(trial, stream, camera)
    figures += watch_while_busy(trial, stream)
    figures += watch_file(trial, stream, clip)
    renew_token(trial, stream)
    leave_page(trial)
    stop_while_asked(trial, stream)
    meet_troubles(trial, stream)
    return figures


def watch_camera(stage: Stage, stream: TestStream, camera: FakeCamera) -> list[JourneyFigure]:
    person, stack = stage.person, stage.stack
    person.open(f"/streams/{stream.client_id}/try/")
    time.sleep(1)
    stage.check(requests_elsewhere(person.browser) == [], "try: something was sent before a button was pressed")
    stage.look("try-before")
    person.press("Use the camera")
    person.wait(lambda: bool(_drawn(person)["faces"]), "a face on the picture")
    seen = _watch(person, camera)
    _check_words(stage, seen)
    _look_at_running(stage)
    person.press("Stop")
    return [*_judge(stage, stream, seen), *_judge_storage(stack, stream)]


def _look_at_running(stage: Stage) -> None:
    """It asks the gateway, and nobody else; its picture is another every moment."""
    look = replace(stage, faults=[])
    look.look("try-camera")
    stage.faults += [fault for fault in look.faults if not fault.startswith(f"try-camera: asks {stage.stack.url}/")]


def _drawn(person: Person) -> dict[str, Any]:
    found: dict[str, Any] | None = person.browser.execute_async_script(_DRAWN)
    return found or {"faces": [], "answered": 0}


def _watch(person: Person, camera: FakeCamera) -> Watched:
    overlaps, lefts = [], []
    first, began = _drawn(person), time.monotonic()
    while time.monotonic() < began + WATCHED_S:
        time.sleep(SAMPLE_EVERY_S)
        drawn = _drawn(person)
        truth = camera.face_in(base64.b64decode(drawn["picture"]))
        if truth:
            overlaps.append(max([overlap(truth, face["roi"]) for face in drawn["faces"]], default=0.0))
            lefts += [face["roi"][0] for face in drawn["faces"][:1]]
    last = _drawn(person)
    return Watched(time.monotonic() - began, last["answered"] - first["answered"], overlaps, lefts, last)


def _judge(stage: Stage, stream: TestStream, seen: Watched) -> list[JourneyFigure]:
    followed = sum(share >= FOLLOWED_OVERLAP for share in seen.overlaps)
    stage.check(len(seen.overlaps) >= WATCHED_S, f"try: only {len(seen.overlaps)} pictures were looked at")
    return [
        JourneyFigure("try_frames_per_second", round(seen.frames / seen.seconds, 2), at_least=FRAMES_PER_SECOND),
        JourneyFigure("try_faces_followed", round(followed / max(len(seen.overlaps), 1), 3), at_least=FOLLOWED_SHARE),
        JourneyFigure("try_overlap_median", round(median(seen.overlaps or [0.0]), 3)),
        JourneyFigure("try_box_moved_px", max(seen.lefts, default=0) - min(seen.lefts, default=0), at_least=MOVED_PX),
        JourneyFigure("try_round_trip_ms", round(seen.last["round_trip_ms"] or 0)),
        JourneyFigure("try_frames_skipped", seen.last["skipped"]),
        JourneyFigure("try_answers_overtaken", seen.last["overtaken"]),
    ]


def _check_words(stage: Stage, seen: Watched) -> None:
    found = [(face["gender"], face["mood"]) for face in seen.last["faces"]]
    words = stage.person.text(".people")
    stage.check(found == [("male", "happy")], f"try: it found {found}")
    stage.check(words.startswith("Man, about") and "happy" in words, f"try: the list says {words!r}")
    rate = stage.person.text("[data-figure=fps]")
    stage.check(float(rate) > 1, f"try: the page has {rate!r} frames a second")


def _judge_storage(stack: Stack, stream: TestStream) -> list[JourneyFigure]:
    """Some seconds later, when gateways and recorder have written what they write."""
    time.sleep(4)
    rows = sum(stack.execute(f"SELECT count(*) FROM {table} WHERE stream_id = %s", stream.id)[0][0] for table in STORED)
    used = stack.execute("SELECT coalesce(sum(video_s), 0) FROM streams_usage WHERE stream_id = %s", stream.id)
    counted_s = float(used[0][0])
    return [
        JourneyFigure("try_rows_stored", rows, at_most=0),
        JourneyFigure("try_counted_s", round(counted_s, 1), at_least=WATCHED_S),
    ]


def watch_while_busy(stage: Stage, stream: TestStream) -> list[JourneyFigure]:
    """Another process takes a core, and the page's own thread is never idle: the answers alone set the rate."""
    person = stage.person
    with _scripted(person, _NEVER_IDLE), _busy_process():
        person.open(f"/streams/{stream.client_id}/try/")
        person.press("Use the camera")
        person.wait(lambda: _drawn(person)["answered"] > 0, "a first answer")
        first, began, seen = _drawn(person), time.monotonic(), []
        while time.monotonic() < began + BUSY_S:
            time.sleep(SAMPLE_EVERY_S)
            seen.append(_drawn(person))
        per_second = (seen[-1]["answered"] - first["answered"]) / (time.monotonic() - began)
        person.press("Stop")
    trip_ms, encode_ms = (median(drawn[name] for drawn in seen) for name in ("round_trip_ms", "encode_ms"))
    allowed = BUSY_SHARE * min(MOST_PER_SECOND, 1000 / trip_ms)
    return [
        JourneyFigure("try_busy_frames_per_second", round(per_second, 2), at_least=round(allowed, 2)),
        JourneyFigure("try_busy_frames_skipped", seen[-1]["skipped"] - first["skipped"]),
        JourneyFigure("try_busy_round_trip_ms", round(trip_ms)),
        JourneyFigure("try_busy_encode_ms", round(encode_ms), at_most=ENCODE_MS),
    ]


@contextmanager
def _busy_process() -> Iterator[None]:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            yield
        finally:
            process.kill()


@contextmanager
def _scripted(person: Person, source: str) -> Iterator[None]:
    """Pages that are opened meanwhile run this first."""
    script = person.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source})
    try:
        yield
    finally:
        person.browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


def watch_file(stage: Stage, stream: TestStream, clip: Path) -> list[JourneyFigure]:
    """It is played to its end, and then the page stands still."""
    person = stage.person
    person.open(f"/streams/{stream.client_id}/try/")
    person.browser.find_element(By.CSS_SELECTOR, "#trial input[type=file]").send_keys(str(clip.resolve()))
    person.wait(lambda: bool(_drawn(person)["faces"]), "a face of the file")
    person.wait(lambda: person.text("#trial .people") == "", "the end of the file")
    stage.check(
        person.browser.find_element(By.CSS_SELECTOR, "[data-start=camera]").is_enabled(), "try: it does not end"
    )
    return [JourneyFigure("try_file_frames", _drawn(person)["answered"], at_least=FRAMES_PER_SECOND)]


def renew_token(stage: Stage, stream: TestStream) -> None:
    """A token that seems to last two minutes and a little is replaced while frames go on."""
    browser, person = stage.person.browser, stage.person
    with _scripted(person, _SHORT_LIVED):
        person.open(f"/streams/{stream.client_id}/try/")
        person.press("Use the camera")
        person.wait(lambda: int(browser.execute_script("return window.tokens")) >= 2, "a second token")
        before = _drawn(person)["answered"]
        person.wait(lambda: _drawn(person)["answered"] > before, "frames after it")


def leave_page(stage: Stage) -> None:
    """A page that goes while it runs ends its session."""
    before = _sessions_ended(stage.stack)
    stage.person.open("/streams/")
    stage.person.wait(lambda: _sessions_ended(stage.stack) > before, "the end of the session of a page that went")


def _sessions_ended(stack: Stack) -> int:
    found = re.search(r'onlooker_requests_total{route="end_session",status="204"} (\d+)', stack.metrics("gateway"))
    return int(found[1]) if found else 0


def stop_while_asked(stage: Stage, stream: TestStream) -> None:
    """Who stops while the browser still asks, and then allows the camera, does not have it on."""
    browser, person = stage.person.browser, stage.person
    with _scripted(person, _ASKED):
        person.open(f"/streams/{stream.client_id}/try/")
        person.press("Use the camera")
        person.wait(lambda: bool(browser.execute_script("return Boolean(window.allow)")), "the browser's question")
        person.press("Stop")
        browser.execute_script("window.allow()")
        ended = "return window.given?.getTracks().every((track) => track.readyState === 'ended')"
        person.wait(lambda: bool(browser.execute_script(ended)), "the end of a camera that nobody waits for")


def meet_troubles(stage: Stage, stream: TestStream) -> None:
    """Each is said in words, with what to do."""
    browser, person = stage.person.browser, stage.person
    browser.execute_cdp_cmd("Network.setBlockedURLs", {"urls": [f"{stage.stack.url}/*"]})
    _begin_again(person, stream, "The browser can't reach")
    person.forget_other_hosts()  # it says itself that they were blocked
    stage.look("try-unreachable")
    browser.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
    _begin_again(person, stage.stack.create_stream(enabled=False), "This stream is disabled")
    with _scripted(person, _REFUSED):
        _begin_again(person, stream, "The browser is not allowed to use the camera")


def _begin_again(person: Person, stream: TestStream, words: str) -> None:
    person.open(f"/streams/{stream.client_id}/try/")
    person.press("Use the camera")
    person.see(words)
