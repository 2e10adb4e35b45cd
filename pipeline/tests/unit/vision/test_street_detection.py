"""Recall and precision by height, on a street of two frames."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from bench.accuracy.street_detection import figures_of, score_detector
from bench.lib.motchallenge import read_sequences
from onlooker_pipeline.vision.persons import PersonBox
from onlooker_pipeline.vision.picture import Picture

INFO = "[Sequence]\nname=corner\nframeRate=5\nseqLength=2\nimWidth=1280\nimHeight=960\n"
TRUTH = """1,1,200,200,100,500,1,-1,-1,-1
1,2,600,200,60,120,1,-1,-1,-1
1,3,900,200,200,400,0,-1,-1,-1
2,1,210,200,100,500,1,-1,-1,-1
"""
TALL = (100, 100, 150, 350)
"""Person 1 of the first frame, in pixels of a frame of 640 x 480."""


@pytest.fixture
def street(tmp_path: Path) -> Path:
    folder = tmp_path / "corner"
    (folder / "img1").mkdir(parents=True)
    (folder / "gt").mkdir()
    (folder / "seqinfo.ini").write_text(INFO)
    (folder / "gt" / "gt.txt").write_text(TRUTH)
    for number in (1, 2):
        cv2.imwrite(str(folder / "img1" / f"{number:06}.jpg"), np.full((960, 1280), 120, np.uint8))
    return tmp_path


def test_a_sequence_is_read_as_a_camera_would_send_it(street: Path) -> None:
    (sequence,) = read_sequences(street)
    assert (sequence.name, sequence.fps, sequence.width, sequence.height) == ("corner", 5, 640, 480)
    assert [tuple(person.box) for person in sequence.people[1] if person.id == 1] == [TALL]
    assert [person.counts for person in sequence.people[1]] == [True, True, False]
    assert [number for number, _ in sequence.jpegs()] == [1, 2]
    assert read_sequences(street / "corner") == [sequence]


def test_a_folder_without_sequences_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="No sequences in"):
        read_sequences(tmp_path)


def test_people_and_boxes_are_counted_by_height(street: Path) -> None:
    """Found: the tall one in both frames. Wrong: a box of 90 pixels. Neither: the box of who is left out of scores."""
    shown: list[Picture] = []

    def detect(picture: Picture) -> list[PersonBox]:
        shown.append(picture)
        return [PersonBox(*TALL, 0.9), PersonBox(450, 100, 550, 300, 0.8), PersonBox(10, 10, 40, 100, 0.6)]

    score = score_detector(read_sequences(street), detect, every=1)
    assert [picture.shape for picture in shown] == [(480, 640)] * 2
    found = score.found
    assert (found.people[200], found.found[200], found.people[50], found.found[50]) == (2, 2, 1, 0)
    assert found.recall(200) == 1
    assert found.recall() == pytest.approx(2 / 3)
    # In the second frame nobody is where the first has somebody who does not count.
    assert (found.boxes[200], found.right[200], found.boxes[50]) == (3, 2, 2)
    assert found.precision() == pytest.approx(2 / 5)
    figures = {figure.name: figure for figure in figures_of(score)}
    assert figures["recall_of_200_px_and_more"].met
    assert not figures["precision_of_all"].met
