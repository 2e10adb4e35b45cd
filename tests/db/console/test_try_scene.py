"""What the page that tries a stream out says of people, in a real browser: nothing of what is not known."""

import base64
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import onlooker.console
from bench.lib.browser import Browser, open_browser

pytestmark = pytest.mark.skipif(
    not shutil.which("chromium") or not shutil.which("chromedriver"),
    reason="needs Debian's chromium and chromium-driver",
)
SCENE_JS = Path(onlooker.console.__file__).parent / "static/console/trial/scene.js"
KNOWN = {"age": 34.4, "age_confidence": 0.8, "gender": "female", "gender_confidence": 0.9, "emotion_happiness": 0.9}
UNKNOWN = {"age": 0.0, "age_confidence": 0.0, "gender": "unknown", "gender_confidence": 0.0, "emotion_happiness": 0.0}
DESCRIBE = """
const [source, answer, done] = arguments;
// What words.js gives to pages.
Object.assign(globalThis, { gettext: (text) => text, pgettext: (context, text) => text });
globalThis.interpolate = (text, values) => text.replace(/%\\((\\w+)\\)s/g, (_, name) => values[name]);
import(`data:text/javascript;base64,${source}`).then((scene) => {
  const people = scene.readPeople(answer);
  const canvas = document.body.appendChild(document.createElement("canvas"));
  canvas.style = "width: 640px; height: 480px";
  const words = [];
  const write = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
    words.push(text);
    write.call(this, text, ...place);
  };
  scene.drawScene(canvas, people, document.createElement("canvas"));
  done([scene.describePeople(people), words]);
});
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        opened.get("about:blank")
        yield opened


def entity(**members: Any) -> dict[str, Any]:
    return {
        "face_roi": [300, 150, 60, 70],
        "face_confidence": 0.9,
        "face_eye": [[318, 175], [342, 176]],
        "gaze": [0.0, 0.0],
        "head": [0.0, 0.0, 0.0],
        "head_confidence": 0.9,
        **{f"emotion_{name}": 0.0 for name in ("neutral", "surprise", "anger", "sadness")},
        **members,
    }


@pytest.mark.parametrize(
    ("members", "sentence", "label"),
    [
        (KNOWN, "Woman, about 34, happy, looks at the camera", "female · 34 · happy"),
        (UNKNOWN, "Person, looks at the camera", None),
        (KNOWN | {"age": 0.0, "age_confidence": 0.0}, "Woman, happy, looks at the camera", "female · happy"),
        (KNOWN | {"age": 0.3}, "Woman, about 0, happy, looks at the camera", "female · 0 · happy"),
        (UNKNOWN | {"age": 34.4, "age_confidence": 0.8}, "Person, about 34, looks at the camera", "34"),
        (
            KNOWN | {"face_confidence": 0, "age_confidence": 0, "gender_confidence": 0},
            "Woman, about 34, face not visible now",
            "female · 34",
        ),
    ],
    ids=["known", "unknown", "no age", "baby", "no gender", "not visible now"],
)
def test_what_is_not_known_is_neither_said_nor_drawn(
    browser: Browser, members: dict[str, Any], sentence: str, label: str | None
) -> None:
    answer = {"input_size": [480, 640], "entities": {"a": entity(**members)}, "bodies": {}}
    source = base64.b64encode(SCENE_JS.read_bytes()).decode()
    said, drawn = browser.execute_async_script(DESCRIBE, source, answer)  # type: ignore[no-untyped-call]
    assert said == [sentence]
    assert drawn == ([label] if label else [])
