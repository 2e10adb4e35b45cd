"""Abuse of the data endpoint's parameters, of its query string and of what goes around it."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from urllib.parse import quote

from onlooker.data.entities import PATH
from onlooker.metrics.dimensions import DIMENSIONS
from onlooker.metrics.query import EARLIEST, LATEST, Time
from onlooker.proof.questions.marked_streams import HOUR_MS, SPAN_H
from onlooker.proof.questions.sender import QuestionSender
from onlooker.proof.questions.tally import ANSWERED, CUT_OFF, REFUSED, RIGHT, TOO_LARGE, Expected
from onlooker.proof.questions.wire import Header

ENTITIES = PATH
ENTITIES_CSV = f"{ENTITIES}.csv"
TABLES = (ENTITIES_CSV, f"{ENTITIES}.parquet")
PATHS = (ENTITIES, *TABLES)

METRICS = (
    *("passing_by", "interested", "stop_time", "attention_time", "category", "gender"),
    *("satisfaction", "age", "emotion", "stopped"),
)
ZONES = ("UTC", "Europe/Paris", "Asia/Kathmandu", "Australia/Lord_Howe", "America/St_Johns", "Pacific/Apia")
SQL = (
    *("' OR 1=1--", "'; DROP TABLE visits_visit;--", "1); SELECT pg_sleep(30)--", "passing_by' UNION SELECT 1--"),
    *('"', "\\'", "$$", "$1", "%s", "%(stream_id)s", "{}", "/*", "passing_by;", "stream_id", "*", "1 OR stream_id=2"),
    *("(SELECT count(*) FROM visits_visit)", "passing_by/**/", "%'", "{0.__class__}", "${jndi:ldap://127.0.0.1/}"),
)
TEXTS = (*SQL, "", " ", "\0", "a\0b", "\x7f", "null", "NaN", "[]", "☃", "\u202e", "a" * 3000, "../../etc/passwd", "\n")
"""Wrong for every parameter."""

WRONG: dict[str, tuple[str, ...]] = {
    "metrics": (
        *("views", "passing_by,views", ",", "passing_by,", ",passing_by", "passing_by;gender", "passing_by|gender"),
        *("__class__", "value", "passing_by\0", "pässing_by", "passing_by.value", "passing_by\n"),
    ),
    "from_date": (
        *("0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "10000-01-01T00:00:00Z", "1e9"),
        *("-2026-01-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01T25:00:00Z", "now"),
        *("2026-01-01T00:61:00Z", "2026-01-01T00:00:00+99:99", "2026-01-01T00:00:00+24:00", "yesterday", "T", "Z"),
        *("٢٠٢٦-01-01T00:00:00Z", "2026-01-01T00:00:00Europe/Paris", "2026-01-01T00:00:00+-1:00", "1969-12-31"),
        *("2026-01-01T00:00:00Z2026-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59"),
        *("2201-01-01T00:00:00Z", "1600-01-01T00:00:00Z", "infinity", "-infinity", "epoch", "2026-01-01T00:00:00Z\0"),
        *("2026-01-01T00:00:00\0", "2026-01-01T00:00:00+01:00\0", "2026-01-01T00:00\0Z"),
    ),
    "time": (
        "by_minute",
        "by_year",
        "by_quarter",
        "by_hour,by_day",
        "by_hour ",
        "1",
        "hour",
        "Time.GLOBAL",
        "by_hour\0",
    ),
    "page": (
        *("-1", "0", "-0", "1.5", "1.0", "1e0", "1e9", "1000000000", "9" * 30, "9" * 3000, "0x1", "1_0", "one", "+"),
        *("٣", "²", "\uff11", "½", "NaN", "inf", "-9223372036854775809", "18446744073709551616", "1,2", "1;2", "1 2"),
    ),
    "tz": (
        *("../../etc/passwd", "/etc/passwd", "Europe/../../../etc/passwd", "Europe", "America/Argentina", "Europe/"),
        *("Europe/Paris/", "/UTC", "./UTC", "..", ".", "zone.tab", "tzdata.zi", "leapseconds", "zone1970.tab", "\\UTC"),
        *("Europe/Nowhere", "a" * 1000, "a/" * 500, "UTC\0", "Europe/Paris\0.txt", "+02:00", "C:\\", "~root", "-", "É"),
        *("__init__.py", "../zoneinfo/UTC", "file:///etc/localtime", "UTC+2", "CON", "Europe//Paris/../Paris"),
    ),
    "by": (
        *("height", "gender,", ",gender", "gender,gender", "gender,age,emotion", "gender age", "GENDER", "gender\0"),
        *("__class__", "by_hour", "passing_by", "gender;age", "stream_id", "*", "hour_of_week", "gender,__dict__"),
    ),
    "filter": (
        *("gender", "gender:", ":female", "gender=female", "gender:female,", "height:tall", "gender:female|male"),
        *("age:25", "age:65 ", "age:25-34,age", "gender:Female", "stop_band:3", "hour_of_day:24", "weekday:1"),
        *("gender:female:male", "gender:female age:65+", "known_gender:female", "gender:' OR 1=1--", "weekday:mon\0"),
    ),
}
DOUBTFUL: dict[str, tuple[str, ...]] = {
    "metrics": (
        "passing_by,passing_by",
        "passing_by, gender",
        " passing_by",
        "PASSING_BY",
        ",".join(["passing_by"] * 600),
    ),
    "from_date": (
        *("2026-01-01", "20260101T000000Z", "2026-W01-1", "2026-01-01T24:00:00Z", "2026-01-01T00:00:60Z", "2026-001"),
        *("2026-01-01 00:00:00", "2026-01-01T00:00:00 02:00", "2026-01-01T00:00:00.123456789Z", "2026-01-01T00Z"),
        *("2026-01-01T00:00:00,5Z", "2026-01-01t00:00:00z", "2026-01-01T00:00:00+02:00:30", "1970-01-01T00:00:00"),
        *("2026-01-01T00:00:00-0000", " 2026-01-01T00:00:00Z", "1700000000", "2026-01-01T00:00:00+14:00"),
    ),
    "time": ("GLOBAL", "By_Hour"),
    "page": ("01", " 1", "1 ", "+1", "1\n"),
    "tz": ("utc", "europe/paris", "posixrules", "localtime", "Factory", "right/UTC", "posix/UTC", "EST5EDT", "GMT0"),
    "by": ("weekday,hour_of_day", "emotion,category"),
    "filter": ("gender:female,gender:female", "age:?", ",".join(["gender:male"] * 600)),
}
"""Right or wrong: nobody is promised either, and either is answered properly."""
LIKE = {**{name: name for name in WRONG}, "to_date": "from_date"}
"""Whose wrong values each parameter gets: the two dates are read alike."""
VALUES: dict[str, tuple[tuple[str, Expected], ...]] = {
    name: (*((text, REFUSED) for text in (*WRONG[like], *TEXTS)), *((text, ANSWERED) for text in DOUBTFUL[like]))
    for name, like in LIKE.items()
}
GARBAGE = (
    *("%", "%%", "%z", "%zz", "%0", "%00", "%ff", "%fe%ff", "%c0%80", "%ed%a0%80", "%u0041", "%25", "%2525", "=", "&"),
    *("&&&", "==", "a", "a=b=c", ";", "?", "??", "&=", "%26", "%3d", "[]=1", "metrics[]=passing_by", "+", "%0d%0a"),
)
HEADERS: tuple[Header, ...] = (
    *(("If-None-Match", text) for text in ("*", 'W/"', '""', "x" * 3000, "\xff", 'W/"a", W/"b"', ",,,")),
    *(("Accept-Encoding", text) for text in ("gzip;q=x", "br, gzip;q=0", "*", "gzip, gzip", "\xff", "identity;q=0")),
    *(("Origin", text) for text in ("null", "https://evil.example.org", "\xff", "a" * 3000, "")),
    *(("Host", text) for text in ("evil.example.org", "\xff", "", "a" * 3000)),
    *(("X-Forwarded-Host", "evil.example.org"), ("X-Forwarded-Proto", "file"), ("X-Forwarded-For", "\xff")),
    *(("Range", "bytes=0-1"), ("Expect", "100-continue"), ("Cookie", "a=b;" * 2000), ("Accept", "text/html")),
    *(("X-Http-Method-Override", "DELETE"), ("Content-Type", "application/json"), ("X-Request-Id", "\x01")),
)
SPELLINGS = ("%Y-%m-%dT%H:%M:%S.%f%z", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%dT%H:%M:%SZ")
"""Of a moment; without an offset it is read in the stream's time zone or in `tz`."""
METHODS = ("POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW")
ALL_TIME = {"from_date": EARLIEST.isoformat(), "to_date": LATEST.isoformat()}
LENGTHS = (9_000, 20_000, 60_000)
Scenario = Callable[[random.Random, QuestionSender], None]


def question(reader: QuestionSender, **changes: str) -> dict[str, str]:
    """A right one over all that was written, with other values as told."""
    begins = datetime.fromtimestamp(reader.streams[0].begins_ms / 1000, UTC)
    right = {
        "metrics": ",".join(METRICS),
        "from_date": begins.isoformat(),
        "to_date": (begins + timedelta(hours=SPAN_H)).isoformat(),
        "time": "by_day",
    }
    return right | changes


def target(parameters: dict[str, str], path: str = ENTITIES) -> str:
    pairs = (f"{name}={quote(value.encode(errors='surrogatepass'), safe='')}" for name, value in parameters.items())
    return f"{path}?{'&'.join(pairs)}"


def wrong_value(name: str) -> Scenario:
    """One parameter with one value after another, two at a turn; of a table too, which has no pages."""
    values = VALUES[name]

    def send(source: random.Random, reader: QuestionSender) -> None:
        place = source.choice(range(len(values)))
        for text, expected in (values[place], values[place - len(values) // 2]):
            path = source.choice(PATHS)
            asked = target(question(reader, **{name: text}), path)
            right = REFUSED if name == "page" and path in TABLES else expected
            reader.ask(f"wrong {name}", asked, expected=right, whose=source.randrange(2))

    return send


def ask_rightly(source: random.Random, reader: QuestionSender) -> None:
    """Any metrics of any range in any zone, cut anywhere."""
    spelling = source.choice(SPELLINGS)
    begins_ms = source.randrange(-6 * HOUR_MS, SPAN_H * HOUR_MS)
    ends_ms = begins_ms + 3 * HOUR_MS + source.randrange(SPAN_H * HOUR_MS)
    zone = timezone(timedelta(minutes=source.choice([0, 120, -210, 345])))
    first = datetime.fromtimestamp(reader.streams[0].begins_ms / 1000, zone)
    asked = question(
        reader,
        metrics=",".join(source.sample(METRICS, source.randint(1, len(METRICS)))),
        from_date=(first + timedelta(milliseconds=begins_ms)).strftime(spelling),
        to_date=(first + timedelta(milliseconds=ends_ms)).strftime(spelling),
        time=source.choice(list(Time)),
        tz=source.choice(ZONES),
    )
    path = source.choice([ENTITIES, ENTITIES, *TABLES])
    reader.ask("right questions", target(asked, path), expected=RIGHT, whose=source.randrange(2))


def break_down(source: random.Random, reader: QuestionSender) -> None:
    """Any dimensions, any parts of others, of any metrics in any buckets; and beside what can't be combined."""
    by = source.sample(list(DIMENSIONS.values()), source.randint(1, 2))
    kept = source.sample(list(DIMENSIONS.values()), source.randint(0, 2))
    pairs = [f"{one.name}:{part}" for one in kept for part in source.sample(one.parts, source.randint(1, 3))]
    changes = {"by": ",".join(one.name for one in by), "time": source.choice(list(Time)), "tz": source.choice(ZONES)}
    changes |= {"metrics": ",".join(source.sample(METRICS, source.randint(1, 4)))}
    changes |= {"filter": ",".join(pairs)} if pairs else {}
    expected = ANSWERED if changes["time"] in (Time.BY_HOUR, Time.BY_QUARTER_HOUR) else RIGHT
    wrong = source.choice([{}, {}, {}, {"compare": "previous"}, {"metrics": "quality"}, {"filters": "gender:female"}])
    path = source.choice([ENTITIES, ENTITIES, *TABLES])
    asked = target(question(reader, **changes | wrong), path)
    reader.ask("breakdowns", asked, expected=REFUSED if wrong else expected, whose=source.randrange(2))


def turn_pages(source: random.Random, reader: QuestionSender) -> None:
    page = source.choice([*range(1, 7), 10**6])
    pages = -(-SPAN_H // 50)
    expected = RIGHT if page <= pages else REFUSED
    asked = target(question(reader, time="by_hour", tz="UTC", page=str(page)))
    reader.ask("pages", asked, expected=expected, whose=source.randrange(2))


def turn_around(source: random.Random, reader: QuestionSender) -> None:
    """A range that is empty, or goes back in time; or one that no one has lived through."""
    right = question(reader)
    changes, expected = source.choice(
        [
            ({"to_date": right["from_date"]}, REFUSED),
            ({"from_date": right["to_date"], "to_date": right["from_date"]}, REFUSED),
            ({"from_date": right["to_date"], "to_date": ALL_TIME["to_date"]}, RIGHT),
            *(({**ALL_TIME, "time": time}, RIGHT) for time in Time),
        ]
    )
    reader.ask("ranges", target(right | changes), expected=expected, whose=source.randrange(2))


def leave_out(source: random.Random, reader: QuestionSender) -> None:
    """Without some of the parameters; two of them are required."""
    missing = source.choice([("metrics",), ("from_date",), ("metrics", "from_date"), ("time",), ("to_date",), ()])
    asked = {name: value for name, value in question(reader).items() if name not in missing}
    expected = REFUSED if {"metrics", "from_date"} & set(missing) else RIGHT
    path = source.choice(PATHS)
    reader.ask("left out", target(asked, path), expected=expected, whose=source.randrange(2))


def say_twice(source: random.Random, reader: QuestionSender) -> None:
    name = source.choice(["metrics", "from_date", "to_date", "time", "page", "tz"])
    asked = question(reader, page="1", tz="UTC")
    again = asked[name] if source.random() < 0.5 else source.choice(["", "1", "x"])
    path = source.choice(PATHS)
    twice = f"{target(asked, path)}&{name}={quote(again, safe='')}"
    reader.ask("said twice", twice, expected=REFUSED, whose=source.randrange(2))


def add_unknown(source: random.Random, reader: QuestionSender) -> None:
    """Historic clients send parameters that nobody knows."""
    name = source.choice(["stream_id", "client_id", "user_id", "stream", "credential", "format", "limit", "x", "_"])
    other = reader.streams[1].stream
    value = source.choice([str(other.id), other.client_id, "1", "", "☃", "' OR 1=1--"])
    reader.ask("unknown parameters", target(question(reader, **{name: value})), expected=RIGHT)


def garble(source: random.Random, reader: QuestionSender) -> None:
    """Percent signs, ampersands and what is no UTF-8, anywhere in a right query."""
    asked = target(question(reader), source.choice(PATHS))
    place = source.randrange(asked.index("?") + 1, len(asked) + 1)
    garbled = asked[:place] + source.choice(GARBAGE) + asked[place:]
    reader.ask("garbled", garbled, expected=ANSWERED, whose=source.randrange(2))


def mutate(source: random.Random, reader: QuestionSender) -> None:
    """Any byte anywhere."""
    letters = list(target(question(reader)))
    for _ in range(source.randint(1, 4)):
        letters[source.randrange(len(ENTITIES) + 1, len(letters))] = chr(source.choice([*range(256)]))
    expected = {**ANSWERED, **CUT_OFF}
    reader.ask("any bytes", "".join(letters).replace("\n", ""), expected=expected, whose=source.randrange(2))


def grow(source: random.Random, reader: QuestionSender) -> None:
    """A query string that is far too long; beyond 64 KiB it is no head that anybody reads to its end."""
    length = source.choice([*LENGTHS, 100_000, 1_000_000])
    name = source.choice(["metrics", "tz", "x", "page", "from_date"])
    text = source.choice(["passing_by,", "a", "9", "☃"])
    asked = target(question(reader, **{name: text * (length // len(quote(text)))}))
    reader.ask("long queries", asked, expected=TOO_LARGE if length in LENGTHS else CUT_OFF)


def add_header(source: random.Random, reader: QuestionSender) -> None:
    name, value = source.choice(HEADERS)
    path = source.choice(PATHS)
    asked = target(question(reader, time="by_hour"), path)
    expected = {**RIGHT, 304: ("",), **CUT_OFF}
    reader.ask("headers", asked, (name, value), expected=expected, whose=source.randrange(2))


def swell(source: random.Random, reader: QuestionSender) -> None:
    """Headers that are far too large."""
    lines: list[Header] = [("X-Large", "a" * source.choice([30_000, 70_000, 1_000_000]))]
    if source.random() < 0.5:
        lines = [(f"X-{number}", "a") for number in range(source.choice([200, 2_000, 50_000]))]
    reader.ask("large headers", target(question(reader)), *lines, expected={**RIGHT, **CUT_OFF})


def use_method(source: random.Random, reader: QuestionSender) -> None:
    method = source.choice([*METHODS, "HEAD", "OPTIONS"])
    asked = target(question(reader), source.choice(PATHS))
    refused: Expected = {405: ("method_not_allowed",)}
    expected: Expected = {"HEAD": RIGHT, "OPTIONS": {200: ("",), 204: ("",)}}.get(method, refused)
    body = b"{}" if method in ("POST", "PUT") else b""
    reader.ask("methods", asked, expected={**expected, **CUT_OFF}, method=method, body=body)


def send_body(source: random.Random, reader: QuestionSender) -> None:
    """A GET that carries something."""
    body = source.choice([b"{}", b"metrics=gender", source.randbytes(2000), b"x" * 100_000])
    reader.ask("bodies", target(question(reader)), expected={**RIGHT, **TOO_LARGE}, body=body)


def ask_for_too_much(source: random.Random, reader: QuestionSender) -> None:
    """A table of all time by hour or quarter hour: more rows than a table may have."""
    time = source.choice([Time.BY_HOUR, Time.BY_QUARTER_HOUR])
    asked = target(question(reader, **ALL_TIME, time=time), source.choice(TABLES))
    reader.ask("long tables", asked, expected=REFUSED, whose=source.randrange(2))


def wander(source: random.Random, reader: QuestionSender) -> None:
    """Beside the paths there are."""
    path = source.choice(
        [
            *("/", "/api", "/api/1", "/api/1/", "/api/2/entities", "/api/1/entities.json", "/api/1/entities.csv/x"),
            *("/api/1/entities.parq", "/api/1/entities.parquet/x"),
            *("/api/1/entities%00", "/api/1/../1/entities", "/api/1/%2e%2e/entities", "//api/1/entities", "/metrics"),
            *("/api/1/ENTITIES", "/admin", "/docs", "/api/1/entities;x", "/.well-known/jwks.json", "/services", "/*"),
        ]
    )
    reader.ask("other paths", path, expected={404: ("not_found",), **REFUSED})


SCENARIOS: dict[str, Scenario] = {
    **{f"wrong_{name}": wrong_value(name) for name in VALUES},
    **{f"ask_rightly_{number}": ask_rightly for number in range(4)},
    **{f"break_down_{number}": break_down for number in range(3)},
    **{
        scenario.__name__: scenario
        for scenario in (
            *(turn_pages, turn_around, leave_out, say_twice, add_unknown, garble, mutate, grow, add_header, swell),
            *(use_method, send_body, ask_for_too_much, wander),
        )
    },
}
