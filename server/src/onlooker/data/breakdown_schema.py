"""Breakdowns and filters in the data endpoint's OpenAPI document."""

import re

from onlooker.http.openapi import Schema, object_schema
from onlooker.metrics.breakdown import MOST_DIMENSIONS
from onlooker.metrics.dimensions import DIMENSIONS, Dimension
from onlooker.metrics.execution import BY, CELLS
from onlooker.metrics.week_cells import WEEK_DIMENSIONS
from onlooker.metrics.week_parts import JOINT

_MEANINGS = "; ".join(f"`{name}`: {one.meaning}" for name, one in DIMENSIONS.items())
_LISTED: Schema = {"style": "form", "explode": False}
_NAMES: Schema = {"enum": list(DIMENSIONS)}


def _name_part(dimension: Dimension) -> Schema:
    """One of its parts; of a grouped stream, also several that are told only together."""
    if dimension.name not in WEEK_DIMENSIONS:
        return {"enum": list(dimension.parts)}
    names = [re.sub(r"([+?])", r"\\\1", part) for part in dimension.parts]
    part = f"({'|'.join(names)})"
    return {
        "type": "string",
        "pattern": rf"^{part}(\{JOINT}{part})*$",
        "description": f"One of {' '.join(dimension.parts)}; where a stream tells about people in groups, also several "
        f"that are told only together, with {JOINT} between them.",
    }


_PART_BY_DIMENSION: Schema = {
    "type": "object",
    "properties": {name: _name_part(one) for name, one in DIMENSIONS.items()},
    "minProperties": 1,
    "maxProperties": MOST_DIMENSIONS,
    "additionalProperties": False,
}
MEMBERS: Schema = {
    "by": {
        "type": "array",
        "items": _NAMES,
        "minItems": 1,
        "maxItems": MOST_DIMENSIONS,
        "description": "There only if asked for: the dimensions of the cells.",
    },
    "filter": object_schema(
        {name: {"type": "array", "items": {"enum": list(one.parts)}} for name, one in DIMENSIONS.items()},
        required=[],
        additionalProperties=False,
        description="There only if asked for: the parts of each dimension that count.",
    ),
}


def breakdown_parameters() -> list[Schema]:
    parts = [f"{name}:{part}" for name, one in DIMENSIONS.items() for part in one.parts]
    by = {"type": "array", "items": _NAMES, "minItems": 1, "maxItems": MOST_DIMENSIONS, "uniqueItems": True}
    kept = {"type": "array", "items": {"enum": parts}, "minItems": 1}
    return [
        _query("by", f"Breaks numbers down by one or two dimensions, separated by a comma. {_MEANINGS}", by),
        _query(
            "filter",
            "Numbers of the visits that match alone: parts of dimensions, separated by commas. Parts of the same "
            "dimension add up, dimensions narrow down",
            kept,
        ),
    ]


def _query(name: str, description: str, schema: Schema) -> Schema:
    return {
        "name": name,
        "in": "query",
        "description": f"{description}.".replace("..", "."),
        "schema": schema,
    } | _LISTED


def cells_schema(metrics: Schema) -> Schema:
    """Of a bucket, by the schemas of its metrics."""
    cell: Schema = {
        "type": "object",
        "properties": {BY: _PART_BY_DIMENSION, **metrics},
        "required": [BY],
        "minProperties": 2,
        "additionalProperties": False,
    }
    return {
        CELLS: {"type": "array", "items": cell, "minItems": 1, "description": "The bucket by the dimensions of `by`."}
    }
