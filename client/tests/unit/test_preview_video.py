"""A film of what was answered: as long as the scene, whatever was dropped, and never a reason to stop."""

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from onlooker_client.preview import open_preview
from onlooker_client.preview.video import PreviewVideo

START = datetime(2026, 11, 1, 9, tzinfo=timezone.utc)
FPS = 10.0
Warnings = list[str]


def shown_at(film: Any, seconds: float, brightness: int, *, size: tuple[int, int] = (48, 64)) -> None:
    answer = {"timestamp": (START + timedelta(seconds=seconds)).isoformat(), "entities": {}, "bodies": {}}
    film.show(np.full(size, brightness, np.uint8), answer)


def brightness_of(path: Path) -> list[int]:
    """Of each picture, in a corner that the caption leaves free."""
    video = cv2.VideoCapture(str(path))
    found: list[int] = []
    while True:
        is_there, picture = video.read()
        if not is_there:
            assert video.get(cv2.CAP_PROP_FPS) == FPS
            return found
        found.append(round(float(picture[:10].mean()) / 50) * 50)


@pytest.fixture
def film_of(tmp_path: Path) -> Callable[[list[tuple[float, int]]], list[int]]:
    def film(pictures: list[tuple[float, int]]) -> list[int]:
        warnings: Warnings = []
        made = PreviewVideo(tmp_path / "out.mp4", FPS, warnings.append)
        for seconds, brightness in pictures:
            shown_at(made, seconds, brightness)
        made.close()
        assert warnings == []
        return brightness_of(tmp_path / "out.mp4")

    return film


Filming = Callable[[list[tuple[float, int]]], list[int]]


def test_every_picture_has_its_moment(film_of: Filming) -> None:
    assert film_of([(number / 10, 50 * (number % 4)) for number in range(20)]) == [50 * (n % 4) for n in range(20)]


def test_only_its_owner_can_look_at_it(film_of: Filming, tmp_path: Path) -> None:
    (tmp_path / "out.mp4").touch(0o644)
    film_of([(0.0, 50)])
    assert (tmp_path / "out.mp4").stat().st_mode & 0o777 == 0o600


def test_a_dropped_frame_leaves_the_picture_before_it_standing(film_of: Filming) -> None:
    assert film_of([(0.0, 50), (0.1, 100), (0.5, 200)]) == [50, 100, 100, 100, 100, 200]


def test_an_hour_without_answers_becomes_ten_seconds(film_of: Filming) -> None:
    pictures = film_of([(0.0, 50), (3600.0, 200), (3600.1, 200)])
    assert len(pictures) == 102
    assert pictures[-3:] == [50, 200, 200]


def test_a_clock_that_is_set_back_does_not_stop_the_film(film_of: Filming) -> None:
    assert film_of([(100.0, 50), (0.0, 100), (0.1, 200)]) == [50, 100, 200]


def test_a_picture_of_another_size_is_fitted(tmp_path: Path) -> None:
    film = PreviewVideo(tmp_path / "out.mp4", FPS, pytest.fail)
    shown_at(film, 0.0, 50)
    shown_at(film, 0.1, 200, size=(96, 128))
    film.close()
    assert brightness_of(tmp_path / "out.mp4") == [50, 200]


def test_a_folder_that_can_not_be_written_is_said_and_done_without(tmp_path: Path) -> None:
    warnings: Warnings = []
    path = tmp_path / "missing" / "out.mp4"
    assert open_preview(show=False, save=path, fps=FPS, warn=warnings.append) is None
    assert "can't be written" in warnings[0]


def test_a_disk_that_is_nearly_full_ends_the_film_and_what_is_there_plays(tmp_path: Path) -> None:
    warnings: Warnings = []
    film = PreviewVideo(tmp_path / "out.mp4", FPS, warnings.append, spare_bytes=1 << 60)
    shown_at(film, 0.0, 50)
    film.close()
    shown_at(film, 0.1, 50)  # nobody minds
    assert warnings == [
        f"The video {tmp_path / 'out.mp4'} ends here: the disk is nearly full. Everything else continues."
    ]


def test_a_name_that_is_no_video_is_said(tmp_path: Path) -> None:
    warnings: Warnings = []
    film = PreviewVideo(tmp_path / "out.txt", FPS, warnings.append)
    shown_at(film, 0.0, 50)
    film.close()
    assert "name it .mp4" in warnings[0]


def test_nothing_is_opened_where_nothing_is_asked_for() -> None:
    assert open_preview(show=False, save=None, fps=FPS, warn=pytest.fail) is None


def test_closing_twice_is_fine(tmp_path: Path) -> None:
    film = PreviewVideo(tmp_path / "out.mp4", FPS, pytest.fail)
    film.close()
    film.close()
