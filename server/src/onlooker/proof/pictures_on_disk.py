"""Sends marked pictures down every way, and looks for anything of them wherever the product could have left it."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onlooker.proof.agent_ways import DeviceRun, ProofDevice, find_agent
from onlooker.proof.check import Check, Finding
from onlooker.proof.file_watch import FileWatch
from onlooker.proof.installation import Installation
from onlooker.proof.marked_pictures import MarkedPictures, draw_picture
from onlooker.proof.picture_traces import PictureMarks, find_traces
from onlooker.proof.places import Searched, StoragePlace, search, search_places
from onlooker.proof.planted import find_planted, find_planted_vectors, planted_pictures
from onlooker.proof.product_processes import find_processes
from onlooker.proof.vectors import find_vectors
from onlooker.proof.ways import (
    Caller,
    Sent,
    picture_services,
    send_asynchronous,
    send_blob,
    send_session,
    send_streaming,
    send_synchronous,
    send_trial,
)

PROMISES = (
    "kept-agent-frame",
    "kept-device-journal",
    "kept-sync-frame",
    "kept-previous-frame",
    "kept-async-frame",
    "kept-blob",
    "kept-trial-frames",
    "frames-only-in-memory",
    "two-short-exceptions",
    "device-keeps-no-frames",
    "no-frame-in-log",
    "no-frame-in-core-dump",
    "no-frame-in-result",
    "one-picture-in-memory",
    "states-only-numbers",
    "trial-leaves-nothing",
)
OF_WAY = {
    "sync": "kept-sync-frame",
    "async": "kept-async-frame",
    "session": "kept-previous-frame",
    "blob": "kept-blob",
    "streaming": "kept-sync-frame",
    "trial": "kept-trial-frames",
    "agent": "kept-agent-frame",
    "analyse": "kept-agent-frame",
    "device": "kept-device-journal",
}
"""The row that a way's pictures are promised in."""
OF_PLACE = {
    "blob store": "two-short-exceptions",
    "session states": "states-only-numbers",
    "logs": "no-frame-in-log",
    "system logs": "no-frame-in-log",
    "core dumps": "no-frame-in-core-dump",
    "device": "device-keeps-no-frames",
    "results": "no-frame-in-result",
}
"""The row that is broken by something in a place; of all others, that of all frames."""
DEVICES = ("agent", "analyse", "device")
FILM_S = 8.0
BLOB_STORE = "blob store"
SUPERVISOR = "onlooker up"
"""It starts the others, and never holds a frame."""


@dataclass
class Expedition:
    """All that was sent, and what came back."""

    pictures: MarkedPictures = field(default_factory=MarkedPictures)
    sent: list[Sent] = field(default_factory=list)
    devices: list[DeviceRun] = field(default_factory=list)
    trial_visits: int = 0
    limits: list[str] = field(default_factory=list)

    @property
    def taken(self) -> list[str]:
        return [*(one.way for one in self.sent), *(one.way for one in self.devices)]

    @property
    def faults(self) -> dict[str, list[str]]:
        """By way. A way that did not work proves nothing."""
        unseen = ["nobody was found in its pictures"]
        faults = {one.way: [*one.faults, *([] if one.people else unseen)] for one in self.sent}
        faults |= {one.way: one.faults for one in self.devices}
        return {way: ones for way, ones in faults.items() if ones}


def run(installation: Installation) -> Finding:
    seen = installation.storage
    planted = plant(installation)
    temporary = [installation.home / "tmp", *seen.temporary_folders()]
    with FileWatch(temporary, leave_out=list(seen.elsewhere()), since=seen.began_at, levels=2) as watch:
        expedition = send_pictures(installation)
    if watch.not_kept:
        expedition.limits.append(f"{watch.not_kept} temporary files came too fast to be copied while frames were sent.")
    installation.say("Searches every place where something of them could be.")
    marks = expedition.pictures.marks()
    searched = search_places(installation, _finder(marks))
    _add(searched, StoragePlace("temporary files while frames were sent", _parts(watch.contents), is_own=False), marks)
    for ran in expedition.devices:
        _add(searched, StoragePlace(f"device ({ran.way})", _parts(ran.contents)), marks)
    for sent in expedition.sent:
        _add(searched, StoragePlace(f"results ({sent.way})", _parts([(sent.way, one) for one in sent.answers])), marks)
    return conclude(installation, expedition, searched, planted)


def send_pictures(installation: Installation) -> Expedition:
    """Down every way; the devices work meanwhile."""
    expedition = Expedition()
    with ThreadPoolExecutor(len(DEVICES)) as pool:
        running = [pool.submit(device.run, program) for device, program in _devices(installation, expedition)]
        _send_over_http(installation, expedition)
        expedition.devices = [one.result() for one in running]
    return expedition


def _devices(installation: Installation, expedition: Expedition) -> Iterator[tuple[ProofDevice, str]]:
    program = find_agent(installation.agent)
    if program is None:
        expedition.limits.append(
            "The agent is not installed on this machine, so its ways (agent, analyse, device) were not taken. Name its "
            "program: `onlooker prove --agent PATH`."
        )
        return
    films = installation.folder / "films"
    films.mkdir()
    for way in DEVICES:
        installation.say(f"Way: {way}")
        film = expedition.pictures.film(way, films / f"{way}.avi", seconds=FILM_S)
        yield ProofDevice(installation, way, film), program


def _send_over_http(installation: Installation, expedition: Expedition) -> None:
    caller = Caller.of(installation, installation.stream)
    services, draw = picture_services(installation), expedition.pictures.draw
    for way, send in (
        ("sync", send_synchronous),
        ("async", send_asynchronous),
        ("session", send_session),
        ("streaming", send_streaming),
    ):
        installation.say(f"Way: {way}")
        expedition.sent.append(send(caller, services, draw(way)))
    installation.say("Way: blob, which must be found while it is stored")
    picture = draw("blob")
    marks = expedition.pictures.marks("blob")
    blobs = [place for place in installation.storage.places() if place.name == BLOB_STORE]
    expedition.sent.append(send_blob(caller, services, picture, lambda: bool(search(blobs, _finder(marks)).hits)))
    installation.say("Way: trial")
    sent, stream = send_trial(installation, services, draw("trial"))
    expedition.sent.append(sent)
    expedition.trial_visits = int(
        installation.query("SELECT count(*) FROM visits_visit WHERE stream_id = %s", [stream.id])[0][0]
    )


def plant(installation: Installation) -> dict[str, bool]:
    """Whether the search finds traces that are written on purpose: in memory, in the home, in the database."""
    installation.say("Plants traces on purpose, and finds them.")
    frame = draw_picture()
    marks = PictureMarks([frame])
    found = find_planted(frame, marks) | {
        f"{name}, among others' files": ok for name, ok in find_planted(frame, marks, only_known=True).items()
    }
    found |= {f"embedding as {name}": ok for name, ok in find_planted_vectors().items()}
    file = installation.home / f"proof-planted-{installation.folder.name}"
    try:
        file.write_bytes(planted_pictures(frame)["crop"])
        home = [place for place in installation.storage.places() if place.name == "home"]
        found["a file in the home"] = bool(search(home, _finder(marks)).hits)
    finally:
        file.unlink(missing_ok=True)
    with closing(installation.storage.database.read_planted(frame.tobytes())) as parts:
        found["a row in the database"] = any(_traces(content, marks, is_own=True) for _, content in parts)
    return found


def conclude(
    installation: Installation, expedition: Expedition, searched: Searched, planted: dict[str, bool]
) -> Finding:
    processes = find_processes(installation.home).items()
    dumping = sorted(name for pid, name in processes if name != SUPERVISOR and may_dump_core(pid))
    blind = [name for name, ok in planted.items() if not ok]
    broken = set(broken_by(searched.hits))
    broken |= {"no-frame-in-core-dump"} if dumping else set()
    broken |= {"trial-leaves-nothing", "kept-trial-frames"} if expedition.trial_visits else set()
    not_taken = set(OF_WAY) - set(expedition.taken) | set(expedition.faults)
    unchecked = set(PROMISES) if blind else {OF_WAY[way] for way in not_taken}
    figures: dict[str, Any] = {
        "frames": {one.way: one.frames for one in expedition.sent},
        "visits_of_devices": {one.way: one.visits for one in expedition.devices},
        "traces": searched.hits[:50],
        "searched": searched.read,
        "planted_found": planted,
        "faults": expedition.faults,
        "processes_that_may_dump_core": dumping,
        "visits_of_trial": expedition.trial_visits,
        "database_read_as": installation.storage.database.manner,
    }
    return Finding(
        done=_describe(expedition, searched, planted, installation),
        found=_sum_up(searched.hits, expedition, dumping, blind),
        ok=not broken,
        figures=figures,
        broken=tuple(sorted(broken)),
        unchecked=tuple(sorted(unchecked - broken)),
        limits=tuple(dict.fromkeys([*expedition.limits, *searched.limits])),
    )


def broken_by(hits: Iterable[str]) -> Iterator[str]:
    """The rows that traces break, by where they are."""
    for hit in hits:
        place, _, way = hit.partition(":")[0].rstrip(")").partition(" (")
        yield OF_PLACE.get(place, "frames-only-in-memory")
        yield OF_WAY[way] if place == "device" else "frames-only-in-memory"


def may_dump_core(pid: int) -> bool:
    """Whether the kernel would write one; not for a process that is gone."""
    try:
        limits = Path(f"/proc/{pid}/limits").read_text()
    except OSError:
        return False
    line = next(line for line in limits.splitlines() if line.startswith("Max core file size"))
    return line.split()[4] != "0"


def _describe(expedition: Expedition, searched: Searched, planted: dict[str, bool], installation: Installation) -> str:
    ways = ", ".join(expedition.taken)
    places = ", ".join(name for name, counts in searched.read.items() if counts["parts"])
    return (
        f"Marked pictures of somebody were sent down these ways: {ways}. Their bytes, pixels, crops, thumbnails and "
        f"embeddings were looked for in {searched.total_bytes / 1e6:.0f} MB that were written meanwhile: {places}. "
        f"The database was read as {installation.storage.database.manner}. {len(planted)} traces were planted to see "
        "whether the search finds them; a blob was found while it was stored on purpose."
    )


def _sum_up(hits: list[str], expedition: Expedition, dumping: list[str], blind: list[str]) -> str:
    parts = [f"{len(hits)} traces: {'; '.join(hits[:3])}." if hits else "No trace of any picture."]
    if expedition.trial_visits:
        parts.append(f"{expedition.trial_visits} visits of frames that were sent with a trial token.")
    if dumping:
        parts.append(f"These processes may write core dumps: {', '.join(dumping)}.")
    if blind:
        parts.append(f"Planted traces that were not found, so the search proves nothing: {', '.join(blind)}.")
    parts += [f"The way {way} did not work: {faults[0]}." for way, faults in expedition.faults.items()]
    return " ".join(parts)


def _finder(marks: PictureMarks) -> Any:
    return lambda content, place: _traces(content, marks, is_own=place.is_own)


def _traces(content: bytes, marks: PictureMarks, *, is_own: bool) -> list[str]:
    """Among others' files only the proof's own pictures count, and no embeddings: nobody knows whose they are."""
    found = [
        f"{trace.kind}{' ' if trace.within else ''}{trace.within} at byte {trace.at}"
        for trace in find_traces(content, marks, only_known=not is_own)
    ]
    return found + (list(find_vectors(content)) if is_own else [])


def _parts(contents: Iterable[tuple[Path | str, bytes]]) -> Any:
    return lambda _: ((str(name), content) for name, content in contents)


def _add(searched: Searched, place: StoragePlace, marks: PictureMarks) -> None:
    more = search([place], _finder(marks))
    searched.read |= more.read
    searched.hits += more.hits


CHECK = Check("pictures-on-disk", "Sends marked pictures down every way, and looks for them", PROMISES, run)
