"""Where sounds come from in a stereo recording."""

import io
import math
import struct
import wave
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from onlooker_pipeline.service_call import Call, ComputeError
from onlooker_pipeline.services.sound_localization import compute
from onlooker_pipeline.sound.sources import SOURCE_LIMIT
from onlooker_pipeline.sound.wav import CHUNK_LIMIT, read_wav

RATE_HZ = 48_000
PCM_SUBFORMAT = bytes.fromhex("0100000000001000800000aa00389b71")
Stereo = NDArray[np.float64]


def wav(stereo: Stereo, *, channels: int = 2, width: int = 2, rate_hz: int = RATE_HZ) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(channels)
        out.setsampwidth(width)
        out.setframerate(rate_hz)
        out.writeframes(np.rint(stereo).astype("<i2").tobytes())
    return file.getvalue()


def riff(*chunks: tuple[bytes, bytes]) -> bytes:
    padded = [(name, content, b"\0" * (len(content) % 2)) for name, content in chunks]
    body = b"".join(name + struct.pack("<I", len(content)) + content + odd for name, content, odd in padded)
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WAVE" + body


def format_chunk(
    *, encoding: int = 1, channels: int = 2, rate_hz: int = RATE_HZ, bits: int = 16
) -> tuple[bytes, bytes]:
    frame = channels * bits // 8
    return b"fmt ", struct.pack("<HHIIHH", encoding, channels, rate_hz, rate_hz * frame, frame, bits)


def heard_from(signal: NDArray[np.float64], yaw_degrees: float, baseline: float) -> Stereo:
    """A far source: at the right, it reaches the right microphone first, by an exact fraction of a sample."""
    lag = baseline * math.sin(math.radians(yaw_degrees)) / 343 * RATE_HZ
    turns = np.fft.rfftfreq(2 * len(signal))
    spectrum = np.fft.rfft(signal, 2 * len(signal))
    channels = [
        np.fft.irfft(spectrum * np.exp(-2j * math.pi * turns * delay)) for delay in (300 + lag / 2, 300 - lag / 2)
    ]
    return np.stack(channels, axis=1)[: len(signal)] * 3000


def with_noise(stereo: Stereo, decibels: float, *, seed: int = 0) -> Stereo:
    sigma = math.sqrt(float(np.mean(np.square(stereo))) / 10 ** (decibels / 10))
    return stereo + np.random.default_rng(seed).normal(0, sigma, stereo.shape)


def noise(seconds: float, seed: int) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(0, 1, int(seconds * RATE_HZ))


def voice(seconds: float, seed: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    time = np.arange(int(seconds * RATE_HZ)) / RATE_HZ
    phase = 2 * math.pi * np.cumsum(rng.uniform(100, 200) * (1 + 0.08 * np.sin(20 * time))) / RATE_HZ
    tones = np.sum([np.sin(k * phase + rng.uniform(0, 6)) / k for k in range(1, 40)], axis=0)
    return np.asarray((tones + 0.3 * rng.normal(0, 1, len(time))) * np.clip(np.sin(20 * time), 0, 1))


def locate(sound: bytes, baseline: float = 0.2, **params: Any) -> dict[str, Any]:
    result, state = compute(Call({"baseline": baseline, **params}, {"sound": sound}, in_session=False), None)
    assert state is None
    assert result["nb_sources"] == len(result["sources"])
    assert [source["index"] for source in result["sources"]] == list(range(result["nb_sources"]))
    assert all(0 <= source["confidence"] <= 1 for source in result["sources"])
    return result


def yaws(result: dict[str, Any]) -> list[float]:
    return sorted(math.degrees(source["yaw"]) for source in result["sources"])


@settings(max_examples=30, deadline=None)
@given(st.floats(-75, 75), st.floats(0.14, 1.0), st.sampled_from([20, 10]), st.integers(0, 1000), st.booleans())
def test_the_yaw_of_a_known_delay_is_told(yaw: float, baseline: float, decibels: int, seed: int, speech: bool) -> None:
    signal = voice(1, seed) if speech else noise(1, seed)
    result = locate(wav(with_noise(heard_from(signal, yaw, baseline), decibels, seed=seed)), baseline)
    assert result["input_size"] == RATE_HZ
    assert yaws(result) == pytest.approx([yaw], abs=3)


@pytest.mark.parametrize(("yaw", "channel"), [(50, 1), (-50, 0)])
def test_yaw_is_positive_towards_the_right_microphone(yaw: float, channel: int) -> None:
    click = np.zeros(RATE_HZ)
    click[10_000] = 5
    stereo = heard_from(click, yaw, 1.0)
    first = int(np.argmin(np.abs(stereo).argmax(axis=0)))
    (source,) = locate(wav(with_noise(stereo, 20)), 1.0)["sources"]
    assert first == channel
    assert source["yaw"] == pytest.approx(math.radians(yaw), abs=0.05)


def test_noise_of_two_unrelated_channels_comes_from_nowhere() -> None:
    unrelated = np.random.default_rng(1).normal(0, 3000, (4 * RATE_HZ, 2))
    assert locate(wav(unrelated), 1.0, sensitivity=1)["sources"] == []


def test_silence_comes_from_nowhere() -> None:
    assert locate(wav(np.zeros((RATE_HZ, 2))), sensitivity=1)["sources"] == []


def test_one_after_the_other_are_two_sources() -> None:
    turns = [heard_from(voice(1.5, 1), -40, 0.2), heard_from(voice(1.5, 2), 25, 0.2)]
    assert yaws(locate(wav(with_noise(np.concatenate(turns), 15)))) == pytest.approx([-40, 25], abs=3)


def test_two_at_once_are_two_sources() -> None:
    both = heard_from(voice(2, 1), -35, 0.3) + heard_from(noise(2, 2) / 3, 40, 0.3)
    assert yaws(locate(wav(with_noise(both, 20)), 0.3)) == pytest.approx([-35, 40], abs=3)


def test_a_higher_sensitivity_reports_weaker_sources() -> None:
    weak = wav(with_noise(heard_from(noise(2, 3), 30, 0.2), -9))
    counts = [locate(weak, sensitivity=sensitivity)["nb_sources"] for sensitivity in (0, 0.5, 1)]
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (0, 1)


def test_a_session_changes_nothing() -> None:
    sound = wav(heard_from(noise(0.5, 4), 20, 0.2))
    call = Call({"baseline": 0.2}, {"sound": sound}, in_session=True)
    results = [compute(call, None), compute(call, None)]
    assert results == [(locate(sound), None)] * 2


@pytest.mark.parametrize("frames", [0, 1, 2, 100, 256, 1000, 4095, 4096, 4097, 6144])
def test_short_clips_are_answered(frames: int) -> None:
    stereo = heard_from(noise(1, 5), 30, 0.2)[2000 : 2000 + frames]
    result = locate(wav(stereo))
    assert result["input_size"] == frames
    assert yaws(result) == (pytest.approx([30], abs=4) if frames >= 1000 else yaws(result))


def test_the_longest_clip_has_few_sources() -> None:
    rng = np.random.default_rng(6)
    parts = [heard_from(noise(2, seed), float(rng.uniform(-80, 80)), 1.0) for seed in range(27)]
    assert 2 <= locate(wav(np.concatenate(parts)), 1.0, sensitivity=1)["nb_sources"] <= SOURCE_LIMIT


@pytest.mark.parametrize("baseline", [0.001, 14.0, 1e8])
def test_a_baseline_that_is_not_in_metres_is_refused(baseline: float) -> None:
    with pytest.raises(ComputeError, match="metres") as caught:
        locate(wav(np.zeros((100, 2))), baseline)
    assert caught.value.code == "bad_baseline"


FINE = format_chunk()
SAMPLES = (b"data", b"\1\0\2\0" * 10)


@pytest.mark.parametrize(
    ("sound", "complaint"),
    [
        (b"", "no WAV file"),
        (b"RIFF", "no WAV file"),
        (b"ID3" + bytes(100), "no WAV file"),
        (riff(), "`data` chunk is missing"),
        (riff(FINE), "`data` chunk is missing"),
        (riff(SAMPLES), "before their format"),
        (riff((b"fmt ", b"\1\0\2\0")), "damaged header"),
        (riff(format_chunk(channels=1), SAMPLES), "1 channel"),
        (riff(format_chunk(rate_hz=44_100), SAMPLES), "44100 Hz"),
        (riff(format_chunk(bits=24), SAMPLES), "24 bit"),
        (riff(format_chunk(encoding=3, bits=32), SAMPLES), "floating point, 32 bit"),
        (riff(format_chunk(encoding=0xFFFE), SAMPLES), "encoding 65534"),
        (riff(FINE, SAMPLES)[:-6], "cut off: 40 bytes of samples are promised and 34"),
        (riff(FINE, (b"data", bytes(6))), "inside a stereo frame"),
        (riff(*[(b"junk", b"")] * CHUNK_LIMIT, FINE, SAMPLES), "`data` chunk is missing"),
        (riff((b"LIST", bytes(8)), FINE)[:-10], "damaged header"),
    ],
)
def test_other_sound_is_refused_with_what_was_found_and_what_is_needed(sound: bytes, complaint: str) -> None:
    with pytest.raises(ComputeError) as caught:
        locate(sound)
    assert caught.value.code == "bad_sound"
    assert complaint in caught.value.sentence
    assert "PCM, 16 bit, 48000 Hz, stereo" in caught.value.sentence


def test_wav_files_of_other_makers_are_read() -> None:
    extensible = struct.pack("<HHI", 22, 16, 3) + PCM_SUBFORMAT
    long_format = (b"fmt ", format_chunk(encoding=0xFFFE)[1] + extensible)
    unknown_length = bytearray(riff(FINE, (b"data", SAMPLES[1] + b"\7")))
    unknown_length[40:44] = b"\xff" * 4
    for sound in (riff((b"LIST", b"odd"), long_format, SAMPLES, (b"id3 ", b"x")), bytes(unknown_length)):
        assert read_wav(sound).tolist() == [[1, 2]] * 10


def read_or_refuse(sound: bytes) -> tuple[str | None, NDArray[np.int16]]:
    try:
        return None, read_wav(sound)
    except ComputeError as error:
        return error.code, np.zeros((0, 2), np.int16)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_damaged_files_are_read_or_refused(data: st.DataObject) -> None:
    sound = bytearray(riff((b"LIST", bytes(6)), FINE, SAMPLES))
    for _ in range(data.draw(st.integers(0, 4))):
        sound[data.draw(st.integers(0, len(sound) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(sound[: data.draw(st.integers(0, len(sound)))])
    code, samples = read_or_refuse(cut)
    assert code in (None, "bad_sound")
    assert samples.nbytes <= len(cut)
    assert samples.shape == (len(samples), 2)
