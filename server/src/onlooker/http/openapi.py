"""What the OpenAPI documents of gateway, data endpoint and console share."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from onlooker.errors import KINDS, Code, ProblemBody

Schema = dict[str, Any]
HeaderSchemas = dict[str, Schema]

Moment = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
"""A time as text, in structs whose schema is published."""
Url = Annotated[str, Meta(extra_json_schema={"format": "uri"})]

TEXT: Schema = {"type": "string"}
TRUTH: Schema = {"type": "boolean"}


def schema_of(struct: type) -> Schema:
    """The JSON Schema of a struct; structs inside it stand where they are used."""
    _, components = msgspec.json.schema_components([struct], ref_template="{name}")

    def inline(part: Any) -> Any:
        if isinstance(part, list):
            return [inline(one) for one in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            return inline(components[part["$ref"]])
        return {key: inline(value) for key, value in part.items() if key != "title" or isinstance(value, dict)}

    schema: Schema = inline(components[struct.__name__])
    return schema


def object_schema(properties: dict[str, Schema], **more: Any) -> Schema:
    """An object whose properties are all required."""
    return {"type": "object", "required": list(properties), "properties": properties} | more


def ready_schema(*checks: str) -> Schema:
    """The answer of /readyz with these checks."""
    return object_schema({"ready": TRUTH, "checks": object_schema(dict.fromkeys(checks, TRUTH))})


PROBLEM = schema_of(ProblemBody)


def describe_api(title: str, url: str, *, paths: Schema, schemas: Schema, security: Schema | None = None) -> Schema:
    """A whole document; `security` is the scheme that operations need unless they say otherwise."""
    components: Schema = {"schemas": {"Problem": PROBLEM} | schemas}
    document: Schema = {
        "openapi": "3.1.0",
        "info": {"title": title, "version": "1"},
        "servers": [{"url": url}],
        "components": components,
        "paths": paths,
    }
    if security:
        components["securitySchemes"] = security
        document["security"] = [{name: []} for name in security]
    return document


def reference(name: str) -> Schema:
    """A schema of the document's components."""
    return {"$ref": f"#/components/schemas/{name}"}


def json_content(schema: Schema, kind: str = "json") -> Schema:
    return {f"application/{kind}": {"schema": schema}}


def json_response_schema(description: str, schema: Schema | None) -> Schema:
    return {"description": description} | ({"content": json_content(schema)} if schema else {})


def problem_response_schema(
    code: Code, *, description: str = "", schema: str = "Problem", headers: HeaderSchemas | None = None
) -> Schema:
    content = json_content(reference(schema), "problem+json")
    return {"description": description or KINDS[code].title, "content": content} | (
        {"headers": headers} if headers else {}
    )


def header_schema(description: str, schema: Schema) -> Schema:
    """A header that is always there."""
    return {"description": description, "required": True, "schema": schema}
