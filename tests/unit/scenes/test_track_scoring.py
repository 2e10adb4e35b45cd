"""Scoring of followed boxes against true tracks, and the boxes that the track microscope makes."""

from pathlib import Path

import pytest

from bench.accuracy.box_faults import DetectorFaults, make_boxes
from bench.accuracy.scene_replay import BEGINS_MS, replay_boxes
from bench.accuracy.street_trials import LOST, disturb, run_trial, summarise_trials
from bench.accuracy.track_scores import FollowedScene, add_scores, score_tracks
from bench.lib.true_tracks import TrueTracks, choose_frames, read_street_tracks
from onlooker_pipeline.tracking.boxes import Box
from onlooker_pipeline.vision.persons import PersonBox
from onlooker_pipeline.visits.visit import Visit

FRAMES = 50


def body(x: float, *, height: float = 90.0) -> Box:
    return Box(x - height / 6, 300 - height, x + height / 6, 300)


def walkers(*starts: float, height: float = 90.0) -> TrueTracks:
    """They walk side by side for five seconds."""
    boxes = [{n: body(x + 5 * frame, height=height) for n, x in enumerate(starts)} for frame in range(FRAMES)]
    return TrueTracks("walkers", 640, 480, [frame / 10 for frame in range(FRAMES)], boxes)


def followed(truth: TrueTracks, *pieces: tuple[bytes, int, int, int]) -> FollowedScene:
    """Each piece: an id, the person whose place it has, its first frame and the one after its last."""
    at_ms = [BEGINS_MS + round(seconds * 1000) for seconds in truth.seconds]
    places = [{id_: truth.boxes[frame][who] for id_, who, a, b in pieces if a <= frame < b} for frame in range(FRAMES)]
    visits = [Visit(id_ * 16, 0, "", 1, True, [(at_ms[a], at_ms[b - 1] + 100)], [], []) for id_, _, a, b in pieces]
    return FollowedScene(at_ms, [{id_ * 16: box for id_, box in frame.items()} for frame in places], visits, 1.0)


def test_perfect_tracks_have_nothing_off() -> None:
    truth = walkers(50, 150)
    score = score_tracks(truth, followed(truth, (b"a", 0, 0, 50), (b"b", 1, 0, 50)))
    assert (score.people, score.passing, score.off, score.splits, score.switches, score.missed) == (2, 2, 0, 0, 0, 0)
    assert score.idf1 == pytest.approx(1)
    assert score.mean_hota == pytest.approx(1)


def test_second_visit_of_a_person_is_a_split_and_a_switch() -> None:
    truth = walkers(50)
    score = score_tracks(truth, followed(truth, (b"a", 0, 0, 25), (b"b", 0, 25, 50)))
    assert (score.passing, score.off, score.splits, score.switches) == (2, 1, 1, 1)
    assert score.idf1 == pytest.approx(0.5)


def test_person_without_a_visit_is_missed() -> None:
    truth = walkers(50, 150)
    score = score_tracks(truth, followed(truth, (b"a", 0, 0, 50)))
    assert (score.passing, score.off, score.missed) == (1, 1, 1)


def test_errors_of_two_sequences_do_not_make_up_for_each_other() -> None:
    truth = walkers(50, 150)
    few = score_tracks(truth, followed(truth, (b"a", 0, 0, 50)))
    many = score_tracks(truth, followed(truth, (b"a", 0, 0, 50), (b"b", 1, 0, 25), (b"c", 1, 25, 50)))
    together = add_scores("all", [few, many])
    assert (together.people, together.passing, together.off) == (4, 4, 2)
    assert min(few.idf1, many.idf1) < together.idf1 < max(few.idf1, many.idf1)


def test_small_and_brief_people_are_not_counted() -> None:
    assert walkers(50, height=49).counted == frozenset()
    truth = walkers(50)
    brief = TrueTracks("brief", 640, 480, truth.seconds[:10], truth.boxes[:10])
    assert brief.counted == frozenset()
    assert truth.counted == frozenset({0})


@pytest.mark.parametrize(("fps", "frames", "sent"), [(7, 70, 70), (10, 100, 100), (25, 250, 100), (30, 300, 100)])
def test_camera_sends_ten_frames_a_second(fps: float, frames: int, sent: int) -> None:
    assert len(choose_frames(frames, fps)) == sent


def test_sequence_is_read_in_motchallenge_layout(tmp_path: Path) -> None:
    folder = tmp_path / "street"
    (folder / "gt").mkdir(parents=True)
    (folder / "seqinfo.ini").write_text(
        "[Sequence]\nname=street\nimDir=img1\nframeRate=10\nseqLength=2\nimWidth=1280\nimHeight=960\nimExt=.jpg\n"
    )
    (folder / "gt" / "gt.txt").write_text("1,7,100,200,50,100,1,-1,-1,-1\n2,7,110,200,50,100,1\n2,8,0,0,9,9,0\n")
    (truth,) = read_street_tracks(tmp_path)
    assert (truth.width, truth.height, truth.seconds) == (640, 480, [0.0, 0.1])
    assert truth.boxes == [{7: Box(50, 100, 75, 150)}, {7: Box(55, 100, 80, 150)}]
    assert truth.pictures[1] == folder / "img1" / "000002.jpg"
    assert truth.name == "street"


def test_boxes_without_faults_are_the_true_ones() -> None:
    truth = walkers(100)
    frames = make_boxes(truth, DetectorFaults(), seed=1)
    assert [frame.bodies for frame in frames] == [[PersonBox(*boxes[0], 0.7)] for boxes in truth.boxes]
    assert not frames[0].moved
    assert frames[1].moved


def test_faults_are_those_that_were_chosen() -> None:
    truth = walkers(100, 200, 300)
    faults = DetectorFaults(missed=0.3, jitter=0.04)
    frames = make_boxes(truth, faults, seed=5)
    assert frames == make_boxes(truth, faults, seed=5)
    found = sum(len(frame.bodies) for frame in frames)
    assert found / (3 * FRAMES) == pytest.approx(0.7, abs=0.1)


def test_walkers_with_true_boxes_are_each_one_visit() -> None:
    truth = walkers(100, 300)
    scene = replay_boxes(make_boxes(truth, DetectorFaults(), seed=1), width=640, height=480)
    score = score_tracks(truth, scene)
    assert (score.passing, score.off, score.splits) == (2, 0, 0)
    assert score.idf1 > 0.9
    assert scene.searched < 0.6


def test_a_trial_loses_and_shakes_some_boxes() -> None:
    frames = make_boxes(walkers(100, 200, 300), DetectorFaults(), seed=1)
    disturbed = disturb(frames, seed=5)
    assert disturbed == disturb(frames, seed=5) != disturb(frames, seed=6)
    kept = sum(len(frame.bodies) for frame in disturbed)
    assert kept / (3 * FRAMES) == pytest.approx(1 - LOST, abs=0.05)
    assert disturbed[0].bodies[0].left == pytest.approx(frames[0].bodies[0].left, abs=5)


def test_trials_tell_their_mean_and_its_error() -> None:
    truth = walkers(100, 300)
    sequences = [(truth, make_boxes(truth, DetectorFaults(), seed=1))]
    figures = {one.name: one for one in summarise_trials([run_trial(sequences, seed=seed) for seed in (1, 2, 3)])}
    assert figures["people_off"].value == 0
    assert figures["people_off"].note == "+- 0"
    assert figures["idf1"].value > 0.9
