"""Shows a camera or a video file to scene_analysis, and draws who is there, where they look and who they seem to be."""

import argparse
import base64
import http.client
import json
import math
import os
import ssl
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import cv2

SERVICE = "/services/scene_analysis/1"
LONGEST_SIDE_PX, JPEG_QUALITY, TRIES = 640, 80, 5
FACE, GAZE, BODY, UNSEEN = (0, 120, 255), (60, 200, 0), (255, 100, 0), (150, 150, 150)
"""Colours: blue, green, red, as OpenCV has it."""
FONT, LINE_PX = cv2.FONT_HERSHEY_SIMPLEX, 15
Answer = tuple[int, dict[str, Any]]
"""Status (0: the gateway could not be reached) and body; a refusal's body has `detail`."""
MOODS = ("neutral", "happiness", "surprise", "anger", "sadness")


class Gateway:
    """One connection, kept open: a camera asks ten times a second."""

    def __init__(self, url: str, credentials: str, ca_file: str | None) -> None:
        place, trust = urlsplit(url), ssl.create_default_context(cafile=ca_file)
        self._connection = http.client.HTTPSConnection(place.hostname or "", place.port, context=trust, timeout=30)
        self._headers = {"Authorization": "Basic " + base64.b64encode(credentials.encode()).decode()}

    def ask(self, method: str, path: str, body: bytes = b"", content_type: str = "application/json") -> Answer:
        """Asks again where the gateway is away, or when it says that it may be asked again."""
        for _ in range(TRIES):
            try:
                self._connection.request(method, path, body, self._headers | {"Content-Type": content_type})
                answer = self._connection.getresponse()
                status, content, wait_s = answer.status, answer.read(), answer.headers.get("Retry-After", "1")
                said = json.loads(content) if b"{" in content[:1] else {"detail": answer.reason}
            except (OSError, http.client.HTTPException) as error:
                self._connection.close()
                status, said, wait_s = 0, {"detail": f"The gateway can't be reached: {error}"}, "1"
            if status not in (0, 429, 503):
                break
            time.sleep(float(wait_s))
        return status, said

    def create_job(self, path: str, fields: dict[str, Any], image: bytes) -> Answer:
        boundary = uuid.uuid4().hex
        meta = json.dumps(fields | {"image": "attachment://image", "async": False})
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="meta"\r\n'
            f"Content-Type: application/json\r\n\r\n{meta}\r\n"
            f'--{boundary}\r\nContent-Disposition: form-data; name="attachment://image"; filename="image.jpg"\r\n'
            "Content-Type: image/jpeg\r\n\r\n"
        )
        body = head.encode() + image + f"\r\n--{boundary}--\r\n".encode()
        return self.ask("POST", path, body, f"multipart/form-data; boundary={boundary}")

    def close(self) -> None:
        self._connection.close()


def read_frames(source: str, fps: float, start: datetime | None) -> Iterator[tuple[datetime, Any]]:
    """Pictures and when each was taken, at most `fps` a second."""
    is_live = source.isdigit() or "://" in source
    camera = cv2.VideoCapture(int(source) if source.isdigit() else source)
    if not camera.isOpened():
        sys.exit(f"{source} can't be opened. Give the number of a camera, or a video file.")
    video_fps = camera.get(cv2.CAP_PROP_FPS) or 25.0
    if is_live or start is None:
        # A file that nobody knows the time of ends now: no visits are kept that lie in the future.
        length_s = 0.0 if is_live else camera.get(cv2.CAP_PROP_FRAME_COUNT) / video_fps
        start = datetime.now(UTC) - timedelta(seconds=length_s)
    began_s, number, next_s = time.monotonic(), 0, 0.0
    while camera.grab():
        at_s = time.monotonic() - began_s if is_live else number / video_fps
        number += 1
        if at_s + 0.001 >= next_s:
            next_s = max(next_s, at_s - 1 / fps) + 1 / fps
            picture = camera.retrieve()[1]
            scale = min(LONGEST_SIDE_PX / max(picture.shape[:2]), 1.0)
            picture = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
            yield start + timedelta(seconds=at_s), picture


def as_grey_jpeg(picture: Any) -> bytes:
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    return cv2.imencode(".jpg", grey, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])[1].tobytes()


def draw_people(picture: Any, result: dict[str, Any]) -> None:
    for person in [*result["bodies"].values(), *result["entities"].values()]:
        x, y, width, height = person["full_body_roi"]
        cv2.rectangle(picture, (x, y), (x + width, y + height), BODY, 1)
    for person in result["entities"].values():
        x, y, width, height = person["face_roi"]
        is_seen = person["face_confidence"] > 0  # else this is where the face was last
        cv2.rectangle(picture, (x, y), (x + width, y + height), FACE if is_seen else UNSEEN, 2)
        write(picture, describe(person), x, y + height)
        if is_seen:
            draw_gaze(picture, person)


def draw_gaze(picture: Any, person: dict[str, Any]) -> None:
    """A rod from each eye, as the camera sees it: yaw grows to the right of the picture, pitch upwards."""
    (yaw, pitch), length = person["gaze"], 1.5 * person["face_roi"][2]
    for x, y in person["face_eye"]:
        end = round(x + length * math.sin(yaw)), round(y - length * math.sin(pitch))
        cv2.line(picture, (x, y), end, GAZE, 2, cv2.LINE_AA)
        cv2.circle(picture, (x, y), 3, GAZE, cv2.FILLED, cv2.LINE_AA)


def describe(person: dict[str, Any]) -> list[str]:
    """What is known: gender, with a question mark where it is not sure, age, the strongest mood."""
    age = "" if person["age"] is None else f"{person['age']:.0f}"
    mood = max(MOODS, key=lambda name: person[f"emotion_{name}"])
    unsure = "?" if person["gender"] and person["gender_confidence"] < 0.5 else ""
    lines = f"{person['gender'] or ''}{unsure} {age}".strip(), mood if person[f"emotion_{mood}"] else ""
    return [line for line in lines if line]


def write(picture: Any, lines: list[str], left: int, top: int) -> None:
    top = min(top, picture.shape[0] - LINE_PX * len(lines))
    for number, line in enumerate(lines, start=1):
        bottom = top + LINE_PX * number
        width = cv2.getTextSize(line, FONT, 0.4, 1)[0][0]
        cv2.rectangle(picture, (left, bottom - LINE_PX), (left + width + 6, bottom), (0, 0, 0), cv2.FILLED)
        cv2.putText(picture, line, (left + 3, bottom - 4), FONT, 0.4, (255, 255, 255), 1, cv2.LINE_AA)


def watch(arguments: argparse.Namespace, gateway: Gateway) -> None:
    """Sends every frame and draws the answers; the session begins with the first and ends after the last."""
    status, service = gateway.ask("GET", SERVICE)
    if status != 200:
        sys.exit(service["detail"])
    session, computed, people, video = str(uuid.uuid4()), 0, set[str](), cv2.VideoWriter()
    try:
        for taken_at, picture in read_frames(arguments.source, arguments.fps, arguments.start):
            fields = {"timestamp": taken_at.isoformat(), "store": arguments.store, "state": {"session_id": session}}
            status, result = gateway.create_job(urlsplit(service["jobs"]).path, fields, as_grey_jpeg(picture))
            if status in (401, 403):
                print(result["detail"], file=sys.stderr)
                break
            if status != 201 or "error" in result:
                print(f"{taken_at:%H:%M:%S} {result.get('error') or result['detail']}", file=sys.stderr)
                continue
            computed, people = computed + 1, people | set(result["entities"])
            for event in result["events"]:
                print(f"{taken_at:%H:%M:%S} {event['type']} {event['entity_id'][:8]} {event['confidence']:.2f}")
            draw_people(picture, result)
            has_people = any(person["face_confidence"] > 0 for person in result["entities"].values())
            show(picture, arguments, video, has_people=has_people)
    except KeyboardInterrupt:
        print("stopped")
    video.release()
    gateway.ask("DELETE", f"{SERVICE}/sessions/{session}")
    print(f"{computed} frames computed, {len(people)} people seen")
    sys.exit(0 if computed else 1)


def show(picture: Any, arguments: argparse.Namespace, video: cv2.VideoWriter, *, has_people: bool) -> None:
    if arguments.picture and has_people:
        cv2.imwrite(arguments.picture, picture)
    if arguments.save and not video.isOpened():
        video.open(arguments.save, cv2.VideoWriter.fourcc(*"mp4v"), arguments.fps, picture.shape[1::-1])
    if arguments.save:
        video.write(picture)
    if arguments.show:
        cv2.imshow("scene_analysis", picture)
        cv2.waitKey(1)


def some_fps(text: str) -> float:
    if not 0 < float(text) <= 30:
        raise argparse.ArgumentTypeError("give more than 0 and at most 30 frames a second")
    return float(text)


def moment_with_offset(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise argparse.ArgumentTypeError("give the UTC offset too, such as 2026-11-01T09:00+01:00")
    return moment


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("source", nargs="?", default="0", help="number of a camera, or a video file (default: 0)")
    add("--url", default="https://localhost:8443", help="the gateway (default: %(default)s)")
    add("--client-id", default=os.environ.get("CLIENT_ID", ""), help="or set CLIENT_ID")
    add("--access-token", default=os.environ.get("ACCESS_TOKEN", ""), help="or set ACCESS_TOKEN")
    add("--ca", metavar="FILE", help="certificate authority to trust instead of the system's")
    add("--store", action="store_true", help="keep visits for the metrics")
    add("--fps", type=some_fps, default=10.0, help="frames to send a second (default: %(default)g)")
    add("--start", type=moment_with_offset, help="when a video file begins, with UTC offset (default: it ends now)")
    add("--show", action="store_true", help="draw into a window; Ctrl-C stops")
    add("--save", metavar="FILE.mp4", help="draw into a video")
    add("--picture", metavar="FILE.jpg", help="draw the last frame that has people")
    return parser.parse_args()


if __name__ == "__main__":
    chosen = read_arguments()
    with closing(Gateway(chosen.url, f"{chosen.client_id}:{chosen.access_token}", chosen.ca)) as gateway:
        watch(chosen, gateway)
