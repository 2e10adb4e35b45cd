"""The search of `onlooker prove` finds pictures and embeddings in any wrapping, and takes nothing else for one."""

import os
from pathlib import Path

import cv2
import numpy as np
import pytest

from onlooker.proof.file_watch import FileWatch, walk_files
from onlooker.proof.marked_pictures import MarkedPictures, draw_picture, encode_jpeg
from onlooker.proof.picture_traces import PictureMarks, find_traces
from onlooker.proof.pictures_on_disk import OF_PLACE, OF_WAY, PROMISES, broken_by
from onlooker.proof.places import StoragePlace, read_file, read_swap, search
from onlooker.proof.planted import find_planted, find_planted_vectors
from onlooker.proof.promises import PROMISES as ALL_PROMISES
from onlooker.proof.vectors import find_vectors


@pytest.mark.parametrize("only_known", [False, True])
def test_every_kind_of_planted_trace_is_found(only_known: bool) -> None:
    frame = draw_picture()
    found = find_planted(frame, PictureMarks([frame]), only_known=only_known)
    assert len(found) == 8
    assert all(found.values()), found


def test_part_of_a_file_that_was_sent_is_found() -> None:
    pictures = MarkedPictures()
    file = pictures.draw("sync")
    part = file[len(file) // 2 :][:64]
    assert any(find_traces(os.urandom(1000) + part + os.urandom(1000), pictures.marks("sync")))


def test_other_pictures_of_the_same_person_have_no_pixels_in_common() -> None:
    one, other = draw_picture(), draw_picture()
    assert not any(find_traces(other.tobytes(), PictureMarks([one])))


def test_nothing_is_found_in_random_bytes() -> None:
    marks = PictureMarks([draw_picture()], [encode_jpeg(draw_picture())])
    content = os.urandom(1 << 21)
    assert not any(find_traces(content, marks))
    assert not any(find_vectors(content))


def test_strange_picture_counts_only_where_the_product_alone_writes() -> None:
    marks = PictureMarks([draw_picture()])
    strange = np.linspace(0, 255, 64 * 48).reshape(48, 64).astype(np.uint8)
    file = bytes(cv2.imencode(".png", strange)[1])
    assert any(find_traces(file, marks))
    assert not any(find_traces(file, marks, only_known=True))


def test_picture_that_was_encoded_again_is_recognised() -> None:
    frame = draw_picture()
    small = cv2.resize(frame, (320, 240), interpolation=cv2.INTER_CUBIC)
    file = bytes(cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, 40])[1])
    assert any(find_traces(file, PictureMarks([frame]), only_known=True))


def test_film_is_recognised_by_what_a_device_and_the_server_see(tmp_path: Path) -> None:
    pictures = MarkedPictures()
    film = pictures.film("agent", tmp_path / "film.avi", seconds=2.0)
    reader = cv2.VideoCapture(str(film))
    frames = [reader.read()[1] for _ in range(20)]
    reader.release()
    last = np.asarray(cv2.cvtColor(frames[-1], cv2.COLOR_BGR2GRAY), np.uint8)
    marks = pictures.marks()
    assert any(find_traces(last.tobytes(), marks))
    sent = cv2.imdecode(np.frombuffer(encode_jpeg(last), np.uint8), cv2.IMREAD_GRAYSCALE)
    assert any(find_traces(np.asarray(sent, np.uint8).tobytes(), marks))


def test_embeddings_are_found() -> None:
    found = find_planted_vectors()
    assert all(found.values()), found


@pytest.mark.parametrize(
    "content",
    [
        np.linspace(0.001, 0.9, 500).astype("<f4").tobytes(),  # probabilities have one sign
        ",".join(f"{value:.3f}" for value in np.linspace(0, 60, 500)).encode(),
        b"\0" * 10_000,
        b"-1.5, 2.5, " * 20,
        b"",
        b"\xbf",
        np.tile(np.array([0.5, -0.5], "<f4"), 31).tobytes(),  # too few
    ],
)
def test_other_numbers_are_no_embedding(content: bytes) -> None:
    assert not any(find_vectors(content))


def test_file_is_read_in_parts_that_overlap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onlooker.proof.places.PART_BYTES", 1000)
    monkeypatch.setattr("onlooker.proof.places.OVERLAP_BYTES", 100)
    file = tmp_path / "file"
    file.write_bytes(b"a" * 990 + b"needle" * 4 + b"b" * 500)
    assert any(b"needle" * 4 in content for _, content in read_file(file))


def test_file_that_existed_for_a_moment_is_kept(tmp_path: Path) -> None:
    with FileWatch([tmp_path]) as watch:
        (tmp_path / "frame").write_bytes(b"pixels")
        watch.look()
        (tmp_path / "frame").unlink()
    assert watch.contents == [(tmp_path / "frame", b"pixels")]


def test_folders_that_are_left_out_are_not_walked(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    assert list(walk_files(tmp_path, leave_out={tmp_path / "other"})) == [tmp_path / "one" / "file"]


def test_swap_that_can_not_be_read_is_said(tmp_path: Path) -> None:
    listed = tmp_path / "swaps"
    listed.write_text(f"Filename Type Size Used Priority\n{tmp_path / 'missing'} file 1024 0 -2\n")
    limits: list[str] = []
    assert list(read_swap(limits, listed)) == []
    assert "can't be read" in limits[0]


def test_trace_names_its_place_and_breaks_its_row() -> None:
    place = StoragePlace("logs", lambda _: iter([("up.log", b"a frame")]))
    hits = search([place], lambda content, _: ["pixels"] if b"frame" in content else []).hits
    assert hits == ["logs: up.log: pixels"]
    assert set(broken_by(hits)) == {"no-frame-in-log", "frames-only-in-memory"}
    assert set(broken_by(["device (agent): x: pixels"])) == {"device-keeps-no-frames", "kept-agent-frame"}
    assert set(broken_by(["temporary folders: x: pixels"])) == {"frames-only-in-memory"}


def test_every_row_of_a_way_or_a_place_is_a_promise() -> None:
    known = {promise.id for promise in ALL_PROMISES}
    assert {*OF_WAY.values(), *OF_PLACE.values()} <= set(PROMISES) <= known
