"""A removed stream is gone from the bytes of PostgreSQL's files and of the bus's, as far as PostgreSQL allows."""

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator

import psycopg
import pytest

from onlooker.proof.bus_files import BusFiles
from onlooker.visits.writer import VisitRefusal, put_visit_aside
from onlooker_pipeline.visits.visit import Visit
from recorder_process import Recording, eventually, running_recording, visit, with_pool
from testkit import migrated_database
from testkit.database_files import DatabaseFiles

PURGE = """
import os
from datetime import timedelta
os.environ["DJANGO_SETTINGS_MODULE"] = "onlooker.console.web.settings"
import django
django.setup()
from django.utils import timezone
from onlooker.console.streams.purge import purge_removed_streams
from onlooker.streams.administration import remove_stream
from onlooker.streams.models import Stream
remove_stream(Stream.objects.get(name="{name}"))
assert purge_removed_streams(timezone.now() + timedelta(hours=1)) == 1
"""


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recording]:
    with (
        migrated_database() as database_url,
        running_recording(database_url, tmp_path_factory.mktemp("recording")) as running,
    ):
        yield running


def make_stream(recording: Recording) -> tuple[int, dict[str, bytes]]:
    """With a name, a client_id and a secret's hash that nothing else in the database has."""
    stream_id = recording.create_stream()
    marks = {name: uuid.uuid4() for name in ("client_id", "secret")}
    name = uuid.uuid4().hex
    recording.execute(
        "UPDATE streams_stream SET name = %s, client_id = %s WHERE id = %s", name, marks["client_id"], stream_id
    )
    secret = marks["secret"].bytes
    recording.execute(
        "INSERT INTO streams_accesstoken (stream_id, sha256, created_at) VALUES (%s, %s, now())", stream_id, secret
    )
    return stream_id, {
        "name": name.encode(),
        "client_id": marks["client_id"].bytes,
        "secret": secret,
    }


def write_visits(recording: Recording, stream_id: int) -> list[Visit]:
    """Through the bus, as workers do; and one that is put aside."""
    visits = [visit(stream_id) for _ in range(20)]
    recording.publish(*visits)
    eventually(lambda: len(recording.revisions(stream_id)) == len(visits))
    aside = visit(stream_id)
    with_pool(
        recording.settings.database_url, lambda pool: put_visit_aside(pool, VisitRefusal(aside, "refused", "test"))
    )
    return [*visits, aside]


def remove(recording: Recording, name: str) -> None:
    environment = os.environ | {"ONLOOKER_DATABASE_URL": recording.settings.database_url}
    subprocess.run([sys.executable, "-c", PURGE.format(name=name)], env=environment, check=True, timeout=60)


def vacuum(recording: Recording, command: str) -> DatabaseFiles:
    with psycopg.connect(recording.settings.database_url, autocommit=True) as superuser:
        superuser.execute("ANALYZE")  # samples of values in the catalogue are replaced by later ones
        superuser.execute(command)
    return DatabaseFiles.read(recording.settings.database_url)


def test_a_removed_stream_leaves_no_bytes(recording: Recording) -> None:
    stays, kept = make_stream(recording)
    stream_id, marks = make_stream(recording)
    others = write_visits(recording, stays)
    visits = write_visits(recording, stream_id)
    traces = marks | {f"visit {number}": one.id for number, one in enumerate(visits)}
    before = vacuum(recording, "VACUUM")
    missing = [name for name, trace in traces.items() if not before.holding(trace)]
    assert not missing, "the search finds what is there"
    remove(recording, marks["name"].decode())
    vacuumed = vacuum(recording, "VACUUM")
    left = {name: found for name, trace in traces.items() if (found := vacuumed.holding(trace))}
    print(f"after VACUUM, in free space of pages that other rows share: {left}")
    rewritten = vacuum(recording, "VACUUM FULL")
    left = {name: found for name, trace in traces.items() if (found := rewritten.holding(trace))}
    assert left == {}
    for trace in (*kept.values(), *(one.id for one in others)):
        assert rewritten.holding(trace), "other streams keep theirs"


def test_visits_leave_the_bus_s_files_soon_after_they_are_written(recording: Recording) -> None:
    stream_id, _ = make_stream(recording)
    visits = write_visits(recording, stream_id)[:-1]
    home = recording.folder
    eventually(lambda: not any(BusFiles.read(home).holds(one.id) for one in visits), within_s=60)


def test_what_waits_in_the_bus_is_found_there(recording: Recording) -> None:
    """So the test before can fail."""
    stream_id, _ = make_stream(recording)
    waiting = visit(stream_id)
    recording.kill_recorder()
    recording.publish(waiting)
    assert BusFiles.read(recording.folder).holds(waiting.id)
