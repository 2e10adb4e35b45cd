"""The part of the OpenAPI document about comparisons."""

from onlooker.data.comparison import PREVIOUS
from onlooker.http.openapi import TEXT, Schema, object_schema
from onlooker.metrics.changes import ChangeDirection, ChangeKind
from onlooker.metrics.comparison import NoComparison
from onlooker.metrics.definitions import METRICS

_NUMBER: Schema = {"type": ["number", "null"]}
_CHANGE: Schema = object_schema(
    {
        "now": _NUMBER | {"description": "Over the compared time."},
        "before": _NUMBER | {"description": "Over the compared time of the other range."},
        "kind": {"enum": [str(kind) for kind in ChangeKind]},
        "change": _NUMBER
        | {"description": "The ratio of both per watched time, or their difference; null where there is none."},
        "interval": {
            "type": ["array", "null"],
            "items": _NUMBER,
            "minItems": 2,
            "maxItems": 2,
            "description": "The 95 % interval of the change. If the second number is null, nothing bounds it.",
        },
        "direction": {
            "enum": [str(direction) for direction in ChangeDirection],
            "description": "`same` where chance alone explains the change.",
        },
    },
    additionalProperties=False,
)
COMPARISON: Schema = object_schema(
    {
        "from_date": TEXT | {"format": "date-time"},
        "to_date": TEXT | {"format": "date-time"},
        "hours": {"type": "number", "minimum": 0, "description": "How long the range is, as far as it is past."},
        "compared_hours": {"type": "number", "minimum": 0, "description": "How much of it is compared."},
        "reason": {
            "enum": [None, *(str(reason) for reason in NoComparison)],
            "description": "Why there is no comparison; null where there is one.",
        },
        "metrics": {
            "type": "object",
            "properties": {name: {"type": "object", "additionalProperties": _CHANGE} for name in METRICS},
            "additionalProperties": False,
        },
    },
    additionalProperties=False,
    description="On the first page, if `compare` was sent: the whole range against another one, like with like.",
)
COMPARISON["properties"]["exact"] = {"const": False}


def comparison_parameters(moment: Schema, zone_rule: str) -> list[Schema]:
    return [
        _parameter(
            "compare",
            "Compare the range with the same weekdays and times of day, as few whole weeks earlier as do not overlap.",
            {"enum": [PREVIOUS]},
        ),
        _parameter("compare_from", f"Where the range to compare with begins; {zone_rule}.", moment),
        _parameter("compare_to", f"Where it ends; {zone_rule}.", moment),
    ]


def _parameter(name: str, description: str, schema: Schema) -> Schema:
    return {"name": name, "in": "query", "description": description, "schema": schema}
