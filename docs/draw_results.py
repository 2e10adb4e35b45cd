"""Runs every service on one photograph, draws the results, and writes them into docs/services."""

import json
import math
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import cv2
from draw_microphones import draw_microphones
from make_passing import pass_by
from make_sound import make_sound

from onlooker_pipeline.expressions import EXPRESSIONS
from onlooker_pipeline.service_call import Call, SessionMemory
from onlooker_pipeline.vision.picture import Picture, as_picture, decode_picture

DOCS = Path(__file__).resolve().parent
PICTURES = DOCS / "pictures"
PHOTOGRAPH, PORTRAIT = PICTURES / "astronaut.jpg", PICTURES / "portrait.jpg"
PORTRAIT_ROWS, PORTRAIT_COLUMNS, PORTRAIT_SCALE = slice(0, 240), slice(50, 370), 2
"""The crop has her face in the middle, so looking into the lens means looking straight out of the picture."""
SOUND_YAW_DEGREES, BASELINE_M = 30.0, 0.2
SCENE_PICTURES, SCENE_STEP_MS = 3, 300
SOMEBODY = "0b6f2a3e-8c1d-4f7a-9e25-d4c1a7b85e60"
"""Entity ids are random; the page always shows the same one."""

Result = dict[str, Any]
Colour = tuple[int, int, int]
Place = tuple[int, int]

INK, PAPER, GREY = (40, 35, 31), (255, 255, 255), (120, 110, 105)
BLUE, ORANGE, GREEN = (218, 105, 9), (20, 110, 235), (60, 140, 30)
"""Blue, green, red: OpenCV's order."""
PANEL_PX = 332
SMOOTH = cv2.LINE_AA


def ask(name: str, call: Call, state: Any = None) -> tuple[Result, Any]:
    """The result of a service, computed as a worker would."""
    answer: tuple[Result, Any] = import_module(f"onlooker_pipeline.services.{name}").compute(call, state)
    return answer


def ask_about_portrait(name: str) -> Result:
    return ask(name, Call({}, {"image": PORTRAIT.read_bytes()}, in_session=False))[0]


def write(canvas: Picture, text: str, at: Place, colour: Colour = INK, *, size: int = 19, weight: int = 400) -> None:
    cv2.putText(canvas, text, at, colour, cv2.FontFace("sans"), size, weight)


def text_width(text: str, size: int) -> int:
    return int(cv2.getTextSize((0, 0), text, (0, 0), cv2.FontFace("sans"), size, 400)[2])


def write_table(canvas: Picture, title: str, rows: Result, *, top: int = 48, colour: Colour = INK) -> int:
    """Draw names and values in the panel; return where the next block begins."""
    left = canvas.shape[1] - PANEL_PX + 24
    write(canvas, title, (left, top), colour, size=20, weight=700)
    for number, (name, value) in enumerate(rows.items(), start=1):
        line = top + 10 + 29 * number
        write(canvas, name, (left, line), GREY)
        shown = str(value)
        write(canvas, shown, (canvas.shape[1] - 20 - text_width(shown, 19), line))
    return top + 10 + 29 * len(rows) + 46


def draw_box(canvas: Picture, face: Result, colour: Colour = BLUE) -> None:
    left, top, width, height = face["roi"]
    corners = (left, top), (left + width, top + height)
    cv2.rectangle(canvas, *corners, PAPER, 6, SMOOTH)
    cv2.rectangle(canvas, *corners, colour, 3, SMOOTH)


def draw_arrow(canvas: Picture, start: Place, end: Place, colour: Colour) -> None:
    length = max(math.dist(start, end), 1.0)
    for ink, thickness in ((PAPER, 7), (colour, 3)):
        cv2.arrowedLine(canvas, start, end, ink, thickness, SMOOTH, tipLength=14 / length)


def draw_direction(
    canvas: Picture, face: Result, *, at: list[int], angles: tuple[float, float], colour: Colour
) -> None:
    """Draw a line out of the picture, as long as the face is wide; towards the lens it is a dot."""
    (x, y), (yaw, pitch), length = at, angles, face["roi"][2]
    end = round(x + length * math.sin(yaw) * math.cos(pitch)), round(y - length * math.sin(pitch))
    for ink, thickness, radius in ((PAPER, 8, 7), (colour, 4, 5)):
        cv2.line(canvas, (x, y), end, ink, thickness, SMOOTH)
        cv2.circle(canvas, (x, y), radius, ink, cv2.FILLED, SMOOTH)


def draw_directions(canvas: Picture, face: Result) -> None:
    draw_direction(canvas, face, at=face["nose"], angles=(face["head_yaw"], face["head_pitch"]), colour=ORANGE)
    for eye in (face["eye_left"], face["eye_right"]):
        draw_direction(canvas, face, at=eye, angles=(face["gaze_yaw"], face["gaze_pitch"]), colour=GREEN)


def draw_bars(canvas: Picture, face: Result, *, top: int) -> None:
    left, right = canvas.shape[1] - PANEL_PX + 24, canvas.shape[1] - 20
    shares = {name: face[name] for name in EXPRESSIONS}
    for number, (name, share) in enumerate(shares.items()):
        line = top + 54 * number
        write(canvas, name, (left, line), GREY)
        shown = f"{share:.2f}"
        write(canvas, shown, (right - text_width(shown, 19), line))
        cv2.rectangle(canvas, (left, line + 10), (right, line + 22), (235, 232, 230), cv2.FILLED)
        end = left + round((right - left) * share)
        if end > left:
            cv2.rectangle(canvas, (left, line + 10), (end, line + 22), BLUE, cv2.FILLED)


def members(face: Result, *names: str) -> Result:
    return {name: face[name] for name in names}


def with_panel(picture: Picture) -> Picture:
    """The picture, with an empty panel next to it."""
    return as_picture(cv2.copyMakeBorder(picture, 0, 0, 0, PANEL_PX, cv2.BORDER_CONSTANT, value=PAPER))


def open_portrait() -> Picture:
    return with_panel(decode_picture(PORTRAIT.read_bytes()))


def save(canvas: Picture, name: str, *, quality: int = 84) -> None:
    encoded = cv2.imencode(".jpg", canvas, [cv2.IMWRITE_JPEG_QUALITY, quality, cv2.IMWRITE_JPEG_OPTIMIZE, 1])[1]
    (PICTURES / f"{name}.jpg").write_bytes(encoded.tobytes())


def make_portrait() -> None:
    """A frame of a person right in front of the camera."""
    part = decode_picture(PHOTOGRAPH.read_bytes())[PORTRAIT_ROWS, PORTRAIT_COLUMNS]
    large = cv2.resize(part, None, fx=PORTRAIT_SCALE, fy=PORTRAIT_SCALE, interpolation=cv2.INTER_CUBIC)
    save(as_picture(large), PORTRAIT.stem, quality=90)


def show_face_detection() -> Result:
    result = ask_about_portrait("face_detection")
    canvas = open_portrait()
    for face in result["faces"]:
        draw_box(canvas, face)
        write_table(canvas, "Face", members(face, "roi", "roi_confidence"))
    save(canvas, "face_detection")
    return result


def show_gaze_analysis() -> Result:
    result = ask_about_portrait("gaze_analysis")
    canvas = open_portrait()
    for face in result["faces"]:
        draw_box(canvas, face)
        draw_directions(canvas, face)
        rest = write_table(canvas, "Points", members(face, "eye_left", "eye_right", "nose"))
        head = members(face, "head_yaw", "head_pitch", "head_roll")
        rest = write_table(canvas, "Head", head, top=rest, colour=ORANGE)
        write_table(canvas, "Gaze", members(face, "gaze_yaw", "gaze_pitch"), top=rest, colour=GREEN)
    save(canvas, "gaze_analysis")
    return result


def show_age_and_gender_estimation() -> Result:
    result = ask_about_portrait("age_and_gender_estimation")
    canvas = open_portrait()
    for face in result["faces"]:
        draw_box(canvas, face)
        rest = write_table(canvas, "Age", members(face, "age", "age_confidence"))
        write_table(canvas, "Gender", members(face, "gender", "gender_confidence"), top=rest)
    save(canvas, "age_and_gender_estimation")
    return result


def show_face_expression_estimation() -> Result:
    result = ask_about_portrait("face_expression_estimation")
    canvas = open_portrait()
    for face in result["faces"]:
        draw_box(canvas, face)
        draw_bars(canvas, face, top=write_table(canvas, "Expression", {}) - 16)
    save(canvas, "face_expression_estimation")
    return result


def show_motion_detection() -> Result:
    pictures = list(pass_by(PHOTOGRAPH.read_bytes()))
    memory, state, result = SessionMemory(), None, Result()
    places: list[Place] = []
    for number, picture in enumerate(pictures, start=1):
        save(picture, f"passing-{number}", quality=80)
        image = (PICTURES / f"passing-{number}.jpg").read_bytes()
        result, state = ask("motion_detection", Call({}, {"image": image}, in_session=True, memory=memory), state)
        places += [(round(x), round(y)) for x, y in (target["mean_position"] for target in result["targets"])]
    canvas = with_panel(pictures[-1])
    for place in places:
        cv2.circle(canvas, place, 9, PAPER, cv2.FILLED, SMOOTH)
        cv2.circle(canvas, place, 6, BLUE, cv2.FILLED, SMOOTH)
    for target in result["targets"]:
        (x, y), (vx, vy) = target["mean_position"], target["mean_velocity"]
        draw_arrow(canvas, (round(x), round(y)), (round(x + vx), round(y + vy)), BLUE)
        write_table(canvas, "Target", target)
    save(canvas, "motion_detection")
    return result


def ask_about_scene() -> Result:
    """The result for the last picture that the page sends, in which her appearance is reported."""
    memory, state, result = SessionMemory(), None, Result()
    for number in range(1, SCENE_PICTURES + 1):
        image = (PICTURES / f"passing-{number}.jpg").read_bytes()
        params = {"timestamp": f"2030-01-31T09:00:00.{number * SCENE_STEP_MS:03}+01:00"}
        result, state = ask("scene_analysis", Call(params, {"image": image}, in_session=True, memory=memory), state)
    (found,) = result["entities"]
    renamed: Result = json.loads(json.dumps(result).replace(found, SOMEBODY))
    return renamed


def show_scene_analysis() -> Result:
    result = ask_about_scene()
    canvas = with_panel(decode_picture((PICTURES / f"passing-{SCENE_PICTURES}.jpg").read_bytes()))
    entity = result["entities"][SOMEBODY]
    draw_box(canvas, {"roi": entity["full_body_roi"]}, ORANGE)
    face = {"roi": entity["face_roi"]}
    draw_box(canvas, face)
    for eye in entity["face_eye"]:
        draw_direction(canvas, face, at=eye, angles=tuple(entity["gaze"]), colour=GREEN)
    rows = members(entity, "age", "gender", "emotion_happiness", "gaze", "direction")
    rest = write_table(canvas, "Entity", rows)
    write_table(canvas, "Events", {event["type"]: event["confidence"] for event in result["events"]}, top=rest)
    save(canvas, "scene_analysis")
    return result


def show_sound_localization() -> Result:
    sound = make_sound(yaw_degrees=SOUND_YAW_DEGREES, baseline_m=BASELINE_M)
    result, _ = ask("sound_localization", Call({"baseline": BASELINE_M}, {"sound": sound}, in_session=False))
    yaws = [source["yaw"] for source in result["sources"]]
    drawn = draw_microphones(SOUND_YAW_DEGREES, [math.degrees(yaw) for yaw in yaws], baseline_m=BASELINE_M)
    (PICTURES / "sound_localization.svg").write_text(drawn, encoding="utf-8")
    return result


def show_all() -> None:
    """The picture of the README: the results of three services for one face."""
    canvas = open_portrait()
    names = ("gaze_analysis", "age_and_gender_estimation", "face_expression_estimation")
    said = [ask_about_portrait(name)["faces"][0] for name in names]
    face = said[0] | said[1] | said[2]
    draw_box(canvas, face)
    draw_directions(canvas, face)
    rows = members(face, "age", "gender", "gaze_yaw", "gaze_pitch")
    draw_bars(canvas, face, top=write_table(canvas, "One face", rows))
    save(canvas, "results")


SHOWN: dict[str, Callable[[], Result]] = {
    "face_detection": show_face_detection,
    "gaze_analysis": show_gaze_analysis,
    "age_and_gender_estimation": show_age_and_gender_estimation,
    "face_expression_estimation": show_face_expression_estimation,
    "motion_detection": show_motion_detection,
    "scene_analysis": show_scene_analysis,
    "sound_localization": show_sound_localization,
}


def as_json(result: Result) -> str:
    """Indented JSON, with a position or box on one line."""
    text = json.dumps(result, indent=2)
    return re.sub(r"\[[^\[\]{}]+\]", lambda found: f"[{' '.join(found[0][1:-1].split())}]", text)


def write_result(name: str, result: Result) -> None:
    """Write a result into its page, between the markers."""
    page = DOCS / f"services/{name}.md"
    before, _, rest = page.read_text(encoding="utf-8").partition("<!-- result -->\n")
    _, _, after = rest.partition("<!-- /result -->\n")
    block = f"<!-- result -->\n```json\n{as_json(result)}\n```\n<!-- /result -->\n"
    page.write_text(f"{before}{block}{after}", encoding="utf-8")


def main() -> None:
    make_portrait()
    for name, show in SHOWN.items():
        write_result(name, show())
    show_all()


if __name__ == "__main__":
    main()
