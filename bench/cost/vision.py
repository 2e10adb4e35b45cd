"""What the vision services cost: CPU of a whole job in bare YuNet inferences, and a worker's memory."""

import argparse
import io
import statistics
import time
import wave
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import cv2
import httpx2
import msgspec
import numpy as np
import psutil

from bench.cost.bare_inference import bare_inference
from bench.cost.drawn_scene import draw_standing
from bench.cost.scene_frames import NAMES, measure_ratios
from bench.cost.scene_frames import TARGETS as SCENE_TARGETS
from bench.lib.allowance import add_allowance
from bench.lib.frames import as_frame, as_sent
from bench.lib.product import ROOT, conclude, running_product, say
from onlooker_pipeline.service_call import Call, SessionMemory
from testkit import Stack

ROUNDS = 40
SCENE_ROUNDS = 12
CALLS_A_ROUND = 5
PHOTOGRAPH = ROOT / "docs/pictures/astronaut.jpg"
PAGE = ROOT / "docs/reference/cost.md"
TARGETS = {"face_detection": 1.4, "gaze_analysis": 2.6, "age_and_gender_estimation": 2.2}
TOLD = ("face_expression_estimation", "motion_detection")
FACES = 5
MEMORY_TARGET_MB = 450


@dataclass
class VisionAlternative:
    """Something that is computed, and what it cost in each round."""

    name: str
    do: Callable[[], object]
    costs_ms: list[float] = field(default_factory=list)

    def run_round(self) -> None:
        started = time.process_time()
        for _ in range(CALLS_A_ROUND):
            self.do()
        self.costs_ms.append((time.process_time() - started) / CALLS_A_ROUND * 1000)


def whole_job(name: str, **params: float) -> Callable[..., Callable[[], object]]:
    """From the bytes of an attachment to the bytes of a result, in a session."""
    compute = import_module(f"onlooker_pipeline.services.{name}").compute
    session: dict[str, Any] = {"state": None}
    memory = SessionMemory()

    def with_attachments(**attachments: bytes) -> Callable[[], object]:
        def do() -> bytes:
            call = Call(dict(params), attachments, in_session=True, memory=memory)
            result, session["state"] = compute(call, session["state"])
            return msgspec.json.encode(result)

        return do

    return with_attachments


def alternatives(photograph: Any) -> list[VisionAlternative]:
    """Each service on a frame with one face; and what more faces, a large picture and a sound cost."""
    one, five, large = as_frame(photograph), as_sent(_crowd(photograph)), as_sent(cv2.resize(photograph, (1414, 1414)))
    return [
        *(VisionAlternative(name, whole_job(name)(image=one)) for name in (*TARGETS, *TOLD)),
        *(VisionAlternative(f"{name}, {FACES} faces", whole_job(name)(image=five)) for name in (*TARGETS, TOLD[0])),
        VisionAlternative("face_detection, 2 megapixels", whole_job("face_detection")(image=large)),
        VisionAlternative(
            "sound_localization, 1 second", whole_job("sound_localization", baseline=0.2)(sound=_noise())
        ),
    ]


def _crowd(photograph: Any) -> Any:
    wall = np.full((480, 640), 120, np.uint8)
    head = cv2.resize(cv2.cvtColor(photograph[10:210, 130:290], cv2.COLOR_BGR2GRAY), (112, 140))
    for number in range(FACES):
        wall[170:310, 12 + 124 * number : 124 + 124 * number] = head
    return wall


def _noise() -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(2)
        out.setsampwidth(2)
        out.setframerate(48_000)
        samples = np.random.default_rng(1).normal(0, 3000, 48_006)
        out.writeframes(np.stack([samples[:48_000], samples[6:]], axis=1).astype("<i2").tobytes())
    return file.getvalue()


def measure_costs(photograph: Any, *, rounds: int) -> tuple[dict[str, float], float]:
    """Each job's cost in bare inferences, the median over interleaved rounds; and a bare inference in ms."""
    bare = VisionAlternative("bare", bare_inference(as_frame(photograph)))
    jobs = alternatives(photograph)
    for number in range(rounds + 1):
        for alternative in (bare, *jobs):
            alternative.run_round()
        say(f"  round {number} of {rounds}")
    for alternative in (bare, *jobs):
        del alternative.costs_ms[0]  # the first one loads the models
    ratios = {
        job.name: statistics.median(cost / bare_ms for cost, bare_ms in zip(job.costs_ms, bare.costs_ms, strict=True))
        for job in jobs
    }
    return ratios, statistics.median(bare.costs_ms)


def measure_memory(frame: bytes) -> float:
    """Megabytes of a real worker that has every model loaded and has computed with each over and over."""
    roomy = {"rate_limit_per_second": 1e5, "rate_limit_burst": 10**5}
    with running_product(extra_services="extra.bodies", **roomy) as stack:
        stream = stack.create_stream()
        with httpx2.Client(base_url=stack.plain_url, auth=stream.auth, timeout=60, trust_env=False) as client:
            for name in (*TARGETS, TOLD[0], "bodies"):
                for _ in range(20):
                    _send(client, name, frame)
        return _worker_mb(stack)


def _send(client: httpx2.Client, name: str, frame: bytes) -> None:
    files: dict[str, tuple[str | None, bytes, str]] = {
        "meta": (None, b'{"async": false, "image": "attachment://a"}', "application/json"),
        "attachment://a": ("a", frame, "image/jpeg"),
    }
    answer = client.post(f"/services/{name}/1/jobs", files=files)
    assert answer.status_code == 201, answer.text
    assert 1 in (answer.json().get("nb_faces"), answer.json().get("nb_persons")), answer.text


def _worker_mb(stack: Stack) -> float:
    return float(psutil.Process(stack.children()["worker-1-computing"]).memory_info().rss) / 1024**2


def measure_scene(rounds: int) -> dict[int, float]:
    """Bare inferences of a frame of `scene_analysis`, by people in view."""
    found = measure_ratios({people: draw_standing(people) for people in SCENE_TARGETS}, rounds=rounds)
    return {people: statistics.median(ratios) for people, ratios in found.items()}


def page(ratios: dict[str, float], scene: dict[int, float], bare_ms: float, memory_mb: float) -> str:
    rows = [
        f"| scene_analysis, {NAMES[people].replace('_', ' ')} | {ratio:.2f} | {SCENE_TARGETS[people]} |"
        for people, ratio in scene.items()
    ]
    rows += [f"| {name} | {ratio:.2f} | {TARGETS.get(name, '')} |" for name, ratio in ratios.items()]
    table = "\n".join(["| job | bare inferences | at most |", "|---|---|---|", *rows])
    return (
        "# Cost\n\nMeasured by `just bench-vision --write`. The unit is one bare inference of the face detector on a "
        f"frame of 640 x 480, with one thread: {bare_ms:.1f} ms of CPU on the machine where this page was written. It "
        "is measured in the same run, alternating with the services, so the figures also apply to other machines.\n\n"
        "A whole job in a session, from the bytes of a grey JPEG of 640 x 480 with one face (unless stated otherwise) "
        f"to the bytes of the result:\n\n{table}\n\nA worker that has run all eight models uses {memory_mb:.0f} MB of "
        f"memory (at most {MEMORY_TARGET_MB}).\n\nThe cost of HTTPS and the bus is extra: "
        "[decision 0005](../decisions/0005-cost-of-a-job.md). What that makes in machines: [sizing](sizing.md).\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rounds", nargs="?", type=int, default=ROUNDS)
    parser.add_argument("--write", action="store_true", help="write the figures into the documentation")
    add_allowance(parser)
    arguments = parser.parse_args()
    photograph = cv2.imread(str(PHOTOGRAPH))
    say(f"CPU over {arguments.rounds} interleaved rounds")
    ratios, bare_ms = measure_costs(photograph, rounds=arguments.rounds)
    say("memory of a worker")
    memory_mb = measure_memory(as_frame(photograph))
    figures: dict[str, Any] = {"bare_inference_ms": round(bare_ms, 2), "rounds": arguments.rounds}
    figures |= {f"{name}_ratio".replace(", ", "_").replace(" ", "_"): round(r, 2) for name, r in ratios.items()}
    figures |= {f"{name}_ratio_target": target for name, target in TARGETS.items()}
    figures |= {"worker_memory_mb": round(memory_mb, 1), "worker_memory_target_mb": MEMORY_TARGET_MB}
    figures["allowed_factor"] = arguments.allow
    ok = all(ratios[name] <= target * arguments.allow for name, target in TARGETS.items())
    ok = ok and memory_mb <= MEMORY_TARGET_MB
    if arguments.write:
        say("CPU of scene_analysis")
        scene = measure_scene(SCENE_ROUNDS)
        PAGE.write_text(page(ratios, scene, bare_ms, memory_mb), encoding="utf-8")
    conclude({"ok": ok} | figures, verdict=arguments.rounds >= ROUNDS or arguments.allow > 1)


if __name__ == "__main__":
    main()
