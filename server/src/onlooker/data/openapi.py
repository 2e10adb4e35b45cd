"""The data endpoint's OpenAPI document, made from the routes and the metrics."""

from onlooker.data.breakdown_schema import MEMBERS, breakdown_parameters, cells_schema
from onlooker.data.comparison_schema import COMPARISON, comparison_parameters
from onlooker.data.parquet_file import MEDIA_TYPE
from onlooker.data.query import STREAM
from onlooker.errors import KINDS, Code
from onlooker.http.openapi import (
    TEXT,
    Schema,
    describe_api,
    header_schema,
    json_response_schema,
    object_schema,
    problem_response_schema,
    ready_schema,
    reference,
)
from onlooker.http.routes import RouteRow
from onlooker.metrics.coverage import Absence
from onlooker.metrics.definitions import METRICS, Metric, Number
from onlooker.metrics.extensions import CARRIED, EXTENSIONS, GAPS, IN_VIEW, QUALITY, WATCHED
from onlooker.metrics.query import HIGHEST_PAGE, KNOWN_METRICS, PAGE_BUCKETS, Time

# A request and its answer, which the document shows; a test asks for exactly this.
EXAMPLE_REQUEST: Schema = {
    "metrics": ["passing_by", "interested", "stop_time", "gender"],
    "from_date": "2026-03-28T00:00:00+01:00",
    "to_date": "2026-03-30T00:00:00+02:00",
    "time": "by_day",
    "tz": "Europe/Paris",
    "page": 1,
}
EXAMPLE_ANSWER: Schema = {
    "entities": {
        "2026-03-28T00:00:00+01:00": {
            "passing_by": {"value": 3},
            "interested": {"value": 2},
            "stop_time": {"value": 5.5},
            "gender": {"?": 0, "female": 1, "male": 1},
        },
        "2026-03-29T00:00:00+01:00": {
            "passing_by": {"value": 1},
            "interested": {"value": 0},
            "stop_time": {"value": None},
            "gender": {"?": 0, "female": 0, "male": 0},
        },
    },
    "time": "by_day",
    "from_date": "2026-03-28T00:00:00+01:00",
    "to_date": "2026-03-30T00:00:00+02:00",
    "total_results": 2,
    "nb_of_pages": 1,
    "page": 1,
    "next_page": "",
}
EXAMPLE_TABLE = (
    "bucket,passing_by,interested,stop_time,gender_?,gender_female,gender_male,exact,watched,watched_share,"
    f"{','.join(f'gaps_{absence}' for absence in Absence)}\r\n"
    f"2026-03-28T00:00:00+01:00,3,2,5.5,0,1,1,true,86400.0,1.0,{','.join('0.0' for _ in Absence)}\r\n"
    f"2026-03-29T00:00:00+01:00,1,0,,0,0,0,true,82800.0,1.0,{','.join('0.0' for _ in Absence)}\r\n"
)

_MOMENT: Schema = {
    "type": "string",
    "pattern": r"^(19[789][0-9]|20[0-9]{2})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?(Z|[+-](0[0-9]|1[0-3]):?[0-5][0-9])?$",
}
_TIME_RULE = (
    "How the range is cut into buckets. Quarter hours are 15 minutes of UTC; days, weeks from Monday on and months are "
    "those of the time zone"
)
_ZONE_RULE = "without an offset it is read in the stream's time zone, or in `tz`"
_GROUPS_RULE = (
    "Where the stream tells about people in groups, who is in no block that lies inside the range and the bucket "
    "is `?`, and in no mean"
)
_WAIT = {"Retry-After": header_schema("Seconds to wait", {"type": "integer"})}
_CHALLENGE = {"WWW-Authenticate": header_schema("Bearer", TEXT)}
_HEADERS = {
    Code.MISSING_TOKEN: _CHALLENGE,
    Code.MISSING_SCOPE: _CHALLENGE,
    Code.RATE_LIMITED: _WAIT,
    Code.OVERLOADED: _WAIT,
    Code.METHOD_NOT_ALLOWED: {"Allow": header_schema("The methods there are", TEXT)},
}
_REFUSALS = (
    *(Code.BAD_REQUEST, Code.MISSING_TOKEN, Code.MISSING_SCOPE, Code.NOT_FOUND),
    *(Code.RATE_LIMITED, Code.OVERLOADED),
)
_REFUSALS_OF_ALL = (Code.METHOD_NOT_ALLOWED, Code.INTERNAL_ERROR)
_TAG = {"ETag": header_schema("Names this answer, for If-None-Match", TEXT)}

_TOKEN_SCHEME: Schema = {
    "type": "http",
    "scheme": "bearer",
    "bearerFormat": "JWT",
    "description": "A token of one stream, from the console's token endpoint.",
}
_KEY_SCHEME: Schema = {
    "type": "http",
    "scheme": "bearer",
    "bearerFormat": "onl_...",
    "description": "A key of an organisation with scope `numbers`. The parameter `stream` says which stream.",
}
_STREAM_PARAMETER: Schema = {
    "name": STREAM,
    "in": "query",
    "description": "With a key: the client_id of the stream, required. With a token it is ignored: that is for one "
    "stream.",
    "schema": TEXT | {"format": "uuid"},
    "example": "0f5b1c7e-6d0a-4c8e-9b1f-2f6d3c1a7e55",
}

_COUNT: Schema = {"type": "integer", "minimum": 0}
_MEAN: Schema = {"type": ["number", "null"], "minimum": 0}
_NUMBER: Schema = {"type": "integer", "minimum": 1}


def _value_schema(metric: Metric) -> Schema:
    """With no visitors, a metric is 0 if it counts and null if it is a mean."""
    empty = metric.shape([0] * len(metric.figures))
    return object_schema(
        {part: _number_schema(number) for part, number in empty.items()},
        additionalProperties=False,
        description=metric.meaning,
    )


def _number_schema(empty: Number) -> Schema:
    return _MEAN if empty is None else _COUNT


_SHARE: Schema = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
_SECONDS: Schema = {"type": "number", "minimum": 0}
_COUNT_OR_NULL: Schema = {"type": ["integer", "null"], "minimum": 0}
_VERSIONS: Schema = {"type": ["string", "null"]}
_EXTENSION_PARTS: dict[str, dict[str, Schema]] = {
    WATCHED.name: {"value": _SECONDS, "share": _SHARE},
    GAPS.name: {absence.value: _SECONDS for absence in Absence},
    IN_VIEW.name: {"value": _COUNT_OR_NULL, "looking": _COUNT_OR_NULL},
    QUALITY.name: {
        "fps": _MEAN | {"description": "Frames a second that were looked at."},
        "face_fps": _MEAN | {"description": "The same while a face was in view."},
        "face_px": _COUNT_OR_NULL | {"description": "Median of faces' longer side in pixels, to 13 %."},
        "dark": _SHARE | {"description": "Share of these frames that were dark."},
        "age_read": _SHARE | {"description": "Share of interested people whose age is known, and told."},
        "gender_read": _SHARE,
        "expression_read": _SHARE,
        "models": _VERSIONS | {"description": "Version of the models; several are separated by commas."},
        "pipeline": _VERSIONS,
    },
}
_EXTENSION_SCHEMAS = {
    name: object_schema(parts, additionalProperties=False, description=EXTENSIONS[name].meaning)
    for name, parts in _EXTENSION_PARTS.items()
}
_METRIC_SCHEMAS = {name: _value_schema(metric) for name, metric in METRICS.items()} | _EXTENSION_SCHEMAS
BUCKET: Schema = {
    "type": "object",
    "properties": _METRIC_SCHEMAS | cells_schema({name: _METRIC_SCHEMAS[name] for name in (*METRICS, *CARRIED)}),
    "minProperties": 1,
    "additionalProperties": False,
}
ENTITIES = object_schema(
    {
        "entities": {
            "type": "object",
            "description": "By the start of each bucket, with its offset; `global` if there is only one.",
            "minProperties": 1,
            "maxProperties": PAGE_BUCKETS,
            "additionalProperties": BUCKET,
        },
        "time": {"enum": [str(one) for one in Time]},
        "from_date": TEXT | {"format": "date-time"},
        "to_date": TEXT | {"format": "date-time"},
        "total_results": _NUMBER | {"description": "How many buckets the whole range has."},
        "nb_of_pages": _NUMBER,
        "page": _NUMBER,
        "next_page": TEXT | {"description": "URL of the next page; empty on the last."},
    },
    additionalProperties=False,
)
ENTITIES["properties"]["exact"] = {
    "const": False,
    "description": "There only where visits would have had to be looked at that were deleted after their time, and "
    "where the stream is on the grid: then `from_date` and `to_date` are rounded to whole slots of 15 minutes.",
}
ENTITIES["properties"]["comparison"] = COMPARISON
ENTITIES["properties"] |= MEMBERS


def describe_data(routes: tuple[RouteRow, ...], data_url: str) -> Schema:
    """The whole document."""
    ready = ready_schema("database")
    answers = {
        "show_entities": _entities_answers(),
        "show_table": _table_answers(),
        "show_parquet": _parquet_answers(),
        "show_ready": {"200": json_response_schema("It can", ready), "503": json_response_schema("It can't", ready)},
    }
    return describe_api(
        "Onlooker data endpoint",
        data_url,
        paths={row.path: {row.method.lower(): _operation(row, answers.get(row.handler.__name__))} for row in routes},
        schemas={"Entities": ENTITIES},
        security={"token": _TOKEN_SCHEME, "key": _KEY_SCHEME},
    )


def _operation(row: RouteRow, answers: Schema | None) -> Schema:
    answers = answers or {"200": json_response_schema("Success", {"type": "object"})}
    refusals = _REFUSALS_OF_ALL if row.open else (*_REFUSALS, *_REFUSALS_OF_ALL)
    operation: Schema = {
        "operationId": row.handler.__name__,
        "summary": row.summary,
        "parameters": [] if row.open else _parameters(row.handler.__name__),
        "responses": answers
        | {str(KINDS[code].status): problem_response_schema(code, headers=_HEADERS.get(code)) for code in refusals},
    }
    return operation | ({"security": []} if row.open else {})


def _parameters(operation: str) -> list[Schema]:
    meanings = {one.name: one.meaning for one in METRICS.values()} | {
        one.name: one.meaning for one in EXTENSIONS.values()
    }
    known = "; ".join(f"`{name}`: {meaning}" for name, meaning in meanings.items())
    names: Schema = {"type": "array", "items": {"enum": list(KNOWN_METRICS)}, "minItems": 1}
    time = {"enum": [str(one) for one in Time], "default": "global"}
    zone = {"type": "string", "pattern": "^[A-Za-z0-9_+/-]{1,64}$"}
    page = {"type": "integer", "minimum": 1, "maximum": HIGHEST_PAGE, "default": 1}
    listed = {"style": "form", "explode": False, "required": True}
    parameters = [
        _query("metrics", f"Which metrics, separated by commas. {known} {_GROUPS_RULE}", names) | listed,
        _query("from_date", f"Where the range begins; {_ZONE_RULE}", _MOMENT) | {"required": True},
        _query("to_date", f"Where it ends; {_ZONE_RULE}. Now if omitted", _MOMENT),
        _query("time", _TIME_RULE, time),
        _query("tz", "Time zone of the buckets, an IANA name; the stream's own if omitted", zone),
        _STREAM_PARAMETER,
        *breakdown_parameters(),
    ]
    if operation == "show_entities":
        parameters.append(_query("page", "Which page of 50 buckets", page))
        parameters += comparison_parameters(_MOMENT, _ZONE_RULE)
        parameters.append({"name": "If-None-Match", "in": "header", "schema": TEXT})
    return parameters


def _query(name: str, description: str, schema: Schema) -> Schema:
    return {
        "name": name,
        "in": "query",
        "description": f"{description}.".replace("..", "."),
        "schema": schema,
        "example": EXAMPLE_REQUEST[name],
    }


def _entities_answers() -> Schema:
    found = json_response_schema("A page of buckets", reference("Entities")) | {"headers": _TAG}
    found["content"]["application/json"]["example"] = EXAMPLE_ANSWER
    return {"200": found, "304": {"description": "You have this answer already", "headers": _TAG}}


def _table_answers() -> Schema:
    content = {"text/csv": {"schema": TEXT, "example": EXAMPLE_TABLE}}
    return {"200": {"description": "All buckets, one a row", "content": content}}


def _parquet_answers() -> Schema:
    content = {MEDIA_TYPE: {"schema": TEXT | {"format": "binary"}}}
    return {"200": {"description": "The rows of the table, with types", "content": content}}
