"""How right counts are on real streets: sequences in MOTChallenge layout, played as a camera sends them."""

import argparse
import time
from datetime import UTC, datetime
from pathlib import Path

import cv2

from bench.accuracy.scene_replay import BEGINS_MS, VisitLog
from bench.accuracy.scene_report import as_text
from bench.accuracy.street_detection import figures_of, score_detector
from bench.accuracy.street_report import StreetScore, street_table, summarise_streets, write_street_page
from bench.accuracy.track_scores import add_scores, score_tracks
from bench.accuracy.vision import as_json, print_table
from bench.cost.bare_inference import bare_inference
from bench.lib.frames import as_frame, as_shot
from bench.lib.motchallenge import read_picture, read_sequences
from bench.lib.product import conclude, concluding, say
from bench.lib.true_tracks import TrueTracks, read_street_tracks
from onlooker_pipeline.frame_time import FrameClock
from onlooker_pipeline.scene.state import decode_scene
from onlooker_pipeline.service_call import Call, Sender, SessionMemory
from onlooker_pipeline.services.scene_analysis import compute

BARE_ROUNDS = 20
SENDER = Sender(retention_days=36_500)
"""A recording may be as old as it likes: nothing is stored here."""


def play_street(truth: TrueTracks) -> StreetScore:
    """Every frame through the service with one session, as a worker does it."""
    log, memory = VisitLog(), SessionMemory()
    state, clock, spent_s = None, None, 0.0
    for seconds, path in zip(truth.seconds, truth.pictures, strict=True):
        image, _ = as_shot(read_picture(path))
        call = _call(image, seconds, memory, clock)
        began = time.process_time()
        _, state = compute(call, state)
        spent_s += time.process_time() - began
        clock = call.time.clock
        scene = decode_scene(state)
        assert scene
        log.add(scene, call.seen)
    followed = log.close()
    return StreetScore(score_tracks(truth, followed), followed.searched, spent_s / max(len(truth.seconds), 1) * 1000)


def _call(image: bytes, seconds: float, memory: SessionMemory, clock: FrameClock | None) -> Call:
    taken_at = datetime.fromtimestamp(BEGINS_MS / 1000 + seconds, UTC)
    params = {"timestamp": taken_at.isoformat(timespec="milliseconds"), "store": True}
    return Call(
        params,
        {"image": image},
        in_session=True,
        memory=memory,
        arrived_at=taken_at.timestamp(),
        sender=SENDER,
        clock=clock,
    )


def measure_bare(truth: TrueTracks) -> float:
    """Milliseconds of CPU of one bare inference of the face detector, on a frame fitted into 640 x 480."""
    infer = bare_inference(as_frame(read_picture(truth.pictures[0])))
    infer()
    began = time.process_time()
    for _ in range(BARE_ROUNDS):
        infer()
    return (time.process_time() - began) / BARE_ROUNDS * 1000


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="of sequences: <sequence>/img1, gt/gt.txt and seqinfo.ini")
    parser.add_argument("--only", help="names of sequences, with commas between them")
    parser.add_argument("--write", action="store_true", help="write the figures into the documentation")
    parser.add_argument("--no-detector", action="store_true", help="leave out recall and precision by height")
    return parser.parse_args()


@concluding
def main() -> None:
    arguments = _arguments()
    sequences = read_street_tracks(arguments.folder)
    names = arguments.only.split(",") if arguments.only else [truth.name for truth in sequences]
    if unknown := set(names) - {truth.name for truth in sequences}:
        raise SystemExit(f"No sequence is called {', '.join(sorted(unknown))}.")
    if arguments.write and (arguments.only or arguments.no_detector):
        raise SystemExit("--write needs all figures of all sequences: leave out what narrows them.")
    chosen = [truth for truth in sequences if truth.name in names]
    cv2.setNumThreads(1)
    scores = []
    for truth in chosen:
        scores.append(play_street(truth))
        say(as_text(street_table([scores[-1].tracks])))
    bare_ms = measure_bare(chosen[0])
    figures = summarise_streets(scores, bare_ms)
    if not arguments.no_detector:
        say("searching the frames one by one")
        filmed = [sequence for sequence in read_sequences(arguments.folder) if sequence.name in names]
        figures += figures_of(score_detector(filmed))
    if arguments.write:
        write_street_page(scores, figures)
    tracks = [score.tracks for score in scores]
    print(as_text(street_table([*tracks, add_scores("all", tracks)])), end="\n\n")
    print_table(figures)
    conclude({"ok": all(f.met for f in figures), "sequences": names, "figures": {f.name: as_json(f) for f in figures}})


if __name__ == "__main__":
    main()
