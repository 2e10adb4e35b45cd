"""The image's OpenCV, without FFmpeg and libavif: smaller, and the same in what it decodes and computes."""

import shutil
from pathlib import Path

import allauth
import cv2
import django
import pytest
from django.conf import settings
from django.utils.translation import to_locale

from deploy.image.trim import OPENCV_LIBRARIES, remove_unused
from onlooker import console

LIBRARIES = Path(cv2.__file__).parents[1] / OPENCV_LIBRARIES

pytestmark = [
    pytest.mark.skipif(not shutil.which("ld") or not shutil.which("readelf"), reason="binutils are not installed"),
    pytest.mark.skipif(not LIBRARIES.is_dir(), reason="this OpenCV brings no libraries along"),
]


def test_catalogues_of_the_console_s_languages_stay_and_no_others(tmp_path: Path) -> None:
    for package in (django, allauth, console):
        folder = Path(next(iter(package.__path__)))
        for path in folder.rglob("locale/*/LC_MESSAGES/*.?o"):
            copied = tmp_path / package.__name__ / path.relative_to(folder)
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copied)
    remove_unused(tmp_path)
    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.?o")}
    spoken = {to_locale(code) for code, _ in settings.LANGUAGES}
    assert {path.split("/")[-3] for path in left} == {*spoken, "en"}
    assert {f"django/conf/locale/{one}/LC_MESSAGES/django.mo" for one in spoken} <= left
    translated = spoken - {to_locale(settings.LANGUAGE_CODE)}
    assert {f"onlooker.console/locale/{one}/LC_MESSAGES/django.mo" for one in translated} <= left
    assert not [path for path in left if path.endswith(".po")]
