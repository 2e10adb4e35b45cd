"""What the answers of the data endpoint look like, as JSON Schema; values of metrics as the metrics shape them."""

from typing import Any

from onlooker.metrics.definitions import METRICS, Metric, Number
from onlooker.metrics.query import PAGE_BUCKETS, Time

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_MEAN: Schema = {"type": ["number", "null"], "minimum": 0}
_NUMBER: Schema = {"type": "integer", "minimum": 1}


def _object(properties: dict[str, Schema], **more: Any) -> Schema:
    return {"type": "object", "required": list(properties), "properties": properties} | more


def _value(metric: Metric) -> Schema:
    """Of nobody a metric is 0 where it counts, and null where it is a mean."""
    of_nobody = metric.shape([0] * len(metric.figures))
    return _object(
        {part: _part(number) for part, number in of_nobody.items()},
        additionalProperties=False,
        description=metric.meaning,
    )


def _part(of_nobody: Number) -> Schema:
    return _MEAN if of_nobody is None else _COUNT


_BUCKET: Schema = {
    "type": "object",
    "properties": {name: _value(metric) for name, metric in METRICS.items()},
    "minProperties": 1,
    "additionalProperties": False,
}
ENTITIES = _object(
    {
        "entities": {
            "type": "object",
            "description": "By the start of each bucket, with its offset; `global` where there is but one.",
            "minProperties": 1,
            "maxProperties": PAGE_BUCKETS,
            "additionalProperties": _BUCKET,
        },
        "time": {"enum": [str(one) for one in Time]},
        "from_date": _TEXT | {"format": "date-time"},
        "to_date": _TEXT | {"format": "date-time"},
        "total_results": _NUMBER | {"description": "How many buckets the whole range has."},
        "nb_of_pages": _NUMBER,
        "page": _NUMBER,
        "next_page": _TEXT | {"description": "URL of the next page; empty on the last."},
    },
    additionalProperties=False,
)
ENTITIES["properties"]["exact"] = {
    "const": False,
    "description": "There only where visits would have had to be looked at that were deleted after their time.",
}
PROBLEM = _object(
    {"type": _TEXT, "title": _TEXT, "status": {"type": "integer"}, "detail": _TEXT, "code": _TEXT},
)
READY = _object({"ready": {"type": "boolean"}, "checks": _object({"database": {"type": "boolean"}})})
